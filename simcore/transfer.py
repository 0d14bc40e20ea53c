"""KV transfer in whole picoseconds (DESIGN.md section 4)."""

from __future__ import annotations

PS_PER_S = 10**12
WHOLE_BELOW_TOKENS = 512
"""Layer-wise: a prompt under this many tokens is sent whole."""


def ps_per_token(kv_bytes_per_token: float, bytes_per_s: float) -> int:
    """Time to send one prompt token's KV of a whole replica, rounded once to whole ps, at least 1."""
    return max(round(kv_bytes_per_token / bytes_per_s * PS_PER_S), 1)


def replica_nic_bytes_per_s(nic_bytes_per_s: float, tensor_parallel: int, pipeline_parallel: int) -> float:
    """All the NICs of a replica together: an accelerator sends its own share of the KV over its own NIC."""
    return nic_bytes_per_s * tensor_parallel * pipeline_parallel


def layerwise_done_ps(prefill_start_ps: int, prefill_end_ps: int, transfer_ps: int, layers: int, setup_ps: int) -> int:
    """When a layer-wise transfer of ``transfer_ps`` (all layers, without set-up) is complete.

    max(prefill_end + transfer/L, prefill_start + prefill/L + transfer) + set-up: the last layer can only go after the prefill,
    the first after its own layer is done; divisions round up to whole ps.
    """
    one_layer = -(-transfer_ps // layers)
    first_layer_done = prefill_start_ps - (prefill_start_ps - prefill_end_ps) // layers
    return max(prefill_end_ps + one_layer, first_layer_done + transfer_ps) + setup_ps
