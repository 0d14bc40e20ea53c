"""KV transfers under way: a binary heap of ``Transfer`` by (end_ps, sequence) in ``Cluster.transfers``."""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.request_state import Transfer, request_at, transfer_at
from simcore.engine.fast.state import FOREVER, Cluster


@step
def note_next_transfer(cluster: Cluster) -> None:
    """When the first transfer ends."""
    cluster.next_transfer_ps = transfer_at(cluster, 0).end_ps if cluster.under_way > 0 else FOREVER


@step
def push_transfer(cluster: Cluster, slot: int, end_ps: int) -> None:
    """A transfer that has been started."""
    cluster.sequence += 1
    insert_transfer(cluster, slot, end_ps, cluster.sequence)
    note_next_transfer(cluster)


@step
def insert_transfer(cluster: Cluster, slot: int, end_ps: int, sequence: int) -> None:
    """At the end of the heap, then up to where it belongs."""
    place = cluster.under_way
    cluster.under_way += 1
    while place > 0 and ends_after(transfer_at(cluster, (place - 1) >> 1), end_ps, sequence):
        move(cluster, (place - 1) >> 1, place)
        place = (place - 1) >> 1
    transfer = transfer_at(cluster, place)
    transfer.end_ps, transfer.sequence, transfer.slot = end_ps, sequence, slot


@step
def ends_after(transfer: Transfer, end_ps: int, sequence: int) -> bool:
    """Later, or at the same time and started later."""
    return transfer.end_ps > end_ps or (transfer.end_ps == end_ps and transfer.sequence > sequence)


@step
def keep_transfers(cluster: Cluster, sending: int) -> None:
    """The heap made anew of those whose request is sending in this way; it never outgrows what was looked at."""
    looked_at = cluster.under_way
    cluster.under_way = 0
    for place in range(looked_at):
        transfer = transfer_at(cluster, place)
        slot, end_ps, sequence = transfer.slot, transfer.end_ps, transfer.sequence
        if request_at(cluster, slot).sending == sending:
            insert_transfer(cluster, slot, end_ps, sequence)
    note_next_transfer(cluster)


@step
def pop_transfer(cluster: Cluster) -> int:
    """The slot of the transfer that ends first, taken out."""
    slot = transfer_at(cluster, 0).slot
    cluster.under_way -= 1
    last, place = cluster.under_way, 0
    child = earlier_child(cluster, place)
    while child < last and is_earlier(cluster, child, last):
        move(cluster, child, place)
        place = child
        child = earlier_child(cluster, place)
    move(cluster, last, place)
    note_next_transfer(cluster)
    return slot


@step
def earlier_child(cluster: Cluster, place: int) -> int:
    """The child that ends first; beyond the heap's length where there is none."""
    child = 2 * place + 1
    if child + 1 < cluster.under_way and is_earlier(cluster, child + 1, child):
        return child + 1
    return child


@step
def is_earlier(cluster: Cluster, one: int, other: int) -> bool:
    """By end, then by the order in which they were started."""
    first, second = transfer_at(cluster, one), transfer_at(cluster, other)
    if first.end_ps == second.end_ps:
        return first.sequence < second.sequence
    return first.end_ps < second.end_ps


@step
def move(cluster: Cluster, origin: int, place: int) -> None:
    """Copy a transfer to another place of the heap."""
    moved, target = transfer_at(cluster, origin), transfer_at(cluster, place)
    target.end_ps, target.sequence, target.slot = moved.end_ps, moved.sequence, moved.slot
