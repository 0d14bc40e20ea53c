"""Little's law on every run: requests present, counted where they are and integrated over time, are the sum of the
times that requests spent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simcore.engine.oracle.state import Cluster, MicroBatch, Replica, Request
from simcore.engine.outputs import REFUSED
from tests.invariants.strategies import KINDS, clusters
from tests.invariants.watching import instants

EXAMPLES = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
TASKS = ("tasks", "prompts", "interrupted", "batch")
"""Lists of 2 x request + phase."""
INDICES = ("present",)
"""Lists of request numbers."""


def found_in(value: Any) -> Iterator[Request]:
    """The requests of a queue, of a list of micro-batches, or the one itself."""
    if isinstance(value, Request):
        yield value
    elif isinstance(value, MicroBatch):
        yield from value.members
    elif isinstance(value, Iterable) and not isinstance(value, str | dict):
        for part in value:
            yield from found_in(part)


def at_replica(cluster: Cluster, replica: Replica) -> Iterator[Request]:
    """Whoever is in a queue or list there."""
    for name in TASKS:
        yield from (cluster.requests[task // 2] for task in getattr(replica, name))
    for name in INDICES:
        yield from (cluster.requests[index] for index in getattr(replica, name))
    for field in fields(Replica):
        if field.name not in (*TASKS, *INDICES):
            yield from found_in(getattr(replica, field.name))


def present(cluster: Cluster) -> int:
    """Requests in a queue, a batch or a transfer somewhere whose last token is not out: no look at their times."""
    here = [request for replica in cluster.replicas for request in at_replica(cluster, replica)]
    here += [request for event in cluster.events for request in found_in(event[5])]
    here += [r for f in fields(Cluster) if f.name not in ("requests", "replicas", "events")
             for r in found_in(getattr(cluster, f.name))]  # fmt: skip
    return len({request.index for request in here if request.generated < request.output_tokens})


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_littles_law_holds_on_every_run(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(clusters(kind))
    area, before, number, cluster = 0, 0, 0, None
    for now, cluster in instants(inputs):
        area += number * (now - before)
        before, number = now, present(cluster)
    assert cluster is not None
    stays = [
        (request.finish_ps if request.finish_ps >= 0 else before) - request.arrival_ps
        for request in cluster.requests
        if request.status != REFUSED
    ]
    assert area == sum(stays)
