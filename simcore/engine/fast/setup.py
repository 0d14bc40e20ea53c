"""A cluster before its first event, with the load of a run."""

from __future__ import annotations

import numpy as np

from simcore.engine.fast.design import design_of
from simcore.engine.fast.gap_record import GapRecord
from simcore.engine.fast.iteration_log import put_log
from simcore.engine.fast.layout import address_of, table
from simcore.engine.fast.memory import Memory
from simcore.engine.fast.room import empty_room, put_gaps
from simcore.engine.fast.state import FOREVER, WaitLimit
from simcore.engine.inputs import ClusterInputs

COLUMNS = ("arrival_ps", "prompt_tokens", "output_tokens", "cached_prompt_tokens", "max_output_tokens")
RESULTS = dict.fromkeys(("first_scheduled_ps", "first_token_ps", "finish_ps", "max_gap_ps"), np.int64)
SMALL_RESULTS = dict.fromkeys(("status", "prefill_replica", "decode_replica", "preemptions"), np.int32)
"""Numbers below 2**31."""
OF_ONE_RUN = (*COLUMNS, *RESULTS, *SMALL_RESULTS, "gaps", "gap_bins", "displaced", "wait_limits", "log")


def begin(inputs: ClusterInputs, record: GapRecord, log_rows: int) -> Memory:
    """Memory of the design, every request not yet arrived, every replica empty."""
    memory = design_of(inputs).take_memory()
    empty_room(memory)
    memory.set_back()
    memory.record = record
    put_load(memory, inputs)
    put_wait_limits(memory, inputs)
    put_gaps(memory)
    put_log(memory, inputs.log_ps, log_rows)
    return memory


def give_back(memory: Memory, inputs: ClusterInputs) -> None:
    """The run is over: its memory serves the design's next one, but for what is its own."""
    for name in OF_ONE_RUN:
        del memory.tables[name]
    memory.held = []
    design_of(inputs).idle.append(memory)


def put_load(memory: Memory, inputs: ClusterInputs) -> None:
    """The trace, not copied where it is in compiled code's form already, and room for the results."""
    requests = len(inputs.arrival_ps)
    for name in COLUMNS:
        memory.put(name, np.ascontiguousarray(getattr(inputs, name), dtype=np.int64))
    for name, kind in {**RESULTS, **SMALL_RESULTS}.items():
        begins_at_none = name in ("max_gap_ps", "preemptions")  # the others are written when a request arrives
        memory.put(name, (np.zeros if begins_at_none else np.empty)(requests, kind))
    memory.put("displaced", np.zeros(requests if memory.get("change_count") else 0, np.int64))
    memory.fix("trace_requests", requests)
    memory.fix("next_arrival_ps", int(inputs.arrival_ps[0]) if requests else FOREVER)
    memory.fix("first_in_window", inputs.window[0])
    memory.fix("end_of_window", inputs.window[1])


def put_wait_limits(memory: Memory, inputs: ClusterInputs) -> None:
    """The limits that the run is given up for."""
    limits = inputs.wait_limits
    rows = table(WaitLimit, len(limits), wait=[it.wait for it in limits], allowed=[it.allowed for it in limits])
    kept = [np.ascontiguousarray(limit.limit_ps, dtype=np.int64) for limit in limits]
    rows["limit_ps"] = [address_of(column) for column in kept]
    memory.put("wait_limits", rows)
    memory.held = kept
    memory.fix("wait_limit_count", len(limits))
