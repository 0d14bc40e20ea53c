"""Why a replica stands idle: blocked on KV, waiting for a transfer, or nothing to do."""

from __future__ import annotations

from simcore.engine.oracle.state import Replica


def settle_idle(replica: Replica, now: int) -> None:
    """Account for the idle time up to now. Called before anything that could change its cause.

    A replica is idle with no micro-batch in flight. Its idle time (times its stages) is *blocked* while a request waits
    there, or a transfer for room there; else *transfer wait* while a transfer to it is under way.
    """
    if replica.in_flight == 0 and now > replica.idle_since_ps:
        idle = (now - replica.idle_since_ps) * replica.inputs.stages
        waiting = replica.waiting or replica.tasks or replica.left_over
        if waiting or replica.inbound_waiting or replica.polls:
            replica.counters.blocked_ps += idle
        elif replica.inbound:
            replica.counters.transfer_wait_ps += idle
    replica.idle_since_ps = now
