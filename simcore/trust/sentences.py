"""What an interval is of, in words."""

from __future__ import annotations

from collections.abc import Iterable

from simcore.catalogue import resolve_machine
from simcore.rows import DesignRow
from simcore.spec import Case
from simcore.trust.margins import Margin
from simcore.trust.phase_error import PHASES
from simcore.words import listed, number

PHASES_OF = {"prefill": ("prefill",), "decode": ("decode",)}


def interval_words(row: DesignRow, least_high: float = 0.0) -> str:
    """`` (66 to 80)``, up to ``least_high`` at least; empty where a capacity has no interval."""
    low, high = row.capacity_low, row.capacity_high
    if low is None or high is None or low == high:
        return ""
    return f" ({number(low) if low else 'none'} to {number(max(high, least_high))})"


def interval_parts(case: Case, row: DesignRow, margin: Margin) -> str:
    """What the interval is made of; empty where a capacity has none."""
    if not interval_words(row):
        return ""
    noise = (number(row.noise_low or 0), number(row.noise_high or 0))
    chance = f"chance in the simulation ({noise[0]} to {noise[1]})" if noise[0] != noise[1] else ""
    times = f"iteration times ({'; '.join(_times(case, margin))})"
    return f"the interval, 9 times in 10, joins {listed([part for part in (chance, times) if part])}"


def _times(case: Case, margin: Margin) -> Iterable[str]:
    """Of each curve once: how true times may differ from predicted ones, in the phases of its pool."""
    found: dict[tuple[str, str], None] = {}
    for pool, error in zip(case.pools, margin.errors, strict=True):
        name = f"{resolve_machine(pool.machine).name} TP{pool.tensor_parallel}"
        found[name, error.spans(PHASES_OF.get(pool.role, tuple(PHASES)))] = None
    return [f"{name}: {spans}" for name, spans in found]


def evidence_words(case: Case, margin: Margin) -> str:
    """What the iteration times of a design's pools were compared with."""
    found = dict.fromkeys(error.basis for error in margin.errors if error.basis)
    return f"compared with {listed(list(found))}" if found else ""
