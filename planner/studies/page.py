"""The result page of a study: its answer, charts and tables, from what has been tried so far."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.urls import reverse

from planner.studies import results
from planner.studies.axes import POWER_NAMES, Axis, cost_axis, power_axis
from planner.studies.chart_words import summary
from planner.studies.figures import Figure, frontier_figure
from planner.studies.models import Study
from planner.studies.results import Progress
from planner.studies.series import Look
from planner.studies.tables import Extent, Marks, Table, designs_table, kept_designs
from simcore import explain
from simcore.catalogue import resolve_machine
from simcore.explain import AnswerLine
from simcore.families import SCHEDULER_NAMES, SPLIT
from simcore.result import StudyResult
from simcore.spec import StudySpec

ANY_DESIGN = "DESIGN"
POWER_COLUMNS = {
    "nameplate": "nameplate_w",
    "provisioned": "provisioned_w",
    "drawn_mean": "mean_w",
    "drawn_p99": "p99_w",
}
MAKE = "DGX "
"""Left out of the names at the lines' ends where all machines share it."""
FIRST_POLLS_S = ((15, 1), (90, 2))
"""Polled every second for the first 15 s, every two seconds up to 90 s, then every five."""
LAST_POLLS_S = 5
EXTENTS = {"cost": Extent.SHORT, "power": Extent.NONE}
"""How much of each chart's table a page begins with."""


@dataclass(frozen=True)
class ResultPage:
    """One state of one study. ``power``: the kW figure that the second chart is drawn over."""

    study: Study
    power: str
    extents: Mapping[str, Extent] = field(default_factory=lambda: EXTENTS)
    """Chart → how much of its table is shown."""
    chosen: str = ""
    """The design that is looked at."""

    @cached_property
    def result(self) -> StudyResult:
        return results.study_result(self.study, self.progress)

    @cached_property
    def progress(self) -> Progress:
        return results.progress(self.study)

    @cached_property
    def answer(self) -> tuple[AnswerLine, ...]:
        return explain.answer(self.result, results.how_far(self.study))

    @cached_property
    def failed(self) -> int:
        """Designs that have no result, those whose stored one is damaged among them."""
        answered = sum(row.status != "failed" for row in self.result.rows)
        return max(0, self.progress.tried + self.progress.screened - answered)

    @property
    def poll_s(self) -> int:
        """How long the page waits before it asks again."""
        elapsed = self.progress.elapsed_s
        return next((every for until, every in FIRST_POLLS_S if elapsed < until), LAST_POLLS_S)

    @property
    def charts(self) -> list["Chart"]:
        return [self.chart("cost"), self.chart("power")]

    def chart(self, name: str) -> "Chart":
        """``cost``, or whatever else for power."""
        limits = self.result.spec.limits
        if name == "cost":
            return Chart(self, "cost", "Cost frontier", cost_axis(limits.usd_per_month), "usd_per_hour")
        limit_kw = limits.power_limit_kw if limits.power_kind == self.power else None
        return Chart(self, "power", "Power frontier", power_axis(self.power, limit_kw), POWER_COLUMNS[self.power])

    @property
    def power_kinds(self) -> list[tuple[str, str, bool]]:
        return [(kind, name.removeprefix("kW "), kind == self.power) for kind, name in POWER_NAMES.items()]

    @cached_property
    def look(self) -> Look:
        result = self.result
        return Look(
            result.spec.rate_req_per_s,
            result.winner.design_id if result.winner else None,
            family_names(result.spec),
            hollow_designs(result),
        )

    @cached_property
    def marks(self) -> Marks:
        """What the tables' rows show beside their figures."""
        address = reverse("studies:design", args=[self.study.pk, ANY_DESIGN])
        return Marks(lambda name: address.replace(ANY_DESIGN, name), self.look.hollow, self.look.answer_id)


@dataclass(frozen=True)
class Chart:
    """A frontier chart with its words and its table; each is made when the page asks for it."""

    page: ResultPage
    id: str
    title: str
    axis: Axis
    column: str
    """By which its table is sorted."""

    @cached_property
    def figure(self) -> Figure:
        return frontier_figure(self.page.result.rows, self.axis, self.page.look)

    @cached_property
    def summary(self) -> str:
        return summary(self.page.result.rows, self.axis, self.page.look)

    @property
    def extent(self) -> Extent:
        return self.page.extents[self.id]

    @cached_property
    def table(self) -> Table:
        page = self.page
        return designs_table(page.result, page.marks, self.column, kept_designs(page.result, self.extent, page.chosen))


def result_page(study: Study, query: Mapping[str, Any]) -> ResultPage:
    """The page with the power figure asked for, else the one that the question limits, and as much of the tables as
    is asked for."""
    asked = str(query.get("power", ""))
    power = asked if asked in POWER_COLUMNS else study.spec["limits"]["power_kind"]
    extents = {chart: _extent(query.get(f"{chart}_table"), first) for chart, first in EXTENTS.items()}
    return ResultPage(study, power, extents, str(query.get("design", "")))


def _extent(asked: Any, otherwise: Extent) -> Extent:
    return Extent(asked) if asked in list(Extent) else otherwise


def hollow_designs(result: StudyResult) -> frozenset[str]:
    """Those that break a limit of the question or cannot run at all; one that only holds too little is not hollow."""
    return frozenset(
        design_id
        for design_id, found in result.shortfalls.items()
        if any(short.kind not in ("rate", "screened") for short in found)
    )


def family_names(spec: StudySpec) -> dict[str, str]:
    """Family id → ``Sarathi, H100`` or ``Split, H100 + A100``, of all families of the study's machines."""
    machines = {machine.id: machine.name for machine in (resolve_machine(choice.machine) for choice in spec.machines)}
    if all(name.startswith(MAKE) for name in machines.values()):
        machines = {machine_id: name.removeprefix(MAKE) for machine_id, name in machines.items()}
    together = {
        f"{kind}:{name}": f"{words.partition(',')[0]}, {label}"
        for kind, words in SCHEDULER_NAMES.items()
        for name, label in machines.items()
    }
    split = {
        f"{SPLIT}:{first}+{second}": f"Split, {machines[first]} + {machines[second]}"
        for first in machines
        for second in machines
    }
    return together | split
