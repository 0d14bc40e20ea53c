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
