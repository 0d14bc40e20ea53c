"""The one formula for an iteration's time (DESIGN.md section 3), in whole picoseconds.

    t = g_kind(n) + sum_i [ c_i * max(a*q_i, r) + a*q_i*(q_i + 1)/2 ] + b * sum_j c_j + s * decodes

q_i new prompt tokens over c_i cached ones; c_j the context of decode j; n all new tokens. ``g`` is piecewise linear
between knots and goes on along its end segments beyond them. The engines know no other form.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

PS_PER_S = 1_000_000_000_000
ATTENTION_FRACTION_BITS = 10
"""``attention`` is kept in units of 2**-10 ps: a pair of tokens takes far less than a whole picosecond's precision."""


class BatchKind(IntEnum):
    """What a batch holds; the order is that of the curve's tables and of the busy-time counters."""

    PREFILL = 0
    DECODE = 1
    HYBRID = 2


@dataclass(frozen=True)
class IterationCurve:
    """One pipeline stage's time for one micro-batch, sending included. All fields are whole numbers, exact from
    here on.
    """

    tokens: tuple[int, ...]
    """Knots of n, increasing, at least one; shared by the three kinds."""
    prefill_ps: tuple[int, ...]
    decode_ps: tuple[int, ...]
    hybrid_ps: tuple[int, ...]
    attention: int
    """a, in 2**-10 ps for one pair of tokens."""
    chunk_read_ps: int
    """r: reading one cached token's KV for a chunk."""
    context_ps: int
    """b: reading one cached token's KV for a decode."""
    decode_seq_ps: int
    """s: for each decode."""
    source: str = "curve"

    def knots_ps(self, kind: BatchKind) -> tuple[int, ...]:
        """The table of ``g`` for one kind of batch."""
        return (self.prefill_ps, self.decode_ps, self.hybrid_ps)[kind]

    def base_ps(self, kind: BatchKind, tokens: int) -> int:
        """g_kind(n): linear between knots, rounded down to a whole ps; beyond the ends along the end segment, at
        least 0.
        """
        knots, values = self.tokens, self.knots_ps(kind)
        if len(knots) == 1:
            return values[0]
        high = min(max(bisect_left(knots, tokens), 1), len(knots) - 1)
        low = high - 1
        rise, run = values[high] - values[low], knots[high] - knots[low]
        return max(values[low] + rise * (tokens - knots[low]) // run, 0)

    def chunk_ps(self, new_tokens: int, cached_tokens: int) -> int:
        """Attention of one prefill chunk: c*max(a*q, r) + a*q(q+1)/2, rounded down to a whole ps once."""
        over_cached = max(self.attention * new_tokens, self.chunk_read_ps << ATTENTION_FRACTION_BITS)
        within = self.attention * new_tokens * (new_tokens + 1) // 2
        return (cached_tokens * over_cached + within) >> ATTENTION_FRACTION_BITS

    def iteration_ps(self, chunks: Sequence[tuple[int, int]], contexts: Sequence[int]) -> int:
        """Time of a batch of prefill ``chunks`` (new, cached tokens) and decodes of the given ``contexts``."""
        tokens = sum(new for new, _ in chunks) + len(contexts)
        total = self.base_ps(batch_kind(len(chunks), len(contexts)), tokens)
        total += sum(self.chunk_ps(new, cached) for new, cached in chunks)
        return total + self.context_ps * sum(contexts) + self.decode_seq_ps * len(contexts)


def batch_kind(chunks: int, decodes: int) -> BatchKind:
    """The kind of a batch of so many prefill chunks and decodes."""
    if chunks and decodes:
        return BatchKind.HYBRID
    return BatchKind.PREFILL if chunks else BatchKind.DECODE
