"""The micro-batches of a stretch of time, one after another: what each was and when. Off unless it is asked for.

A micro-batch is logged when it ends (or is cut short), if it was under way at any time within ``ClusterInputs.log_ps``.
The log changes nothing that is simulated.
"""

from __future__ import annotations

from simcore.engine.oracle.state import Cluster, MicroBatch, Replica
from simcore.engine.oracle.tokens import is_finished


def log_iteration(cluster: Cluster, replica: Replica, batch: MicroBatch, now: int) -> None:
    """A micro-batch that ends now."""
    first_ps, until_ps = cluster.inputs.log_ps
    if batch.start_ps < until_ps and now > first_ps:
        cluster.log.append((replica.index, batch.start_ps, now, batch.kind, batch.tokens, decodes_of(batch)))


def decodes_of(batch: MicroBatch) -> int:
    """Its decodes that get a token: not the slots that finished requests keep."""
    pairs = zip(batch.members, batch.new_tokens, strict=True)
    return sum(new == 0 and not is_finished(request) for request, new in pairs)
