"""The tables that grow: slots, gaps and seconds. At their first length, and longer while a cluster runs."""

from __future__ import annotations

import numpy as np

from simcore.engine.fast.gap_bins import count_growing
from simcore.engine.fast.gap_state import PLACES, GapRun
from simcore.engine.fast.layout import fields_of, table
from simcore.engine.fast.memory import Memory
from simcore.engine.fast.request_state import Request, Task, Transfer
from simcore.engine.fast.state import FOREVER
from simcore.latency.curve import PS_PER_S

MORE_SLOTS, MORE_GAPS, MORE_SECONDS = 1, 2, 3
"""What ``cluster.advance`` may lack; 0: it is done."""

FIRST_SLOTS = 1024
FIRST_GAPS = 65_536
FIRST_SECONDS = 4096


def put_room(memory: Memory) -> None:
    """The tables that serve one run after another, at their first length."""
    memory.put("free_slots", np.zeros(0, np.int64))
    memory.put("requests", table(Request, 0))
    memory.put("tasks", table(Task, 0))
    memory.put("transfers", table(Transfer, 0))
    lengthen_slots(memory, FIRST_SLOTS)
    memory.put("energy_by_second_nj", np.zeros(0, np.int64))
    lengthen_seconds(memory, FIRST_SECONDS)
    memory.put("gap_places", np.zeros(PLACES, np.int32))


def empty_room(memory: Memory) -> None:
    """Before a run: every slot free, lowest on top, no second counted. Of what a slot held only ``here`` is looked at:
    a run that ended early, or left requests unfinished, leaves it set."""
    memory.tables["energy_by_second_nj"][: memory.get("seconds")] = 0
    slots = len(memory.tables["free_slots"])
    memory.tables["free_slots"][:] = np.arange(slots - 1, -1, -1)
    memory.tables["requests"]["here"] = 0
    memory.tables["gap_places"][:] = 0


def put_gaps(memory: Memory) -> None:
    """Room for the gaps of one run, which has it for itself: they are handed out."""
    memory.put("gaps", np.empty(FIRST_GAPS + most_gaps(memory), fields_of(GapRun)))
    memory.fix("gap_room", len(memory.tables["gaps"]))
    memory.put("gap_bins", memory.record.bins)


def enlarge(memory: Memory, lacking: int, now: int) -> None:
    """More room for what ``cluster.advance`` says is lacking: twice as much, or what the instant needs."""
    if lacking == MORE_SLOTS:
        lengthen_slots(memory, 2 * len(memory.tables["requests"]))
    elif lacking == MORE_GAPS:
        make_room_for_gaps(memory)
    else:
        lengthen_seconds(memory, max(2 * memory.get("second_room"), now // PS_PER_S + 1))


def lengthen_slots(memory: Memory, slots: int) -> None:
    """So many slots. The numbers of those there are stay; the new ones are free, lowest on top."""
    before, free = len(memory.tables["requests"]), memory.get("free_count")
    for name, length in (("free_slots", slots), ("requests", slots), ("tasks", 2 * slots), ("transfers", slots + 1)):
        memory.lengthen(name, length)
    memory.tables["free_slots"][free : free + slots - before] = np.arange(before, slots)[::-1]
    memory.fix("slots", slots)
    memory.fix("free_count", slots)  # before the first event
    memory.cluster["free_count"] = free + slots - before


def lengthen_seconds(memory: Memory, seconds: int) -> None:
    """Room for so many seconds."""
    memory.lengthen("energy_by_second_nj", seconds)
    memory.fix("second_room", seconds)
    memory.fix("second_room_ps", min(seconds * PS_PER_S, FOREVER))


def make_room_for_gaps(memory: Memory) -> None:
    """Twice as much up to ``most_runs``; then what the record can do without, more only where that is too little."""
    room, most, needed = memory.get("gap_room"), most_runs(memory), most_gaps(memory)
    enough = (room - needed) * 3 // 4
    if room >= most:
        thin_gaps(memory, enough)
    if memory.get("gap_runs") > enough:
        longer = 2 * room if room >= most else min(2 * room, most)
        memory.lengthen("gaps", max(longer, memory.get("gap_runs") + needed))
        memory.fix("gap_room", len(memory.tables["gaps"]))


def thin_gaps(memory: Memory, enough: int) -> None:
    """Have the record keep so many runs at most, if it can."""
    rows = memory.tables["gaps"][: memory.get("gap_runs")]
    count_growing(rows[memory.get("gap_runs_counted") :], memory.record.bins)
    kept = memory.record.thin(rows, enough)
    memory.cluster["gap_runs"] = memory.cluster["gap_runs_counted"] = kept


def has_outgrown(memory: Memory) -> bool:
    """Whether the record of gaps has taken more room than a short run needs, and may do with less."""
    return memory.record.shrinks and len(memory.tables["gaps"]) > FIRST_GAPS + most_gaps(memory)


def most_runs(memory: Memory) -> int:
    """Rows of ``gaps`` that a record takes if it can: 6 bytes a request of a long trace."""
    return max(FIRST_GAPS, memory.get("trace_requests") // 4) + most_gaps(memory)


def most_gaps(memory: Memory) -> int:
    """Runs of gaps that one event may bring, or the changes of availability of one instant."""
    replicas = memory.get("replica_count") + 1 if memory.get("change_count") else 2
    return 2 * (memory.get("most_members") + 1) * replicas
