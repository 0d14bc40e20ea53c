"""Every address, asked by an owner, a viewer, somebody whom a question was shared with, a stranger, and nobody.

``every_route.txt`` has a line for each route and method; a route without one fails. REST has its own walk
(tests/unit/planner/api/test_bearer.py). A stranger gets 404 of whatever is a team's: never 403, which would tell
that it is there.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from planner.accounts import invitations, tokens
from planner.accounts.models import Membership, Role, Team, User
from planner.calibrations.models import Calibration
from planner.catalogue.models import CatalogueImport, PriceBook
from planner.finance.models import Actuals, Approval, FileLink
from planner.power_logs.models import PowerLog
from planner.scenarios import granting
from planner.scenarios.models import Revision, Scenario
from planner.sharing import links
from planner.studies.models import Study
from planner.studies.results import study_result
from planner.workloads.models import Workload
from tests.unit.planner.calibrations.test_pages import MEASURED
from tests.unit.planner.calibrations.test_pages import upload as upload_benchmarks
from tests.unit.planner.power_logs.logged_run import RUN, a_run
from tests.unit.planner.power_logs.test_pages import upload as upload_logs
from tests.unit.planner.studies.conftest import Counted
from tests.unit.planner.workloads.test_upload import HEADER, look

TABLE = Path(__file__).with_name("every_route.txt")
ROLES = ("owner", "viewer", "shared with", "stranger", "nobody")
METHODS = ("GET", "POST")
SHARES = re.compile(r"/(people|links)$")
"""Where an empty form would be refused before it is asked who may."""
TEAM_S = re.compile(r"team_id|study_id|scenario_id|deleted_id|/<int:pk>|workloads/uploads/|revoke")
"""Routes to a row that is a team's."""


def routes(resolver: URLResolver, prefix: str = "/") -> Iterator[str]:
    for entry in resolver.url_patterns:
        address = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from routes(entry, address)
        elif isinstance(entry, URLPattern):
            yield address


def pages() -> list[str]:
    return [route for route in routes(get_resolver()) if not route.startswith("/api/")]


