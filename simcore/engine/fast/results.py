"""From the engine's tables to the arrays of ``RunResult``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.engine.fast.gaps import Again, RunsOfGaps
from simcore.engine.fast.iteration_log import log_of
from simcore.engine.fast.layout import Int64
from simcore.engine.fast.memory import Memory
from simcore.engine.fast.room import has_outgrown
from simcore.engine.fast.state import KINDS_OF_BATCH
from simcore.engine.outputs import NEVER, UNFINISHED, BubbleCause, ReplicaResults, RequestResults, RunResult
from simcore.latency.curve import PS_PER_S
from simcore.slo.distribution import REPORTED, rank


def run_result(memory: Memory, again: Again) -> RunResult:
    """The books were closed: what is asked for; of the requests' columns and the gaps' table not a copy."""
    note_unfinished(memory)
    note_to_come(memory)
    end_ps = memory.get("end_ps")
    return RunResult(
        request_results(memory),
        replica_results(memory),
        gaps(memory, again),
        energy_series(memory, end_ps),
        end_ps,
        memory.get("busy_until_ps"),
        events(memory),
        gave_up=memory.get("gave_up") != 0,
        log=log_of(memory) if memory.get("log_room") else None,
    )


def gaps(memory: Memory, again: Again) -> RunsOfGaps:
    """The runs that were noted, not copied; where they were too many, the reported percentiles instead."""
    runs = memory.tables["gaps"][: memory.get("gap_runs")]
    made = RunsOfGaps(runs, memory.get("gap_runs_counted"), memory.record, again)
    if not has_outgrown(memory):
        return made
    ranks = (rank(percentile, max(gaps_due(memory), 1)) for percentile in REPORTED)
    return made.settled([place for place in ranks if place <= made.total])


def gaps_due(memory: Memory) -> int:
    """Gaps of the window's requests if all came."""
    output = memory.tables["output_tokens"][memory.get("first_in_window") : memory.get("end_of_window")]
    return int(output.sum()) - len(output)


def events(memory: Memory) -> int:
    """Arrivals, selections of a batch, finishes and transfers."""
    return sum(memory.get(name) for name in ("arrived", "selections", "finished", "sequence"))


def note_unfinished(memory: Memory) -> None:
    """The longest gap of requests that are still here: of others it was noted when they finished."""
    requests = memory.tables["requests"]
    here = np.ones(len(requests), dtype=bool)
    here[memory.tables["free_slots"][: memory.get("free_count")]] = False
    memory.tables["max_gap_ps"][requests["index"][here]] = requests["max_gap_ps"][here]


def note_to_come(memory: Memory) -> None:
    """Requests that had not arrived when the run was given up."""
    to_come = slice(memory.get("arrived"), None)
    for name in ("first_scheduled_ps", "first_token_ps", "finish_ps", "prefill_replica", "decode_replica"):
        memory.tables[name][to_come] = NEVER
    memory.tables["status"][to_come] = UNFINISHED


def energy_series(memory: Memory, end_ps: int) -> Int64:
    """Through the second of the last finish, or of the last work if that is later."""
    used = memory.get("seconds")
    series = np.zeros(max(used, end_ps // PS_PER_S + 1 if end_ps else 0), np.int64)
    series[:used] = memory.tables["energy_by_second_nj"][:used]
    return series


def request_results(memory: Memory) -> RequestResults:
    """One entry a request; not copied."""
    results = memory.tables
    return RequestResults(
        status=results["status"],
        first_scheduled_ps=results["first_scheduled_ps"],
        first_token_ps=results["first_token_ps"],
        finish_ps=results["finish_ps"],
        max_gap_ps=results["max_gap_ps"],
        prefill_replica=results["prefill_replica"],
        decode_replica=results["decode_replica"],
        preemptions=results["preemptions"],
    )


def replica_results(memory: Memory) -> ReplicaResults:
    """One entry a replica."""
    replicas, works = memory.tables["replicas"], memory.tables["works"]
    return ReplicaResults(
        busy_ps=by_kind(works, "busy_ps"),
        iterations=by_kind(works, "iterations"),
        prefill_tokens=by_kind(works, "prefill_tokens"),
        prompt_ends=by_kind(works, "prompt_ends"),
        decode_tokens=by_kind(works, "decode_tokens"),
        prefill_pairs=by_kind(works, "prefill_pairs"),
        chunk_read_tokens=by_kind(works, "chunk_read_tokens"),
        context_tokens=by_kind(works, "context_tokens"),
        padding_tokens=by_kind(works, "padding_tokens"),
        bubble_ps=bubbles(memory),
        blocked_ps=column(replicas, "blocked_ps"),
        transfer_wait_ps=column(replicas, "transfer_wait_ps"),
        nic_busy_ps=column(replicas, "nic_busy_ps"),
        kv_peak_tokens=column(replicas, "peak_blocks") * memory.get("block_tokens"),
        energy_nj=column(replicas, "energy_nj"),
    )


def by_kind(works: NDArray[Any], name: str) -> Int64:
    """[replica, BatchKind]."""
    return column(works, name).reshape(-1, KINDS_OF_BATCH)


def bubbles(memory: Memory) -> Int64:
    """[replica, stage, cause]: as many stages as the longest pipeline has, the others' rows zero."""
    shape = (memory.get("replica_count"), memory.get("most_stages"), len(BubbleCause))
    return memory.tables["bubble_ps"].reshape(shape).copy()


def column(rows: NDArray[Any], name: str) -> Int64:
    """A copy of one field of all rows: a later run of the design changes these."""
    return np.array(rows[name])  # of one row np.ascontiguousarray copies nothing
