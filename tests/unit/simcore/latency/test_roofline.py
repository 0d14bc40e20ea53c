"""The roofline's shape: what must hold for any model and machine, and its error at measured points."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from simcore.catalogue import accelerator, machine, machine_ids, model, model_ids
from simcore.latency.coefficients import coefficients
from simcore.latency.compile import compile_curve, iteration_parts
from simcore.latency.curve import BatchKind, IterationCurve
from simcore.latency.evidence import evidence, nearest_evidence
from simcore.latency.roofline import roofline_curve
from simcore.latency.terms import CROSS_MACHINE_NIC_SHARE
from simcore.shapes import routed_parameters
from simcore.spec import LatencySpec, Machine, Model, SpecError


def curve_of(
    model_id: str = "llama-3.1-70b", machine_id: str = "dgx-h100", tp: int = 8, pp: int = 1, engine: str = "kernel"
) -> IterationCurve:
    return compile_curve(model(model_id), machine(machine_id), tp, pp, LatencySpec(engine=engine))  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ["kernel", "vllm-2026", "vllm-2023"])
@pytest.mark.parametrize("machine_id", machine_ids())
@pytest.mark.parametrize("model_id", model_ids())
def test_more_tokens_never_take_less_time(model_id: str, machine_id: str, engine: str) -> None:
    curve = curve_of(model_id, machine_id, 8, 1, engine)
    for kind in BatchKind:
        values = curve.knots_ps(kind)
        assert values[0] > 0
        assert all(low <= high for low, high in itertools.pairwise(values))
    assert curve.attention > 0
    assert curve.context_ps > 0


def test_reading_the_weights_is_the_floor_of_a_decode() -> None:
    device = accelerator("h100-80gb")
    weights_s = (model("llama-3.1-70b").parameters - 128256 * 8192) * 2 / 8 / device.memory_bandwidth_bytes_per_s
    assert weights_s < curve_of().base_ps(BatchKind.DECODE, 1) / 1e12 < 3 * weights_s


def test_a_tile_is_a_step() -> None:
    curve = curve_of("bloom-176b", "dgx-a100", engine="vllm-2023")
    at256, at257, at384 = (curve.base_ps(BatchKind.PREFILL, n) for n in (256, 257, 384))
    assert at257 > 1.2 * at256
    assert at384 - at257 < at257 - at256


def test_decodes_ride_free_in_a_prefill() -> None:
    curve = curve_of()
    alone = iteration_parts(curve, [(1024, 0)], [])["iteration_s"]
    hybrid = iteration_parts(curve, [(1021, 0)], [1024] * 3)["iteration_s"]
    assert hybrid == pytest.approx(alone, rel=0.02)


def test_chunking_a_prompt_costs_more_than_the_whole() -> None:
    curve = curve_of("bloom-176b", "dgx-a100")
    whole = curve.iteration_ps([(4096, 0)], [])
    chunked = sum(curve.iteration_ps([(512, 512 * i)], []) for i in range(8))
    assert 1.05 * whole < chunked < 1.6 * whole


def test_the_chunks_of_a_prompt_attend_as_often_as_the_whole() -> None:
    """c*q + q(q+1)/2 summed over chunks is the whole's pairs, where compute outweighs the read."""
    curve = dataclasses.replace(curve_of(), chunk_read_ps=0)
    chunks = sum(curve.chunk_ps(500, 500 * i) for i in range(4))
    assert abs(chunks - curve.chunk_ps(2000, 0)) <= 4


def test_tensor_parallel_helps_less_than_in_proportion() -> None:
    one, eight = (curve_of("llama-3.1-8b", tp=tp).base_ps(BatchKind.DECODE, 1) for tp in (1, 8))
    assert eight < one < 8 * eight


def test_pipeline_stages_are_cheaper_than_the_whole_but_not_in_all() -> None:
    whole, stage = (curve_of(tp=4, pp=pp).base_ps(BatchKind.PREFILL, 2048) for pp in (1, 2))
    assert stage < whole < 2 * stage


