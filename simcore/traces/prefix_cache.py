"""How many prompt tokens a prefix cache would have held: from Mooncake's hash_ids, a prompt's blocks of 512 tokens.

Equal ids are equal blocks after equal beginnings. Requests come in order of arrival to one cache for all machines
together; found are those blocks of a prompt that are there without a gap from its first on, but for one that the prompt
does not fill; all its blocks are there from then on. Whatever was used longest ago goes first; of one prompt the last
block, as engines do it. An engine's own caches hold less: each machine sees a part of the requests, and a block is
there only once it has been computed. It is the most that can be cached.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simcore.traces.errors import TraceError
from simcore.traces.report import ParseReport
from simcore.traces.trace import IntArray, Trace

BLOCK_TOKENS = 512
LARGEST_CACHE_TOKENS = 10**12
SIZES_TOKENS = (250_000, 1_000_000, 4_000_000, 16_000_000, 64_000_000)
MOST_BLOCKS = 500_000
"""Of a trace whose share is worked out for every size."""


@dataclass(frozen=True, eq=False)
class PromptBlocks:
    """ids: the blocks that prompts begin with, one prompt's after another's. counts: how many each has."""

    ids: IntArray
    counts: IntArray

    def ordered(self, order: IntArray) -> PromptBlocks:
        """Of the same prompts in another order."""
        starts = np.cumsum(self.counts) - self.counts
        counts = self.counts[order]
        places = np.arange(int(counts.sum())) + np.repeat(starts[order] - (np.cumsum(counts) - counts), counts)
        return PromptBlocks(self.ids[places], counts)

    def filled_by(self, prompt_tokens: IntArray) -> PromptBlocks:
        """Without blocks that a prompt does not fill."""
        counts = np.minimum(self.counts, prompt_tokens // BLOCK_TOKENS)
        place = np.arange(len(self.ids)) - np.repeat(np.cumsum(self.counts) - self.counts, self.counts)
        return PromptBlocks(self.ids[place < np.repeat(counts, self.counts)], counts)


class BlockReader:
    """Reads the blocks of records, a line each; where a record has none that can be read, it has none."""

    def __init__(self) -> None:
        import msgspec

        fields: list[Any] = [("hash_ids", list[int], msgspec.field(default_factory=list))]
        self.decode: Callable[[bytes], Any] = msgspec.json.Decoder(msgspec.defstruct("Blocks", fields)).decode
        self.ids, self.counts = array("q"), array("q")

    def add(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            try:
                found = array("q", self.decode(line).hash_ids)
            except (ValueError, OverflowError, RecursionError):
                found = array("q")
            self.ids.extend(found)
            self.counts.append(len(found))

    def blocks(self, order: IntArray) -> PromptBlocks | None:
        """In order of arrival; None where no record has any."""
        found = PromptBlocks(np.frombuffer(self.ids, np.int64), np.frombuffer(self.counts, np.int64))
        return found.ordered(order) if len(self.ids) else None


def with_prefix_cache(
    trace: Trace, blocks: PromptBlocks | None, cache_tokens: int | None, report: ParseReport
) -> Trace:
    """The trace with cached_prompt_tokens of a cache of so many tokens (None: without end); the report says so."""
    if blocks is None:
        raise TraceError(
            f"{trace.name}: found no hash_ids, expected Mooncake's, which say what a prefix cache would hold"
        )
    cached = cached_tokens(trace.prompt_tokens, blocks, cache_tokens)
    report.prefix_cache = {
        "cache_tokens": cache_tokens,
        "block_tokens": BLOCK_TOKENS,
        "cached_prompt_tokens": int(cached.sum()),
        "share": float(cached.sum() / trace.prompt_tokens.sum()),
    }
    cached.setflags(write=False)
    return replace(trace, cached_prompt_tokens=cached)


def shares(prompt_tokens: IntArray, blocks: PromptBlocks) -> list[dict[str, Any]]:
    """The share of prompt tokens that caches of several sizes hold, the one without end last; of it alone where there
    are very many blocks."""
    sizes = SIZES_TOKENS if len(blocks.ids) <= MOST_BLOCKS else ()
    total = int(prompt_tokens.sum())
    return [
        {"cache_tokens": size, "share": int(cached_tokens(prompt_tokens, blocks, size).sum()) / total}
        for size in (*sizes, None)
    ]


def cached_tokens(prompt_tokens: IntArray, blocks: PromptBlocks, cache_tokens: int | None) -> IntArray:
    """Of each prompt, in order of arrival; at least its last token is computed."""
    filled = blocks.filled_by(prompt_tokens)
    held = _ever_seen(filled) if cache_tokens is None else _least_recently_used(filled, cache_tokens // BLOCK_TOKENS)
    return np.minimum(held * BLOCK_TOKENS, prompt_tokens - 1)


def _ever_seen(blocks: PromptBlocks) -> IntArray:
    """Leading blocks of each prompt that a prompt before it had."""
    found = np.zeros(len(blocks.counts), np.int64)
    some = np.flatnonzero(blocks.counts)
    if not len(some):
        return found
    counts = blocks.counts[some]
    starts = np.cumsum(counts) - counts
    _, first, which = np.unique(blocks.ids, return_index=True, return_inverse=True)
    new = first[which] >= np.repeat(starts, counts)
    place = np.arange(len(blocks.ids)) - np.repeat(starts, counts)
    found[some] = np.minimum.reduceat(np.where(new, place, np.repeat(counts, counts)), starts)
    return found


def _least_recently_used(blocks: PromptBlocks, most_blocks: int) -> IntArray:
    held: OrderedDict[int, None] = OrderedDict()
    found = np.zeros(len(blocks.counts), np.int64)
    end = 0
    for prompt, count in enumerate(blocks.counts.tolist()):
        own = blocks.ids[end : end + count].tolist()
        end += count
        found[prompt] = next((place for place, block in enumerate(own) if block not in held), count)
        for block in reversed(own):
            held[block] = None
            held.move_to_end(block)
        while len(held) > most_blocks:
            held.popitem(last=False)
    return found
