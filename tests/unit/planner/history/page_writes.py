"""A call that succeeds for every page route that writes, and the few that leave nothing to be traced."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from planner.accounts.models import User
from planner.accounts.one_time import password_path
from planner.finance.models import Approval, FileLink
from planner.scenarios.services import create_scenario, save_revision
from planner.studies.leases import State
from planner.studies.models import Study, Worker
from planner.studies.pilot import kit_of
from planner.studies.results import study_result
from planner.studies.services import start_study
from tests.unit.planner.calibrations.test_pages import MEASURED
from tests.unit.planner.catalogue.test_editing import FROM, MACHINE
from tests.unit.planner.catalogue.test_import import HEADER as COLUMNS
from tests.unit.planner.catalogue.test_import import OURS
from tests.unit.planner.catalogue.test_new_model import CONFIG
from tests.unit.planner.catalogue.test_quotes import EUR, QUOTE
from tests.unit.planner.finance.test_finance import BOUGHT
from tests.unit.planner.history.conftest import BILL, MIX, World
from tests.unit.planner.power_logs.logged_run import a_run
from tests.unit.planner.studies.test_pilot_page import bench
from tests.unit.planner.workloads.test_upload import HEADER

LEAVES_NOTHING = {
    "/healthz": "looks",
    "/readyz": "looks",
    "/accounts/sign-out/": "ends a session of the browser: nothing of anybody's is another",
    "/accounts/reset/": "mails a link: what is done with it is kept",
    "/workloads/mix/preview": "shows what a form would make",
}


@dataclass(frozen=True)
class Write:
    """``by``: whom the entry names. ``team``: in whose history it is; empty: in that of the account."""

    call: Callable[[World], Any]
    by: str = "alice"
    team: str = "planners"


PASSWORD = "correct horse battery"
NEW_PASSWORD = {"new_password1": PASSWORD, "new_password2": PASSWORD}


def _file(text: str | bytes, name: str = "file.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode() if isinstance(text, str) else text)


def _reset(world: World) -> Any:
    first = world.clients["nobody"].get(password_path(User.objects.get(username="vera")))
    return world.post(first["Location"], NEW_PASSWORD, "nobody")


def _signs_in_wrongly(world: World) -> Any:
    for _ in range(5):
        last = world.post("/accounts/sign-in/", {"username": "vera", "password": "x"}, "nobody")
    return last


def _import(world: World) -> Any:
    uploaded = world.clients["alice"].post("/catalogue/machines/import", {"file": _file(COLUMNS + OURS)})
    page = world.clients["alice"].get(uploaded["Location"]).content.decode()
    seen = re.search(r'name="seen" value="(\w+)"', page)
    assert seen is not None
    return world.post(uploaded["Location"], {"seen": seen[1]})


def _seen(world: World, address: str) -> str:
    return str(world.clients["alice"].get(address).context["form"]["seen"].value())


def _asked_anew(world: World) -> dict[str, Any]:
    inputs = world.study.revision.inputs
    return {name: value for name, value in inputs.items() if value is not None} | {"rate_req_per_s": "4"}


def _cancel(world: World) -> Any:
    Study.unscoped.filter(pk=world.study.pk).update(state=State.RUNNING)
    return world.post(f"/studies/{world.study.pk}/cancel")


def _retry(world: World) -> Any:
    Study.unscoped.filter(pk=world.study.pk).update(state=State.CANCELLED)
    return world.post(f"/studies/{world.study.pk}/retry")


def _stop_analysis(world: World) -> Any:
    at = f"/studies/{world.study.pk}/analyses/token_budget/"
    world.clients["alice"].post(at, {})
    return world.post(f"{at}cancel")


def _pilot(world: World) -> Any:
    result = study_result(world.study)
    row = result.winner
    assert row is not None
    files = [bench(run, 1.2, date=f"2026113{i}-101500") for i, run in enumerate(kit_of(world.study, result, row).runs)]
    at = f"/studies/{world.study.pk}/designs/{row.design_id}/pilot"
    return world.post(at, {"result": files, "calibration": "Pilot"})


def _meanwhile(world: World) -> Any:
    """Bob saves a revision while alice types one; she takes hers on top of his."""
    scenario = world.study.revision.scenario
    save_revision(User.objects.get(username="bob"), scenario, {**world.study.revision.inputs, "rate_req_per_s": 6})
    typed = {**_asked_anew(world), "revision_seen": "2", "token_budget": "1024"}
    page = world.clients["alice"].post(f"/studies/{world.study.pk}/ask", typed).content.decode()
    mine = re.search(r'name="mine" value="([^"]+)"', page)
    assert mine is not None
    return world.post(f"/questions/{scenario.pk}/meanwhile", {"mine": mine[1], "go": "mine"})


def _halfway(world: World) -> Any:
    Worker.objects.create(name="w", engine_version=world.study.engine_version, heartbeat_at=timezone.now())
    inputs = {**world.study.revision.inputs, "rate_req_per_s": 2.5, "arrivals": "poisson"}
    other = start_study(world.alice, create_scenario(world.alice, inputs, "Other"))
    return world.post("/compare/halfway", {"first": world.study.pk, "second": other.pk, "kind": "rate"})


def approved(world: World) -> int:
    world.clients["alice"].post(of(world, f"{FINANCE}approvals"), {"note": "board of December"})
    return Approval.unscoped.latest("pk").pk


def linked(world: World) -> int:
    world.clients["alice"].post(of(world, f"{FINANCE}links/"), FILE_LINK)
    return FileLink.unscoped.latest("pk").pk


def deleted(world: World) -> Any:
    """None, so that another call may follow."""
    world.clients["alice"].post(of(world, f"{ASKED}delete"))


FILE_LINK = {"file": "lines.csv", "view": "book", "locale": "en-US", "days": "30", "label": "sheet"}
BOOK = "/catalogue/prices/list"


def of(world: World, text: str) -> str:
    """An address of the team's, its numbers by words: ``/studies/{study}/``."""
    return text.format(
        study=world.study.pk, team=world.team.pk, **{k.replace(" ", "_"): v for k, v in world.pk.items()}
    )