def test_a_group_over_two_machines_pays_for_the_network() -> None:
    inside, across = curve_of("bloom-176b", tp=8), curve_of("bloom-176b", tp=16)
    assert across.base_ps(BatchKind.PREFILL, 2048) > inside.base_ps(BatchKind.PREFILL, 2048)


def test_kv_heads_are_not_split_below_one() -> None:
    eight, sixteen = curve_of(tp=8), curve_of(tp=16)
    assert sixteen.context_ps == eight.context_ps
    assert sixteen.attention == pytest.approx(eight.attention / 2, abs=1)


def test_a_capped_machine_slows_prefill_alone() -> None:
    plain, capped = curve_of(), curve_of(machine_id="dgx-h100-pcap")
    assert capped.decode_ps == plain.decode_ps
    assert capped.context_ps == plain.context_ps
    assert capped.prefill_ps == pytest.approx([1.3 * ps for ps in plain.prefill_ps], abs=1.2)
    assert capped.attention == pytest.approx(1.3 * plain.attention, abs=1)
    assert "assumption" in capped.source


def test_an_accelerator_without_a_fit_says_so() -> None:
    other = dataclasses.replace(accelerator("h100-80gb"), id="mi300x")
    box = dataclasses.replace(machine("dgx-h100"), accelerator=other)
    curve = compile_curve(model("llama-3.1-8b"), box, 1, 1, LatencySpec())
    assert "no fit for this accelerator" in curve.source


def test_other_coefficients_may_stand_in_for_the_shipped_ones() -> None:
    shipped = coefficients("h100-80gb", "vllm-2026")
    slower = dataclasses.replace(shipped, host_step_s=shipped.host_step_s + 1e-3)
    case = (model("llama-3.1-70b"), machine("dgx-h100"), 8, 1, "vllm-2026")
    plain, same, slow = roofline_curve(*case), roofline_curve(*case, shipped), roofline_curve(*case, slower)
    assert same == plain
    assert slow.decode_ps == pytest.approx([ps + 1e9 for ps in plain.decode_ps], abs=1)
    assert slow.prefill_ps == pytest.approx([ps + 1e9 for ps in plain.prefill_ps], abs=1)


def test_parallelism_that_does_not_suit_the_model_is_refused() -> None:
    for tp, pp, words in ((3, 1, "tensor_parallel: found 3"), (1, 81, "pipeline_parallel: found 81")):
        with pytest.raises(SpecError, match=words):
            curve_of(tp=tp, pp=pp)


@pytest.mark.parametrize("machine_id", ["dgx-a100", "dgx-h100"])
@pytest.mark.parametrize(("model_id", "tp"), [("bloom-176b", 8), ("llama2-70b", 2), ("llama2-70b", 8)])
def test_the_error_at_an_older_engine_s_points_is_what_the_docs_say(model_id: str, tp: int, machine_id: str) -> None:
    found = nearest_evidence(model(model_id), machine(machine_id), tp, "vllm-2023")
    assert found.exact
    assert found.mean_error <= 0.10


def test_evidence_names_source_and_error() -> None:
    latency = LatencySpec()
    h100 = machine("dgx-h100")
    words = evidence(model("llama-3.1-8b"), h100, 1, latency, curve_of("llama-3.1-8b", tp=1, engine="vllm-2026"))
    assert words.startswith("measured: llama-3.1-8b on h100-80gb TP1")
    words = evidence(model("llama-3.1-70b"), h100, 8, LatencySpec(engine="kernel"), curve_of())
    assert words.startswith("measured: llama-3.1-70b on h100-80gb TP8")
    assert "% off on average" in words


