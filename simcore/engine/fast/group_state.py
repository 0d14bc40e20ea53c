"""Where a replica keeps the groups of its decodes, one a micro-batch (drawn in ``group.py``)."""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import BYTES, numbers, row_of
from simcore.engine.fast.state import Cluster


class Group:
    """What the members of a group have in common."""

    row: int
    """Its place among all groups, and that of its columns in their tables."""
    members: int
    newcomers: int
    """The last of the members, who did not have the last step: each has had its last token when ``lasts_ps`` says."""
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
    """Requests of the running list that stand before the members, from the end of their micro-batch on."""
    kept: int
    kept_contexts: int
    kept_blocks: int
    """``request_level``: finished members whose slots go on being computed (``keep_finished``), what these read; the
    KV that all finished ones have left to the batch."""


group_row = row_of(Group)


@step
def group_at(cluster: Cluster, flight: int) -> Group:
    """The group of a micro-batch."""
    return group_row(cluster.groups, flight)


@step
def slots_of(cluster: Cluster, group: Group) -> list[int]:
    """The members: the first of those of their micro-batch."""
    return numbers(cluster.members + BYTES * group.row * cluster.most_members)


@step
def finish_steps_of(cluster: Cluster, group: Group) -> list[int]:
    """The step with whose end each member's last token comes."""
    return numbers(cluster.finish_steps + BYTES * group.row * cluster.most_members)


@step
def max_gaps_of(cluster: Cluster, group: Group) -> list[int]:
    """Each member's longest gap so far, but for ``max_since_ps``."""
    return numbers(cluster.max_gaps_ps + BYTES * group.row * cluster.most_members)


@step
def lasts_of(cluster: Cluster, group: Group) -> list[int]:
    """When each newcomer had its last token."""
    return numbers(cluster.lasts_ps + BYTES * group.row * cluster.most_members)


@step
def routed_of(cluster: Cluster, group: Group) -> list[int]:
    """When each member was routed: where decodes are set aside (``set_aside.py``)."""
    return numbers(cluster.routed_ps + BYTES * group.row * cluster.most_members)


@step
def growing_of(cluster: Cluster, group: Group) -> list[int]:
    """How many members take a block at the steps of each phase."""
    return numbers(cluster.growing + BYTES * group.row * cluster.block_tokens)
