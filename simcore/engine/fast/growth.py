"""KV blocks that a group takes as its members' contexts grow.

- ``on_demand``: each member takes one every ``block_tokens`` steps, so that the number of members by the phase of the
  step at which they do (``growing``) tells what any step takes::

      growing   | 2 | 0 | 1 | 3 | .. | 1 |      [block_tokens], at place step modulo block_tokens

- ``on_demand`` with windowed layers: what the members lack is found by walking over them.
- ``output_at_decode``: the newcomers take theirs, once.
- The other reservations: all blocks are there from the start.
"""

from __future__ import annotations

from simcore.engine.fast.blocks import blocks_of, growth_blocks, take
from simcore.engine.fast.group_state import Group, finish_steps_of, growing_of, slots_of
from simcore.engine.fast.jit import inlined, step
from simcore.engine.fast.layout import quotient, remainder
from simcore.engine.fast.names import ON_DEMAND, OUTPUT_AT_DECODE
from simcore.engine.fast.replica_state import Replica
from simcore.engine.fast.request_state import Request, request_at
from simcore.engine.fast.state import Cluster


@step
def grows_by_phase(cluster: Cluster) -> bool:
    """Whether each member takes a block every ``block_tokens`` steps."""
    return cluster.reservation == ON_DEMAND and cluster.windowed_layers == 0


@step
def join_growth(cluster: Cluster, group: Group, request: Request) -> None:
    """A new member's first block is taken when what it must hold is one more than whole blocks."""
    if grows_by_phase(cluster):
        over = remainder(request.prompt_tokens + request.generated - 1, cluster.block_tokens)
        phase = group.phase + cluster.block_tokens - over
        request.phase = phase if phase < cluster.block_tokens else phase - cluster.block_tokens
        growing_of(cluster, group)[request.phase] += 1


@step
def leave_growth(cluster: Cluster, group: Group, request: Request) -> None:
    """A member, whose ``generated`` is up to date, leaves between two steps."""
    if grows_by_phase(cluster):
        growing_of(cluster, group)[request.phase] -= 1
        request.blocks = blocks_of(request.prompt_tokens + request.generated - 1, cluster)


@step
def move_growth(cluster: Cluster, into: Group, group: Group, request: Request) -> None:
    """A member has joined another group: the same tokens from now it takes its block there."""
    if grows_by_phase(cluster):
        growing_of(cluster, group)[request.phase] -= 1
        request.phase = moved_phase(cluster, into, group, request.phase)
        growing_of(cluster, into)[request.phase] += 1


@step
def moved_phase(cluster: Cluster, into: Group, group: Group, phase: int) -> int:
    """The phase in another group of the steps that come as soon there as those of a phase here."""
    moved = phase + into.phase - group.phase
    if moved < 0:
        return moved + cluster.block_tokens
    return moved if moved < cluster.block_tokens else moved - cluster.block_tokens


@step
def move_growth_of_all(cluster: Cluster, into: Group, group: Group) -> None:
    """All members have joined another group, their columns among those there."""
    if not grows_by_phase(cluster):
        return
    for place in range(group.members):
        request = request_at(cluster, slots_of(cluster, group)[place])
        request.phase = moved_phase(cluster, into, group, request.phase)
    for phase in range(cluster.block_tokens):
        growing_of(cluster, into)[moved_phase(cluster, into, group, phase)] += growing_of(cluster, group)[phase]
        growing_of(cluster, group)[phase] = 0


@step
def takes_blocks_unseen(cluster: Cluster) -> bool:
    """Whether what the next step takes is not known without a look at the members."""
    return cluster.reservation == ON_DEMAND and cluster.windowed_layers > 0


@step
def growing_next(cluster: Cluster, group: Group) -> int:
    """Members that take a block at the step after the one in progress."""
    return growing_of(cluster, group)[next_phase(cluster, group.phase)] if grows_by_phase(cluster) else 0


