"""The fast engine gives the oracle's every array, bit for bit.

On random small clusters (``strategies.py``), where every option and every tie is met, on some hundred requests over ten
replicas, where queues, heaps and pools are long, and over ninety, where the router has many to choose from.
``PHASEPLAN_EQUALITY_EXAMPLES`` asks for more of the first than CI runs, with new seeds; ``PHASEPLAN_EQUALITY_SEEDS``
for more of the others.
"""

from __future__ import annotations

import dataclasses
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simcore.engine.fast import cluster as fast
from simcore.engine.inputs import ClusterInputs
from simcore.engine.oracle import cluster as oracle
from simcore.engine.outputs import IterationLog, RunResult
from tests.invariants.long_runs import crowded_run, failing_run, long_run, wide_run
from tests.invariants.strategies import KINDS, clusters, failing_clusters

EXAMPLES = int(os.environ.get("PHASEPLAN_EQUALITY_EXAMPLES", "0"))
LONG_RUNS = int(os.environ.get("PHASEPLAN_EQUALITY_SEEDS", "5"))
SETTINGS = settings(
    max_examples=EXAMPLES or 300, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=not EXAMPLES
)


def differing(ours: RunResult, theirs: RunResult) -> list[str]:
    """Names of the arrays that are not the same, with the first place where they differ."""
    found = []
    for name, left, right in arrays(ours, theirs):
        if left.shape != right.shape:
            found.append(f"{name}: {left.shape} and {right.shape}")
        elif not np.array_equal(left, right):
            place = tuple(int(i) for i in np.argwhere(left != right)[0])
            found.append(f"{name}{list(place)}: {left[place]} and {right[place]}")
    return found


def arrays(ours: RunResult, theirs: RunResult) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Every array of both results, by name."""
    pairs = [(name, getattr(ours, name), getattr(theirs, name)) for name in ("requests", "replicas")]
    inner = [
        (f"{name}.{field.name}", getattr(left, field.name), getattr(right, field.name))
        for name, left, right in pairs
        for field in dataclasses.fields(left)
    ]
    outer = ("gap_ps", "gap_count", "energy_by_second_nj")
    return inner + [(name, getattr(ours, name), getattr(theirs, name)) for name in outer] + logs(ours, theirs)


def logs(ours: RunResult, theirs: RunResult) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Of their logs, where both have one."""
    if ours.log is None or theirs.log is None:
        assert ours.log is theirs.log, "one run was logged, the other not"
        return []
    names = [field.name for field in dataclasses.fields(IterationLog)]
    return [(f"log.{name}", getattr(ours.log, name), getattr(theirs.log, name)) for name in names]


def assert_equal(inputs: ClusterInputs) -> None:
    inputs = with_log(inputs)
    ours, theirs = fast.run(inputs), oracle.run(inputs)
    assert differing(ours, theirs) == []
    assert (ours.end_ps, ours.busy_until_ps) == (theirs.end_ps, theirs.busy_until_ps)


def with_log(inputs: ClusterInputs) -> ClusterInputs:
    """With the middle of the arrivals' time logged, and the beginning of whatever comes after."""
    arrivals = inputs.arrival_ps
    first, last = (int(arrivals[0]), int(arrivals[-1])) if len(arrivals) else (0, 0)
    return dataclasses.replace(inputs, log_ps=(first + (last - first) // 3, last + (last - first) // 3 + 1))


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(data=st.data())
def test_fast_equals_oracle(kind: str, data: st.DataObject) -> None:
    assert_equal(data.draw(clusters(kind)))


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(data=st.data())
def test_fast_equals_oracle_under_failures(kind: str, data: st.DataObject) -> None:
    assert_equal(data.draw(failing_clusters(kind)))


@pytest.mark.parametrize("seed", range(LONG_RUNS))
@pytest.mark.parametrize("kind", KINDS)
def test_fast_equals_oracle_on_long_runs(kind: str, seed: int) -> None:
    assert_equal(long_run(kind, seed))


@pytest.mark.parametrize("seed", range(LONG_RUNS))
@pytest.mark.parametrize("kind", KINDS)
def test_fast_equals_oracle_on_many_replicas(kind: str, seed: int) -> None:
    assert_equal(wide_run(kind, seed))


@pytest.mark.parametrize("seed", range(-(-LONG_RUNS // 2)))
@pytest.mark.parametrize("kind", KINDS)
def test_fast_equals_oracle_on_long_runs_under_failures(kind: str, seed: int) -> None:
    assert_equal(failing_run(kind, seed))


@pytest.mark.parametrize("seed", range(LONG_RUNS))
def test_fast_equals_oracle_where_hundreds_of_decodes_wait(seed: int) -> None:
    assert_equal(crowded_run("splitwise", seed))
