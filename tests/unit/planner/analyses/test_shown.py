"""Every kind's section can be shown: words, charts with their words, tables as wide as their heads."""

from collections.abc import Sequence
from typing import Any

import pytest

from planner.analyses.shown import shown
from simcore.analyses import analyse
from simcore.analyses.kind import Run
from simcore.evaluation import Evaluation
from simcore.spec import Case
from tests.unit.simcore.analyses.subjects import MadeUp, held, rate_result, subject, times
from tests.unit.simcore.analyses.test_failures import failure
from tests.unit.simcore.analyses.test_racks import drawn


def run(case: Case, rate: float) -> Run:
    each = times(0.1, 0.2, 0.3)
    return Run(rate_result(rate), each, each, each, each, each, 0.8)


def capacity(case: Case) -> Evaluation:
    return held(75.0, 70.0, 80.0)


def racks(case: Case, rate: float, most: Sequence[int]) -> list[dict[str, Any]]:
    return drawn(case, rate, most)


@pytest.mark.parametrize("kind", ["token_budget", "slo_cost", "racks", "growth", "failures"])
def test_a_section_is_words_charts_and_tables(kind: str) -> None:
    found = shown(kind, analyse(kind, subject(), MadeUp(capacity, run, racks, failure), {}))
    assert found.sentences
    assert found.assumptions
    assert found.charts
    for chart in found.charts:
        assert chart.summary
        assert all(len(trace["x"]) == len(trace["y"]) > 0 for trace in chart.figure["data"])
    for table in found.tables:
        assert table.rows
        assert all(len(row.cells) == len(table.columns) for row in table.rows)


def test_a_chart_of_growth_ends_a_little_after_what_happens() -> None:
    told = analyse("growth", subject(), MadeUp(), {"growth_percent": 10, "months": 36})
    assert told["purchases"][-1]["month"] == 2
    (chart,) = shown("growth", told).charts
    assert chart.figure["data"][0]["x"][-1] < 36
