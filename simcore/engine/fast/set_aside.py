"""``vllm`` with pipeline stages: decodes that wait while prompts go first, and those for which there was no place.

They are a group as well, in a row that no micro-batch has (``Replica.aside``). Both it and the group of the micro-batch
that ended last are in order of arrival, as is then the running list of the oracle, which sorts it: the first ``size``
of both together are the next micro-batch's::

    set aside        | s1 s4 s8 |           | s4 s8 |             of one instant those set aside come first:
    ended just now   | s2 s3 s5 s6 |   ->   | s1 s2 s3 s5 s6 |    the oracle's sort keeps the order of the list
                                 size 5

Few change sides where the younger ones are set aside already. Columns are merged from the end, and what the group knows
as a sum is taken off member by member only where not all of them move. Where the row of those set aside would get most
of the next micro-batch, the two rows change roles instead.

Prompts go first: the whole group is set aside, which is a change of roles where nobody was. Where there is not enough
KV, or decodes are in the running list already, all are in that list, and the scheduler's own walk runs.
"""

from __future__ import annotations

from simcore.engine.fast.flight_state import flight_at
from simcore.engine.fast.group import dissolve, keeps_order, least_of
from simcore.engine.fast.group_state import Group, finish_steps_of, group_at, lasts_of, max_gaps_of, routed_of, slots_of
from simcore.engine.fast.growth import move_growth, move_growth_of_all
from simcore.engine.fast.jit import step
from simcore.engine.fast.micro_batch import next_flight
from simcore.engine.fast.replica_state import Replica
from simcore.engine.fast.request_state import request_at
from simcore.engine.fast.state import FOREVER, Cluster
from simcore.engine.fast.tokens import is_in_window


@step
def keeps_aside(cluster: Cluster, replica: Replica) -> bool:
    """Whether the replica has a row for those set aside."""
    return keeps_order(cluster) and replica.stages > 1


@step
def set_aside(cluster: Cluster, replica: Replica) -> None:
    """Prompts go first: the decodes of the micro-batch that ended last wait, in the row for those set aside."""
    group, aside = group_at(cluster, next_flight(replica)), group_at(cluster, replica.aside)
    if group.members == 0:
        return
    if replica.running > 0:
        dissolve(cluster, replica, group)
    elif aside.members < group.members:
        move(cluster, group, aside, 0, aside.members, True)
        swap_roles(cluster, replica)
    else:
        move(cluster, aside, group, 0, group.members, False)


@step
def bring_back(cluster: Cluster, replica: Replica, size: int) -> None:
    """The first so many of those set aside and those of the micro-batch that ended last are the next one's group."""
    group, aside = group_at(cluster, next_flight(replica)), group_at(cluster, replica.aside)
    if aside.members == 0:
        return
    of_aside = first_of_aside(cluster, group, aside, size)
    of_group = min(size, group.members + aside.members) - of_aside
    if of_group < of_aside:
        move(cluster, aside, group, 0, of_group, False)
        move(cluster, group, aside, of_group + of_aside, aside.members - of_group - of_aside, True)
        swap_roles(cluster, replica)
    else:
        move(cluster, group, aside, 0, of_aside, True)
        move(cluster, aside, group, of_group + of_aside, group.members - of_group - of_aside, False)


@step
def first_of_aside(cluster: Cluster, group: Group, aside: Group, size: int) -> int:
    """How many of the first so many of both are set aside."""
    routed, routed_aside = routed_of(cluster, group), routed_of(cluster, aside)
    left, left_aside = group.members, aside.members
    while left + left_aside > size:
        if left == 0 or (left_aside > 0 and routed_aside[left_aside - 1] > routed[left - 1]):
            left_aside -= 1
        else:
            left -= 1
    return left_aside


@step
def swap_roles(cluster: Cluster, replica: Replica) -> None:
    """The row of those set aside is the one that the next micro-batch takes, and the other way round."""
    flight = next_flight(replica)
    flight_at(cluster, replica.aside).following = flight_at(cluster, flight).following
    replica.free_flight, replica.aside = replica.aside, flight


@step
def dissolve_aside(cluster: Cluster, replica: Replica) -> None:
    """They are at the end of the running list, where they stand by arrival."""
    aside = group_at(cluster, replica.aside)
    aside.in_front = replica.running
    dissolve(cluster, replica, aside)


