import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.trust.margins import Effect, Margin
from simcore.trust.ties import merit, overlap, tied_designs
from tests.unit.planner.design_rows import row

LOG = st.floats(0.0, 0.5)


def made(noise=0.02, phase="decode", **effects):
    def effect(key, gain):
        alone = {"prefill": 0.0, "decode": 0.0, "hybrid": 0.0} | {phase: gain}
        return Effect(key, -gain, gain, tuple((name, -of, of) for name, of in alone.items()))

    return Margin(100.0, noise, noise, tuple(effect(key, gain) for key, gain in effects.items()))


def test_designs_of_one_curve_are_told_apart_by_noise_alone():
    """Whatever is wrong with H100's times is wrong with both."""
    assert not overlap(made(h100=0.3), made(h100=0.3), math.exp(0.05))
    assert overlap(made(h100=0.3), made(h100=0.3), math.exp(0.03))


def test_different_accelerators_may_be_wrong_in_different_directions():
    assert overlap(made(h100=0.3), made(a100=0.3), math.exp(0.5))
    assert not overlap(made(h100=0.3), made(a100=0.3), math.exp(0.7))


def test_of_a_shared_curve_what_one_answers_more_counts():
    assert overlap(made(0.0, h100=0.3), made(0.0, h100=0.1), math.exp(0.19))
    assert not overlap(made(0.0, h100=0.3), made(0.0, h100=0.1), math.exp(0.21))


def test_what_is_wrong_with_hybrid_batches_does_not_concern_a_design_without_them():
    """Co-located against split on the same machines: the doubt about hybrids is the one's alone."""
    mixed, split = made(0.0, "hybrid", h100=0.3), made(0.0, "decode", h100=0.1)
    assert overlap(mixed, split, math.exp(math.hypot(0.3, 0.1) - 0.01))
    assert not overlap(mixed, split, math.exp(math.hypot(0.3, 0.1) + 0.01))


@given(LOG, LOG, LOG, LOG, st.floats(0.3, 3.0))
def test_a_tie_is_mutual(noise, first, second, shared, ratio):
    one, other = made(noise, h100=first, both=shared), made(0.01, a100=second, both=first)
    assert overlap(one, other, ratio) == overlap(other, one, 1 / ratio)


@given(LOG, st.floats(1.0, 2.0), st.floats(0.0, 0.3))
def test_more_doubt_ties_more(gain, ratio, more):
    if overlap(made(h100=gain), made(a100=0.1), ratio):
        assert overlap(made(h100=gain + more), made(a100=0.1), ratio)


@pytest.mark.parametrize(
    ("goal", "figure"), [("cost", 2520.0), ("power", 2.8), ("machines", 70 / 3), ("throughput", 70.0)]
)
def test_each_goal_compares_its_own_figure(goal, figure):
    assert merit(row("1"), goal, 25_000.0) == pytest.approx(figure)


def test_designs_that_differ_by_counts_alone_are_not_tied():
    winner, larger, other = row("1"), row("2", 71.0, "101"), row("3", 71.0, "101", family="vllm:dgx-h100")
    margins = {name: made(0.05, h100=0.1) for name in "123"}
    assert tied_designs(winner, [winner, larger, other], margins, "cost", dict.fromkeys("123", 25_000.0)) == {"3"}
