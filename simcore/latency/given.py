"""``latency.source: curve``: DESIGN.md section 3's formula as the user gives it, one stage's time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from simcore.latency.curve import ATTENTION_FRACTION_BITS, PS_PER_S, IterationCurve
from simcore.spec import LatencySpec, SpecError


def given_curve(latency: LatencySpec) -> IterationCurve:
    """The curve of ``tokens``, ``prefill_s``, ``decode_s``, ``hybrid_s`` (prefill's where not given) and the
    coefficients.

    ``attention_s`` is rounded to 2**-10 ps, all else to whole ps; beyond its ends the curve goes on along its end
    segments.
    """
    tokens = _tokens(latency.tokens)
    prefill = _times("prefill_s", latency.prefill_s, tokens)
    hybrid = prefill if latency.hybrid_s is None else _times("hybrid_s", latency.hybrid_s, tokens)
    return IterationCurve(
        tokens=tokens,
        prefill_ps=prefill,
        decode_ps=_times("decode_s", latency.decode_s, tokens),
        hybrid_ps=hybrid,
        attention=round(latency.attention_s * PS_PER_S * (1 << ATTENTION_FRACTION_BITS)),
        chunk_read_ps=round(latency.chunk_read_s * PS_PER_S),
        context_ps=round(latency.context_s * PS_PER_S),
        decode_seq_ps=round(latency.decode_seq_s * PS_PER_S),
        source="curve: as given",
    )


def _tokens(tokens: tuple[int, ...] | None) -> tuple[int, ...]:
    if not tokens:
        raise SpecError("latency.tokens: missing, expected increasing whole numbers with source curve")
    for i, (low, high) in enumerate(pairwise(tokens), start=1):
        if high <= low:
            raise SpecError(f"latency.tokens[{i}]: found {high} after {low}, expected increasing numbers")
    if tokens[0] < 0:
        raise SpecError(f"latency.tokens[0]: found {tokens[0]}, expected at least 0")
    return tokens


def _times(name: str, seconds: Sequence[float] | None, tokens: tuple[int, ...]) -> tuple[int, ...]:
    if seconds is None:
        raise SpecError(f"latency.{name}: missing, expected {len(tokens)} times in seconds with source curve")
    if len(seconds) != len(tokens):
        raise SpecError(f"latency.{name}: found {len(seconds)} times, expected {len(tokens)}, one for each of tokens")
    for i, value in enumerate(seconds):
        if value < 0:
            raise SpecError(f"latency.{name}[{i}]: found {value:g}, expected at least 0")
    return tuple(round(value * PS_PER_S) for value in seconds)
