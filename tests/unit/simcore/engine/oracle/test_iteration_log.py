"""The log of micro-batches: what was under way in a stretch of time."""

import dataclasses

from simcore.engine.oracle.cluster import run
from simcore.latency.curve import BatchKind, IterationCurve
from tests.clusters import cluster, replica, scheduler

PREFILL, DECODE = int(BatchKind.PREFILL), int(BatchKind.DECODE)
MS = 1_000_000_000
"""In picoseconds."""
STEADY = replica(curve=IterationCurve((1,), (100 * MS,), (30 * MS,), (90 * MS,), 0, 0, 0, 0))
"""100 ms a prefill, 30 ms a decode."""
THREE_TOKENS = [(0, 10, 3), (110 * 10**6, 20, 1)]
"""A prompt, and one that comes while the first decodes: 0-100 prefill, 100-130 decode, 130-230 prefill, 230-260."""


def logged(log_ps: tuple[int, int]) -> list[tuple[int, ...]]:
    inputs = cluster(scheduler("vllm"), THREE_TOKENS, [STEADY])
    log = run(dataclasses.replace(inputs, log_ps=log_ps)).log
    assert log is not None
    return list(zip(*(getattr(log, field.name).tolist() for field in dataclasses.fields(log)), strict=True))


def test_each_iteration_says_when_and_what_it_was() -> None:
    assert logged((0, 1000 * MS)) == [
        (0, 0, 100 * MS, PREFILL, 10, 0),
        (0, 100 * MS, 130 * MS, DECODE, 1, 1),
        (0, 130 * MS, 230 * MS, PREFILL, 20, 0),
        (0, 230 * MS, 260 * MS, DECODE, 1, 1),
    ]


def test_only_what_was_under_way_in_the_stretch_is_logged() -> None:
    assert [row[1] // MS for row in logged((100 * MS, 130 * MS))] == [100]
    assert [row[1] // MS for row in logged((99 * MS, 131 * MS))] == [0, 100, 130]


def test_nothing_is_logged_where_nothing_is_asked_for() -> None:
    assert run(cluster(scheduler("vllm"), THREE_TOKENS, [STEADY])).log is None
