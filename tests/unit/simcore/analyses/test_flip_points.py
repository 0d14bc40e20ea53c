"""The flips' section, from made-up capacities."""

from dataclasses import replace

import pytest

from planner.analyses.shown import shown
from simcore.analyses import Subject, analyse
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.spec import SpecError
from tests.unit.simcore.analyses.subjects import MadeUp
from tests.unit.simcore.flips.test_flips import SARATHI, SPLIT, explored_question

LAB = MadeUp(None, None)  # type: ignore[arg-type]


def subject(**changes):
    context, result = explored_question(**changes)
    return Subject(result, WorkloadStatistics.of(context.trace), lambda: context)


def test_each_flip_is_told_with_what_comes_first_beyond_it():
    told = analyse("flip_points", subject(), LAB, {})
    flip = next(f for f in told["answer"] if f["machine"] == "dgx-a100" and f["side"] == "above")
    assert flip["value"] == pytest.approx(23 * 38.08 / 18)
    assert flip["now"] == 17.68
    assert flip["then"] == "Sarathi on 35 DGX H100, 512-token budget"
    assert flip["untried"] == 0, "whatever machines cost, every pair that may come first was tried"
    assert all(f["untried"] > 0 for f in told["answer"] if f["value"] in (20.0, 120.0)), "not so at other rates"
    assert [family["family"] for family in told["families"]] == [SPLIT, SARATHI]
    assert told["sentences"][0].startswith("Split, DGX H100 + DGX A100 stops being best if: ")
    assert told["sentences"][-1].startswith("Never tried, and may come first sooner: ")


def test_without_the_question_nothing_is_said_of_designs_never_tried():
    told = analyse("flip_points", replace(subject(), context=None), LAB, {})
    assert not any(flip["untried"] for flip in told["answer"])
    assert "Never tried" not in " ".join(told["sentences"])


def test_without_an_answer_it_cannot_be_asked():
    with pytest.raises(SpecError, match="no design of this study meets the question"):
        analyse("flip_points", subject(limits={"power_limit_kw": 20}), LAB, {})


def test_the_section_shows_flips_and_swaps_as_tables():
    answer, order = shown("flip_points", analyse("flip_points", subject(), LAB, {})).tables
    assert answer.rows[0].cells[0].text[0].isupper()
    assert any(row.cells[1].text == "Split, DGX H100 + DGX A100 falls behind Sarathi on DGX H100" for row in order.rows)
