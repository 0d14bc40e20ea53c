"""Every address of REST v1, by every method that it has, as each kind of caller: the walk finds them itself."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from planner.accounts import tokens
from planner.accounts.models import ApiToken, Membership, Role, Team, User
from planner.api.document import document
from planner.calibrations.models import Calibration
from planner.finance.approvals.kept import VIEWS
from planner.finance.models import Actuals, Approval, AssumptionSet, FileLink
from planner.power_logs.models import PowerLog
from planner.scenarios.models import Revision, Scenario
from planner.sharing import links
from planner.studies.models import Study
from planner.workloads.models import Workload
from tests.unit.planner.studies.conftest import *  # noqa: F403 - its fixtures
from tests.unit.planner.studies.conftest import Counted

pytestmark = pytest.mark.usefixtures("collected_static")
JSON = "application/json"
Call = Callable[[str, str], int]
ANYBODYS = re.compile(
    r"^/api/v1/(openapi\.json|compare|audit|catalogue/.*|(workloads|calibrations|power-logs|scenarios|studies|deleted)/)?$"
)
"""Of no row of a team: a stranger reads them too, and finds nothing of another team's in them."""
NOBODYS_ROWS = ("machines", "list")
"""Shipped rows of the catalogue: a stranger may change their own team's view of them."""
OF_A_STUDY = re.compile(r"^/api/v1/studies/\{study_id\}")
NOT_FOR_GUESTS = re.compile(r"\{(set|actuals|file_link)_id\}")
GOOD = {200, 201, 202, 204}
UNREADY = {409}
"""Costs that nobody has had worked out."""


def addresses() -> Iterator[tuple[str, str]]:
    for path, methods in document()["paths"].items():
        for method in methods:
            yield method, path


@pytest.fixture
def study(start: Callable[[], Study], work: Callable[..., int], counted: Counted) -> Study:
    study = start()
    work()
    study.refresh_from_db()
    return study


@pytest.fixture
def named(study: Study, team: Team, alice: User, workload: Workload) -> dict[str, Any]:
    content = '{"engine": "vllm-2026", "errors": {}, "validity": {}}'
    calibration = Calibration.objects.create(
        team=team, name="ours", model="bloom-176b", accelerator="h100-sxm", content=content, found={}
    )
    report = {"all": {"mean_w": 1.0, "p50_w": 1.0, "p99_w": 1.0, "idle_w": None, "energy_j": 1.0}}
    log = PowerLog.objects.create(team=team, name="ours", machine="dgx-h100", accelerator="h100-sxm", report=report)
    chosen = AssumptionSet.objects.create(team=team, study=study, values={"machines": []})
    read: dict[str, Any] = {"rows": 0, "counted": 0, "months": [], "services": [], "reasons": []}
    rules: dict[str, Any] = {"services": []}
    billed = Actuals.objects.create(team=team, study=study, file_name="july.csv", rules=rules, report=read)
    kept = {
        "steps": [{"label": "ours"}],
        "months": ["2027-01"],
        "totals": {"cash": "1.00", "book": "1.00", "economic": "1.00"},
    }
    lines: dict[str, Any] = {view: [] for view in VIEWS}
    approved = Approval.objects.create(team=team, study=study, approved_by_name="alice", kept=kept, lines=lines)
    ends = timezone.now() + timedelta(days=1)
    link = FileLink.objects.create(team=team, study=study, file="lines.csv", bom=False, secret_hash="", expires_at=ends)
    deleted = Scenario.objects.create(team=team, name="deleted", deleted_at=timezone.now())
    Revision.objects.create(scenario=deleted, number=1, inputs={})
    return {
        "actuals_id": billed.pk,
        "file_link_id": link.pk,
        "study_id": study.pk,
        "scenario_id": study.revision.scenario_id,
        "number": 1,
        "workload_id": workload.pk,
        "calibration_id": calibration.pk,
        "power_log_id": log.pk,
        "set_id": chosen.pk,
        "approval_id": approved.pk,
        "deleted_kind": "scenarios",
        "deleted_id": deleted.pk,
        "table": NOBODYS_ROWS[0],
        "row_id": "dgx-h100",
        "book_id": NOBODYS_ROWS[1],
        "kind": "growth",
        "name": "lines",
        "file": "designs.csv",
    }


