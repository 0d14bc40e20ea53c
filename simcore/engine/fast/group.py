"""The decodes of a micro-batch as one group, which is not walked while nothing changes in it.

They come back together when it ends. If no other decode is in the running list, and there is a place for each and KV
for all, the next micro-batch begins with the same ones. So what the oracle finds by walking over its running list is
known beforehand (``add_group``), and what it adds up member by member are the group's sums. With one stage that is all
decodes of the replica; with more there is a group a micro-batch in flight, which keeps its row: the row of the
micro-batch that ended last is the one that the next takes (``micro_batch.next_flight``)::

    members        | s0  s1  s2 .. s(m-1) | chunks of the micro-batch in flight ..   the row of ``members_of``: slots
    finish_steps   | f0  f1  f2 .. f(m-1) |      the step with whose end its last token comes
    max_gaps_ps    | g0  g1  g2 .. g(m-1) |      its longest gap, but for max_since_ps
    lasts_ps       |     ..      l(m-1) ..|      of newcomers alone: their last token
                     <- decoded -> <newcomers>

    Group          members, newcomers, step, contexts, in_window, last_ps, max_since_ps, next_finish, ...

The members are in the order of the running list. A step gives each a token: ``step`` and ``contexts`` grow, and the
members who had the step before share a gap. A newcomer has its first gap for itself; after it, it is like the others.
The Request of a member says nothing of how far it is (``generated``, ``last_token_ps``, ``max_gap_ps``; under
``on_demand`` ``blocks``, see ``growth.py``): that is written when it leaves.

Where the group may not run as a whole it is *dissolved* into the running list, over which the scheduler walks as the
oracle does; the decodes that it chose are *gathered* again. Beside a group that runs there are prompts in progress only
in the running list, those ``in_front`` before the group's members and the others behind them. The splitwise kinds have
a group on machines of one stage, and never dissolve it: the batch of a machine is its group, from the end of which
decodes may be put out (``cut_group``). With ``chunked``, where a decode has taken all its KV, it is the decodes of the
last micro-batch, with any number of stages.
"""

from __future__ import annotations

from simcore.engine.fast.blocks import give_back
from simcore.engine.fast.flight_state import flight_at, members_of
from simcore.engine.fast.gap_notes import count_gap, note_gaps_of_run
from simcore.engine.fast.group_state import (
    Group,
    finish_steps_of,
    group_at,
    lasts_of,
    max_gaps_of,
    routed_of,
    slots_of,
)
from simcore.engine.fast.growth import advance_phase, grow_group, join_growth, leave_growth
from simcore.engine.fast.jit import inlined, step
from simcore.engine.fast.layout import close_up
from simcore.engine.fast.names import REQUEST_LEVEL
from simcore.engine.fast.queues import free_slot
from simcore.engine.fast.replica_state import Replica, running_of
from simcore.engine.fast.request_state import request_at
from simcore.engine.fast.state import FOREVER, Cluster
from simcore.engine.fast.tokens import finish, forget_decode, is_in_window


@inlined
def add_group(cluster: Cluster, replica: Replica, flight: int, most: int) -> int:
    """The group's members join the micro-batch that is formed if all of them would: returns how many.

    If other decodes are in the running list, or there is no place or no KV for all, the group is dissolved, and none
    joins.
    """
    group = group_at(cluster, flight)
    if group.members == 0:
        return 0
    if group.members <= most and not lists_decodes(cluster, replica) and grow_group(cluster, replica, group):
        flight_at(cluster, flight).grouped = group.members
        return group.members
    dissolve(cluster, replica, group)
    return 0


@step
def lists_decodes(cluster: Cluster, replica: Replica) -> bool:
    """Whether there are decodes in the running list: left over when micro-batches were full, KV or a budget lacked, or
    prompts went first."""
    for i in range(replica.running):
        request = request_at(cluster, running_of(cluster, replica)[i])
        if request.done_tokens == request.target_tokens:
            return True
    return False