@pytest.mark.parametrize(
    ("model_id", "words"),
    [
        ("mixtral-8x7b", "nearest: qwen3-30b-a3b on h200-141gb TP8"),
        ("llama2-70b", "nearest: llama-3.1-70b on h200-141gb TP8"),
        ("deepseek-v3", "nearest: deepseek-v3 fp8, KV fp8 on h200-141gb TP8"),
    ],
)
def test_evidence_is_of_a_model_of_the_same_form(model_id: str, words: str) -> None:
    assert words in evidence(model(model_id), machine("dgx-h200"), 8, LatencySpec(), curve_of(model_id, "dgx-h200"))
    windowed = dataclasses.replace(model("deepseek-v3"), windowed_layers=30, window_tokens=128)
    words = evidence(windowed, machine("dgx-h200"), 8, LatencySpec(), curve_of("deepseek-v3", "dgx-h200"))
    assert "of a model without windowed layers" in words


def test_parts_add_up_to_the_whole() -> None:
    answer = iteration_parts(curve_of(), [(512, 0), (256, 4096)], [1000, 2000])
    parts = answer["parts"]
    assert isinstance(parts, dict)
    assert sum(parts.values()) == pytest.approx(answer["iteration_s"], rel=1e-12)
    assert answer["kind"] == "hybrid"
    assert iteration_parts(curve_of(), [], [5])["kind"] == "decode"
    with pytest.raises(SpecError, match="found nothing"):
        iteration_parts(curve_of(), [], [])


def test_a_model_it_was_not_fitted_to() -> None:
    """Sarathi-Serve's own prefills of Yi-34B on 2 A100, its artifact's figure 2, against the engine of that time."""
    curve = curve_of("yi-34b", "dgx-a100", 2, 1, "vllm-2023")
    measured_ms = {512: 105.6, 1024: 214, 2048: 366, 4096: 758, 8192: 1863}
    errors = [curve.iteration_ps([(n, 0)], []) / 1e9 / ms - 1 for n, ms in measured_ms.items()]
    assert sum(map(abs, errors)) / len(errors) <= 0.10


@pytest.mark.parametrize(
    ("model_id", "tp", "context", "measured_ms"),
    [
        ("llama-3.1-8b", 1, 600, 7.32),
        ("llama-3.1-70b", 4, 600, 16.57),
        ("qwen3-32b", 1, 900, 25.21),
        ("qwen3-32b", 2, 900, 15.06),
    ],
)
def test_decodes_of_a_real_engine_at_batch_8(model_id: str, tp: int, context: int, measured_ms: float) -> None:
    """ML.ENERGY's inter-token latency at batch 8 on H100, vLLM 0.11.1; contexts are those half way through."""
    curve = curve_of(model_id, tp=tp, engine="vllm-2026")
    assert curve.iteration_ps([], [context] * 8) / 1e9 == pytest.approx(measured_ms, rel=0.10)


@pytest.mark.parametrize(
    ("model_id", "machine_id", "tp", "sequences", "context", "measured_ms"),
    [
        ("qwen3-30b-a3b", "dgx-h100", 1, 8, 610, 12.85),
        ("qwen3-30b-a3b", "dgx-h100", 1, 16, 610, 17.55),
        ("qwen3-30b-a3b", "dgx-h100", 1, 64, 610, 28.94),
        ("qwen3-30b-a3b", "dgx-b200", 1, 8, 610, 8.24),
        ("gpt-oss-120b", "dgx-h100", 1, 8, 1190, 9.86),
        ("gpt-oss-120b", "dgx-h100", 1, 64, 1170, 24.15),
        ("gpt-oss-120b", "dgx-h100", 2, 64, 1140, 16.04),
        ("gpt-oss-120b", "dgx-b200", 2, 16, 1120, 5.63),
    ],
)
def test_decodes_of_models_with_experts(
    model_id: str, machine_id: str, tp: int, sequences: int, context: int, measured_ms: float
) -> None:
    """ML.ENERGY's inter-token latency, vLLM 0.11.1; contexts are those half way."""
    curve = curve_of(model_id, machine_id, tp, 1, "vllm-2026")
    assert curve.iteration_ps([], [context] * sequences) / 1e9 == pytest.approx(measured_ms, rel=0.20)


