"""A measured row as a design that the engine runs."""

from __future__ import annotations

import pytest

from simcore.catalogue import model
from simcore.latency.roofline import roofline_curve
from simcore.validation.designs import Design, drained
from simcore.validation.lengths import Tokens, Workload
from simcore.validation.names import machine_with

DESIGN = Design(model("llama-3.1-8b"), "dgx-h100", 1, 1, 1, False, 8192, 512, "vllm-2026")


def test_requests_that_come_at_once_take_their_prefill_and_their_decodes() -> None:
    """Eight alike requests: their prompts in one iteration, then 31 decodes of all of them."""
    found = drained(DESIGN, Workload(Tokens(128), Tokens(32)), 8)
    curve = roofline_curve(model("llama-3.1-8b"), machine_with("h100-80gb"), 1, 1, "vllm-2026")
    taken_ps = curve.iteration_ps([(128, 0)] * 8, [])
    taken_ps += sum(curve.iteration_ps([], [128 + step] * 8) for step in range(31))
    assert found.req_per_s == pytest.approx(8 / (taken_ps / 1e12), rel=1e-6)
    assert found.output_tokens_per_s == pytest.approx(32 * found.req_per_s)


def test_the_longest_answers_drain_alone() -> None:
    alike = drained(DESIGN, Workload(Tokens(128), Tokens(200)), 64)
    spread = drained(DESIGN, Workload(Tokens(128), Tokens(200, 0.9, 1024)), 64)
    assert spread.output_tokens_per_s < 0.6 * alike.output_tokens_per_s


def test_a_case_has_the_rows_limits_and_batching() -> None:
    case = DESIGN.case({"ttft_s": 2.0, "tpot_s": 0.1})
    assert case.scheduler.kind == "vllm_v1"
    assert (case.scheduler.token_budget, case.scheduler.max_batch_size) == (8192, 512)
    whole = Design(model("llama-3.1-8b"), "dgx-h100", 1, 1, 1, True, 40960, 650, "vllm-2026").case({"ttft_s": 2.0})
    assert (whole.scheduler.kind, whole.scheduler.max_batch_tokens) == ("vllm", 40960)
