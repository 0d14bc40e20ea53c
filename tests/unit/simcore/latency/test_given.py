"""The given curve: rounded once, extended along its end segments, checked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.catalogue import machine, model
from simcore.latency.compile import compile_curve
from simcore.latency.curve import BatchKind, IterationCurve
from simcore.spec import LatencySpec, SpecError

PLAIN: dict[str, Any] = {
    "tokens": (1, 101),
    "prefill_s": (0.010, 0.020),
    "decode_s": (0.005, 0.006),
    "hybrid_s": (0.011, 0.022),
}


def curve_of(machine_id: str = "dgx-h100", **options: Any) -> IterationCurve:
    latency = LatencySpec(source="curve", **{**PLAIN, **options})
    return compile_curve(model("llama2-7b"), machine(machine_id), 1, 1, latency)


def test_each_kind_has_its_table_and_goes_on_along_its_end_segment() -> None:
    curve = curve_of()
    assert curve.base_ps(BatchKind.PREFILL, 51) == 15_000_000_000
    assert curve.base_ps(BatchKind.DECODE, 201) == 7_000_000_000
    assert curve.base_ps(BatchKind.HYBRID, 101) == 22_000_000_000


def test_hybrid_is_prefills_where_not_given() -> None:
    curve = curve_of(hybrid_s=None)
    assert curve.hybrid_ps == curve.prefill_ps


def test_coefficients_are_rounded_once() -> None:
    curve = curve_of(attention_s=1.23e-12, chunk_read_s=2.6e-12, context_s=3.4e-12, decode_seq_s=5e-9)
    assert (curve.attention, curve.chunk_read_ps, curve.context_ps, curve.decode_seq_ps) == (1260, 3, 3, 5000)


def test_it_is_taken_as_given_on_a_capped_machine_too() -> None:
    assert curve_of("dgx-h100-pcap").prefill_ps == curve_of().prefill_ps


@given(
    chunks=st.lists(st.tuples(st.integers(1, 2000), st.integers(0, 9000)), max_size=3),
    contexts=st.lists(st.integers(0, 9000), max_size=5),
)
def test_a_batch_takes_what_the_formula_says(chunks: list[tuple[int, int]], contexts: list[int]) -> None:
    a, r, b, s = 3e-11, 2e-9, 1e-9, 4e-6
    curve = curve_of(attention_s=a, chunk_read_s=r, context_s=b, decode_seq_s=s)
    if not chunks and not contexts:
        return
    n = sum(q for q, _ in chunks) + len(contexts)
    low, high = (0.011, 0.022) if chunks and contexts else (0.010, 0.020) if chunks else (0.005, 0.006)
    wanted = low + (high - low) * (n - 1) / 100 + b * sum(contexts) + s * len(contexts)
    wanted += sum(c * max(a * q, r) + a * q * (q + 1) / 2 for q, c in chunks)
    assert curve.iteration_ps(chunks, contexts) / 1e12 == pytest.approx(wanted, rel=1e-4, abs=1e-11)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tokens": None}, "latency.tokens: missing"),
        ({"tokens": (5, 5)}, r"latency.tokens\[1\]: found 5 after 5"),
        ({"tokens": (-1, 5)}, r"latency.tokens\[0\]: found -1"),
        ({"decode_s": None}, "latency.decode_s: missing"),
        ({"prefill_s": (0.1,)}, "latency.prefill_s: found 1 times, expected 2"),
        ({"hybrid_s": (0.1, -0.2)}, r"latency.hybrid_s\[1\]: found -0.2, expected at least 0"),
    ],
)
def test_what_is_wrong_is_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        curve_of(**options)
