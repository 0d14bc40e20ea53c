"""A team with something of everything, and people who may and may not."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.apps import apps
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import models
from django.test import Client

from planner.accounts import invitations, tokens
from planner.accounts.models import ApiToken, Membership, Role, Team, User
from planner.calibrations.models import Calibration
from planner.finance.models import Actuals
from planner.power_logs.models import PowerLog
from planner.scenarios import granting
from planner.scenarios.services import save_revision
from planner.sharing import links
from planner.studies.models import Study
from planner.workloads.models import Workload
from tests.unit.planner.analyses.conftest import answered, sent, work, workload
from tests.unit.planner.calibrations.test_pages import MEASURED
from tests.unit.planner.calibrations.test_pages import upload as upload_benchmarks
from tests.unit.planner.catalogue.test_books import change as change_book
from tests.unit.planner.catalogue.test_editing import change as change_row
from tests.unit.planner.catalogue.test_quotes import add as add_beside
from tests.unit.planner.finance.conftest import costed
from tests.unit.planner.finance.test_actuals import saved as save_actuals
from tests.unit.planner.finance.test_finance import save as save_assumptions
from tests.unit.planner.power_logs.logged_run import RUN, a_run
from tests.unit.planner.power_logs.test_pages import upload as upload_logs
from tests.unit.planner.workloads.test_upload import HEADER, look

__all__ = ["answered", "costed", "sent", "work", "workload"]
NAME = "0123456789abcdef"
"""Of the request, as a proxy may say it."""


OF_NO_HISTORY = {"sessions.session", "accounts.attempts", "api.keptanswer", "accounts.auditentry"}
"""Who is signed in, how often what was tried, answers kept for a repeated request."""
SEEN = {"last_used_at", "last_login", "last_opened_at"}
"""When something was used, which is no change of it."""


def fingerprints() -> dict[str, str]:
    """Of every table that the history tells of."""
    found = {}
    for model in apps.get_models(include_auto_created=True):
        name = model._meta.label_lower
        if name in OF_NO_HISTORY or name.startswith("catalogue.shipped") or model._meta.proxy:
            continue
        fields = [one.attname for one in model._meta.concrete_fields if one.name not in SEEN]
        rows = models.QuerySet(model).order_by("pk").values_list(*fields)
        found[name] = hashlib.sha256(repr(list(rows)).encode()).hexdigest()
    return found


@dataclass
class World:
    """Rows of alice's team, and who asks."""

    team: Team
    alice: User
    study: Study
    clients: dict[str, Client]
    pk: dict[str, Any]
    """What else there is, by a word."""
    token: ApiToken
    before: dict[str, str] = field(default_factory=dict)
    """Where it is watched: all that there was before the last request."""

    def post(self, address: str, data: Any = None, by: str = "alice", **more: Any) -> Any:
        return self.send("post", address, data, by, **more)

    def send(self, method: str, address: str, data: Any = None, by: str = "alice", **more: Any) -> Any:
        if self.before:
            self.before = fingerprints()
        headers = {"X-Request-ID": NAME, **more.pop("headers", {})}
        return getattr(self.clients[by], method)(address, data or {}, headers=headers, **more)

    def form(self, address: str, **fields: str) -> Any:
        """The page's form as it stands, with some fields changed."""
        form = self.clients["alice"].get(address).context["form"]
        values = {field.html_name: str(field.value() or "") for field in form}
        return self.post(address, values | fields)


@pytest.fixture
def world(collected_static: None, costed: Study, team: Team, alice: User, alice_client: Client, bob: User) -> World:
    cache.clear()
    vera, dora = (User.objects.create_user(name, password=name) for name in ("vera", "dora"))
    Membership.objects.create(team=team, user=vera, role=Role.VIEWER)
    others = Team.objects.create(name="others")
    for user in (alice, dora):  # so that alice knows dora
        Membership.objects.create(team=others, user=user, role=Role.OWNER)
    alice.chosen_team = team
    alice.save()
    clients = {"alice": alice_client, "dora": Client(), "vera": Client(), "nobody": Client(), "token": Client()}
    clients["dora"].force_login(dora)
    clients["vera"].force_login(vera)
    token, text = tokens.issue(team, "ci", alice, ApiToken.Scope.WRITE)
    clients["token"].defaults["HTTP_AUTHORIZATION"] = f"Bearer {text}"
    revision = costed.revision
    scenario = revision.scenario
    save_assumptions(alice_client, costed)
    save_revision(alice, scenario, {**revision.inputs, "rate_req_per_s": 3})
    upload_logs(alice_client, a_run(), name="drawn", **RUN)
    upload_benchmarks(alice_client, MEASURED, name="ours")
    look(alice_client, HEADER + b"0,10,5\n2,20,7\n", "mine")
    unused = alice_client.post("/workloads/mix", MIX)
    change_row(alice_client, "/catalogue/machines/dgx-h100/edit", host_w="1.9 kW")
    change_book(alice_client, "/catalogue/prices/list/edit", **{"usd:dgx-h100": "30"})
    add_beside(alice_client, "rates")
    add_beside(alice_client, "quotes")
    add_beside(alice_client, "rates", currency="JPY", usd="0.0066")
    billed = save_actuals(alice_client, costed)
    alice_client.post(f"/studies/{costed.pk}/finance/actuals/", {"file": SimpleUploadedFile("b.csv", BILL)})
    invitation, joining = invitations.invite(team, alice, "viewer")
    link, shared = links.create(alice, costed)
    pk = {
        "invitation": invitation.pk,
        "joining": joining,
        "link": link.pk,
        "shared": shared,
        "grant": granting.grant(alice, scenario, "charlie").pk,
        "scenario": scenario.pk,
        "vera": vera.pk,
        "dora": dora.pk,
        "token": token.pk,
        "actuals": billed.pk,
        "draft actuals": Actuals.unscoped.get(saved_at=None).pk,
        "draft": Workload.objects.drafts_of(alice).get().pk,
        "unused workload": int(unused["Location"].rsplit("/", 1)[1]),
        "power log": PowerLog.objects.visible_to(alice).get().pk,
        "calibration": Calibration.objects.visible_to(alice).get().pk,
        "quote": alice_client.get("/catalogue/prices/list").context["book"].book.offers[0].key,
    }
    return World(team, alice, costed, clients, pk, token)


MIX = {"name": "unused", "mix": "coding", "rate_req_per_s": "2.5", "requests": "50", "arrivals": "poisson", "seed": "3"}
BILL = b"month,cost\n2027-02,20000.01\n"
Start = Callable[[World], Any]