@inlined
def grow_group(cluster: Cluster, replica: Replica, group: Group) -> bool:
    """Give every member the blocks of its next token. False: there is not enough KV for all; none was taken."""
    blocks = lacking_blocks(cluster, group)
    if blocks + cluster.preempt_when_full > replica.free_blocks:
        return False
    if blocks > 0:
        take_growth(cluster, replica, group, blocks)
    return True


@inlined
def lacking_blocks(cluster: Cluster, group: Group) -> int:
    """Blocks that the members lack for the next step."""
    if grows_by_phase(cluster):
        return growing_of(cluster, group)[group.phase]
    return blocks_lacked(cluster, group)


@step
def blocks_lacked(cluster: Cluster, group: Group) -> int:
    """The same by walking over the members."""
    blocks = 0
    for place in range(first_growing(cluster, group), group.members):
        blocks += growth_blocks(member(cluster, group, place), cluster)
    return blocks


@inlined
def take_growth(cluster: Cluster, replica: Replica, group: Group, blocks: int) -> None:
    """Take what ``lacking_blocks`` found."""
    take(replica, blocks)
    if not grows_by_phase(cluster):
        note_growth(cluster, group)


@step
def note_growth(cluster: Cluster, group: Group) -> None:
    """Each member holds what it lacked."""
    for place in range(first_growing(cluster, group), group.members):
        request = request_at(cluster, slots_of(cluster, group)[place])
        request.blocks += growth_blocks(request, cluster)


@step
def first_growing(cluster: Cluster, group: Group) -> int:
    """The first member that may lack blocks, where that is found by walking; those after it may as well."""
    if cluster.reservation == ON_DEMAND:
        return 0
    return group.members - group.newcomers if cluster.reservation == OUTPUT_AT_DECODE else group.members


@step
def member(cluster: Cluster, group: Group, place: int) -> Request:
    """The member at a place, its ``generated`` brought up to date."""
    request = request_at(cluster, slots_of(cluster, group)[place])
    request.generated = request.output_tokens - (finish_steps_of(cluster, group)[place] - group.step)
    return request


@step
def steps_in_kv(cluster: Cluster, replica: Replica, group: Group, steps: int) -> int:
    """Of so many iterations, the one in progress included, those for which there is KV for certain."""
    free = replica.free_blocks - cluster.preempt_when_full
    if free < 0:
        return 1
    if cluster.reservation != ON_DEMAND or group.members * (quotient(steps - 1, cluster.block_tokens) + 1) <= free:
        return steps
    if not grows_by_phase(cluster):
        return min(steps, 1 + free // group.members * cluster.block_tokens)
    phase, sure = next_phase(cluster, group.phase), 1
    while sure < steps and growing_of(cluster, group)[phase] <= free:
        free -= growing_of(cluster, group)[phase]
        phase, sure = next_phase(cluster, phase), sure + 1
    return sure


@step
def next_phase(cluster: Cluster, phase: int) -> int:
    """Of the step after."""
    return phase + 1 if phase + 1 < cluster.block_tokens else 0


@step
def grow_in_run(cluster: Cluster, replica: Replica, group: Group, steps: int) -> None:
    """Take the blocks of the iterations that follow the one in progress; ``group.step`` counts them already."""
    if cluster.reservation != ON_DEMAND:
        return
    blocks = growth_up_to(cluster, group, steps) if grows_by_phase(cluster) else lacking_blocks(cluster, group)
    if blocks > 0:
        take_growth(cluster, replica, group, blocks)


@step
def growth_up_to(cluster: Cluster, group: Group, steps: int) -> int:
    """Blocks of the last so many steps, the next one's the last."""
    size = cluster.block_tokens
    blocks = quotient(steps, size) * group.members
    phase = group.phase
    for _ in range(remainder(steps, size)):
        blocks += growing_of(cluster, group)[phase]
        phase = phase - 1 if phase > 0 else size - 1
    return blocks


@step
def advance_phase(cluster: Cluster, group: Group, steps: int) -> None:
    """So many steps on."""
    group.phase += steps
    if group.phase >= cluster.block_tokens:
        group.phase = remainder(group.phase, cluster.block_tokens)