def to(text: str, data: dict[str, Any] | None = None, by: str = "alice") -> Callable[[World], Any]:
    return lambda world: world.post(of(world, text), data, by)


FINANCE, TEAM, ASKED = "/studies/{study}/finance/", "/accounts/teams/{team}/", "/questions/{scenario}/"
WRITES: dict[str, Write] = {
    "/accounts/": Write(to("/accounts/", {"first_name": "Alice", "email": "a@example.org"}), team=""),
    "/accounts/sign-in/": Write(
        to("/accounts/sign-in/", {"username": "vera", "password": "vera"}, "nobody"), "vera", ""
    ),
    "/accounts/password/": Write(
        to("/accounts/password/", {"old_password": "vera", **NEW_PASSWORD}, "vera"), "vera", ""
    ),
    "/accounts/reset/<str:uidb64>/<str:token>/": Write(_reset, "vera", ""),
    "/accounts/tokens/": Write(
        lambda world: world.post(
            "/accounts/tokens/", {"name": "sheet", "team": world.team.pk, "scope": "read", "days": "30"}
        )
    ),
    "/accounts/tokens/<int:pk>/revoke": Write(to("/accounts/tokens/{token}/revoke")),
    "/accounts/teams/": Write(to("/accounts/teams/", {"name": "finance"}), team="finance"),
    "/accounts/teams/<int:team_id>/work-for": Write(
        lambda world: world.post(f"/accounts/teams/{world.team.pk + 1}/work-for"), team=""
    ),
    "/accounts/teams/<int:team_id>/invitations": Write(to(f"{TEAM}invitations", {"role": "editor", "label": "Eve"})),
    "/accounts/teams/<int:team_id>/invitations/<int:invitation_id>/revoke": Write(
        to(f"{TEAM}invitations/{{invitation}}/revoke")
    ),
    "/accounts/teams/<int:team_id>/members": Write(
        lambda world: world.post(of(world, f"{TEAM}members"), {"user": world.pk["dora"], "role": "editor"})
    ),
    "/accounts/teams/<int:team_id>/members/<int:user_id>/role": Write(
        to(f"{TEAM}members/{{vera}}/role", {"role": "editor"})
    ),
    "/accounts/teams/<int:team_id>/members/<int:user_id>/remove": Write(to(f"{TEAM}members/{{vera}}/remove")),
    "/accounts/invitations/<str:token>/": Write(to("/accounts/invitations/{joining}/", by="dora"), "dora"),
    "/catalogue/models/new": Write(
        to("/catalogue/models/new", {"name": "Qwen3 8B", "text": json.dumps(CONFIG), "save": ""})
    ),
    "/catalogue/imports/<int:pk>": Write(_import),
    "/catalogue/prices/add": Write(
        lambda world: world.form("/catalogue/prices/add?like=list", **FROM, id="mine", **{"usd:dgx-h100": "31"})
    ),
    "/catalogue/<str:table>/import": Write(
        lambda world: world.post("/catalogue/machines/import", {"file": _file(COLUMNS + OURS)})
    ),
    "/catalogue/prices/<str:book_id>/edit": Write(
        lambda world: world.form(f"{BOOK}/edit", **FROM, **{"usd:dgx-h100": "29"})
    ),
    "/catalogue/prices/<str:book_id>/restore": Write(to(f"{BOOK}/restore", {"machine": "dgx-h100"})),
    "/catalogue/prices/<str:book_id>/delete": Write(to(f"{BOOK}/delete")),
    "/catalogue/prices/<str:book_id>/quotes/add": Write(
        lambda world: world.post(
            f"{BOOK}/quotes/add", {**QUOTE, "quote": "Q-99", "seen": _seen(world, f"{BOOK}/quotes/add")}
        )
    ),
    "/catalogue/prices/<str:book_id>/quotes/<slug:key>": Write(
        lambda world: world.post(
            f"{BOOK}/quotes/{world.pk['quote']}",
            {**QUOTE, "price": "300000", "seen": _seen(world, f"{BOOK}/quotes/add")},
        )
    ),
    "/catalogue/prices/<str:book_id>/quotes/<slug:key>/delete": Write(to(f"{BOOK}/quotes/{{quote}}/delete")),
    "/catalogue/prices/<str:book_id>/rates/add": Write(
        lambda world: world.post(
            f"{BOOK}/rates/add", {**EUR, "currency": "CHF", "seen": _seen(world, f"{BOOK}/rates/add")}
        )
    ),
    "/catalogue/prices/<str:book_id>/rates/<slug:currency>": Write(
        lambda world: world.post(f"{BOOK}/rates/EUR", {**EUR, "usd": "1.1", "seen": _seen(world, f"{BOOK}/rates/EUR")})
    ),
    "/catalogue/prices/<str:book_id>/rates/<slug:currency>/delete": Write(to(f"{BOOK}/rates/JPY/delete")),
    "/catalogue/<str:table>/add": Write(
        lambda world: world.form("/catalogue/machines/add", **FROM, **MACHINE, id="mine")
    ),
    "/catalogue/<str:table>/<str:row_id>/edit": Write(
        lambda world: world.form("/catalogue/machines/dgx-h100/edit", **FROM, host_w="1800")
    ),
    "/catalogue/<str:table>/<str:row_id>/restore": Write(to("/catalogue/machines/dgx-h100/restore")),
    "/catalogue/<str:table>/<str:row_id>/delete": Write(to("/catalogue/machines/dgx-h100/delete")),
    "/workloads/upload": Write(
        lambda world: world.post("/workloads/upload", {"name": "x", "file": _file(HEADER + b"0,10,5\n")})
    ),
    "/workloads/uploads/<int:pk>": Write(to("/workloads/uploads/{draft}", {"name": "saved"})),
    "/workloads/uploads/<int:pk>/discard": Write(to("/workloads/uploads/{draft}/discard")),
    "/workloads/mix": Write(to("/workloads/mix", {**MIX, "name": "another"})),
    "/workloads/<int:pk>/delete": Write(to("/workloads/{unused_workload}/delete")),
    "/calibrations/power/new": Write(
        lambda world: world.post(
            "/calibrations/power/new", {"logs": [_file(a_run())], "machine": "dgx-h100", "name": "again"}
        )
    ),
    "/calibrations/power/<int:pk>/delete": Write(to("/calibrations/power/{power_log}/delete")),
    "/calibrations/new": Write(
        lambda world: world.post(
            "/calibrations/new",
            {"benchmarks": [_file(MEASURED, "b.json")], "model": "llama-3.1-8b", "machine": "dgx-h100", "name": "two"},
        )
    ),
    "/calibrations/<int:pk>/delete": Write(to("/calibrations/{calibration}/delete")),
    "/studies/<int:study_id>/ask": Write(
        lambda world: world.post(of(world, "/studies/{study}/ask"), _asked_anew(world))
    ),
    "/studies/<int:study_id>/designs/<str:design_id>/pilot": Write(_pilot),
    "/compare/halfway": Write(_halfway),
    "/questions/<int:scenario_id>/meanwhile": Write(_meanwhile),
    "/studies/<int:study_id>/simulate": Write(to("/studies/{study}/simulate?rate=2.5", {"go": "keep"})),
    "/studies/<int:study_id>/cancel": Write(_cancel),
    "/studies/<int:study_id>/retry": Write(_retry),
    "/shared/<str:token>/clone": Write(to("/shared/{shared}/clone", by="dora"), "dora", "others"),
    "/studies/<int:study_id>/analyses/<slug:kind>/": Write(to("/studies/{study}/analyses/token_budget/")),
    "/studies/<int:study_id>/analyses/<slug:kind>/cancel": Write(_stop_analysis),
    "/studies/<int:study_id>/finance/assumptions": Write(
        to(f"{FINANCE}assumptions", {**BOUGHT, "demand.duty_cycle": "60"})
    ),
    "/studies/<int:study_id>/finance/cost-centres/": Write(
        to(f"{FINANCE}cost-centres/", {"idle": "by_use", "headroom": "apart", "centre-0": "search"})
    ),
    "/studies/<int:study_id>/finance/actuals/": Write(
        lambda world: world.post(of(world, f"{FINANCE}actuals/"), {"file": _file(BILL)})
    ),
    "/studies/<int:study_id>/finance/actuals/<int:actuals_id>/": Write(
        to(f"{FINANCE}actuals/{{draft_actuals}}/", {"go": "save"})
    ),
    "/studies/<int:study_id>/finance/actuals/<int:actuals_id>/delete": Write(
        to(f"{FINANCE}actuals/{{actuals}}/delete")
    ),
    "/studies/<int:study_id>/finance/approvals": Write(to(f"{FINANCE}approvals", {"note": "board of December"})),
    "/studies/<int:study_id>/finance/approvals/<int:approval_id>/withdraw": Write(
        lambda world: to(f"{FINANCE}approvals/{approved(world)}/withdraw")(world)
    ),
    "/studies/<int:study_id>/finance/links/": Write(to(f"{FINANCE}links/", FILE_LINK)),
    "/studies/<int:study_id>/finance/links/<int:file_link_id>/revoke": Write(
        lambda world: to(f"{FINANCE}links/{linked(world)}/revoke")(world)
    ),
    "/questions/<int:scenario_id>/delete": Write(to(f"{ASKED}delete")),
    "/deleted/<str:deleted_kind>/<int:deleted_id>/restore": Write(
        lambda world: deleted(world) or to("/deleted/scenarios/{scenario}/restore")(world)
    ),
    "/": Write(lambda world: world.post("/", _asked_anew(world) | {"go": "ask"})),
    "/questions/<int:scenario_id>/revisions/<int:number>/restore": Write(to(f"{ASKED}revisions/1/restore")),
    "/questions/<int:scenario_id>/revisions/<int:number>/clone": Write(to(f"{ASKED}revisions/1/clone")),
    "/questions/<int:scenario_id>/people": Write(to(f"{ASKED}people", {"name": "bob", "may": "read"})),
    "/questions/<int:scenario_id>/people/<int:grant_id>/end": Write(to(f"{ASKED}people/{{grant}}/end")),
    "/questions/<int:scenario_id>/links": Write(
        lambda world: world.post(of(world, f"{ASKED}links"), {"study": world.study.pk, "days": "7"})
    ),
    "/questions/<int:scenario_id>/links/<int:link_id>/revoke": Write(to(f"{ASKED}links/{{link}}/revoke")),
}
ALSO: dict[str, Write] = {
    "match": Write(to(f"{FINANCE}actuals/{{draft_actuals}}/", {"go": "match", "service": ["llm"]})),
    "discard": Write(to(f"{FINANCE}actuals/{{draft_actuals}}/", {"go": "discard"})),
    "locked out": Write(_signs_in_wrongly, "nobody signed in", ""),
}
"""What else such a route does."""
