"""The frontier chart of a result page: figure, words, table."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from planner.studies.axes import Plane
from planner.studies.chart_words import summary
from planner.studies.figures import Figure, frontier_figure
from planner.studies.series import Ghost
from planner.studies.tables import Extent, Table, designs_table, kept_designs

if TYPE_CHECKING:
    from planner.studies.page import ResultPage


@dataclass(frozen=True)
class Chart:
    """The frontier chart with its words and its table; each is made when the page asks for it."""

    page: "ResultPage"
    plane: Plane

    @property
    def title(self) -> str:
        return self.plane.title

    @property
    def heading(self) -> str:
        """Of its table on a page of its own."""
        return {"cost": "Designs by cost", "power": "Designs by power"}.get(self.plane.name, "Designs by Perf/$")

    @cached_property
    def figure(self) -> Figure:
        return frontier_figure(self.page.result.rows, self.plane, self.page.look, self.ghost)

    @property
    def ghost(self) -> Ghost | None:
        """The chart as it was asked, where something is supposed."""
        base = self.page.base
        if self.page.result is base:
            return None
        limits = base.spec.limits
        as_asked = limits.usd_per_month if self.plane.name == "cost" else limits.power_limit_kw
        drawn_over = self.plane.name == "cost" or limits.power_kind == self.page.power
        return Ghost(base.rows, base.spec.rate_req_per_s, as_asked if drawn_over else None)

    @cached_property
    def summary(self) -> str:
        drawn = any(trace["meta"]["role"] == "ghost" and len(trace["x"]) > 1 for trace in self.figure["data"])
        behind = " Dotted: as it was asked." if drawn else ""
        return summary(self.page.result.rows, self.plane, self.page.look) + behind

    @property
    def extent(self) -> Extent:
        return self.page.extent

    @cached_property
    def table(self) -> Table:
        page = self.page
        kept = kept_designs(page.result, self.extent, page.chosen)
        return designs_table(page.result, page.marks, self.plane.column, kept)
