"""Machines that fail in the middle of a run: what is late, and until when."""

import numpy as np
import pytest

from simcore.catalogue import machine
from simcore.detail.failure import failure, lost_replicas, recovered_s
from simcore.latency.curve import PS_PER_S
from simcore.slo.latencies import Latencies
from simcore.spec import PoolSpec
from tests.unit.simcore.detail.test_run_detail import case_of, traffic


def arrivals(seconds: int, each: int) -> Latencies:
    """So many a second, from second 100 on."""
    arrival = (100 + np.arange(seconds * each) // each) * PS_PER_S
    nothing = np.zeros(len(arrival), np.int64)
    return Latencies(arrival, *(nothing,) * 6, nothing == 0, None, 0)  # type: ignore[arg-type]


def late(seconds: int, each: int, *within: tuple[int, int]) -> np.ndarray:
    second = np.arange(seconds * each) // each
    return np.logical_or.reduce([(second >= first) & (second < last) for first, last in within])


FAILED_PS = 100 * PS_PER_S


def test_recovered_from_the_end_of_the_last_stretch_with_too_many_late() -> None:
    # 10 a second, 1 % allowed: of 100 in ten seconds 1 + 3 + 1 = 5. All late in seconds 0 to 7: ten seconds that begin
    # at second 7 still have ten late, those from 8 on none.
    waited = arrivals(60, 10)
    assert recovered_s(FAILED_PS, waited, [(late(60, 10, (0, 8)), 0.01)]) == 17.0
    assert recovered_s(FAILED_PS, waited, [(late(60, 10, (0, 8)), 0.01), (late(60, 10, (20, 30)), 0.01)]) == 39.0


def test_a_few_late_ones_are_chance() -> None:
    few = np.zeros(600, bool)
    few[::25] = True  # 4 in ten seconds
    assert recovered_s(FAILED_PS, arrivals(60, 10), [(few, 0.01)]) == 0.0


def test_what_lasts_to_the_end_has_not_recovered() -> None:
    waited = arrivals(60, 10)
    assert recovered_s(FAILED_PS, waited, [(late(60, 10, (50, 60)), 0.01)]) is None
    assert recovered_s(FAILED_PS, waited, []) is None


def test_a_machine_takes_its_replicas_with_it() -> None:
    h100 = machine("dgx-h100")
    assert lost_replicas(PoolSpec("mixed", h100, machines=4, tensor_parallel=2), 2) == 8
    assert lost_replicas(PoolSpec("mixed", h100, machines=4, tensor_parallel=8), 5) == 4
    spanning = PoolSpec("mixed", h100, machines=5, tensor_parallel=8, pipeline_parallel=2)
    # at worst each lost machine is of another replica, and none is the fifth, which carries none
    assert [lost_replicas(spanning, lost) for lost in (1, 2, 3, 4)] == [1, 2, 2, 2]


@pytest.mark.parametrize("rate", [2.0, 30.0])
def test_a_loss_that_is_small_is_got_over_and_one_that_is_not_is_not(rate: float) -> None:
    pools = [{"role": "mixed", "machine": "dgx-h100", "machines": 2, "tensor_parallel": 8}]
    case = case_of("sarathi", pools=pools, slo={"kind": "attainment", "ttft_s": 2.0, "tpot_s": 0.2, "share": 0.95})
    found = failure(case, traffic(), rate, 0, 1, "oracle")
    assert found["lost_replicas"] == 1
    assert (found["met"], found["recovered_s"] is not None) == (rate == 2.0, rate == 2.0)
    assert failure(case, traffic(), rate, 0, 1, "fast") == found
