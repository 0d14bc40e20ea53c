"""Stalls, on logs that can be checked by hand."""

import dataclasses

import pytest

from simcore.detail.stalls import stalls, threshold
from simcore.engine.oracle.cluster import run
from simcore.latency.curve import IterationCurve
from simcore.slo.objective import objective
from tests.clusters import cluster, replica, scheduler
from tests.unit.simcore.runs import case

MS = 1_000_000_000
STEADY = replica(curve=IterationCurve((1,), (100 * MS,), (30 * MS,), (90 * MS,), 0, 0, 0, 0))
"""100 ms a prefill, 30 ms a decode, 90 ms a hybrid."""
NS_A_MS = 10**6


def found(kind: str, requests: list[tuple[int, int, int]], longer_than_s: float, machine=STEADY):
    inputs = dataclasses.replace(cluster(scheduler(kind), requests, [machine]), log_ps=(0, 10_000 * MS))
    result = run(inputs)
    assert result.log is not None
    return [
        (stall.start_ps // MS, stall.end_ps // MS, stall.waiting)
        for stall in stalls(inputs, result.requests, result.log, longer_than_s)
    ]


ONE_COMES = [(0, 10, 4), (110 * NS_A_MS, 20, 1)]
"""0-100 the first's prompt, 100-130 a decode, 130-230 the second's prompt, 230-260 and 260-290 decodes."""


def test_a_prompt_that_decodes_wait_for_is_a_stall_from_token_to_token() -> None:
    assert found("vllm", ONE_COMES, 0.1) == [(130, 260, 1)]


def test_what_is_not_longer_than_the_threshold_is_none() -> None:
    assert found("vllm", ONE_COMES, 0.13) == []


def test_prompts_one_after_the_other_are_one_stall() -> None:
    comes = [(0, 10, 4), (110 * NS_A_MS, 2000, 1), (120 * NS_A_MS, 2000, 1)]  # too long for one batch of 2,048
    assert found("vllm", comes, 0.1) == [(130, 360, 1)]


def test_a_prompt_that_nobody_waits_for_is_no_stall() -> None:
    assert found("vllm", [(0, 10, 2), (500 * NS_A_MS, 10, 2)], 0.05) == []


def test_decodes_alone_are_no_stall_however_long() -> None:
    slow = replica(curve=IterationCurve((1,), (100 * MS,), (300 * MS,), (90 * MS,), 0, 0, 0, 0))
    assert found("vllm", [(0, 10, 4)], 0.1, slow) == []


def test_a_hybrid_iteration_stalls_those_it_decodes() -> None:
    # sarathi: 0-100 prompt, 100-130 decode, 130-220 the second's prompt beside a decode, 220-250 a decode
    assert found("sarathi", ONE_COMES, 0.05) == [(130, 220, 1)]


def test_the_threshold_is_the_slo_s_own_where_it_limits_the_time_between_tokens() -> None:
    limits = [
        {"metric": "tbt_s", "percentile": 99, "limit": 0.2},
        {"metric": "tbt_s", "percentile": 50, "limit": 0.05},
        {"metric": "ttft_s", "percentile": 99, "limit": 9.0},
    ]
    asked = case(slo={"kind": "absolute", "limits": limits})
    assert threshold(asked, objective(asked)).seconds == 0.2
    asked = case(slo={"kind": "attainment", "ttft_s": 1.0, "tpot_s": 0.04, "share": 0.9})
    assert threshold(asked, objective(asked)).seconds == 0.04


def test_else_it_is_five_decode_iterations() -> None:
    asked = case()  # 20 ms a decode, TTFT alone is limited
    limit = threshold(asked, objective(asked))
    assert limit.seconds == pytest.approx(0.1)
    assert "5 decode iterations" in limit.words
