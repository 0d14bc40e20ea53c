"""OUT.csv of ``simulate``: one row a request, in order of arrival, times exact to the picosecond."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np

from simcore.engine.inputs import ClusterInputs, Int64
from simcore.engine.outputs import FINISHED, RunResult
from simcore.latency.curve import PS_PER_S

COLUMNS = (
    "request", "arrival_s", "prompt_tokens", "output_tokens", "queue_s", "ttft_s", "tpot_s", "max_tbt_s", "e2e_s",
    "prefill_replica", "decode_replica", "preemptions",
)  # fmt: skip
ROWS_AT_ONCE = 50_000
"""Bounds the memory that text takes, whatever the trace's length."""
DECIMALS = 12


def request_rows(inputs: ClusterInputs, run: RunResult) -> Iterator[str]:
    """Lines of the file, header first.

    tpot_s and max_tbt_s are empty with one output token; all times but the arrival are empty for a request that was
    refused or did not finish; a replica is empty where none took the request. Replicas are numbered over all pools.
    """
    starts = range(0, len(inputs.arrival_ps), ROWS_AT_ONCE)
    header = iter((",".join(COLUMNS),))
    return chain(header, *(_block(inputs, run, slice(start, start + ROWS_AT_ONCE)) for start in starts))


def _block(inputs: ClusterInputs, run: RunResult, part: slice) -> Iterator[str]:
    requests = run.requests
    arrival, output = inputs.arrival_ps[part], inputs.output_tokens[part]
    done = requests.status[part] == FINISHED
    several = done & (output >= 2)
    first, finish = requests.first_token_ps[part], requests.finish_ps[part]
    columns = (
        [str(part.start + i) for i in range(len(arrival))],
        _seconds(arrival, np.ones(len(arrival), np.bool_)),
        _numbers(inputs.prompt_tokens[part]),
        _numbers(output),
        _seconds(requests.first_scheduled_ps[part] - arrival, done),
        _seconds(first - arrival, done),
        _tpot(finish - first, output - 1, several),
        _seconds(requests.max_gap_ps[part], several),
        _seconds(finish - arrival, done),
        _numbers(requests.prefill_replica[part], empty_below=0),
        _numbers(requests.decode_replica[part], empty_below=0),
        _numbers(requests.preemptions[part]),
    )
    return map(",".join, zip(*columns, strict=True))


def _seconds(times_ps: Int64, known: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[str]:
    return [
        f"{ps // PS_PER_S}.{ps % PS_PER_S:0{DECIMALS}d}" if there else ""
        for ps, there in zip(times_ps.tolist(), known.tolist(), strict=True)
    ]


def _tpot(decode_ps: Int64, steps: Int64, known: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[str]:
    """Seconds a step, to 16 digits: a quotient has no last one."""
    return [
        f"{ps / step / PS_PER_S:.16g}" if there else ""
        for ps, step, there in zip(decode_ps.tolist(), steps.tolist(), known.tolist(), strict=True)
    ]


def _numbers(values: Int64, empty_below: int | None = None) -> list[str]:
    numbers = values.tolist()
    if empty_below is None:
        return [str(number) for number in numbers]
    return [str(number) if number >= empty_below else "" for number in numbers]
