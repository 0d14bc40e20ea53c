"""Giving up a run whose SLO cannot hold any more: what was missed is missed, whatever follows.

Every wait of a request of the window is held against its limit as soon as it is over. Once a limit is missed by more
requests than it allows, the run ends before the next instant.
"""

from __future__ import annotations

from simcore.engine.inputs import Wait
from simcore.engine.oracle.state import Cluster, Request


def note_first_token(cluster: Cluster, request: Request) -> None:
    """Its first token has appeared."""
    note_wait(cluster, request, Wait.QUEUE, request.first_scheduled_ps - request.arrival_ps)
    note_wait(cluster, request, Wait.TTFT, request.first_token_ps - request.arrival_ps)


def note_finish(cluster: Cluster, request: Request) -> None:
    """Its last token has appeared."""
    note_wait(cluster, request, Wait.DECODE, request.finish_ps - request.first_token_ps)
    note_wait(cluster, request, Wait.E2E, request.finish_ps - request.arrival_ps)


def note_wait(cluster: Cluster, request: Request, wait: Wait, waited_ps: int) -> None:
    """Count it against each limit on this wait."""
    first, end = cluster.inputs.window
    if not first <= request.index < end:
        return
    for i, limit in enumerate(cluster.inputs.wait_limits):
        if limit.wait == wait and waited_ps > limit.limit_ps[request.index - first]:
            cluster.misses[i] += 1
            cluster.gave_up |= cluster.misses[i] > limit.allowed
