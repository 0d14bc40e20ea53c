"""MFU and MBU of models with experts, windows and latents: by hand, and never over the peak on the roofline."""

from __future__ import annotations

import pytest

from simcore.catalogue import machine, model, model_ids
from simcore.latency.compile import compile_curve
from simcore.latency.curve import PS_PER_S
from simcore.metrics.efficiency import Work, efficiencies, model_bytes, model_flops
from simcore.spec import LatencySpec, decode_case

MIXTRAL_LAYER = 2 * 4096 * 4096 + 2 * 4096 * 1024 + 4096 * 8
MIXTRAL_EXPERT = 3 * 4096 * 14336
MIXTRAL_HEAD = 32000 * 4096


def test_a_token_is_multiplied_with_the_experts_it_takes_and_a_batch_reads_the_distinct_ones() -> None:
    """One iteration of two decodes over 10 cached tokens each: 8 (1 - (3/4)^2) of 8 experts are read."""
    mixtral = model("mixtral-8x7b")
    work = Work(0, 0, 2, prefill_pairs=0, chunk_read_tokens=0, context_tokens=20, iterations=1)
    active = 32 * (MIXTRAL_LAYER + 2 * MIXTRAL_EXPERT)
    assert model_flops(mixtral, work) == 2 * (active + MIXTRAL_HEAD) * 2 + 32 * 4 * 4096 * (20 + 2)
    read = 32 * (MIXTRAL_LAYER + 3.5 * MIXTRAL_EXPERT) + MIXTRAL_HEAD
    assert model_bytes(mixtral, 131_072, work) == pytest.approx(2 * read + 131_072 * (20 + 2), rel=1e-12)


def test_windowed_layers_attend_to_a_window() -> None:
    """gpt-oss-120b, a decode over 1,000 tokens: 18 layers read all of them, 18 read 128."""
    gpt = model("gpt-oss-120b")
    near, far = (Work(0, 0, 1, 0, 0, context_tokens=context, iterations=1) for context in (100, 1000))
    grown = model_bytes(gpt, 73_728, far) - model_bytes(gpt, 73_728, near)
    assert grown == pytest.approx(73_728 / 36 * (18 * 900 + 18 * 28))
    pairs = model_flops(gpt, far) - model_flops(gpt, near)
    assert pairs == 4 * 64 * 64 * (18 * 900 + 18 * (128 - 101))


def test_latent_attention_counts_as_its_heads_attend() -> None:
    deepseek = model("deepseek-v3")
    near, far = (Work(0, 0, 1, 0, 0, context_tokens=context, iterations=1) for context in (100, 1000))
    assert model_flops(deepseek, far) - model_flops(deepseek, near) == 61 * 2 * 128 * (192 + 128) * 900
    assert model_bytes(deepseek, 70_272, far) - model_bytes(deepseek, 70_272, near) == 70_272 * 900


@pytest.mark.parametrize("tokens", [1, 16, 256, 2048])
@pytest.mark.parametrize("model_id", model_ids())
def test_the_roofline_stays_below_both_peaks(model_id: str, tokens: int) -> None:
    """A decode batch, and a prompt alone: no iteration does more than the accelerators could in its time."""
    case = decode_case(
        {
            "model": model_id,
            "pools": [{"role": "mixed", "machine": "dgx-b200", "tensor_parallel": 8}],
            "scheduler": {"kind": "sarathi"},
        }
    )
    curve = compile_curve(model(model_id), machine("dgx-b200"), 8, 1, LatencySpec(engine="kernel"))
    decodes = Work(0, 0, tokens, 0, 0, context_tokens=1500 * tokens, iterations=1)
    prompt = Work(tokens, 1, 0, tokens * (tokens + 1) // 2, 0, 0, iterations=1)
    times = (curve.iteration_ps([], [1500] * tokens), curve.iteration_ps([(tokens, 0)], []))
    for work, taken_ps in zip((decodes, prompt), times, strict=True):
        seconds = 8 * taken_ps / PS_PER_S
        (mfu, mbu), _ = efficiencies(case, case.pools[0], [work], [seconds], seconds)
        assert 0 < mfu < 1
        assert 0 < mbu < 1
