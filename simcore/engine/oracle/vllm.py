"""vLLM as of 2023: a prefill-only iteration whenever a waiting request fits, else decodes.

Waiting requests join first come first, whole prompts, while their tokens (``padded_prompts``: their number times the
longest) keep within max_batch_tokens; the first joins whatever its length. Decodes are taken in order of arrival.
"""

from __future__ import annotations

from simcore.engine.oracle.preemption import admit, fits, grow_or_preempt, micro_batch_size
from simcore.engine.oracle.state import Cluster, Replica, Request


def form(cluster: Cluster, replica: Replica) -> tuple[list[Request], list[int]]:
    """The next micro-batch's members and each one's new prompt tokens (0: a decode)."""
    members, new_tokens = add_prompts(cluster, replica)
    if not members:
        members = add_decodes(cluster, replica)
        new_tokens = [0] * len(members)
    if not members and replica.in_flight == 0:
        # the last running request has preempted itself: nothing else would ever let it in again
        members, new_tokens = add_prompts(cluster, replica)
    return members, new_tokens


def add_prompts(cluster: Cluster, replica: Replica) -> tuple[list[Request], list[int]]:
    """Admit from the front of the waiting queue, stopping before the first that is too much."""
    members: list[Request] = []
    new_tokens: list[int] = []
    size = micro_batch_size(cluster, replica)
    while replica.waiting and len(members) < size and fits(cluster, replica, replica.waiting[0]):
        new = replica.waiting[0].target_tokens - replica.waiting[0].done_tokens
        if members and batch_tokens(cluster, [*new_tokens, new]) > cluster.inputs.scheduler.max_batch_tokens:
            break
        members.append(admit(cluster, replica))
        new_tokens.append(new)
    return members, new_tokens


def batch_tokens(cluster: Cluster, new_tokens: list[int]) -> int:
    """What a batch of prompts counts against max_batch_tokens."""
    if cluster.inputs.scheduler.padded_prompts:
        return len(new_tokens) * max(new_tokens)
    return sum(new_tokens)


def add_decodes(cluster: Cluster, replica: Replica) -> list[Request]:
    """One token for each running request, by arrival, each with its KV."""
    members: list[Request] = []
    size = micro_batch_size(cluster, replica)
    replica.running.sort(key=lambda request: request.routed_ps)
    while replica.running and len(members) < size:
        request = replica.running.pop(0)
        if grow_or_preempt(cluster, replica, request):
            members.append(request)
    return members
