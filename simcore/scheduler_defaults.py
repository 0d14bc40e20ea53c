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
TOKEN_BUDGETS = {"sarathi": 512, "vllm_v1": 2048}
"""Tokens of an iteration, of the kinds that have a budget; ``splitwise`` with ``chunked``: its batch tokens."""
BATCH_TOKENS = 2048
"""Prompt tokens of a batch of whole prompts."""
