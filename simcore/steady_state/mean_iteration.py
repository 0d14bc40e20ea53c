"""What a replica's mean iteration is, as one of its requests sees it: the formulas of ``steady_state`` for t and TTFT
at a given x."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from simcore.latency.curve import ATTENTION_FRACTION_BITS, PS_PER_S, BatchKind, IterationCurve
from simcore.spec import SpecError

HALF = 0.5
GRAIN_TOKENS = 16
MANY_PROMPTS = 100
"""Prompts an iteration beyond which the median is the mean, within a few per cent."""


@dataclass(frozen=True)
class Lengths:
    """Prompt and output tokens of requests, in classes of alike ones with their shares of all."""

    prompt_tokens: tuple[float, ...]
    output_tokens: tuple[float, ...]
    shares: tuple[float, ...]

    @classmethod
    def of(cls, prompt_tokens: float, output_tokens: float) -> Lengths:
        """All requests alike."""
        return cls((prompt_tokens,), (output_tokens,), (1.0,))

    def __post_init__(self) -> None:
        """SpecError where a class has no tokens, or the shares are not of a whole."""
        columns = (self.prompt_tokens, self.output_tokens, self.shares)
        if len({len(column) for column in columns}) != 1 or not self.shares:
            raise SpecError(f"lengths: found columns of {[len(c) for c in columns]}, expected as many of each")
        if not all(1 <= n < math.inf for n in (*self.prompt_tokens, *self.output_tokens)):
            raise SpecError("lengths: found a prompt or output below 1 token, expected at least 1")
        if min(self.shares) < 0 or not math.isclose(sum(self.shares), 1.0, rel_tol=1e-6):
            raise SpecError(f"lengths: found shares that sum to {sum(self.shares):.6g}, expected 1")

    def mean(self, value: Callable[[float, float], float]) -> float:
        """Of a function of prompt and output tokens."""
        rows = zip(self.prompt_tokens, self.output_tokens, self.shares, strict=True)
        return sum(share * value(prompt, output) for prompt, output, share in rows)

    @cached_property
    def prompt(self) -> float:
        """Mean prompt tokens."""
        return self.mean(lambda prompt, output: prompt)

    @cached_property
    def steps(self) -> float:
        """Mean decode iterations of a request: its output tokens but the first."""
        return self.mean(lambda prompt, output: output - 1)

    @cached_property
    def context(self) -> float:
        """Mean context of a decode, over all decodes."""
        total = self.mean(lambda prompt, output: (output - 1) * (prompt + (output - 2) / 2))
        return total / self.steps if self.steps else self.prompt

    @cached_property
    def resident(self) -> float:
        """Mean KV tokens of a request while it is served."""
        return self.context if self.steps else self.prompt


@dataclass(frozen=True)
class Serving:
    """How a replica batches."""

    token_budget: float = 2048
    """Prompt and decode tokens of one iteration (vllm_v1, sarathi); with ``prefill_apart`` prompt tokens of one
    prefill; ``math.inf``: no limit (orca)."""
    prefill_apart: bool = False
    """Whole prompts in iterations of their own, before decodes (vLLM V0)."""
    max_batch_size: float = 256
    kv_tokens: float = math.inf
    stages: int = 1

    def residents(self, lengths: Lengths) -> float:
        """The most requests that the replica serves at once, by its batch size and by KV memory; at least one."""
        return max(min(self.max_batch_size, self.kv_tokens / lengths.resident), 1.0)


class Mix:
    """The followed request among ``others`` (``inf``: arrivals at a rate) that send x prompts an iteration."""

    def __init__(self, curve: IterationCurve, lengths: Lengths, serving: Serving, others: float) -> None:
        self.curve, self.lengths, self.serving, self.others = curve, lengths, serving, others
        self.pair_s = curve.attention / (1 << ATTENTION_FRACTION_BITS) / PS_PER_S
        self.decode_s = (curve.context_ps * lengths.context + curve.decode_seq_ps) / PS_PER_S
        self.pairs = lengths.mean(lambda prompt, output: prompt * (prompt + 1) / 2)
        self.squared = lengths.mean(lambda prompt, output: prompt * prompt)

    @cached_property
    def most(self) -> float:
        """The x at which prompts and decodes fill the budget: x*p + x*(o - 1) + 1 = budget; no more can be sent."""
        if self.serving.prefill_apart or math.isinf(self.serving.token_budget):
            return self.others if math.isfinite(self.others) else self.serving.residents(self.lengths)
        return (self.serving.token_budget - 1) / (self.lengths.prompt + self.lengths.steps) * (1 - 1e-9)

    def base_s(self, kind: BatchKind, tokens: float) -> float:
        """g of a mean number of tokens: linear between whole ones."""
        whole = max(int(tokens), 1)
        at, beyond = self.curve.base_ps(kind, whole), self.curve.base_ps(kind, whole + 1)
        return (at + max(tokens - whole, 0.0) * (beyond - at)) / PS_PER_S

    def room(self, x: float) -> float:
        """Tokens of the budget that decodes leave to prompts."""
        if self.serving.prefill_apart:
            return self.serving.token_budget
        return max(self.serving.token_budget - x * self.lengths.steps - 1, 1.0)

    def chunks(self, room: float) -> float:
        """E[ceil(w)]: iterations that a prompt is spread over. A whole prompt takes one, however long."""
        if self.serving.prefill_apart or math.isinf(room):
            return 1.0
        return self.lengths.mean(lambda prompt, output: math.ceil(prompt / room))

    def prompt_s(self, room: float) -> float:
        """A: attention of a prompt in chunks of ``room`` tokens. Cached tokens that its chunks read: p(k - 1)/2."""
        total = self.pair_s * self.pairs
        reading_s = self.curve.chunk_read_ps / PS_PER_S - self.pair_s * room
        if reading_s > 0 and not self.serving.prefill_apart:
            total += reading_s * self.lengths.mean(lambda p, output: p * (math.ceil(p / room) - 1) / 2)
        return total

    def with_prompts(self, x: float) -> float:
        """h: iterations with prompts, of all; with ``prefill_apart`` for each decode iteration, and so above 1 where
        prompts are many."""
        room, chunks = self.room(x), self.chunks(self.room(x))
        work = min(self.lengths.prompt / room, chunks)
        taken, alone = x * work, -math.expm1(-x * (chunks - work))
        return taken + alone if self.serving.prefill_apart else min(taken + (1 - taken) * alone, 1.0)

    def step_s(self, x: float) -> float:
        """t: an iteration that the followed request decodes in, and what comes between it and the next."""
        without, with_prompts, h = self.iterations_s(x)
        if self.serving.prefill_apart:
            return without + h * with_prompts
        return without + (1 - (1 - h) ** self.serving.stages) * (with_prompts - without)

    def iterations_s(self, x: float) -> tuple[float, float, float]:
        """An iteration without prompts, one with them, and h."""
        decodes, h = x * self.lengths.steps + 1, self.with_prompts(x)
        reading_s = decodes * self.decode_s
        without = self.base_s(BatchKind.DECODE, decodes) + reading_s
        if not h:
            return without, 0.0, 0.0
        tokens, attention_s = x * self.lengths.prompt / h, x / h * self.prompt_s(self.room(x))
        if self.serving.prefill_apart:
            return without, self.base_s(BatchKind.PREFILL, tokens) + attention_s, h
        return without, self.base_s(BatchKind.HYBRID, decodes + tokens) + reading_s + attention_s, h

    def median_iteration_s(self, x: float) -> float:
        """What half of all iterations take no longer than: with the median of the prompt tokens that come together."""
        without, with_prompts, h = self.iterations_s(x)
        room = self.room(x)
        if self.serving.prefill_apart or self.chunks(room) > 1:
            return with_prompts if h > HALF and not self.serving.prefill_apart else without
        tokens = min(self._median_prompt_tokens(x), room)
        if not tokens:
            return without
        decodes = x * self.lengths.steps + 1
        attention_s = tokens / self.lengths.prompt * self.prompt_s(room)
        return self.base_s(BatchKind.HYBRID, decodes + tokens) + decodes * self.decode_s + attention_s

    def _median_prompt_tokens(self, x: float) -> float:
        """Of an iteration: Poisson of x prompts, each of a class; Panjer's recursion over whole ``GRAIN_TOKENS``."""
        below = math.exp(-x)
        if below >= HALF:
            return 0.0
        if x > MANY_PROMPTS:
            return x * self.lengths.prompt
        sizes: dict[int, float] = {}
        for prompt, share in zip(self.lengths.prompt_tokens, self.lengths.shares, strict=True):
            grains = max(round(prompt / GRAIN_TOKENS), 1)
            sizes[grains] = sizes.get(grains, 0.0) + share
        chances = [below]
        while below < HALF:
            total = len(chances)
            ways = sum(n * share * chances[total - n] for n, share in sizes.items() if n <= total)
            chances.append(x / total * ways)
            below += chances[-1]
        return (len(chances) - 1) * GRAIN_TOKENS

    def ttft_s(self, x: float) -> float:
        """Waiting, and the followed request's own prompt."""
        return self._in_progress_s(x) + self._ahead_s(x) + self._own_s(x)

    def _in_progress_s(self, x: float) -> float:
        """What is left of the iteration in progress: all of it in a closed loop; at random instants E[T^2]/(2 E[T]),
        and nothing while nobody else is served."""
        if math.isfinite(self.others):
            return self.step_s(x) if self.others else 0.0
        without, with_prompts, h = self.iterations_s(x)
        alone = 1.0 if self.serving.prefill_apart else 1 - h
        left = (alone * without**2 + h * with_prompts**2) / (2 * (alone * without + h * with_prompts))
        return -math.expm1(-x * (self.lengths.steps + 1)) * left

    def _ahead_s(self, x: float) -> float:
        """Prompts that wait already, where they exceed an iteration's room."""
        if self.serving.prefill_apart:
            share = min(x * self._prefill_s(1.0) / self.step_s(x), 1 - 1e-9)
            return share * self._prefill_s(1.0) / (2 * (1 - share))
        room = self.room(x)
        if math.isinf(room):
            return 0.0
        taken = min(x * self.lengths.prompt / room, 1 - 1e-9)
        iterations = x * self.squared / (room * room) / (2 * (1 - taken))
        return iterations * self._hybrid_s(x, room, room / self.lengths.prompt)

    def _own_s(self, x: float) -> float:
        """The iterations with the own prompt, and those that share them."""
        if self.serving.prefill_apart:
            return self._prefill_s(1 + x)
        chunks, room = self.chunks(self.room(x)), self.room(x)
        each = min(self.lengths.prompt / chunks + x * self.lengths.prompt, room)
        return chunks * self._hybrid_s(x, each, each / self.lengths.prompt)

    def _prefill_s(self, prompts: float) -> float:
        return self.base_s(BatchKind.PREFILL, prompts * self.lengths.prompt) + prompts * self.pair_s * self.pairs

    def _hybrid_s(self, x: float, tokens: float, prompts: float) -> float:
        """An iteration of so many prompt tokens, of so many prompts, beside the others' decodes, if there are any."""
        decodes = x * self.lengths.steps
        nobody = math.exp(-decodes)
        if math.isfinite(self.others):
            nobody = max(1 - decodes / self.others, 0.0) ** self.others if self.others else 1.0
        g = nobody * self.base_s(BatchKind.PREFILL, tokens)
        g += (1 - nobody) * self.base_s(BatchKind.HYBRID, tokens + decodes)
        return g + prompts * self.prompt_s(self.room(x)) + decodes * self.decode_s