@inlined
def join_group(cluster: Cluster, group: Group, slot: int) -> None:
    """A request that decodes from the next step on, behind those that do."""
    request = request_at(cluster, slot)
    finish_step = group.step + request.output_tokens - request.generated
    slots_of(cluster, group)[group.members] = slot
    finish_steps_of(cluster, group)[group.members] = finish_step
    max_gaps_of(cluster, group)[group.members] = request.max_gap_ps
    lasts_of(cluster, group)[group.members] = request.last_token_ps
    group.next_finish = min(group.next_finish, finish_step) if group.members > 0 else finish_step
    group.members += 1
    group.newcomers += 1
    group.contexts += request.prompt_tokens + request.generated - 1
    group.in_window += int(is_in_window(cluster, request))
    join_growth(cluster, group, request)
    if keeps_order(cluster):
        routed_of(cluster, group)[group.members - 1] = request.routed_ps
        sort_in(cluster, group)


@step
def keeps_order(cluster: Cluster) -> bool:
    """Whether members are in order of arrival, as decodes may be set aside (``set_aside.py``)."""
    return cluster.most_flights > cluster.most_stages


@step
def sort_in(cluster: Cluster, group: Group) -> None:
    """The last newcomer stands among the others by when it was routed; of one instant behind them."""
    slots, finish_steps, routed = slots_of(cluster, group), finish_steps_of(cluster, group), routed_of(cluster, group)
    place = group.members - 1
    while place > group.members - group.newcomers and routed[place - 1] > routed[place]:
        for column in (slots, finish_steps, routed, max_gaps_of(cluster, group), lasts_of(cluster, group)):
            column[place - 1], column[place] = column[place], column[place - 1]
        place -= 1


@inlined
def emit_tokens_of_group(
    cluster: Cluster, group: Group, steps: int, first_ps: int, end_ps: int, gap_ps: int, growth_ps: int
) -> None:
    """A token of each member at the end of each of so many steps, the first at ``first_ps``, the last at ``end_ps``;
    the gaps in between grow from ``gap_ps`` on."""
    if group.newcomers > 0:
        emit_tokens_of_newcomers(cluster, group, first_ps)
    else:
        note_shared_gaps(cluster, group, first_ps - group.last_ps, 0, 1)
    if steps > 1:
        note_shared_gaps(cluster, group, gap_ps, growth_ps, steps - 1)
    group.last_ps = end_ps
    group.contexts += steps * group.members
    group.step += steps
    advance_phase(cluster, group, steps)


@step
def note_shared_gaps(cluster: Cluster, group: Group, first_ps: int, growth_ps: int, terms: int) -> None:
    """Gaps that all members have."""
    group.max_since_ps = max(group.max_since_ps, first_ps + (terms - 1) * growth_ps)
    if group.in_window > 0:
        note_gaps_of_run(cluster, first_ps, growth_ps, terms, group.in_window)


@step
def emit_tokens_of_newcomers(cluster: Cluster, group: Group, now: int) -> None:
    """The step after which they are like the others, whose longest gaps are brought up to date."""
    max_gaps, lasts, first = max_gaps_of(cluster, group), lasts_of(cluster, group), group.members - group.newcomers
    longest = max(group.max_since_ps, now - group.last_ps)
    in_window, members = group.in_window, group.members
    for place in range(first):
        # written whether it is more or not: a store on condition is slow
        max_gaps[place] += max(longest - max_gaps[place], 0)
    for place in range(first, members):
        max_gaps[place] += max(now - lasts[place] - max_gaps[place], 0)
        if group.in_window == members or is_counted(cluster, group, place):
            in_window -= 1
            count_gap(cluster, now - lasts[place])
    if in_window > 0:
        note_gaps_of_run(cluster, now - group.last_ps, 0, 1, in_window)
    group.newcomers = group.max_since_ps = 0


@step
def is_counted(cluster: Cluster, group: Group, place: int) -> bool:
    """Whether the gaps of the member at a place are kept."""
    return group.in_window > 0 and is_in_window(cluster, request_at(cluster, slots_of(cluster, group)[place]))


@inlined
def end_step(cluster: Cluster, replica: Replica, group: Group, now: int) -> None:
    """The last step of a micro-batch of the group: a token of each; those whose last it is leave."""
    emit_tokens_of_group(cluster, group, 1, now, now, 0, 0)
    if group.step == group.next_finish:
        leave_finished(cluster, replica, group, now)


