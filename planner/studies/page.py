"""The result page of a study: its answer, chart and table, from what has been tried so far, and what is supposed."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.urls import reverse

from planner.studies import results, supposing
from planner.studies.axes import DRAWN, POWER_COLUMNS, POWER_NAMES, Plane, Spans, cost_plane, merits_plane, power_plane
from planner.studies.chart import Chart
from planner.studies.contexts import context_of
from planner.studies.drawn import drawn_spans
from planner.studies.equal import FIRST, HoldEqual, held_equal
from planner.studies.leases import State
from planner.studies.models import Study
from planner.studies.moves import Moves, address, read_moves
from planner.studies.names import family_names
from planner.studies.predicted import again_s, check_s
from planner.studies.quotes import quotes_not_holding
from planner.studies.results import Progress
from planner.studies.series import Look, places_of
from planner.studies.strip import Strip
from planner.studies.tables import Extent, Marks
from simcore.answer.hold_equal import HeldEqual
from simcore.answer.result import StudyResult
from simcore.explain import AnswerLine
from simcore.what_if import words as what_if_words
from simcore.what_if.changes import WhatIf
from simcore.what_if.untried import Untried, untried

ANY_DESIGN = "DESIGN"
FIRST_POLLS_S = ((15, 1), (90, 2))
"""Polled every second for the first 15 s, every two seconds up to 90 s, then every five."""
LAST_POLLS_S = 5
VIEWS = {"cost": "$", "power": "kW", "both": "both"}
"""What the chart is drawn over."""


@dataclass(frozen=True)
class ResultPage:
    """One state of one study. ``power``: the kW figure that charts are drawn over."""

    study: Study
    power: str
    view: str = "cost"
    extent: Extent = Extent.SHORT
    """How much of the chart's table is shown."""
    chosen: str = ""
    """The design that is looked at."""
    query: Mapping[str, Any] | None = None
    """Of the page's address: what is supposed."""
    by: HeldEqual = FIRST
    """What is held equal in the comparison under the chart."""
    baseline: str = ""
    """The design that it is relative to; empty: the first that is offered."""
    opened: str = ""
    """The sections below the answer that are open, by their names."""

    @cached_property
    def base(self) -> StudyResult:
        """As it was asked."""
        return results.study_result(self.study, self.progress)

    @cached_property
    def moves(self) -> Moves:
        return read_moves(self.query or {}, self.base)

    @cached_property
    def found(self) -> WhatIf:
        return supposing.found_under(self.base, self.moves)

    @property
    def result(self) -> StudyResult:
        """Under what is supposed, as far as it needs no simulation."""
        return self.found.result

    @cached_property
    def progress(self) -> Progress:
        return results.progress(self.study)

    @cached_property
    def answer(self) -> tuple[AnswerLine, ...]:
        return supposing.answer(self.study, self.found, self.progress)

    @cached_property
    def failed(self) -> int:
        """Designs that have no result, those whose stored one is damaged among them."""
        answered = sum(row.status != "failed" for row in self.base.rows)
        return max(0, self.progress.tried + self.progress.screened - answered)

    @property
    def poll_s(self) -> int:
        """How long the page waits before it asks again."""
        elapsed = self.progress.elapsed_s
        return next((every for until, every in FIRST_POLLS_S if elapsed < until), LAST_POLLS_S)

    @cached_property
    def chart(self) -> Chart:
        return Chart(self, self.plane(self.view))

    def plane(self, view: str) -> Plane:
        """The two sides of a chart: of money, of power, or of both merits."""
        limits = self.result.spec.limits
        if view == "both":
            return merits_plane(self.power, self.drawn)
        if view == "cost":
            return cost_plane(limits.usd_per_month, bool(self.result.book.usd_per_kwh))
        limit_kw = limits.power_limit_kw if limits.power_kind == self.power else None
        return power_plane(self.power, limit_kw, self.drawn)

    @property
    def drawn(self) -> Spans:
        """How far off drawn watts may be, where they are what is drawn over."""
        return drawn_spans(self.base) if self.power in DRAWN else {}

    @property
    def views(self) -> list[tuple[str, str, bool]]:
        return [(view, name, view == self.view) for view, name in VIEWS.items()]

    @property
    def power_kinds(self) -> list[tuple[str, str, bool]]:
        return [(kind, name.removeprefix("kW "), kind == self.power) for kind, name in POWER_NAMES.items()]

    @property
    def drawn_is_shown(self) -> bool:
        return self.view != "cost" and self.power in DRAWN

    @property
    def first_equal(self) -> HeldEqual:
        """What is held equal where the address does not say."""
        return held_equal("", self.study.spec.get("hold_equal"))

    @cached_property
    def shown_as(self) -> dict[str, str]:
        """What of the address is not supposed: the chart's form, where it is not the first one."""
        first = self.study.spec["limits"]["power_kind"]
        first_equal = self.first_equal
        return {
            **({"view": self.view} if self.view != "cost" else {}),
            **({"power": self.power} if self.power != first else {}),
            **({"equal": self.by} if self.by != first_equal else {}),
            **({"baseline": self.baseline} if self.baseline else {}),
            **({"open": self.opened} if self.opened else {}),
        }

    @property
    def own_query(self) -> str:
        """Of the address that shows this page."""
        return address(self.shown_as | self.moves.query)

    @property
    def moves_query(self) -> str:
        """Of what is supposed alone, for downloads."""
        return address(self.moves.query) if self.moves.query else ""

    @property
    def rest_query(self) -> str:
        """Of the address of the study that simulates what must be: what stays supposed there."""
        rest = {name: value for name, value in self.moves.query.items() if name not in ("rate", "slo")}
        return address(self.shown_as | rest)

    @property
    def mistakes(self) -> list[str]:
        """What of the address could not be read."""
        return [f"{name}: {error}" for name, error in self.moves.errors.items()]

    @property
    def reset_all(self) -> str:
        """The address without what is supposed."""
        return address(self.shown_as)

    @cached_property
    def untried(self) -> Untried:
        """Designs that may come first and were not tried; of a study that is not complete, that is known already."""
        if self.study.state != State.DONE:
            return Untried()
        try:
            return untried(context_of(self.study), self.found)
        except ValueError:  # its workload is not what it was
            return Untried()

    @cached_property
    def strip(self) -> Strip:
        return Strip(self.found, self.moves, self.shown_as, again_s(self.study, self.progress))

    @cached_property
    def equal(self) -> HoldEqual:
        return HoldEqual(self.result, self.look, self.power, self.by, self.baseline)

    @property
    def must_simulate(self) -> bool:
        """Whether a part of what is supposed is known only by a simulation."""
        return bool(self.found.simulates) or not self.found.rate_is_simulated

    @property
    def simulate_s(self) -> float:
        """How long that takes, about."""
        slo_s, rate_s = again_s(self.study, self.progress)
        return slo_s if self.found.simulates else rate_s

    @property
    def may_check(self) -> bool:
        """Whether designs that were not tried can be, as they are: another rate, or SLO, has a search of its own."""
        return bool(self.untried.count) and not self.must_simulate

    @property
    def check_s(self) -> float:
        return check_s(self.study, self.progress, self.untried.cpu_s)

    @cached_property
    def supposed(self) -> list[str]:
        """What is otherwise than it was asked; empty where nothing is."""
        return what_if_words.supposed(self.found)

    @property
    def outcome(self) -> str:
        return what_if_words.outcome(self.found) if self.supposed else ""

    @property
    def caveats(self) -> list[str]:
        quotes = quotes_not_holding(self.study, self.result)
        return [*what_if_words.caveats(self.found, self.untried), *quotes]

    @cached_property
    def look(self) -> Look:
        result = self.result
        names = family_names(result.spec)
        return Look(
            result.spec.rate_req_per_s,
            result.winner.design_id if result.winner else None,
            names,
            hollow_designs(result),
            places_of(self.base.rows, names),
        )

    @cached_property
    def marks(self) -> Marks:
        """What the tables' rows show beside their figures."""
        address = reverse("studies:design", args=[self.study.pk, ANY_DESIGN]) + self.moves_query
        return Marks(lambda name: address.replace(ANY_DESIGN, name), self.look.hollow, self.look.answer_id)


def result_page(study: Study, query: Mapping[str, Any]) -> ResultPage:
    """The page with the chart asked for, the power figure asked for, else the one that the question limits, as much of
    the table as is asked for, and what is supposed."""
    asked = str(query.get("power", ""))
    power = asked if asked in POWER_COLUMNS else study.spec["limits"]["power_kind"]
    view = str(query.get("view", ""))
    extent = query.get("table", Extent.SHORT)
    return ResultPage(
        study,
        power,
        view if view in VIEWS else "cost",
        Extent(extent) if extent in list(Extent) else Extent.SHORT,
        str(query.get("design", "")),
        query,
        held_equal(str(query.get("equal", "")), study.spec.get("hold_equal")),
        str(query.get("baseline", "")),
        str(query.get("open", "")),
    )


def hollow_designs(result: StudyResult) -> frozenset[str]:
    """Those that break a limit of the question or cannot run at all; one that only holds too little is not hollow."""
    return frozenset(
        design_id
        for design_id, found in result.shortfalls.items()
        if any(short.kind not in ("rate", "failures", "confidence", "screened") for short in found)
    )
