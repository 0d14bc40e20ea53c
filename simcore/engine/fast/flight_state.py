"""What the engine keeps of a micro-batch: its row of ``flights``, and its members (drawn in ``state.py``)."""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import BYTES, numbers, row_of
from simcore.engine.fast.state import GAP_PARTS, Cluster


class MicroBatch:
    """One micro-batch in flight."""

    following: int
    """The row of the one that was formed after it; of a free row, the next that is free."""
    grouped: int
    """Its decodes that are a group (see ``group.py``); 0: it has none, or they are listed."""
    first: int
    members: int
    """Where in the row of ``members_of`` its other members are, and how many."""
    kind: int
    tokens: int
    power_mw: int
    """Of one stage."""
    start_ps: int
    """When the first stage takes it up."""
    duration_ps: int
    """Of one stage."""
    end_ps: int
    """Of the last stage."""
    waited_cause: int
    uneven_cause: int
    """Causes of the gaps in front of it (see ``bubbles.py``), and"""
    gap_ps: int
    """all of them together."""
    steps: int
    """Iterations that it stands for, the one in progress included (see ``runs.py``)."""
    live: int
    """Decodes that get a token."""
    contexts: int
    """Cached tokens that those read in the iteration in progress."""


flight_row = row_of(MicroBatch)


@step
def flight_at(cluster: Cluster, flight: int) -> MicroBatch:
    """A micro-batch in flight on a replica."""
    return flight_row(cluster.flights, flight)


@step
def members_of(cluster: Cluster, flight: int) -> list[int]:
    """The slots of a micro-batch's members."""
    return numbers(cluster.members + BYTES * flight * cluster.most_members)


@step
def new_tokens_of(cluster: Cluster, flight: int) -> list[int]:
    """The prompt tokens of each member of a micro-batch; 0: a decode."""
    return numbers(cluster.new_tokens + BYTES * flight * cluster.most_members)


@step
def start_on(cluster: Cluster, flight: int, batch: MicroBatch, stage: int) -> int:
    """When a stage takes a micro-batch up."""
    return batch.start_ps if stage == 0 else stage_starts_of(cluster, flight)[stage]


@step
def stage_starts_of(cluster: Cluster, flight: int) -> list[int]:
    """When each stage takes a micro-batch up, where there is more than one."""
    return numbers(cluster.stage_start_ps + BYTES * flight * cluster.most_stages)


@step
def gaps_of(cluster: Cluster, flight: int) -> list[int]:
    """The idle time in front of a micro-batch: GAP_PARTS numbers a stage."""
    return numbers(cluster.gaps_ps + BYTES * flight * cluster.most_stages * GAP_PARTS)
