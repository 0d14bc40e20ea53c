"""Whether the figures of a row go together, and with the rows that it refers to or that refer to it."""

from collections.abc import Mapping

from planner.accounts.owned import Visitor
from planner.catalogue.columns import columns, plain_number
from planner.catalogue.rows import Row, rows
from simcore.catalogue import CLASSES, build
from simcore.spec import SpecError, nearest

BESIDE = {"machines": "accelerators", "accelerators": "machines"}
"""Table → the one whose rows its own must go together with."""
Beside = Mapping[str, Row]


def rows_beside(user: Visitor, table: str) -> Beside:
    """Those rows, by id."""
    return rows(user, BESIDE[table]) if table in BESIDE else {}


def check_row(table: str, row_id: str, texts: Mapping[str, str], beside: Beside) -> None:
    """SpecError, ``field: found …``, where they do not."""
    try:
        build(CLASSES[table], row_id, texts)  # type: ignore[type-var]
    except SpecError as error:
        raise SpecError(str(error).removeprefix(f"{row_id}.")) from None
    for column in columns(table).values():
        found = texts.get(column.field, "")
        if column.of and found not in beside:
            raise SpecError(
                f"{column.field}: found '{found}', expected one of {', '.join(beside)}{nearest(found, beside)}"
            )
    if table == "machines":
        _check_cap("power_cap_w", texts.get("power_cap_w"), beside[texts["accelerator"]].texts.get("idle_w"))
    if table == "accelerators":
        for machine in beside.values():
            if machine.texts.get("accelerator") == row_id:
                _check_cap("idle_w", machine.texts.get("power_cap_w"), texts["idle_w"], f" of {machine.name}")


def _check_cap(field: str, cap: str | None, idle: str | None, whose: str = "") -> None:
    """A cap lies above what an idle accelerator draws."""
    cap_w, idle_w = plain_number(cap or ""), plain_number(idle or "")
    if cap_w is None or idle_w is None or cap_w > idle_w:
        return
    if field == "idle_w":
        raise SpecError(f"idle_w: found {idle_w:g}, expected less than the power cap{whose} ({cap_w:g} W)")
    raise SpecError(f"power_cap_w: found {cap_w:g}, expected more than its accelerator draws idle ({idle_w:g} W)")