def listed() -> dict[tuple[str, str], list[str]]:
    """(method, route) → the status for each role."""
    lines = [line.split() for line in TABLE.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    return {(method, route): codes for method, route, *codes in lines}


@pytest.fixture
def people(collected_static: None, team: Team, alice: User, charlie: User) -> dict[str, Client]:
    """Charlie is who the question is shared with."""
    vera, dora = (User.objects.create_user(name, password=name) for name in ("vera", "dora"))
    Membership.objects.create(team=team, user=vera, role=Role.VIEWER)
    Membership.objects.create(team=Team.objects.create(name="others"), user=dora, role=Role.OWNER)
    clients = {role: Client() for role in ROLES}
    for role, user in zip(ROLES, (alice, vera, charlie, dora), strict=False):
        clients[role].force_login(user)
    return clients


@pytest.fixture
def known(
    team: Team,
    alice: User,
    start: Callable[[], Study],
    work: Callable[..., int],
    counted: Counted,
    people: dict[str, Client],
    workload: Workload,
) -> Callable[[str], dict[str, object]]:
    """What stands for the arguments of a route: rows of the owner's team."""
    owner, study = people["owner"], start()
    work()
    study.refresh_from_db()
    scenario = study.revision.scenario
    upload_logs(owner, a_run(), name="drawn", **RUN)
    look(owner, HEADER + b"0,10,5\n2,20,7\n", "mine")
    upload_benchmarks(owner, MEASURED, name="ours")
    calibration = Calibration.objects.visible_to(alice).get()
    book = PriceBook.objects.create(team=team, created_by=alice, book_id="ours", name="Ours", date="2026-11-01")
    shipped = owner.get("/catalogue/machines/export.csv")
    taken = CatalogueImport.objects.create(
        team=team, created_by=alice, table="machines", file_name="m.csv", content=shipped.getvalue()
    )
    invitation, joining = invitations.invite(team, alice, "viewer")
    link, shared = links.create(alice, study)
    billed = Actuals.objects.create(
        team=team, created_by=alice, study=study, format="months", rules={"services": [], "cost": "cost"},
        report={"unread": [], "rows": 0, "counted": 0, "services": [], "reasons": [], "months": []},
    )  # fmt: skip
    approved = Approval.objects.create(team=team, created_by=alice, study=study, kept={}, lines={})
    file_link = FileLink.objects.create(
        team=team, study=study, file="designs.csv", bom=False, secret_hash="", expires_at=timezone.now()
    )
    deleted = Scenario.objects.create(team=team, name="deleted", deleted_at=timezone.now())
    Revision.objects.create(scenario=deleted, number=1, inputs={})
    common: dict[str, object] = {
        "study_id": study.pk,
        "scenario_id": scenario.pk,
        "team_id": team.pk,
        "user_id": people["viewer"].session["_auth_user_id"],
        "invitation_id": invitation.pk,
        "grant_id": granting.grant(alice, scenario, "charlie").pk,
        "link_id": link.pk,
        "actuals_id": billed.pk,
        "approval_id": approved.pk,
        "file_link_id": file_link.pk,
        "secret": "x",
        "number": 1,
        "design_id": study_result(study).rows[0].design_id,
        "table": "machines",
        "row_id": "dgx-h100",
        "book_id": book.book_id,
        "key": "none",
        "name": "designs-1",
        "currency": "eur",
        "chart": "cost",
        "uidb64": "x",
        "deleted_kind": "scenarios",
        "deleted_id": deleted.pk,
    }
    rows = {
        "/accounts/tokens/": tokens.issue(team, "ci", alice)[0].pk,
        "/catalogue/imports/": taken.pk,
        "/calibrations/power/": PowerLog.objects.visible_to(alice).get().pk,
        "/calibrations/": calibration.pk,
        "/workloads/uploads/": Workload.objects.drafts_of(alice).get().pk,
        "/workloads/": workload.pk,
    }

    def of(route: str) -> dict[str, object]:
        row = next((pk for prefix, pk in rows.items() if route.startswith(prefix)), 0)
        token = joining if "invitations" in route else shared if "shared" in route else "x"
        finance = {"name": "lines", "kind": "csv"} if "finance" in route else {"kind": "growth"}
        return {**common, "pk": row, "token": token, **finance}

    return of


def test_every_route_by_everybody(known: Callable[[str], dict[str, object]], people: dict[str, Client]) -> None:
    expected, found = listed(), {}
    for route in pages():
        values = known(route)
        address = re.sub(r"<\w+:(\w+)>", lambda name: str(values[name[1]]), route)  # noqa: B023
        for method in METHODS:
            typed = {"study": values["study_id"], "name": "bob", "may": "read"} if SHARES.search(route) else {}
            found[method, route] = [status(people[role], method, address, typed) for role in ROLES]
    if os.environ.get("WRITE_ROUTES"):
        TABLE.write_text("".join(f"{method} {route} {' '.join(codes)}\n" for (method, route), codes in found.items()))
    assert {key: codes for key, codes in found.items() if expected.get(key) != codes} == {}
    assert expected.keys() == found.keys()


def status(client: Client, method: str, address: str, typed: dict[str, object]) -> str:
    """Of a request that leaves nothing behind, not even that somebody has signed out."""
    asking = Client(raise_request_exception=False)
    asking.cookies.update(client.cookies)
    with transaction.atomic():
        response = asking.get(address) if method == "GET" else asking.post(address, typed)
        transaction.set_rollback(True)
    return str(response.status_code)


def test_no_stranger_is_told_that_there_is_something() -> None:
    """Of the table itself: whoever adds a line cannot allow more."""
    for (method, route), codes in listed().items():
        owner, viewer, shared, stranger, nobody = codes
        if "405" in (owner, stranger):
            assert set(codes) <= {"405", "302"}, (method, route)
            continue
        assert {owner, viewer, shared, stranger, nobody}.isdisjoint({"500", "502", "503"}), (method, route)
        if TEAM_S.search(route):
            assert stranger == "404", (method, route)
            assert nobody in {"302", "404"}, (method, route)
