"""Where a replica keeps the group of its decodes (drawn in ``group.py``)."""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import BYTES, numbers, row_of
from simcore.engine.fast.state import Cluster, Replica


class Group:
    """What the members of a replica's group have in common."""

    members: int
    newcomers: int
    """The last of the members, who joined after the last step."""
    step: int
    """Steps so far."""
    phase: int
    """``step`` modulo ``block_tokens``."""
    contexts: int
    """Cached tokens that the members read in the next step, or in the one in progress."""
    in_window: int
    """Members whose gaps are kept."""
    last_ps: int
    """When the last step ended: the last token of all but the newcomers."""
    max_since_ps: int
    """The longest gap that all but the newcomers shared since ``max_gaps_ps`` was brought up to date."""
    next_finish: int
    """The least of ``finish_steps``."""
    in_front: int
    """Requests of the running list that stand before the members."""


group_row = row_of(Group)


@step
def group_at(cluster: Cluster, replica: Replica) -> Group:
    """A replica's group."""
    return group_row(cluster.groups, replica.index)


@step
def finish_steps_of(cluster: Cluster, replica: Replica) -> list[int]:
    """The step with whose end each member's last token comes."""
    return numbers(cluster.finish_steps + BYTES * replica.index * cluster.most_members)


@step
def max_gaps_of(cluster: Cluster, replica: Replica) -> list[int]:
    """Each member's longest gap so far, but for ``max_since_ps``."""
    return numbers(cluster.max_gaps_ps + BYTES * replica.index * cluster.most_members)


@step
def growing_of(cluster: Cluster, replica: Replica) -> list[int]:
    """How many members take a block at the steps of each phase."""
    return numbers(cluster.growing + BYTES * replica.index * cluster.block_tokens)