def test_a_benchmark_that_decodes_greedily_has_the_device_and_the_step_alone() -> None:
    """InferenceX' gpt-oss-120b on H100 TP8, 32 clients: no time a sequence, which is of sampling with top-p (record
    0024)."""
    device_ms = curve_of("gpt-oss-120b", "dgx-h100", 8, 1, "kernel").iteration_ps([], [1500] * 32) / 1e9
    host_ms = coefficients("h100-80gb", "vllm-2026").host_step_s * 1e3
    assert device_ms + host_ms == pytest.approx(6.02, rel=0.05)


def test_the_nearest_evidence_is_of_the_same_accelerator_and_the_likest_model() -> None:
    found = nearest_evidence(model("llama2-70b"), machine("dgx-b200"), 4, "vllm-2026")
    assert (found.group, found.exact) == (("llama-3.1-70b", "b200-180gb", 4, "bf16", "bf16"), False)
    found = nearest_evidence(model("llama-3.1-8b"), machine("nvidia-h100-pcie"), 1, "vllm-2026")
    assert (found.group[:2], found.exact) == (("llama-3.1-8b", "h100-80gb"), False)
    found = nearest_evidence(model("bloom-176b"), machine("dgx-a100"), 8, "vllm-2023")
    assert (found.group[:3], found.exact) == (("bloom-176b", "a100-80gb", 8), True)
    assert found.points == 7
    assert 0 < found.mean_error < 0.2


def across(nic_bytes_per_s: float) -> Machine:
    return dataclasses.replace(machine("dgx-h100"), nic_bytes_per_s=nic_bytes_per_s)


def prefill_s(of: Model, box: Machine, tp: int, pp: int, tokens: int) -> float:
    return compile_curve(of, box, tp, pp, LatencySpec(engine="kernel")).base_ps(BatchKind.PREFILL, tokens) / 1e12


def test_tensor_parallel_over_machines_all_reduces_over_the_nic() -> None:
    """Two all-reduces a layer: halving the NIC adds their bytes once more, 2 (TP - 1)/TP x n x h x 2 bytes each."""
    bloom, tokens = model("bloom-176b"), 2048
    message = tokens * bloom.hidden_size * 2
    each = 2 * 15 / 16 * message / (CROSS_MACHINE_NIC_SHARE * 50e9)
    slower = prefill_s(bloom, across(25e9), 16, 1, tokens) - prefill_s(bloom, across(50e9), 16, 1, tokens)
    grown = 2 * bloom.layers * each
    factor = coefficients("h100-80gb", "kernel").large_batch_slowdown
    assert grown <= slower * 1.0001 <= grown * factor * 1.001
    assert prefill_s(bloom, across(25e9), 8, 1, tokens) == prefill_s(bloom, across(50e9), 8, 1, tokens)


def test_pipeline_stages_send_hidden_states_to_the_next() -> None:
    """n x h x 2 bytes: over the NIC where the replica spans machines, else over the link."""
    llama, tokens = model("llama-3.1-70b"), 1024
    sent_s = tokens * llama.hidden_size * 2 / 25e9
    slower, faster = (prefill_s(llama, across(nic), 8, 2, tokens) for nic in (25e9, 50e9))
    assert slower - faster == pytest.approx(sent_s / 2, rel=1e-6)
    assert prefill_s(llama, across(25e9), 4, 2, tokens) == prefill_s(llama, across(50e9), 4, 2, tokens)


