"""Classes of requests in a mix: each with its share, lengths, how they go together, and what is cached."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Literal

import numpy as np

from simcore.spec.decode import SpecError, bounded
from simcore.traces.lengths import LengthSpec
from simcore.traces.mixes import PARTS, RANK_BINS, Mix, mix
from simcore.traces.splitmix import below
from simcore.traces.trace import CONTROL_CHARACTER, IntArray

CLASS_STREAM, HIT_STREAM = 5, 6
MOST_CLASSES, LONGEST_NAME = 20, 40
SHARES_OFF = 1e-6
PARTS_A_BIN, WEIGHT = 50, 1_000_000
NORMAL = NormalDist()


@dataclass(frozen=True)
class RequestClass:
    """Requests of one kind. Lengths are those of a shipped ``mix``, or ``prompt_tokens`` and ``output_tokens``."""

    name: str
    share: float = bounded(above=0, most=1)
    """Of all requests."""
    mix: Literal["conversation", "coding"] | None = None
    prompt_tokens: LengthSpec | None = None
    output_tokens: LengthSpec | None = None
    correlation: float = bounded(0.0, least=-1, most=1)
    """Spearman's rank correlation of prompt and output tokens."""
    cached_prompt_share: float = bounded(0.0, least=0, most=1)
    """Of a prompt's tokens, which the prefix cache holds, where it holds any."""
    cache_hit_share: float = bounded(1.0, least=0, most=1)
    """Of requests whose prompt begins with what the cache holds."""
    cost_centre: str = ""
    """Who pays for them; nothing that is simulated depends on it."""

    def __post_init__(self) -> None:
        if not self.name.strip() or len(self.name) > LONGEST_NAME or CONTROL_CHARACTER.search(self.name):
            raise SpecError(f"name: found {self.name!r}, expected 1 to {LONGEST_NAME} printable characters")
        if len(self.cost_centre) > LONGEST_NAME or CONTROL_CHARACTER.search(self.cost_centre):
            raise SpecError(
                f"cost_centre: found {self.cost_centre!r}, expected at most {LONGEST_NAME} printable characters"
            )
        own = [name for name in ("prompt_tokens", "output_tokens") if getattr(self, name) is not None]
        if self.mix is not None and (own or self.correlation):
            raise SpecError(
                f"{own[0] if own else 'correlation'}: found with mix, which has its own, expected one of both"
            )
        for name in ("prompt_tokens", "output_tokens"):
            if self.mix is None and name not in own:
                raise SpecError(f"{name}: missing, expected lengths (or mix for both)")

    @cached_property
    def lengths(self) -> Mix:
        """What lengths are drawn from."""
        if self.mix is not None:
            return mix(self.mix)
        if self.prompt_tokens is None or self.output_tokens is None:
            raise SpecError("prompt_tokens: missing")
        ranks = rank_shares(self.correlation)
        return Mix(self.name, self.prompt_tokens.table, self.output_tokens.table, ranks, "as asked for")


def rank_shares(correlation: float) -> IntArray:
    """Requests by twentieth of prompt rank and of output rank, where the two have this rank correlation: those of two
    normal variables (Pearson's correlation of them is 2 sin(pi r / 6))."""
    pearson = 2 * math.sin(math.pi * correlation / 6)
    spread = math.sqrt(max(1 - pearson * pearson, 1e-12))
    inner = [NORMAL.inv_cdf(edge / RANK_BINS) for edge in range(1, RANK_BINS)]
    rows = []
    for prompt_bin in range(RANK_BINS):
        shares = np.zeros(RANK_BINS)
        for part in range(PARTS_A_BIN):
            z = NORMAL.inv_cdf((prompt_bin + (part + 0.5) / PARTS_A_BIN) / RANK_BINS)
            upto = [NORMAL.cdf((edge - pearson * z) / spread) for edge in inner]
            shares += np.diff([0.0, *upto, 1.0])
        rows.append(shares / PARTS_A_BIN)
    return np.rint(np.array(rows) * WEIGHT).astype(np.int64)


def check_classes(classes: tuple[RequestClass, ...]) -> None:
    """SpecError unless their shares make a whole and each has a name of its own."""
    if len(classes) > MOST_CLASSES:
        raise SpecError(f"classes: found {len(classes)}, expected at most {MOST_CLASSES}")
    names = [one.name for one in classes]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SpecError(f"classes[{names.index(twice)}].name: found {twice!r} twice, expected names of their own")
    total = sum(one.share for one in classes)
    if abs(total - 1) > SHARES_OFF:
        raise SpecError(f"classes: found shares that add up to {total:.6g}, expected 1")


@dataclass(frozen=True, eq=False)
class Drawn:
    """Requests without their times."""

    prompt_tokens: IntArray
    output_tokens: IntArray
    cached_prompt_tokens: IntArray
    classes: tuple[str, ...]


def draw(classes: tuple[RequestClass, ...], requests: int, seed: int) -> Drawn:
    """The first so many requests of a seed: the n-th is the same however many are drawn."""
    chosen = _chosen(classes, requests, seed)
    hit = below(seed, HIT_STREAM, requests, PARTS)
    prompts, outputs, cached = (np.zeros(requests, np.int64) for _ in range(3))
    for place, one in enumerate(classes):
        mine = np.flatnonzero(chosen == place)
        prompts[mine], outputs[mine] = (column[mine] for column in one.lengths.sample(requests, seed))
        hits = mine[hit[mine] < round(one.cache_hit_share * PARTS)]
        share_ppm = round(one.cached_prompt_share * 1_000_000)
        cached[hits] = np.minimum(prompts[hits] * share_ppm // 1_000_000, prompts[hits] - 1)
    names = tuple(one.name for one in classes)
    return Drawn(prompts, outputs, cached, tuple(map(names.__getitem__, chosen.tolist())))


def _chosen(classes: tuple[RequestClass, ...], requests: int, seed: int) -> IntArray:
    upto = np.rint(np.cumsum([one.share for one in classes]) * PARTS).astype(np.int64)
    place: IntArray = np.searchsorted(upto[:-1], below(seed, CLASS_STREAM, requests, PARTS), side="right")
    return place