@step
def move(cluster: Cluster, into: Group, group: Group, first: int, count: int, ahead: bool) -> None:
    """So many members of a group, from a place on, join another where they stand by arrival. ``ahead``: of one instant
    they come before those there."""
    if count == 0:
        return
    keep_lasts(cluster, into)
    keep_lasts(cluster, group)
    merge_columns(cluster, into, group, first, count, ahead)
    if count == group.members:
        move_all_sums(cluster, into, group)
    else:
        move_sums(cluster, into, group, first, count)
    into.members += count
    group.members -= count
    into.newcomers, group.newcomers = into.members, group.members
    into.in_front = group.in_front = 0


@step
def keep_lasts(cluster: Cluster, group: Group) -> None:
    """When each had its last token, which they will not have in common any more, and its longest gap so far."""
    lasts, max_gaps, longest = lasts_of(cluster, group), max_gaps_of(cluster, group), group.max_since_ps
    for place in range(group.members - group.newcomers):
        lasts[place] = group.last_ps
        max_gaps[place] += max(longest - max_gaps[place], 0)
    group.newcomers, group.max_since_ps = group.members, 0


@step
def merge_columns(cluster: Cluster, into: Group, group: Group, first: int, count: int, ahead: bool) -> None:
    """From the end: no further than the first that joins."""
    slots, their_slots = slots_of(cluster, into), slots_of(cluster, group)
    finish_steps, their_finish_steps = finish_steps_of(cluster, into), finish_steps_of(cluster, group)
    max_gaps, their_max_gaps = max_gaps_of(cluster, into), max_gaps_of(cluster, group)
    lasts, their_lasts = lasts_of(cluster, into), lasts_of(cluster, group)
    routed, their_routed = routed_of(cluster, into), routed_of(cluster, group)
    later, here, there = into.step - group.step, into.members - 1, first + count - 1
    place = here + count
    while there >= first:
        while here >= 0 and routed[here] + int(ahead) > their_routed[there]:
            slots[place], finish_steps[place] = slots[here], finish_steps[here]
            max_gaps[place], lasts[place], routed[place] = max_gaps[here], lasts[here], routed[here]
            here, place = here - 1, place - 1
        slots[place], finish_steps[place] = their_slots[there], their_finish_steps[there] + later
        max_gaps[place], lasts[place], routed[place] = their_max_gaps[there], their_lasts[there], their_routed[there]
        there, place = there - 1, place - 1


@step
def move_all_sums(cluster: Cluster, into: Group, group: Group) -> None:
    """All members have joined another group, which had others or not."""
    next_finish = group.next_finish + into.step - group.step
    into.next_finish = min(into.next_finish, next_finish) if into.members > 0 else next_finish
    into.contexts += group.contexts
    into.in_window += group.in_window
    group.contexts = group.in_window = 0
    move_growth_of_all(cluster, into, group)


@step
def move_sums(cluster: Cluster, into: Group, group: Group, first: int, count: int) -> None:
    """Some have joined another group: one by one. Those behind them move up."""
    slots, finish_steps = slots_of(cluster, group), finish_steps_of(cluster, group)
    if into.members == 0:
        into.next_finish = FOREVER
    for place in range(first, first + count):
        request = request_at(cluster, slots[place])
        left = finish_steps[place] - group.step
        contexts, in_window = request.prompt_tokens + request.output_tokens - left - 1, is_in_window(cluster, request)
        into.next_finish = min(into.next_finish, into.step + left)
        into.contexts += contexts
        group.contexts -= contexts
        into.in_window += int(in_window)
        group.in_window -= int(in_window)
        move_growth(cluster, into, group, request)
    for place in range(first, group.members - count):
        slots[place], finish_steps[place] = slots[place + count], finish_steps[place + count]
        max_gaps_of(cluster, group)[place] = max_gaps_of(cluster, group)[place + count]
        lasts_of(cluster, group)[place] = lasts_of(cluster, group)[place + count]
        routed_of(cluster, group)[place] = routed_of(cluster, group)[place + count]
    group.next_finish = least_of(finish_steps, group.members - count)
