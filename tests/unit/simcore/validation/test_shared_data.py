"""The whole of the shared measurements: what is shipped is what validation computes, and the goals that hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from simcore.validation.comparison import Comparison, Findings
from simcore.validation.open_loops import CapacityComparison
from simcore.validation.recompute import recompute
from simcore.validation.report import report
from simcore.validation.residual_table import residual_lines
from simcore.validation.summary import errors_of

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def found(shared_data: Path) -> Findings:
    return recompute(shared_data / "measured")


def judged(found: Findings, engine: str, phase: str) -> list[Comparison]:
    return [
        one
        for one in found.compared
        if (one.place.engine, one.phase) == (engine, phase) and not one.fitted and not one.poor
    ]


def test_the_shipped_residuals_are_those_of_the_measurements(found: Findings) -> None:
    shipped = (ROOT / "simcore" / "residuals.csv").read_text(encoding="utf-8").splitlines()
    assert residual_lines(found) == shipped, "make validate writes them anew"


def test_the_report_in_docs_is_of_these_measurements(found: Findings) -> None:
    shipped = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    assert report(found) == shipped, "make validate writes it anew"


def test_device_decodes_that_no_fit_used(found: Findings) -> None:
    rows = judged(found, "kernel", "decode")
    assert len(rows) > 900
    assert errors_of(rows).mape <= 0.10


def test_open_loops_that_met_a_target(found: Findings) -> None:
    """At least 0.85 of the rate that was served."""
    rows = [one for one in found.compared if isinstance(one, CapacityComparison) and not one.near_limit]
    assert len(rows) >= 20
    assert min(one.predicted / one.measured for one in rows) >= 0.85


def test_open_loops_near_a_limit_are_not_underrated(found: Findings) -> None:
    rows = [one for one in found.compared if isinstance(one, CapacityComparison) and one.near_limit]
    assert len(rows) >= 20
    assert min(one.predicted / one.measured for one in rows) >= 0.85


def test_every_file_is_read(found: Findings) -> None:
    sets = {one.set for one in found.compared}
    assert sets >= {"splitwise_step_times", "kernel_db", "serving_points", "power_anchors"}
    assert not [one for one in found.left_out if "not in the folder" in one.reason]
