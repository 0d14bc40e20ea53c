"""Tables that grow while a cluster runs: the result is that of tables that were long enough."""

import copy
import dataclasses

import numpy as np
import pytest

from simcore.engine.fast import cluster, design, room
from simcore.engine.fast.memory import Memory
from simcore.engine.fast.names import KINDS
from simcore.engine.fast.warm import warm_up
from simcore.engine.inputs import ClusterInputs, Wait, WaitLimit
from simcore.engine.oracle import cluster as oracle
from simcore.engine.outputs import RunResult
from simcore.latency.curve import PS_PER_S
from tests.clusters import cluster as make_cluster
from tests.clusters import replica, scheduler


def busy_inputs(kind: str, requests: int = 400) -> ClusterInputs:
    """Bursts on four replicas with little KV, lengths all unlike, over some minutes; a long silence before the last."""
    rng = np.random.default_rng(5)
    arrivals = np.cumsum(rng.choice([0, 0, 0, 10**6, 10**9], requests))
    arrivals[-1] += 3600 * PS_PER_S // 1000
    prompts, outputs = rng.integers(1, 900, requests), rng.integers(1, 60, requests)
    roles = ("prefill", "prefill", "decode", "decode") if kind == "splitwise" else ("mixed",) * 4
    rows = list(zip(arrivals.tolist(), prompts.tolist(), outputs.tolist(), strict=True))
    return make_cluster(scheduler(kind), rows, [replica(role, kv_blocks=120) for role in roles])


def assert_same(ours: RunResult, theirs: RunResult) -> None:
    for part in ("requests", "replicas"):
        for field in dataclasses.fields(getattr(ours, part)):
            left, right = getattr(getattr(ours, part), field.name), getattr(getattr(theirs, part), field.name)
            assert np.array_equal(left, right), field.name
    for name in ("gap_ps", "gap_count", "energy_by_second_nj"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name


@pytest.mark.parametrize("kind", KINDS)
def test_short_tables_change_nothing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = busy_inputs(kind)
    expected = cluster.run(inputs)
    lacking: list[int] = []
    enlarge = cluster.enlarge

    def noted(memory: Memory, lacks: int, now: int) -> None:
        lacking.append(lacks)
        enlarge(memory, lacks, now)

    design.forget()
    monkeypatch.setattr(cluster, "enlarge", noted)
    monkeypatch.setattr(room, "FIRST_SLOTS", 1)
    monkeypatch.setattr(room, "FIRST_GAPS", 0)
    monkeypatch.setattr(room, "FIRST_SECONDS", 1)
    assert_same(cluster.run(inputs), expected)
    assert_same(cluster.run(inputs), expected)  # in memory that has grown
    assert {room.MORE_SLOTS, room.MORE_GAPS, room.MORE_SECONDS} <= set(lacking)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_leaves_its_inputs_alone_and_can_be_repeated(kind: str) -> None:
    inputs = busy_inputs(kind, 60)
    before = [getattr(inputs, name).copy() for name in ("arrival_ps", "prompt_tokens", "output_tokens")]
    first = cluster.run(inputs)
    assert_same(cluster.run(inputs), first)
    for name, values in zip(("arrival_ps", "prompt_tokens", "output_tokens"), before, strict=True):
        assert np.array_equal(getattr(inputs, name), values)


def test_a_result_stays_as_it_is_when_its_design_runs_again() -> None:
    rows = [(0, 300, 9), (10, 20, 40), (10, 500, 3)]
    one = replica(power_mw=((100, 900), (50, 200), (300, 300)), power_tokens=(1, 100))
    inputs = make_cluster(scheduler("sarathi"), rows, [one])
    first = cluster.run(inputs)
    copied = copy.deepcopy((first.requests, first.replicas, first.energy_by_second_nj))
    cluster.run(dataclasses.replace(inputs, output_tokens=5 * inputs.output_tokens))
    assert_same(
        first, dataclasses.replace(first, requests=copied[0], replicas=copied[1], energy_by_second_nj=copied[2])
    )


@pytest.mark.parametrize("kind", ["sarathi", "splitwise"])
def test_a_run_that_left_requests_unfinished_leaves_no_trace(kind: str) -> None:
    """Their slots are free in the design's next run: a replica that fails then loses nobody who was there before."""
    inputs, failed = busy_inputs(kind, 60), ((10**10, "failed"), (10**12, "up"))
    last = dataclasses.replace(inputs.replicas[-1], availability=failed)
    inputs = dataclasses.replace(inputs, replicas=(*inputs.replicas[:-1], last), arrival_ps=np.zeros(60, np.int64))
    few = dataclasses.replace(inputs, arrival_ps=inputs.arrival_ps + 10**11)
    expected = oracle.run(few)
    never = WaitLimit(Wait.E2E, np.zeros(60, np.int64), 0)
    assert cluster.run(dataclasses.replace(inputs, wait_limits=(never,))).gave_up
    assert_same(cluster.run(few), expected)


def test_one_specialisation_serves_every_kind() -> None:
    warm_up()
    assert len(cluster.advance.signatures) == 1
