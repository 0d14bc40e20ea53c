"""Whether a design holds a rate: of several seeds the median must, by as few runs as tell."""

import json
from itertools import product
from types import SimpleNamespace

import pytest

from simcore.spec import encode
from simcore.trial import trial
from tests.unit.simcore.runs import case, trace

CASE, TRACE = case(), trace([0.0, 1.0], [10, 10], [2, 2])


class Known:
    """A prober whose seeds hold up to a k each."""

    held: dict[int, int] = {}

    def __init__(self, seed: int) -> None:
        self.seed, self.done = seed, {}

    @classmethod
    def of(cls, case, trace, seed, name):
        return cls(seed)

    def pressure(self, k: int, rung: int) -> float:
        assert rung == 1
        self.done[k] = SimpleNamespace(requests=100, events=500)
        return 0.5 if k <= self.held[self.seed] else 1.5


@pytest.mark.parametrize("held", [*product([3, 5, 8], repeat=3), (3, 8), (8, 3), (5,), (3, 4, 5, 6)])
def test_the_median_is_what_must_hold_by_as_few_runs_as_tell(held, monkeypatch):
    monkeypatch.setattr("simcore.trial.Prober", Known)
    monkeypatch.setattr(Known, "held", dict(enumerate(held)))
    median = sorted(held)[(len(held) - 1) // 2]
    for k in (2, 3, 4, 5, 6, 8, 9):
        found = trial(CASE, TRACE, range(len(held)), k)
        assert found.holds == (median >= k)
        assert (found.requests_simulated, found.events) == (100 * found.simulations, 500 * found.simulations)
        assert len(held) // 2 <= found.simulations <= len(held)


def test_without_seeds_the_cases_own_is_run(monkeypatch):
    monkeypatch.setattr("simcore.trial.Prober", Known)
    monkeypatch.setattr(Known, "held", {CASE.seed: 4})
    assert trial(CASE, TRACE, (), 4).holds
    assert not trial(CASE, TRACE, (), 5).holds


def test_a_real_design_holds_a_low_rate_and_not_a_high_one():
    assert trial(CASE, TRACE, (), -300, "oracle").holds
    assert not trial(CASE, trace([i * 1.0 for i in range(400)], [900] * 400, [9] * 400), (), 600, "oracle").holds


@pytest.mark.parametrize("k", [-300, 600])
def test_a_trial_is_kept_as_it_was_found(k):
    """As JSON: numpy's own kinds of numbers and of truth are none."""
    found = trial(CASE, trace([i * 1.0 for i in range(400)], [900] * 400, [9] * 400), (), k, "oracle")
    assert json.loads(json.dumps(encode(found)))["holds"] is (k < 0)
