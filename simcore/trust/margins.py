"""A design's capacity with all that it is uncertain by: the simulation's noise and the error of iteration times."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from simcore.catalogue import resolve_machine, resolve_model
from simcore.evaluation import Evaluation
from simcore.same import Same
from simcore.slo.objective import reference_latency
from simcore.spec import Case, SlowdownSlo
from simcore.trust.capacity_error import LEAST_SHARE, REFERENCE, Response, response
from simcore.trust.phase_error import PHASES
from simcore.trust.time_error import TimeError, time_error

MOST_KEPT = 4096


@dataclass(frozen=True)
class Effect:
    """What one curve's error does to a design: ln of the capacity where its times are longer, and where shorter, by
    their half-width."""

    key: str
    longer: float
    shorter: float
    phases: tuple[tuple[str, float, float], ...] = ()
    """The same of each phase's error alone: what two designs of one curve may differ by."""

    @property
    def down(self) -> float:
        """How far the capacity may fall, as a positive logarithm."""
        return -min(self.longer, self.shorter, 0.0)

    @property
    def up(self) -> float:
        """How far it may rise."""
        return max(self.longer, self.shorter, 0.0)


@dataclass(frozen=True)
class Margin:
    """What a capacity is uncertain by, at 90 %, in logarithms."""

    capacity: float
    noise_down: float
    noise_up: float
    effects: tuple[Effect, ...]
    """By curve; independent of each other and of the noise."""
    errors: tuple[TimeError, ...] = ()
    """Of its pools' curves."""

    @property
    def low(self) -> float:
        """The capacity's lower end; 0 where no rate may hold."""
        if any(effect.down >= -math.log(LEAST_SHARE) - 1e-9 for effect in self.effects):
            return 0.0
        return self.capacity * math.exp(-joined(self.noise_down, [effect.down for effect in self.effects]))

    @property
    def high(self) -> float:
        """The capacity's upper end."""
        return self.capacity * math.exp(joined(self.noise_up, [effect.up for effect in self.effects]))


def joined(noise: float, effects: list[float]) -> float:
    """Independent errors: their squares add."""
    return math.hypot(noise, *effects)


def margin(case: Case, evaluation: Evaluation) -> Margin:
    """Of an evaluated design that holds some rate; where machines may be lost, of what is left where its lower end is
    the least. Kept for objects that are asked about again, as when a price changes; not where a user's file, which may
    change, says how long iterations take."""
    if evaluation.whole is not None:
        return min((margin(case, part) for part in evaluation.parts), key=lambda one: one.low)
    sources = [case.latency, *(pool.latency for pool in case.pools if pool.latency)]
    if any(source.path for source in sources):
        return _margin(case, evaluation)
    return _kept(Same(case), Same(evaluation))


@lru_cache(maxsize=MOST_KEPT)
def _kept(case: Same[Case], evaluation: Same[Evaluation]) -> Margin:
    return _margin(case.value, evaluation.value)


def _margin(case: Case, evaluation: Evaluation) -> Margin:
    capacity = evaluation.capacity_req_per_s
    noise = (math.log(capacity / max(evaluation.capacity_low, LEAST_SHARE * capacity)),
             math.log(max(evaluation.capacity_high, capacity) / capacity))  # fmt: skip
    errors = _errors(case)
    answers = response(evaluation, case.slo)
    keys = dict.fromkeys(error.key for error in errors.values())
    effects = tuple(_effect(key, answers, evaluation, errors) for key in keys)
    own = tuple(error for role, error in errors.items() if role != REFERENCE)
    return Margin(capacity, *noise, effects, own)


def _effect(key: str, answers: Response, evaluation: Evaluation, errors: Mapping[str, TimeError]) -> Effect:
    """Of all that is of one curve, off alike in all phases; and of each phase alone."""
    mine = {role: (error, _shares(role, evaluation)) for role, error in errors.items() if error.key == key}

    def of(phases: Iterable[str]) -> tuple[float, float]:
        wanted = tuple(phases)
        longer = {role: _mean(error.longer, shares, wanted) for role, (error, shares) in mine.items()}
        shorter = {role: -_mean(error.shorter, shares, wanted) for role, (error, shares) in mine.items()}
        return answers.log_capacity(longer), answers.log_capacity(shorter)

    return Effect(key, *of(PHASES), tuple((phase, *of([phase])) for phase in PHASES))


def _errors(case: Case) -> dict[str, TimeError]:
    """Of each pool's curve by its role, and of the reference machine's."""
    model = resolve_model(case.model)
    found: dict[str, TimeError] = {
        pool.role: time_error(
            model,
            resolve_machine(pool.machine),
            pool.tensor_parallel,
            pool.pipeline_parallel,
            pool.latency or case.latency,
        )
        for pool in case.pools
    }
    if isinstance(case.slo, SlowdownSlo):
        machine = resolve_machine(case.slo.reference)
        source = reference_latency(case, case.slo)
        found[REFERENCE] = time_error(model, machine, machine.accelerators, 1, source)
    return found


def _shares(role: str, evaluation: Evaluation) -> dict[str, float]:
    """The phases that a pool spends its time in; it is off alike in all of them, at worst. A reference machine serves a
    request alone: as much prefill as decode is taken."""
    pools = evaluation.at_capacity.pools if evaluation.at_capacity else ()
    pool = next((pool for pool in pools if pool.role == role), None)
    if pool is None or not pool.prefill + pool.decode + pool.hybrid:
        return {"prefill": 0.5, "decode": 0.5}
    total = pool.prefill + pool.decode + pool.hybrid
    return {phase: getattr(pool, phase) / total for phase in PHASES}


def _mean(of: Callable[[str], float], shares: Mapping[str, float], phases: Iterable[str]) -> float:
    return sum(shares[phase] * of(phase) for phase in phases if phase in shares)
