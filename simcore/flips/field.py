"""A study's evaluated designs as columns: what each uses and holds, from which every order of them follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simcore import fleet
from simcore.answer.result import StudyResult
from simcore.evaluation import Evaluation
from simcore.rows import DesignRow
from simcore.shortfalls import drawn_result, machines
from simcore.spec import StudySpec

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Field:
    """One entry a design; the study's goal orders them."""

    design_ids: tuple[str, ...]
    families: tuple[str, ...]
    family: Int64
    """Place in ``families``."""
    counts: Mapping[str, Float64]
    """Machine id → how many of it."""
    kw: Float64
    """Drawn, times PUE: what a tariff is paid on. 0 where nothing is known to be drawn."""
    held: Float64
    """Requests/s."""
    power_w: Float64
    """Of the figure that the question chose."""
    machines: Float64
    within: Mask
    """Whether nothing but the rate and the budget keeps it from meeting the question."""
    last: Float64
    """The id as a number: decides where all else is equal."""
    goal: str

    @staticmethod
    def of(result: StudyResult) -> Field:
        """Of the designs that have a capacity."""
        rows = [row for row in result.rows if row.status == "evaluated"]
        watts = result.watts(*rows)
        families = tuple(dict.fromkeys(row.family for row in rows))
        found = [result.evaluations[row.design_id] for row in rows]
        bought = [fleet.machine_counts(result.designs[row.design_id].case) for row in rows]
        ids = dict.fromkeys(machine for counts in bought for machine in counts)
        return Field(
            tuple(row.design_id for row in rows),
            families,
            np.array([families.index(row.family) for row in rows], np.int64),
            {machine: np.array([float(counts.get(machine, 0)) for counts in bought]) for machine in ids},
            np.array([_drawn_w(one, result.spec) / 1000 * result.spec.pue for one in found]),
            np.array([_held(row, one, result.spec) for row, one in zip(rows, found, strict=True)]),
            np.array([watts[row.design_id] for row in rows]),
            np.array([float(machines(row)) for row in rows]),
            np.array([_is_within(result, row.design_id) for row in rows], bool),
            np.array([float(int(row.design_id, 16)) for row in rows]),
            result.spec.goal,
        )

    def order(self, usd: Float64) -> Int64:
        """All designs, the goal's best first, by ``simcore.answer.result``'s rule."""
        held, power, usd = -self.held, self.power_w, np.round(usd, 9)
        keys = {
            "cost": (usd, held, power),
            "frontier": (usd, held, power),
            "power": (power, held, usd),
            "machines": (self.machines, usd, held),
            "throughput": (held, usd, power),
        }[self.goal]
        return np.lexsort((self.last, *reversed(keys)))


def _held(row: DesignRow, found: Evaluation, spec: StudySpec) -> float:
    """What must reach the rate. A capacity is found to 1 %: one just under the rate may go with a run at the rate that
    holds."""
    if spec.size_to == "lower_bound":
        return row.capacity_low or 0.0
    rate_req_per_s = spec.rate_req_per_s
    if not found.holds(rate_req_per_s):
        return min(found.capacity_req_per_s, rate_req_per_s * (1 - 1e-12))
    return max(found.capacity_req_per_s, rate_req_per_s)


def _drawn_w(found: Evaluation, spec: StudySpec) -> float:
    drawn = drawn_result(found, spec.goal)
    return drawn.mean_w if drawn else 0.0


def _is_within(result: StudyResult, design_id: str) -> bool:
    return all(short.kind in ("rate", "failures", "confidence", "cost") for short in result.shortfalls[design_id])
