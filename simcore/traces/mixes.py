"""The shipped mixes of lengths: figures fitted to published traces, each with its source.

data/length_cdf.csv: for each mix and column, the share of requests with at most so many tokens, at
selected token counts; between them the share is taken as linear. data/length_ranks.csv: requests
in bins of equal share by rank of prompt and of output, and the share in each pair of bins: what
one correlation coefficient cannot say (in conversations both the shortest and the longest
prompts have short outputs). benchmarks/fit_mixes.py writes both.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from simcore.traces.splitmix import below
from simcore.traces.trace import IntArray

PARTS = 1_000_000_000
PARTS_PER_MILLION = PARTS // 1_000_000
RANK_BINS = 20
PROMPT_STREAM, OUTPUT_BIN_STREAM, OUTPUT_STREAM = 1, 2, 3


@dataclass(frozen=True, eq=False)
class Lengths:
    """A distribution function at knots: parts (of 10^9) of requests with at most so many tokens."""

    tokens: IntArray
    parts: IntArray

    def at(self, parts: IntArray) -> IntArray:
        """Inverse: the least token count whose share exceeds parts (0 to 10^9 - 1)."""
        knot = np.searchsorted(self.parts, parts, side="right") - 1
        low, high = self.parts[knot], self.parts[knot + 1]
        span = self.tokens[knot + 1] - self.tokens[knot]
        tokens: IntArray = self.tokens[knot] + 1 + (parts - low) * span // (high - low)
        return tokens


@dataclass(frozen=True, eq=False)
class Mix:
    """Prompt and output lengths and how they go together. rank_shares: prompt bin x output bin."""

    name: str
    prompt: Lengths
    output: Lengths
    rank_shares: IntArray
    source: str

    def sample(self, requests: int, seed: int) -> tuple[IntArray, IntArray]:
        """Prompt and output tokens of the first so many requests of a seed."""
        prompt_parts = below(seed, PROMPT_STREAM, requests, PARTS)
        row = self.rank_shares[prompt_parts * RANK_BINS // PARTS]
        pick = below(seed, OUTPUT_BIN_STREAM, requests, row.sum(axis=1))
        output_bin = (pick[:, None] >= np.cumsum(row, axis=1)).sum(axis=1)
        within = below(seed, OUTPUT_STREAM, requests, PARTS // RANK_BINS)
        return self.prompt.at(prompt_parts), self.output.at(output_bin * (PARTS // RANK_BINS) + within)


@cache
def mix(name: str) -> Mix:
    """A shipped mix; KeyError for a name that is not one of mix_names()."""
    cdf = [row for row in _rows("length_cdf.csv") if row["mix"] == name]
    if not cdf:
        raise KeyError(name)
    ranks = np.zeros((RANK_BINS, RANK_BINS), dtype=np.int64)
    for row in _rows("length_ranks.csv"):
        if row["mix"] == name:
            ranks[int(row["prompt_bin"]), int(row["output_bin"])] = int(row["share_ppm"])
    return Mix(name, _lengths(cdf, "prompt_tokens"), _lengths(cdf, "output_tokens"), ranks, cdf[0]["source"])


@cache
def mix_names() -> tuple[str, ...]:
    """The names of the shipped mixes, in the order of their table."""
    return tuple(dict.fromkeys(row["mix"] for row in _rows("length_cdf.csv")))


def _lengths(rows: list[dict[str, str]], column: str) -> Lengths:
    knots = [row for row in rows if row["column"] == column]
    return Lengths(
        np.array([int(row["tokens"]) for row in knots], dtype=np.int64),
        np.array([int(row["share_at_most_ppm"]) * PARTS_PER_MILLION for row in knots], dtype=np.int64),
    )


@cache
def _rows(name: str) -> list[dict[str, str]]:
    text = (files("simcore.traces") / "data" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
