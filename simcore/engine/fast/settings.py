"""The rules of a cluster as the first fields of the ``Cluster`` record."""

from __future__ import annotations

from simcore.engine.fast.names import AGEINGS, DECODE_RUNS, KINDS, RESERVATIONS, ROUTERS, TRANSFER_MODES
from simcore.engine.inputs import SchedulerInputs, TransferInputs


def settings(scheduler: SchedulerInputs, transfer: TransferInputs) -> dict[str, int]:
    """The first fields of ``Cluster``: names as numbers; the seed as the signed number with its 64 bits."""
    same = (
        "token_budget",
        "max_batch_tokens",
        "max_batch_size",
        "block_tokens",
        "full_layers",
        "windowed_layers",
        "window_tokens",
        "max_model_tokens",
        "mixed_pool",
        "chunked",
        "prompt_pending_limit",
        "padded_prompts",
        "preempt_when_full",
        "pad_compute",
        "keep_finished",
    )
    return {
        **{name: int(getattr(scheduler, name)) for name in same},
        "kind": KINDS.index(scheduler.kind),
        "reservation": RESERVATIONS.index(scheduler.reservation),
        "ageing": AGEINGS.index(scheduler.ageing),
        "decode_runs": DECODE_RUNS.index(scheduler.decode_runs),
        "one_by_one": int(scheduler.simultaneous_arrivals == "one_by_one"),
        "router": ROUTERS.index(scheduler.router),
        "pool_order": int(scheduler.router_ties == "pool_order"),
        "seed": signed_64_bits(scheduler.seed),
        "transfer_mode": TRANSFER_MODES.index(transfer.mode),
        "transfer_ps_per_token": transfer.ps_per_token,
        "contention": int(transfer.contention),
        "setup_ps": transfer.setup_ps,
        "transfer_block_tokens": transfer.block_tokens,
        "retry_ps": transfer.retry_ps,
        "layers": transfer.layers,
    }


def signed_64_bits(number: int) -> int:
    """The lowest 64 bits as a signed number."""
    return (number & 2**64 - 1 ^ 2**63) - 2**63
