"""Giving up a run whose SLO cannot hold any more: what was missed is missed, whatever follows.

Every wait of a request of the window is held against its limit as soon as it is over. Once a limit is missed by more
requests than it allows, the run ends before the next instant. ``wait_limits`` holds, a limit: which wait, how many more
may miss it, and the address of the requests' limits.
"""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.layout import numbers, row_of
from simcore.engine.fast.request_state import Request
from simcore.engine.fast.state import Cluster, WaitLimit
from simcore.engine.inputs import Wait

QUEUE, TTFT, DECODE, E2E = (int(wait) for wait in Wait)
wait_limit_row = row_of(WaitLimit)


@step
def note_first_token(cluster: Cluster, request: Request) -> None:
    """Its first token has appeared."""
    if cluster.wait_limit_count > 0:
        index, arrival_ps = request.index, numbers(cluster.arrival_ps)[request.index]
        note_wait(cluster, request, QUEUE, numbers(cluster.first_scheduled_ps)[index] - arrival_ps)
        note_wait(cluster, request, TTFT, numbers(cluster.first_token_ps)[index] - arrival_ps)


@step
def note_finish(cluster: Cluster, request: Request) -> None:
    """Its last token has appeared."""
    if cluster.wait_limit_count > 0:
        index, finish_ps = request.index, numbers(cluster.finish_ps)[request.index]
        note_wait(cluster, request, DECODE, finish_ps - numbers(cluster.first_token_ps)[index])
        note_wait(cluster, request, E2E, finish_ps - numbers(cluster.arrival_ps)[index])


@step
def note_wait(cluster: Cluster, request: Request, wait: int, waited_ps: int) -> None:
    """Count it against each limit on this wait."""
    if request.index < cluster.first_in_window or request.index >= cluster.end_of_window:
        return
    for i in range(cluster.wait_limit_count):
        limit = wait_limit_row(cluster.wait_limits, i)
        if limit.wait == wait and waited_ps > numbers(limit.limit_ps)[request.index - cluster.first_in_window]:
            limit.allowed -= 1
            if limit.allowed < 0:
                cluster.gave_up = 1