@pytest.fixture
def calls(named: dict[str, Any], study: Study, team: Team, alice: User, bob: User, charlie: User) -> dict[str, Call]:
    viewer = User.objects.create_user("vera")
    Membership.objects.create(team=team, user=viewer, role=Role.VIEWER)
    _, link = links.create(alice, study, "")

    def by(client: Client, prefix: str = "", **headers: str) -> Call:
        def call(method: str, path: str) -> int:
            at = re.sub(r"\{(\w+)\}", lambda found: str(named[found[1]]), path)
            at += "?rate_req_per_s=5" if at.endswith("/rescaled") else ""
            sent = {"content_type": JSON, "data": "{}"} if method in ("post", "put", "patch") else {}
            answer: Any = getattr(client, method)(f"{prefix}{at}", headers={"If-Match": "*", **headers}, **sent)
            assert answer.status_code < 500, (method, at)
            return int(answer.status_code)

        return call

    def session(user: User) -> Call:
        client = Client()
        client.force_login(user)
        return by(client)

    def token(user: User, scope: str, of: Team = team) -> Call:
        text = tokens.issue(of, f"{user} {scope}", user, scope)[1]
        return by(Client(enforce_csrf_checks=True), Authorization=f"Bearer {text}")

    theirs = Team.objects.get(name="strangers")
    return {
        "owner": session(alice),
        "member": session(bob),
        "viewer": session(viewer),
        "stranger": session(charlie),
        "anonymous": by(Client()),
        "guest": by(Client(), f"/shared/{link}"),
        "reader": token(alice, ApiToken.Scope.READ),
        "writer": token(alice, ApiToken.Scope.WRITE),
        "strange writer": token(charlie, ApiToken.Scope.WRITE, theirs),
    }


def test_reading(calls: dict[str, Call]) -> None:
    seen = 0
    for method, path in addresses():
        if method != "get":
            continue
        seen += 1
        unready = "/finance/" in path and "/actuals" not in path
        fine = UNREADY if unready else GOOD
        for who in ("owner", "member", "viewer", "reader", "writer"):
            assert calls[who](method, path) in fine, (who, path)
        for who in ("stranger", "strange writer"):
            expected = GOOD if ANYBODYS.match(path) or "{row_id}" in path or "{book_id}" in path else {404}
            assert calls[who](method, path) in expected, (who, path)
        assert calls["anonymous"](method, path) == 401, path
        own = OF_A_STUDY.match(path) and not NOT_FOR_GUESTS.search(path)
        assert calls["guest"](method, path) in ((fine if own else {404}) | ({200} if "{set_id}" in path else set())), (
            path
        )
    assert seen > 25


def test_writing(calls: dict[str, Call]) -> None:
    """An empty body is refused by its form (400) only where its sender may write there at all."""
    seen = 0
    for method, path in addresses():
        if method == "get":
            continue
        seen += 1
        assert calls["anonymous"](method, path) == 401, (method, path)
        assert calls["guest"](method, path) == 405, (method, path)
        assert calls["reader"](method, path) == 403, (method, path)
        assert calls["viewer"](method, path) in {403, 404}, (method, path)
        shipped = "/catalogue/" in path or path.count("{") == 0
        for who in ("stranger", "strange writer"):
            said = calls[who](method, path)
            assert said in ({400, 409} if shipped else {404, 400}), (who, method, path, said)
        if method != "delete":
            for who in ("member", "writer"):
                quicker = {404} if path.endswith("/restore") and who == "writer" else set()  # the member was
                assert calls[who](method, path) in {*GOOD, 400, 409, *quicker}, (who, method, path)
    assert seen > 12


def test_a_stranger_changes_nothing(calls: dict[str, Call], named: dict[str, Any]) -> None:
    for method, path in addresses():
        if method != "get" and "{" in path:
            calls["stranger"](method, path)
    assert Workload.unscoped.filter(pk=named["workload_id"]).exists()
    assert Study.unscoped.get(pk=named["study_id"]).state == "done"
    assert AssumptionSet.unscoped.count() == 1
    assert Approval.unscoped.get().withdrawn_at is None
