"""Tokens as they appear: first token, gaps between tokens, finish."""

from __future__ import annotations

from simcore.engine.fast.blocks import routed_tokens
from simcore.engine.fast.gap_notes import count_gap
from simcore.engine.fast.give_up import note_finish, note_first_token
from simcore.engine.fast.jit import inlined, step
from simcore.engine.fast.layout import numbers, smalls
from simcore.engine.fast.loads import add_pending, add_reserved
from simcore.engine.fast.replica_state import replica_at
from simcore.engine.fast.request_state import Request
from simcore.engine.fast.state import NONE, Cluster
from simcore.engine.outputs import FINISHED


@inlined
def emit_token(cluster: Cluster, request: Request, now: int) -> bool:
    """One more token at the end of an iteration. Returns whether it was the last: the only place that looks at that."""
    request.generated += 1
    if request.last_token_ps == NONE:
        numbers(cluster.first_token_ps)[request.index] = now
        note_first_token(cluster, request)
    else:
        note_gap(cluster, request, now - request.last_token_ps)
    request.last_token_ps = now
    if request.generated < request.output_tokens:
        return False
    finish(cluster, request, now)
    return True


@inlined
def finish(cluster: Cluster, request: Request, now: int) -> None:
    """The last token has appeared."""
    numbers(cluster.finish_ps)[request.index] = cluster.end_ps = now
    smalls(cluster.status)[request.index] = FINISHED
    cluster.finished += 1
    numbers(cluster.max_gap_ps)[request.index] = request.max_gap_ps
    note_finish(cluster, request)


@step
def is_in_window(cluster: Cluster, request: Request) -> bool:
    """Whether its gaps are kept."""
    return cluster.first_in_window <= request.index < cluster.end_of_window


@step
def note_gap(cluster: Cluster, request: Request, gap_ps: int) -> None:
    """A gap holds whatever happened in it: stalls, a KV transfer, a preemption and its recomputation.

    Gaps are kept as runs: members of one iteration mostly share theirs.
    """
    request.max_gap_ps = max(request.max_gap_ps, gap_ps)
    if is_in_window(cluster, request):
        count_gap(cluster, gap_ps)


@step
def end_prefill(cluster: Cluster, request: Request) -> None:
    """The router forgets the prompt when its prefill ends for the first time."""
    if request.prefill_ended == 0:
        request.prefill_ended = 1
        add_pending(cluster, replica_at(cluster, request.prefill_replica), -request.target_tokens)


@inlined
def forget_decode(cluster: Cluster, request: Request) -> None:
    """The router forgets the rest when the request finishes, or loses its prefill replica."""
    replica = replica_at(cluster, request.decode_replica)
    add_pending(cluster, replica, -1)
    add_reserved(cluster, replica, -routed_tokens(request, cluster))


@inlined
def advance(cluster: Cluster, request: Request, now: int) -> bool:
    """A token from a decode or from the end of a prompt; True when it was the last."""
    end_prefill(cluster, request)
    finished = emit_token(cluster, request, now)
    if finished:
        forget_decode(cluster, request)
    return finished
