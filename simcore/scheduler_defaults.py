"""What a scheduler kind takes where a case leaves an option out (CONTRACT.md)."""

from __future__ import annotations

BATCH_SIZES = {
    "sarathi": 128,
    "vllm": 256,
    "vllm_v1": 256,
    "orca": 16,
    "request_level": 8,
    "splitwise": 512,
    "splitwise_baseline": 512,
}
"""The most requests that a replica runs at once."""
