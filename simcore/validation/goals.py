"""The goals of predictions, and whether judged rows meet them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simcore.validation.comparison import Comparison
from simcore.validation.open_loops import LEAST, MOST, CapacityComparison
from simcore.validation.summary import errors_of, grouped

STEP_PHASES = ("prefill", "decode", "hybrid", "tpot", "linear")
MOST_MAPE = 0.10
REPORTED = "reported"


@dataclass(frozen=True)
class Goal:
    """One line of the verdict."""

    what: str
    found: str
    wanted: str
    met: bool | None
    """None: there is no row to judge by."""

    @property
    def verdict(self) -> str:
        """In words."""
        if self.wanted == REPORTED:
            return REPORTED
        return "not judged" if self.met is None else "goal met" if self.met else "goal missed"


def goals(compared: Sequence[Comparison]) -> list[Goal]:
    """Step times by engine generation, capacities, energy. Poor tiers and fitted rows do not count."""
    good = [one for one in compared if not one.poor]
    judged = [one for one in good if not one.fitted]
    return [*_steps(good), *_capacities(judged), *_energy(judged)]


def _steps(good: list[Comparison]) -> list[Goal]:
    steps = [one for one in good if one.phase in STEP_PHASES]
    groups = grouped(steps, lambda one: (one.place.engine, one.phase))
    return [_step(engine, phase, group) for (engine, phase), group in sorted(groups.items())]


def _step(engine: str, phase: str, group: list[Comparison]) -> Goal:
    """By the rows that are judged; where all were fitted, what is known of those."""
    judged = [one for one in group if not one.fitted]
    errors = errors_of(judged or group)
    what = f"step time, {engine}, {WORDS.get(phase, phase)}: {errors.count} rows"
    found = f"MAPE {errors.mape:.1%}" if judged else f"MAPE {errors.mape:.1%}, all of them fitted"
    return Goal(what, found, "at most 10 %", errors.mape <= MOST_MAPE if judged else None)


WORDS = {"tpot": "decode of a serving engine (TPOT)", "linear": "a layer's matrix products with kernels of 2023"}


def _capacities(judged: list[Comparison]) -> list[Goal]:
    rows = [one for one in judged if isinstance(one, CapacityComparison)]
    near, others = [one for one in rows if one.near_limit], [one for one in rows if not one.near_limit]
    return [
        _share("capacity at the SLO, a limit within 10 % of binding", near, f"{LEAST:g} to {MOST:g} x measured"),
        _share("capacity at the SLO, other open loops", others, f"at least {LEAST:g} x measured"),
    ]


def _share(what: str, rows: list[CapacityComparison], wanted: str) -> Goal:
    if not rows:
        return Goal(what, "", wanted, None)
    met = sum(one.met for one in rows)
    ratios = sorted(one.predicted / one.measured for one in rows)
    found = f"{met} of {len(rows)} rows; {ratios[0]:.2f} to {ratios[-1]:.2f}, median {ratios[len(ratios) // 2]:.2f}"
    return Goal(what, found, wanted, met == len(rows))


def _energy(judged: list[Comparison]) -> list[Goal]:
    rows = [one for one in judged if one.phase == "energy"]
    if not rows:
        return [Goal("energy a token", "", REPORTED, None)]
    errors = errors_of(rows)
    found = f"MAPE {errors.mape:.1%}, median {errors.median:+.1%}"
    return [Goal(f"energy a token: {errors.count} rows", found, REPORTED, None)]
