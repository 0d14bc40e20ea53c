"""What depends on a row of the catalogue: said before it is deleted."""

from dataclasses import dataclass

from django.urls import reverse

from planner.accounts.owned import Visitor
from planner.calibrations.models import Calibration
from planner.catalogue.rows import rows
from planner.catalogue.services import price_books_for
from planner.scenarios.models import Revision, Scenario
from planner.studies.models import Study


@dataclass(frozen=True)
class Dependent:
    """One thing that uses a row."""

    kind: str
    name: str
    address: str = ""
    blocks: bool = False
    """It would not work without the row, which is kept until it is changed."""


INPUTS = {"machines": "machines", "models": "model", "fabrics": "fabric", "prices": "price_book"}
"""The field of a question that names a table's row."""


def dependents(user: Visitor, table: str, row_id: str) -> list[Dependent]:
    """All that the user may see of what depends on a row, what stands in its deletion's way first."""
    found = [*_machines(user, table, row_id), *_scenarios(user, table, row_id)]
    if table == "machines":
        found += _price_books(user, row_id)
    if table in ("models", "accelerators"):
        found += _calibrations(user, table, row_id)
    return found


def _machines(user: Visitor, table: str, row_id: str) -> list[Dependent]:
    if table != "accelerators":
        return []
    using = [row for row in rows(user, "machines").values() if row.texts.get("accelerator") == row_id]
    return [
        Dependent("machine", row.name, reverse("catalogue:row", args=["machines", row.row_id]), blocks=True)
        for row in using
    ]


def _scenarios(user: Visitor, table: str, row_id: str) -> list[Dependent]:
    """Scenarios whose latest revision asks for it."""
    field = INPUTS.get(table)
    if field is None:
        return []
    scenarios = Scenario.objects.visible_to(user)
    latest: dict[int, Revision] = {}
    for revision in Revision.objects.filter(scenario__in=scenarios).select_related("scenario").order_by("number"):
        latest[revision.scenario_id] = revision
    named = [one for one in latest.values() if row_id in _named(one.inputs.get(field))]
    studies = Study.objects.visible_to(user).filter(revision__in=named).order_by("pk")
    last = dict(studies.values_list("revision_id", "pk"))
    return [
        Dependent("scenario", one.title, reverse("studies:result", args=[last[one.pk]]) if one.pk in last else "")
        for one in named
    ]


def _named(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _price_books(user: Visitor, row_id: str) -> list[Dependent]:
    books = price_books_for(user).values()
    return [
        Dependent("price book", book.name, reverse("catalogue:price_book", args=[book.id]))
        for book in books
        if row_id in {price.machine for price in book.prices}
    ]


def _calibrations(user: Visitor, table: str, row_id: str) -> list[Dependent]:
    of = {"models": "model", "accelerators": "accelerator"}[table]
    rows_of = Calibration.objects.visible_to(user).filter(**{of: row_id})
    return [Dependent("calibration", row.name, reverse("calibrations:detail", args=[row.pk])) for row in rows_of]
