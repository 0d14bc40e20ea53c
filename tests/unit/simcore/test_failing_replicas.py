"""A case whose replicas fail, from CASE.json to OUT.json's figures (0.1 s a prefill, 0.02 s a decode: runs.py)."""

from __future__ import annotations

from typing import Any

import pytest

from simcore.metrics.drawn_power import idle_w
from simcore.simulation import EngineName, Simulation, simulate
from simcore.slo.objective import objective
from simcore.spec import Case
from tests.unit.simcore.runs import case, trace

POOL = {"role": "mixed", "machine": "dgx-h100", "machines": 1, "tensor_parallel": 4}
FAILURE = {"replica": 0, "at_s": 0.21, "state": "failed"}


def failing(*changes: dict[str, Any]) -> Case:
    """Two replicas with a schedule."""
    return case(pools=[{**POOL, "availability": list(changes)}])


def simulated(*changes: dict[str, Any], engine: EngineName = "oracle") -> Simulation:
    """Two requests, 1 s apart, of 100 prompt tokens and 11 tokens each: alone 0.3 s."""
    asked = failing(*changes)
    return simulate(asked, trace([0.0, 1.0], [100, 100], [11, 11]), objective(asked), name=engine)


def test_a_failure_shows_in_latency_preemptions_and_pool_use() -> None:
    done = simulated(FAILURE)
    figures = done.summary
    # 6 tokens by 0.2 s; the seventh is recomputed with the prompt on the other replica, 0.21 to 0.31, four more to 0.39
    assert done.run.requests.finish_ps.tolist() == [390_000_000_000, 1_300_000_000_000]
    assert done.run.requests.decode_replica.tolist() == [1, 1]
    assert (figures.requests, figures.finished, figures.refused, figures.preemptions) == (2, 2, 0, 1)
    assert figures.e2e_s.max == pytest.approx(0.39)
    assert figures.tbt_s.max == pytest.approx(0.11)
    assert figures.ttft_s.max == pytest.approx(0.1)
    use = figures.pools[0].result
    # of 2 x 1.3 s: prefills 0.1 + 0.1 + 0.1, decodes 0.11 + 0.08 + 0.2; nothing is blocked
    assert use.prefill == pytest.approx(0.3 / 2.6)
    assert use.decode == pytest.approx(0.39 / 2.6)
    assert use.idle == pytest.approx(1 - 0.69 / 2.6)
    assert use.blocked == 0.0


def test_energy_of_a_failed_replica_ends_with_it_but_for_idle_power() -> None:
    done, whole = simulated(FAILURE), simulated()
    idle_j = idle_w(failing()) * 1.3
    above, above_whole = (run.summary.power.energy_j - idle_j for run in (done, whole))
    assert 0 < above_whole < above
    counts = done.run.replicas
    assert above == pytest.approx(float(counts.energy_nj.sum()) / 1e9)
    assert counts.energy_nj[0] < whole.run.replicas.energy_nj[0]


def test_requests_that_no_replica_is_there_for_are_misses_and_never_stable() -> None:
    done = simulated({"at_s": 0.5, "state": "failed"})
    figures = done.summary
    assert (figures.finished, figures.refused) == (1, 0)
    assert figures.ttft_s.max is None
    assert not figures.stability.stable
    assert not figures.slo.met
    assert any("1 requests never finished" in warning for warning in figures.warnings)


@pytest.mark.parametrize("state", ["starting", "failed"])
def test_a_late_start_is_waiting_time(state: str) -> None:
    done = simulated({"at_s": 0, "state": state}, {"at_s": 2.0, "state": "up", "replica": 0})
    assert done.summary.queue_s.max == pytest.approx(2.0)
    assert done.summary.preemptions == 0
    assert done.run.requests.prefill_replica.tolist() == [0, 0]


def test_both_engines_say_the_same() -> None:
    changes = (FAILURE, {"at_s": 0.3, "state": "starting"}, {"at_s": 1.5, "state": "up"})
    oracle, fast = simulated(*changes).summary, simulated(*changes, engine="fast").summary
    assert oracle == fast
    assert oracle.preemptions == 2
