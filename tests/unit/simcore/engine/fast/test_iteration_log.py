"""The fast engine's log where it has more rows than there is room for. That it is the oracle's log:
``tests/invariants/test_fast_equals_oracle.py``."""

import dataclasses

import numpy as np

from simcore.engine.fast.cluster import run, run_with_record
from simcore.engine.fast.gap_record import GapRecord
from simcore.latency.curve import PS_PER_S
from tests.clusters import cluster, replica, scheduler


def test_a_log_longer_than_its_room_is_whole_all_the_same() -> None:
    rows = [(i * 10**6, 50 + 7 * i % 90, 1 + 5 * i % 40) for i in range(200)]
    inputs = dataclasses.replace(
        cluster(scheduler("sarathi"), rows, [replica(), replica()]), log_ps=(PS_PER_S // 50, PS_PER_S // 5)
    )
    whole, short = run(inputs), run_with_record(inputs, GapRecord(), log_rows=3)
    assert whole.log is not None
    assert short.log is not None
    assert len(whole.log.start_ps) > 3
    for field in dataclasses.fields(whole.log):
        assert np.array_equal(getattr(whole.log, field.name), getattr(short.log, field.name)), field.name
    assert np.array_equal(whole.requests.finish_ps, short.requests.finish_ps)


def test_no_log_is_kept_of_a_run_that_asks_for_none() -> None:
    assert run(cluster(scheduler("sarathi"), [(0, 10, 3)], [replica()])).log is None
