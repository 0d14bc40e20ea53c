"""Why a replica stands idle: blocked on KV, waiting for a transfer, or nothing to do."""

from __future__ import annotations

from simcore.engine.fast.jit import step
from simcore.engine.fast.replica_state import Replica


@step
def settle_idle(replica: Replica, now: int) -> None:
    """Account for the idle time up to now. Called before anything that could change its cause (see the oracle)."""
    if replica.in_flight == 0 and now > replica.idle_since_ps:
        idle = (now - replica.idle_since_ps) * replica.stages
        waiting = replica.waiting + replica.tasks + replica.left_over
        if waiting + replica.inbound_waiting + replica.polls > 0:
            replica.blocked_ps += idle
        elif replica.inbound > 0:
            replica.transfer_wait_ps += idle
    replica.idle_since_ps = now
