"""What tools mean by time per output token, turned into ours: (E2E - TTFT) / (output tokens - 1)."""

from __future__ import annotations


def without_first_token(
    per_token_s: float | None, ttft_s: float | None, e2e_s: float | None, output_tokens: float | None
) -> float | None:
    """TPOT from a figure that spreads the whole of a request over all of its tokens (guidellm's
    ``time_per_output_token_ms``, llmperf's inter-token latency): from E2E where the file has it, else from the figure
    times the tokens. None where neither says.
    """
    whole = e2e_s
    if whole is None and per_token_s is not None and output_tokens is not None:
        whole = per_token_s * output_tokens
    if whole is None or ttft_s is None or output_tokens is None or output_tokens <= 1:
        return None
    rest = (whole - ttft_s) / (output_tokens - 1)
    return rest if rest > 0 else None