def test_a_batch_reads_the_distinct_experts_it_is_expected_to_take() -> None:
    """Decodes of Qwen3-30B at TP1: 1 token reads 8 of 128 experts; the weights of 256 tokens are all of them."""
    qwen, device = model("qwen3-30b-a3b"), accelerator("h100-80gb")
    curve = curve_of("qwen3-30b-a3b", tp=1)
    fitted = coefficients("h100-80gb", "kernel")
    rate = fitted.bandwidth_share * device.memory_bandwidth_bytes_per_s
    routed_s = 48 * routed_parameters(qwen) * 2 / rate
    one, eight, many = (curve.base_ps(BatchKind.DECODE, n) / 1e12 for n in (1, 8, 128))
    assert eight - one == pytest.approx(routed_s * ((120 / 128) - (120 / 128) ** 8), rel=0.08)
    assert many - one == pytest.approx(routed_s * (1 - 8 / 128), rel=0.08)
    dense = dataclasses.replace(
        qwen, experts=None, experts_per_token=None, expert_intermediate_size=None, intermediate_size=128 * 768
    )
    whole = compile_curve(dense, machine("dgx-h100"), 1, 1, LatencySpec(engine="kernel"))
    assert one < whole.base_ps(BatchKind.DECODE, 1) / 1e12 / 4


def test_experts_of_one_kind_that_all_tokens_take_are_a_dense_feed_forward() -> None:
    """But for what pads an expert's last tile, little at 2,048 tokens; grouped products reach less and move more."""
    llama = model("llama-3.1-8b")
    halves = dataclasses.replace(
        llama,
        experts=2,
        experts_per_token=2,
        expert_intermediate_size=7168,
        parameters=llama.parameters + 2 * 4096 * 32,
    )
    for kind in BatchKind:
        ours, theirs = (
            compile_curve(one, machine("dgx-h100"), 1, 1, LatencySpec()).base_ps(kind, 2048) for one in (halves, llama)
        )
        assert theirs < ours == pytest.approx(theirs, rel=0.18)


def test_latents_are_read_by_every_rank_and_attended_to_by_its_heads() -> None:
    """b: 128 heads on one accelerator are bound by FLOPs, 8 of them by reading 576 x 61 x 2 bytes. r also unfolds."""
    deepseek, fitted, device = model("deepseek-v3"), coefficients("h100-80gb", "kernel"), accelerator("h100-80gb")
    read_s = 70_272 / (fitted.attention_bandwidth_share * device.memory_bandwidth_bytes_per_s)
    flops_s = 61 * 2 * 128 * 1088 / (fitted.attention_flops_share * device.bf16_flops_per_s)
    one, sixteen = curve_of("deepseek-v3", tp=1), curve_of("deepseek-v3", tp=16)
    assert one.context_ps == round(max(flops_s, read_s) * 1e12)
    assert sixteen.context_ps == round(max(flops_s / 16, read_s) * 1e12)
    assert device.fp8_flops_per_s is not None
    unfolded_s = 61 * 2 * 512 * 128 * 256 / (fitted.fp8_flops_share * device.fp8_flops_per_s)
    assert one.chunk_read_ps == pytest.approx((read_s + unfolded_s) * 1e12, rel=1e-6)
    assert deepseek.attention == "mla"


def test_windowed_layers_read_a_window_and_no_more() -> None:
    """gpt-oss-120b: 18 of 36 layers full, so b is half of all layers' KV; s has 128 tokens of the others."""
    gpt = model("gpt-oss-120b")
    full = dataclasses.replace(gpt, windowed_layers=0, window_tokens=None)
    windowed, whole = (compile_curve(one, machine("dgx-h100"), 1, 1, LatencySpec()) for one in (gpt, full))
    assert windowed.context_ps == pytest.approx(whole.context_ps / 2, abs=1)
    assert windowed.attention == pytest.approx(whole.attention / 2, abs=1)
    assert windowed.decode_seq_ps - whole.decode_seq_ps == pytest.approx(128 * whole.context_ps / 2, rel=0.01)
    assert windowed.iteration_ps([], [128] * 8) == pytest.approx(whole.iteration_ps([], [128] * 8), rel=1e-4)
    assert windowed.iteration_ps([], [9000] * 8) < whole.iteration_ps([], [9000] * 8)
    assert windowed.iteration_ps([(100, 0)], []) == pytest.approx(whole.iteration_ps([(100, 0)], []), rel=1e-3)
    assert windowed.iteration_ps([(8192, 0)], []) < whole.iteration_ps([(8192, 0)], [])
