"""A request alone takes what the curve's closed form says: any kind, budget, chunking, number of stages, transfer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.engine.fast.cluster import run
from simcore.engine.inputs import TransferInputs
from simcore.engine.oracle.cluster import run as run_oracle
from simcore.fluid.lone import lone_times
from simcore.latency.curve import IterationCurve
from simcore.spec import BUDGET_KINDS
from simcore.transfer import WHOLE_BELOW_TOKENS
from tests.clusters import cluster, replica, scheduler, transfer
from tests.invariants.strategies import CHUNKED, KINDS, curves

EXAMPLES = settings(max_examples=60, deadline=None, derandomize=True)
BY_CHUNKS = (*BUDGET_KINDS, CHUNKED)
"""Kinds that cut a prompt at the token budget."""
PLENTY = 10**6
ARRIVAL_NS = 3
NIC_PS = 90


@st.composite
def lengths(draw: st.DrawFn) -> tuple[int, int, int]:
    """Prompt, cached and output tokens."""
    prompt = draw(st.one_of(st.integers(1, 40), st.integers(1, 5000)))
    return prompt, draw(st.integers(0, prompt - 1)), draw(st.integers(1, 60))


def chunks(kind: str, prompt: int, cached: int, budget: int) -> list[tuple[int, int]]:
    """(new, cached) tokens of each prefill iteration."""
    size = budget if kind in BY_CHUNKS else PLENTY
    return [(min(size, prompt - done), done) for done in range(cached, prompt, size)]


def first_token_ps(kind: str, curve: IterationCurve, prompt: int, cached: int, budget: int) -> int:
    """Of one stage."""
    return sum(curve.iteration_ps([chunk], []) for chunk in chunks(kind, prompt, cached, budget))


def decodes_ps(curve: IterationCurve, prompt: int, output: int) -> int:
    """Of one stage: k = output - 1 steps, the first over the whole prompt and no more."""
    return sum(curve.iteration_ps([], [prompt + step]) for step in range(output - 1))


def transfer_ps(sending: TransferInputs, curve: IterationCurve, prompt: int, parts: list[tuple[int, int]]) -> int:
    """From the first token on: all of it after the prefill, or all but the last layer's, the last chunk's during it."""
    prefill_ps = sum(curve.iteration_ps([part], []) for part in parts)
    if sending.mode == "chunkwise":
        return chunks_ps(sending, curve, parts) - prefill_ps
    whole = prompt * NIC_PS
    if sending.mode == "layerwise" and prompt >= WHOLE_BELOW_TOKENS:
        first_layer = -(-prefill_ps // sending.layers)
        whole = max(-(-whole // sending.layers), first_layer + whole - prefill_ps)
    return whole + set_up_ps(sending, prompt)


def chunks_ps(sending: TransferInputs, curve: IterationCurve, parts: list[tuple[int, int]]) -> int:
    """From the prefill's start on: each chunk when it has ended and the one before is sent, the first with what is
    cached."""
    ended = sent = 0
    for new, done in parts:
        tokens = new + (done if ended == 0 else 0)
        ended += curve.iteration_ps([(new, done)], [])
        sent = max(sent, ended) + tokens * NIC_PS + set_up_ps(sending, tokens)
    return sent


def set_up_ps(sending: TransferInputs, tokens: int) -> int:
    """One for each block begun, where there are blocks."""
    return sending.setup_ps * (-(-tokens // sending.block_tokens) if sending.block_tokens else 1)


@pytest.mark.parametrize("engine", [run, run_oracle], ids=["fast", "oracle"])
@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(curve=curves(), asked=lengths(), budget=st.integers(1, 600), stages=st.integers(1, 4))
def test_a_lone_request_takes_what_the_curve_says(
    engine: Callable, kind: str, curve: IterationCurve, asked: tuple[int, int, int], budget: int, stages: int
) -> None:
    prompt, cached, output = asked
    machine = replica(curve=curve, stages=stages, kv_blocks=PLENTY)
    policy = scheduler(kind, token_budget=budget)
    found = engine(cluster(policy, [(ARRIVAL_NS, prompt, output)], [machine] * 2, cached=[cached])).requests
    first = stages * first_token_ps(kind, curve, prompt, cached, budget)
    later = stages * decodes_ps(curve, prompt, output)
    assert found.first_scheduled_ps.tolist() == [1000 * ARRIVAL_NS]
    assert found.first_token_ps.tolist() == [1000 * ARRIVAL_NS + first]
    assert found.finish_ps.tolist() == [1000 * ARRIVAL_NS + first + later]
    if len(chunks(kind, prompt, cached, budget)) == 1:
        alone = lone_times(curve, stages, *(np.array([tokens]) for tokens in asked))
        assert (alone.ttft_ps.tolist(), alone.decode_ps.tolist()) == ([first], [later])


@pytest.mark.parametrize("engine", [run, run_oracle], ids=["fast", "oracle"])
@pytest.mark.parametrize(("kind", "mode"), [("splitwise", "serialized"), ("splitwise", "layerwise"),
                                            (CHUNKED, "serialized"), (CHUNKED, "chunkwise")])  # fmt: skip
@EXAMPLES
@given(curve=curves(), asked=lengths(), budget=st.integers(1, 600), setup_ps=st.sampled_from([0, 777]),
       block_tokens=st.sampled_from([0, 16, 300]))  # fmt: skip
def test_a_lone_request_of_separate_pools_waits_for_its_kv_once(
    engine: Callable, kind: str, mode: str, curve: IterationCurve, asked: tuple[int, int, int], budget: int,
    setup_ps: int, block_tokens: int,
) -> None:  # fmt: skip
    prompt, cached, output = asked
    machine = replica("prefill", curve=curve, kv_blocks=PLENTY, transfer_ps_per_token=NIC_PS)
    machines = [machine, dataclasses.replace(machine, role="decode", transfer_ps_per_token=NIC_PS // 2)]
    sending = transfer(mode=mode, setup_ps=setup_ps, block_tokens=block_tokens)
    policy = scheduler(kind, token_budget=budget, max_batch_tokens=PLENTY)
    found = engine(cluster(policy, [(ARRIVAL_NS, prompt, output)], machines, sending, cached=[cached])).requests
    first = first_token_ps(kind, curve, prompt, cached, budget)
    between = transfer_ps(sending, curve, prompt, chunks(kind, prompt, cached, budget)) if output > 1 else 0
    assert found.first_token_ps.tolist() == [1000 * ARRIVAL_NS + first]
    assert found.finish_ps.tolist() == [1000 * ARRIVAL_NS + first + between + decodes_ps(curve, prompt, output)]
