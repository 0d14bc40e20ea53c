"""A call that succeeds for every operation of REST that writes."""

from collections.abc import Callable
from typing import Any

from planner.studies.leases import State
from planner.studies.models import Study
from tests.unit.planner.api.test_books_and_rows import BOOK
from tests.unit.planner.history.conftest import BILL, World
from tests.unit.planner.history.page_writes import Write, _file, approved, deleted, linked, of

JSON = "application/json"
ROOT = "/api/v1/"
LEAVES_NOTHING: dict[tuple[str, str], str] = {}
ROW = {"source": "our meter", "figures": {"host_w": 1700}}
FIGURES = {"name": "Ours", "accelerator": "h100-80gb", "accelerators": 4, "nic_bytes_per_s": 5e10, "host_w": 900,
           "nameplate_w": 5000}  # fmt: skip


def to(method: str, path: str, data: Any = None) -> Callable[[World], Any]:
    def call(world: World) -> Any:
        sent = {} if method == "delete" else {"content_type": JSON}
        return world.send(method, of(world, path), data, "token", headers={"If-Match": "*"}, **sent)

    return call


def _inputs(world: World, **changes: Any) -> dict[str, Any]:
    said = {name: value for name, value in world.study.revision.inputs.items() if value is not None}
    return {"inputs": {**said, **changes}}


def asked(method: str, path: str, **changes: Any) -> Callable[[World], Any]:
    return lambda world: to(method, path, _inputs(world, rate_req_per_s=5) | changes)(world)


def _assumptions(world: World) -> Any:
    at = of(world, "/api/v1/studies/{study}/assumptions/")
    values = world.clients["token"].get(at).json()["results"][0]["values"]
    return to("post", at, {"values": {**values, "annual_discount_rate": "0.09"}})(world)


def _row(method: str) -> Callable[[World], Any]:
    def call(world: World) -> Any:
        at = "/api/v1/catalogue/machines/dgx-h100/"
        now = world.clients["token"].get(at).json()["figures"]
        figures = {name: one["value"] for name, one in now.items()} if method == "put" else {}
        return to(method, at, {"source": "our meter", "figures": {**figures, "host_w": 1700}})(world)

    return call


def _moved(state: State, action: str) -> Callable[[World], Any]:
    def call(world: World) -> Any:
        Study.unscoped.filter(pk=world.study.pk).update(state=state)
        return to("post", "/api/v1/studies/{study}/" + action)(world)

    return call


def _upload(world: World) -> Any:
    return world.send("post", of(world, "/api/v1/studies/{study}/finance/actuals"), {"file": _file(BILL)}, "token")


MIX = {"name": "by token", "synthetic": {"mix": "conversation", "rate_req_per_s": 5, "requests": 50}}
Q = "/api/v1/scenarios/{scenario}"
CALLS: dict[tuple[str, str], Callable[[World], Any]] = {
    ("post", "/api/v1/workloads/"): to("post", "/api/v1/workloads/", MIX),
    ("delete", "/api/v1/workloads/{workload_id}"): to("delete", "/api/v1/workloads/{unused_workload}"),
    ("post", "/api/v1/scenarios/"): asked("post", "/api/v1/scenarios/"),
    ("put", "/api/v1/scenarios/{scenario_id}"): asked("put", Q),
    ("patch", "/api/v1/scenarios/{scenario_id}"): to("patch", Q, {"name": "Ours", "note": "for the board"}),
    ("delete", "/api/v1/scenarios/{scenario_id}"): to("delete", Q),
    ("post", "/api/v1/deleted/{deleted_kind}/{deleted_id}/restore"): lambda world: (
        deleted(world) or to("post", "/api/v1/deleted/scenarios/{scenario}/restore", {})(world)
    ),
    ("post", "/api/v1/scenarios/{scenario_id}/revisions/"): asked("post", f"{Q}/revisions/"),
    ("post", "/api/v1/studies/"): asked("post", "/api/v1/studies/"),
    ("post", "/api/v1/studies/{study_id}/cancel"): _moved(State.RUNNING, "cancel"),
    ("post", "/api/v1/studies/{study_id}/retry"): _moved(State.CANCELLED, "retry"),
    ("post", "/api/v1/studies/{study_id}/analyses/{kind}"): to(
        "post", "/api/v1/studies/{study}/analyses/token_budget", {}
    ),
    ("post", "/api/v1/studies/{study_id}/finance/actuals"): _upload,
    ("delete", "/api/v1/studies/{study_id}/finance/actuals/{actuals_id}"): to(
        "delete", "/api/v1/studies/{study}/finance/actuals/{actuals}"
    ),
    ("post", "/api/v1/studies/{study_id}/assumptions/"): _assumptions,
    ("post", "/api/v1/studies/{study_id}/approvals/"): to("post", "/api/v1/studies/{study}/approvals/", {}),
    ("delete", "/api/v1/studies/{study_id}/approvals/{approval_id}"): lambda world: to(
        "delete", f"/api/v1/studies/{{study}}/approvals/{approved(world)}"
    )(world),
    ("post", "/api/v1/studies/{study_id}/file-links/"): to(
        "post", "/api/v1/studies/{study}/file-links/", {"file": "lines.csv"}
    ),
    ("delete", "/api/v1/studies/{study_id}/file-links/{file_link_id}"): lambda world: to(
        "delete", f"/api/v1/studies/{{study}}/file-links/{linked(world)}"
    )(world),
    ("post", "/api/v1/catalogue/{table}/"): to(
        "post", "/api/v1/catalogue/machines/", {"id": "mine", "source": "our meter", "figures": FIGURES}
    ),
    ("put", "/api/v1/catalogue/{table}/{row_id}/"): _row("put"),
    ("patch", "/api/v1/catalogue/{table}/{row_id}/"): _row("patch"),
    ("delete", "/api/v1/catalogue/{table}/{row_id}/"): to("delete", "/api/v1/catalogue/machines/dgx-h100/"),
    ("post", "/api/v1/catalogue/price-books/"): to("post", "/api/v1/catalogue/price-books/", BOOK),
    ("put", "/api/v1/catalogue/price-books/{book_id}/"): to(
        "put", "/api/v1/catalogue/price-books/list/", {name: BOOK[name] for name in ("name", "date", "prices")}
    ),
    ("delete", "/api/v1/catalogue/price-books/{book_id}/"): to("delete", "/api/v1/catalogue/price-books/list/"),
}
WRITES = {key: Write(call) for key, call in CALLS.items()}
