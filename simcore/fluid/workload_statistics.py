"""What a workload's mean request asks for: the sums that bounds without simulation need. Imports no engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simcore.traces import Trace

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WorkloadStatistics:
    """What a mean request of a workload asks for."""

    requests: int
    prompt_tokens: float
    """New ones: without what is cached."""
    decode_tokens: float
    """Output less the first token, which prefill gives."""
    prefill_pairs: float
    """Pairs attended in prefill: c*q + q(q+1)/2."""
    decode_context_tokens: float
    """Cached tokens read, summed over its decode steps."""
    longest_prompt_tokens: int
    longest_request_tokens: int
    """Prompt and output: what a preempted request may have to compute again."""
    trace: Trace = field(repr=False, compare=False)
    served: NDArray[np.bool_] = field(repr=False, compare=False)

    @classmethod
    def of(cls, trace: Trace, served: NDArray[np.bool_] | None = None) -> WorkloadStatistics:
        """Means over all requests of a trace; of those not ``served`` (too large for any replica) no work is done."""
        kept = np.ones(len(trace), bool) if served is None else served
        prompt, cached = trace.prompt_tokens.astype(float), trace.cached_prompt_tokens.astype(float)
        new, steps = prompt - cached, trace.output_tokens.astype(float) - 1
        pairs = cached * new + new * (new + 1) / 2
        context = steps * prompt + steps * (steps - 1) / 2
        longest = int((trace.prompt_tokens + trace.output_tokens).max())
        means = [float((column * kept).mean()) for column in (new, steps, pairs, context)]
        return cls(
            len(trace), means[0], means[1], means[2], means[3], int(trace.prompt_tokens.max()), longest, trace, kept
        )

    def fitting(self, most_tokens: int) -> WorkloadStatistics:
        """The same where requests that may come to more tokens than a replica takes are refused."""
        if self.largest_tokens <= most_tokens:
            return self
        return WorkloadStatistics.of(self.trace, self._largest <= most_tokens)

    @property
    def largest_tokens(self) -> int:
        """The most that a request may come to: its prompt and the longest output that it asks for."""
        return int(self._largest.max())

    @property
    def _largest(self) -> Int64:
        return self.trace.prompt_tokens + np.maximum(self.trace.output_tokens, self.trace.max_output_tokens)

    @cached_property
    def steps_by_context(self) -> tuple[Int64, Float64]:
        """Context lengths, and how many decode steps a mean request makes at each."""
        prompt, steps = self.trace.prompt_tokens[self.served], self.trace.output_tokens[self.served] - 1
        ends = np.zeros(self.longest_request_tokens + 1, np.int64)
        np.add.at(ends, prompt, 1)
        np.add.at(ends, prompt + steps, -1)
        return self._per_request(np.cumsum(ends).astype(float))

    @cached_property
    def steps_by_total(self) -> tuple[Int64, Float64]:
        """Prompt and whole output together, and how many decode steps a mean request makes at each."""
        total = self.trace.prompt_tokens + self.trace.output_tokens
        steps = (self.trace.output_tokens - 1) * self.served
        return self._per_request(np.bincount(total, weights=steps.astype(float)).astype(float))

    def _per_request(self, counts: Float64) -> tuple[Int64, Float64]:
        tokens = np.flatnonzero(counts)
        return tokens, counts[tokens] / self.requests
