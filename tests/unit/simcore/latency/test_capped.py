"""What a cap does to iteration times: the law, the paper's given factor, and what it leaves alone."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.catalogue import machine, model, resolve_accelerator
from simcore.latency.compile import compile_curve
from simcore.latency.curve import BatchKind, IterationCurve
from simcore.power import POWER_TOKENS, fixed_w, speed_under_cap, working_w
from simcore.spec import LatencySpec, Machine, SpecError

H100 = machine("dgx-h100")
TOKENS = (*range(1, 200), *range(200, 9000, 57))
ROUNDED_PS = 2
"""Knots are rounded to whole ps, and each cap has knots of its own."""
MODELS = ("llama-3.1-8b", "llama-3.1-70b", "bloom-176b", "qwen3-30b-a3b", "gpt-oss-120b", "deepseek-v3")


def capped(watts: float | None, **more: object) -> Machine:
    return replace(H100, power_cap_w=watts, **more)


def curve(of: str, box: Machine, tp: int = 8, latency: LatencySpec | None = None) -> IterationCurve:
    return compile_curve(model(of), box, tp, 1, latency or LatencySpec())


def times(one: IterationCurve) -> list[int]:
    return [one.base_ps(kind, n) for kind in BatchKind for n in TOKENS] + [one.attention]


@given(of=st.sampled_from(MODELS), caps=st.lists(st.floats(80, 720), min_size=2, max_size=2))
@settings(max_examples=40, deadline=None)
def test_a_lower_cap_is_nowhere_faster_and_nothing_draws_more(of: str, caps: list[float]) -> None:
    low, high = (curve(of, capped(cap)) for cap in sorted(caps))
    assert all(slow >= fast - ROUNDED_PS for slow, fast in zip(times(low), times(high), strict=True))
    assert all(slow >= fast - ROUNDED_PS for slow, fast in zip(times(high), times(curve(of, H100)), strict=True))
    drawn = working_w(model(of), capped(min(caps)), 8, 1, low)
    assert max(map(max, drawn)) <= min(caps)


@pytest.mark.parametrize("of", MODELS)
def test_a_cap_at_the_tdp_or_above_changes_nothing(of: str) -> None:
    for cap in (700.0, 1000.0):
        assert curve(of, capped(cap)) == curve(of, H100)


def test_a_cap_between_decodes_and_prefills_slows_prefills_alone() -> None:
    drawn = working_w(model("llama2-70b"), H100, 8, 1, curve("llama2-70b", H100))
    cap = drawn[BatchKind.DECODE][POWER_TOKENS.index(16)] + 1
    plain, under = curve("llama2-70b", H100), curve("llama2-70b", capped(cap))
    for decodes in range(1, 17):
        assert under.base_ps(BatchKind.DECODE, decodes) == plain.base_ps(BatchKind.DECODE, decodes)
    assert under.iteration_ps([(2048, 0)], []) > 1.1 * plain.iteration_ps([(2048, 0)], [])
    assert under.context_ps == plain.context_ps
    assert "capped at" in under.source


def test_half_the_power_barely_slows_decodes_and_nearly_doubles_prefills_of_an_h100() -> None:
    plain, under = curve("llama-3.1-70b", H100, 4), curve("llama-3.1-70b", capped(350), 4)
    assert under.iteration_ps([], [1024] * 16) < 1.05 * plain.iteration_ps([], [1024] * 16)
    assert under.iteration_ps([(2048, 0)], []) == pytest.approx(1.9 * plain.iteration_ps([(2048, 0)], []), rel=0.03)


def test_what_draws_more_than_the_cap_draws_the_cap() -> None:
    for of, cap in itertools.product(MODELS, (200.0, 400.0)):
        plain = working_w(model(of), H100, 8, 1, curve(of, H100))
        under = working_w(model(of), capped(cap), 8, 1, curve(of, capped(cap)))
        for before, after in zip(itertools.chain(*plain), itertools.chain(*under), strict=True):
            assert after == (cap if before >= cap else pytest.approx(before, rel=0.02))


def test_the_papers_factor_is_taken_where_it_is_given() -> None:
    for latency in (LatencySpec(), LatencySpec(source="measured")):
        plain, under = curve("bloom-176b", H100, 8, latency), curve("bloom-176b", machine("dgx-h100-pcap"), 8, latency)
        assert under.decode_ps == plain.decode_ps
        assert under.prefill_ps == pytest.approx([1.3 * ps for ps in plain.prefill_ps])
    assert curve("bloom-176b", capped(490, prefill_slowdown=1.0)) == curve("bloom-176b", H100)


def test_the_shipped_measured_table_is_brought_under_the_cap_too() -> None:
    measured = LatencySpec(source="measured")
    plain, under = curve("bloom-176b", H100, 8, measured), curve("bloom-176b", capped(490), 8, measured)
    ratio = under.base_ps(BatchKind.PREFILL, 2048) / plain.base_ps(BatchKind.PREFILL, 2048)
    assert ratio == pytest.approx(1.18, abs=0.02)
    assert under.decode_ps[0] == plain.decode_ps[0]


def test_a_cap_below_idle_is_refused_by_name() -> None:
    with pytest.raises(SpecError, match=r"power_cap_w of machine dgx-h100: found 60 W, expected more than the 75 W"):
        curve("llama-3.1-8b", capped(60))


def test_the_law_gives_the_speeds_that_were_measured() -> None:
    """6 x RTX 3090 (llmgarage.ai, 2026-02), tokens/s of prefill at each cap over those at 350 W; 95 W are fixed."""
    share = (95 - 30) / (350 - 30)
    card = replace(resolve_accelerator(H100), tdp_w=350.0, idle_w=30.0, power_base=share)
    assert fixed_w(card) == pytest.approx(95)
    for cap, measured in ((350, 9893), (300, 9326), (250, 8436), (200, 5941)):
        assert speed_under_cap(card, 350, cap) == pytest.approx(measured / 9893, abs=0.02)
    assert speed_under_cap(card, 350, 150) == pytest.approx(2549 / 9893, abs=0.06)
    assert speed_under_cap(card, 350, 100) == pytest.approx(1390 / 9893, abs=0.01)
    assert speed_under_cap(card, 350, 351) == 1