@step
def leave_finished(cluster: Cluster, replica: Replica, group: Group, now: int) -> None:
    """Those whose last token has come leave, the others move up."""
    finish_steps = finish_steps_of(cluster, group)
    place = 0
    while group.next_finish == group.step:
        while finish_steps[place] != group.step:
            place += 1
        finish_member(cluster, replica, group, place, now)
        group.members -= 1
        behind = group.members - place
        close_up(slots_of(cluster, group), place, behind)
        close_up(finish_steps, place, behind)
        close_up(max_gaps_of(cluster, group), place, behind)
        if keeps_order(cluster):
            close_up(routed_of(cluster, group), place, behind)
        group.next_finish = least_of(finish_steps, group.members)


@step
def least_of(column: list[int], length: int) -> int:
    """The least of a column; FOREVER: it is empty."""
    least = FOREVER
    for i in range(length):
        least = min(least, column[i])
    return least


@step
def finish_member(cluster: Cluster, replica: Replica, group: Group, place: int, now: int) -> None:
    """The last token of a member has come."""
    slot = slots_of(cluster, group)[place]
    request = request_at(cluster, slot)
    write_member(cluster, group, place)
    finish(cluster, request, now)
    forget_decode(cluster, request)
    leave_replica(cluster, replica, group, slot)


@step
def leave_replica(cluster: Cluster, replica: Replica, group: Group, slot: int) -> None:
    """A finished request frees its KV, or with ``request_level`` leaves it to its batch, and its place to be computed
    at the context at which it ended where ``keep_finished``."""
    request = request_at(cluster, slot)
    if cluster.kind != REQUEST_LEVEL:
        give_back(replica, request)
    else:
        group.kept_blocks += request.blocks
        group.kept += cluster.keep_finished
        group.kept_contexts += cluster.keep_finished * (request.prompt_tokens + request.generated - 1)
    replica.admitted -= 1
    free_slot(cluster, slot)


@inlined
def write_member(cluster: Cluster, group: Group, place: int) -> None:
    """What the group knows of a member that leaves it, written to its Request; the sums are without it."""
    request = request_at(cluster, slots_of(cluster, group)[place])
    request.generated = request.output_tokens - (finish_steps_of(cluster, group)[place] - group.step)
    request.max_gap_ps = max_gaps_of(cluster, group)[place]
    if place < group.members - group.newcomers:
        request.max_gap_ps = max(request.max_gap_ps, group.max_since_ps)
        request.last_token_ps = group.last_ps
    else:
        request.last_token_ps = lasts_of(cluster, group)[place]
    group.contexts -= request.prompt_tokens + request.generated - 1
    group.in_window -= int(is_in_window(cluster, request))
    leave_growth(cluster, group, request)


@step
def cut_group(cluster: Cluster, group: Group, kept: int) -> None:
    """Between two steps: only the first so many members stay."""
    for place in range(kept, group.members):
        write_member(cluster, group, place)
    group.members = kept
    group.next_finish = least_of(finish_steps_of(cluster, group), kept)


@step
def dissolve(cluster: Cluster, replica: Replica, group: Group) -> None:
    """Between two steps: the members go back to their place in the running list."""
    running = running_of(cluster, replica)
    for place in range(replica.running - 1, group.in_front - 1, -1):
        running[place + group.members] = running[place]
    for place in range(group.members):
        write_member(cluster, group, place)
        running[group.in_front + place] = slots_of(cluster, group)[place]
    replica.running += group.members
    group.members = group.newcomers = group.max_since_ps = group.in_front = 0
    group.kept = group.kept_contexts = group.kept_blocks = 0


@step
def dissolve_all(cluster: Cluster, replica: Replica) -> None:
    """No micro-batch will follow: what the groups know of their members is written down."""
    for flight in range(cluster.most_flights):
        group = group_at(cluster, replica.index * cluster.most_flights + flight)
        group.in_front = replica.running
        dissolve(cluster, replica, group)


@inlined
def gather(cluster: Cluster, flight: int, decodes: int) -> None:
    """The decodes that were chosen by walking, the first members of the micro-batch, are a group from now on."""
    if decodes > 0 and flight_at(cluster, flight).grouped == 0:
        gather_decodes(cluster, flight, decodes)


@step
def gather_decodes(cluster: Cluster, flight: int, decodes: int) -> None:
    """So many members join the group, which had none."""
    batch, group = flight_at(cluster, flight), group_at(cluster, flight)
    for place in range(decodes):
        join_group(cluster, group, members_of(cluster, flight)[place])
    batch.grouped = decodes
