"""Whether a design holds a rate, by one run."""

import json

import pytest

from simcore.capacity.trial import trial
from simcore.search.rate_grid import grid_rate
from simcore.spec import encode
from tests.unit.simcore.runs import case, trace

CASE, TRACE = case(), trace([0.0, 1.0], [10, 10], [2, 2])


def test_a_real_design_holds_a_low_rate_and_not_a_high_one():
    assert trial(CASE, TRACE, grid_rate(-300), "oracle").holds
    assert not trial(CASE, trace([i * 1.0 for i in range(400)], [900] * 400, [9] * 400), grid_rate(600), "oracle").holds


@pytest.mark.parametrize("k", [-300, 600])
def test_a_trial_is_kept_as_it_was_found(k):
    """As JSON: numpy's own kinds of numbers and of truth are none."""
    found = trial(CASE, trace([i * 1.0 for i in range(400)], [900] * 400, [9] * 400), grid_rate(k), "oracle")
    assert json.loads(json.dumps(encode(found)))["holds"] is (k < 0)


def test_a_run_that_fails_is_given_up_and_one_that_holds_is_not():
    crowd = trace([i * 1.0 for i in range(400)], [900] * 400, [9] * 400)
    held, failed = (trial(case(), crowd, grid_rate(k), "oracle") for k in (-300, 600))
    assert held.requests_simulated == 400
    assert failed.events < held.events
    assert held.simulations == failed.simulations == 1
