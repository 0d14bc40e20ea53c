"""Prompt and output lengths of measured rows: as they state them, or assumed of a data set that they name.

data/lengths.csv has the data sets: mean, spread (standard deviation over mean) and longest of prompts and outputs, each
with its source. Lengths are gamma distributed of that mean and spread, cut at the longest and scaled to keep the mean;
prompts and outputs are taken as independent. A spread of 0 is one length.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gamma

from simcore.steady_state.loops import Lengths
from simcore.traces.splitmix import below
from simcore.traces.trace import IntArray
from simcore.validation.names import Unknown

PROMPT_CLASSES, OUTPUT_CLASSES = 6, 4
GRID = 4096
"""Quantiles that a distribution is taken as."""
CUTS = 20
PROMPT_STREAM, OUTPUT_STREAM = 11, 12


@dataclass(frozen=True)
class Tokens:
    """A distribution of token counts."""

    mean: float
    spread: float = 0.0
    longest: float | None = None

    def quantiles(self) -> NDArray[np.float64]:
        """``GRID`` lengths, each as likely, in ascending order."""
        return _quantiles(self)


@cache
def _quantiles(tokens: Tokens) -> NDArray[np.float64]:
    if not tokens.spread:
        return np.full(GRID, tokens.mean)
    shape = 1 / tokens.spread**2
    at_mean_1 = gamma.ppf((np.arange(GRID) + 0.5) / GRID, shape, scale=1 / shape)
    scale = tokens.mean
    for _ in range(CUTS):  # what the cut takes from the mean, the scale gives back
        found = np.clip(at_mean_1 * scale, 1.0, tokens.longest or np.inf)
        scale *= tokens.mean / float(found.mean())
    return np.asarray(found, np.float64)


@dataclass(frozen=True)
class Workload:
    """Prompts and outputs, and what of it the row does not say."""

    prompt: Tokens
    output: Tokens
    assumes: str = ""

    def classes(self) -> Lengths:
        """As steady state takes them: classes of alike prompts, each with classes of alike outputs."""
        return _classes(self.prompt, self.output)

    def sample(self, requests: int, seed: int) -> tuple[IntArray, IntArray]:
        """Whole prompt and output tokens of so many requests, the same on every machine for a seed."""
        prompts = self.prompt.quantiles()[below(seed, PROMPT_STREAM, requests, GRID)]
        outputs = self.output.quantiles()[below(seed, OUTPUT_STREAM, requests, GRID)]
        return _whole(prompts), _whole(outputs)


@cache
def _classes(prompt: Tokens, output: Tokens) -> Lengths:
    pairs = [(p, o) for p in _parts(prompt, PROMPT_CLASSES) for o in _parts(output, OUTPUT_CLASSES)]
    return Lengths(tuple(p for p, _ in pairs), tuple(o for _, o in pairs), (1 / len(pairs),) * len(pairs))


def _parts(tokens: Tokens, count: int) -> list[float]:
    """Means of so many classes, each of as many requests; one where all are alike."""
    parts = np.array_split(tokens.quantiles(), count if tokens.spread else 1)
    return [max(float(part.mean()), 1.0) for part in parts]


def _whole(tokens: NDArray[np.float64]) -> IntArray:
    return np.maximum(np.rint(tokens), 1).astype(np.int64)


def workload(prompts: str, outputs: str, model_id: str) -> Workload:
    """The lengths of a row's ``isl`` and ``osl``; Unknown where they say nothing."""
    data = _data_set(prompts, model_id) or _data_set(outputs, model_id)
    given, made = _number(prompts), _number(outputs)
    if data is None:
        if given is None or made is None:
            raise Unknown(f"{'prompt' if given is None else 'output'} length is not stated")
        return Workload(Tokens(given), Tokens(made))
    name, known = data
    if made is not None:
        known = replace(known, output=replace(known.output, mean=made, longest=max(known.output.longest or made, made)))
    return replace(known, assumes=_words(name, known))


def _words(name: str, known: Workload) -> str:
    prompt, output = known.prompt, known.output
    return (
        f"{name}: prompts mean {prompt.mean:g}, spread {prompt.spread:g}, longest {prompt.longest:g};"
        f" outputs mean {output.mean:g}, spread {output.spread:g}"
    )


def _number(text: str) -> float | None:
    found = re.fullmatch(r"~?(\d+(?:\.\d+)?)", text.strip())
    return float(found[1]) if found and float(found[1]) >= 1 else None


def _data_set(text: str, model_id: str) -> tuple[str, Workload] | None:
    for row in _rows():
        if row["match"].lower() in text.lower() and row["model"] in ("*", model_id):
            return row["name"], _of(row)
    return None


def _of(row: dict[str, str]) -> Workload:
    of = {kind: Tokens(*(float(row[f"{kind}_{name}"]) for name in ("mean", "spread", "longest"))) for kind in KINDS}
    return Workload(of["prompt"], of["output"])


KINDS = ("prompt", "output")


def assumed() -> list[dict[str, str]]:
    """The table, for the report."""
    return [dict(row) for row in _rows()]


@cache
def _rows() -> tuple[dict[str, str], ...]:
    text = files("simcore.validation").joinpath("data/lengths.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))
