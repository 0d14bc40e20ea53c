"""Tokens as they appear: first token, gaps between tokens, finish."""

from __future__ import annotations

from simcore.engine.oracle.blocks import routed_tokens
from simcore.engine.oracle.give_up import note_finish, note_first_token
from simcore.engine.oracle.state import Cluster, Request
from simcore.engine.outputs import FINISHED, NEVER


def emit_token(cluster: Cluster, request: Request, now: int) -> bool:
    """One more token at the end of an iteration. Returns whether it was the last: the only place that looks at that."""
    request.generated += 1
    if request.last_token_ps == NEVER:
        request.first_token_ps = now
        note_first_token(cluster, request)
    else:
        note_gap(cluster, request, now - request.last_token_ps)
    request.last_token_ps = now
    if request.generated < request.output_tokens:
        return False
    request.finish_ps = now
    request.status = FINISHED
    note_finish(cluster, request)
    return True


def is_finished(request: Request) -> bool:
    """Whether its last token has appeared."""
    return request.status == FINISHED


def note_gap(cluster: Cluster, request: Request, gap_ps: int) -> None:
    """A gap holds whatever happened in it: stalls, a KV transfer, a preemption and its recomputation."""
    request.max_gap_ps = max(request.max_gap_ps, gap_ps)
    first, end = cluster.inputs.window
    if first <= request.index < end:
        cluster.gaps[gap_ps] = cluster.gaps.get(gap_ps, 0) + 1


def end_prefill(cluster: Cluster, request: Request) -> None:
    """The router forgets the prompt when its prefill ends for the first time."""
    if not request.prefill_ended:
        request.prefill_ended = True
        cluster.replicas[request.prefill_replica].pending_tokens -= request.target_tokens


def forget_decode(cluster: Cluster, request: Request) -> None:
    """The router forgets the rest when the request finishes, or loses its prefill replica."""
    replica = cluster.replicas[request.decode_replica]
    replica.pending_tokens -= 1
    replica.reserved_tokens -= routed_tokens(request, cluster.inputs.scheduler)


def advance(cluster: Cluster, request: Request, now: int) -> bool:
    """A token from a decode or from the end of a prompt; True when it was the last."""
    end_prefill(cluster, request)
    finished = emit_token(cluster, request, now)
    if finished:
        forget_decode(cluster, request)
    return finished
