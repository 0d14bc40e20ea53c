"""Up to four answers or designs side by side: words, what differs, figures, one chart, where the difference is from."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.http import Http404, QueryDict
from django.urls import reverse

from planner.accounts.owned import Visitor
from planner.accounts.teams import working_team
from planner.comparing.asked import Line, inputs
from planner.comparing.columns import MOST, Column, Key, address, columns_of, keys_of
from planner.comparing.driven import Driven, Telling, order_of
from planner.comparing.figures import Frontiers, glyph
from planner.comparing.lines import figures
from planner.studies.axes import POWER_NAMES, Plane, cost_plane, merits_plane, power_plane
from planner.studies.models import Study
from planner.studies.page import VIEWS
from simcore.comparing.drivers import ORDER
from simcore.comparing.verdict import verdict
from simcore.rows import DesignRow

OFFERED = 10
"""Answers that may be added, and designs of a study."""
Link = tuple[str, str, bool]
"""Address, words, whether it is where one is."""


@dataclass(frozen=True)
class Offer:
    """Something that may be added."""

    address: str
    words: str
    study: Study


@dataclass(frozen=True)
class ComparePage:
    user: Visitor
    keys: tuple[Key, ...]
    left_out: int
    """How many more than four were asked for."""
    baseline_key: str
    view: str
    power: str
    show_all: bool
    order: tuple[str, ...] = ORDER
    """In which what needs no simulation is applied."""
    may_ask: bool = False
    of_study: int | None = None
    """The one study that all are of, where the address names it."""

    @cached_property
    def columns(self) -> list[Column]:
        return columns_of(self.user, self.keys)

    @cached_property
    def baseline(self) -> Column:
        return next((column for column in self.columns if str(column.key) == self.baseline_key), self.columns[0])

    @property
    def is_comparison(self) -> bool:
        return len(self.columns) > 1

    @property
    def is_full(self) -> bool:
        return len(self.keys) >= MOST

    @cached_property
    def verdict(self) -> list[str]:
        return verdict([column.choice for column in self.columns])

    @property
    def incomplete(self) -> list[str]:
        """Of studies that may yet say otherwise."""
        return [f"{column.name} is not complete: {column.state}." for column in self.columns if column.state]

    @cached_property
    def all_inputs(self) -> list[Line]:
        return inputs(self.columns, self.baseline)

    @cached_property
    def all_figures(self) -> list[Line]:
        return figures(self.columns, self.baseline)

    @property
    def inputs(self) -> list[Line]:
        return [line for line in self.all_inputs if self.show_all or line.differs]

    @property
    def figures(self) -> list[Line]:
        """The first row is the answer, whatever it is."""
        first, *rest = self.all_figures
        return [first, *(line for line in rest if self.show_all or line.differs)]

    @property
    def same(self) -> int:
        """Rows that are the same for all."""
        return sum(not line.differs for line in (*self.all_inputs, *self.all_figures))

    @cached_property
    def driven(self) -> list[Driven]:
        telling = Telling(self.columns, self.baseline, self.order, self.may_ask, lambda order: self.link(order=order))
        return telling.every

    @property
    def unanswered(self) -> bool:
        """Whether one of them has no design at all."""
        return any(column.row is None for column in self.columns)

    @property
    def driven_by_inputs(self) -> bool:
        return any(one.found.steps and not one.same_study for one in self.driven)

    @property
    def is_waiting(self) -> bool:
        """Whether one is still being answered."""
        return any(column.study.is_active for column in self.columns)

    @property
    def waiting_address(self) -> str:
        return f"{reverse('comparing:waiting')}{address(self.keys)}"

    @property
    def api_address(self) -> str:
        at = reverse("api:study_compare", args=[self.of_study]) if self.of_study else reverse("api:compare")
        return f"{at}{address(self.keys, baseline=self.baseline_key)}"

    @cached_property
    def chart(self) -> Frontiers:
        return Frontiers(self.columns, self._plane())

    def _plane(self) -> Plane:
        if self.view == "both":
            return merits_plane(self.power)
        if self.view == "power":
            return power_plane(self.power)
        return cost_plane(with_energy=any(column.result.book.usd_per_kwh for column in self.columns))

    def link(self, keys: Sequence[Key] | None = None, **other: str) -> str:
        """This page with something otherwise."""
        now = {
            "baseline": self.baseline_key,
            "view": "" if self.view == "cost" else self.view,
            "power": "" if self.power == "provisioned" else self.power,
            "all": "1" if self.show_all else "",
            "order": "" if self.order == ORDER else ".".join(self.order),
        }
        return address(self.keys if keys is None else keys, **(now | other))

    @property
    def heads(self) -> list[dict[str, object]]:
        """Of each column what stands at its top."""
        return [
            {
                "column": column,
                "glyph": glyph(column.index),
                "series": column.index + 1,
                "remove": self.link([key for key in self.keys if key != column.key]),
                "as_baseline": self.link(baseline=str(column.key)),
                "is_baseline": column is self.baseline,
            }
            for column in self.columns
        ]

    @property
    def views(self) -> list[Link]:
        return [
            (self.link(view="" if view == "cost" else view), name, view == self.view) for view, name in VIEWS.items()
        ]

    @property
    def powers(self) -> list[Link]:
        return [
            (self.link(power="" if kind == "provisioned" else kind), name.removeprefix("kW "), kind == self.power)
            for kind, name in POWER_NAMES.items()
        ]

    @property
    def switch(self) -> str:
        return self.link(all="" if self.show_all else "1")

    @cached_property
    def answers_to_add(self) -> list[Offer]:
        """The latest that are not compared yet."""
        if self.is_full:
            return []
        mine = {key.study_id for key in self.keys if not key.design_id}
        rows = Study.objects.visible_to(self.user).exclude(pk__in=mine).select_related("revision__scenario")
        if self.of_study:
            rows = rows.filter(pk=self.of_study)
        return [
            Offer(
                self.link([*self.keys, Key(study.pk)]),
                f"{study.revision.title}, revision {study.revision.number}",
                study,
            )
            for study in rows[:OFFERED]
        ]

    @cached_property
    def designs_to_add(self) -> list[Offer]:
        """The best of each family of the studies compared."""
        if self.is_full:
            return []
        found: dict[str, Offer] = {}
        for column in self.columns:
            for row in _notable(column):
                key = Key(column.study.pk, row.design_id)
                if key not in self.keys:
                    words = f"{row.label}, of the study of {column.name}"
                    found.setdefault(str(key), Offer(self.link([*self.keys, key]), words, column.study))
        return list(found.values())[:OFFERED]


def _notable(column: Column) -> list[DesignRow]:
    """Beside its answer: the best of each family, then what is on its cost frontier, the dearest first."""
    result = column.result
    frontier = sorted((row for row in result.rows if row.on_cost_frontier), key=lambda row: -row.usd_per_hour)
    rows = [*result.best_by_family, *([result.surest] if result.surest else []), *result.closest, *frontier]
    return [row for row in rows if result.winner is None or row.design_id != result.winner.design_id]


def compare_page(user: Visitor, query: QueryDict, of_study: int | None = None) -> ComparePage:
    """What an address asks; Http404 where it names what is not there, or nothing of the study that it is to be of."""
    keys = keys_of(query)
    if of_study and any(key.study_id != of_study for key in keys):
        raise Http404("Only designs of this study are compared here.")
    view, power = query.get("view", ""), query.get("power", "")
    return ComparePage(
        user,
        tuple(keys[:MOST]),
        max(0, len(keys) - MOST),
        query.get("baseline", ""),
        view if view in VIEWS else "cost",
        power if power in POWER_NAMES else "provisioned",
        query.get("all") == "1",
        order_of(query.get("order", "")),
        working_team(user) is not None,  # type: ignore[arg-type]
        of_study,
    )
