"""Power by kind and load: the measured anchors, the cap, and the machine's own figures."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from simcore.catalogue import accelerator, accelerator_ids, machine, machine_ids, model, model_ids, resolve_accelerator
from simcore.latency.compile import compile_curve
from simcore.latency.curve import BatchKind
from simcore.power import POWER_TOKENS, Load, idle_w, least_work, power_coefficients, stage_power, working_w
from simcore.spec import Accelerator, LatencySpec, Machine, SpecError, decode, encode
from simcore.stages import stages

FIT = Path(__file__).resolve().parents[3] / "benchmarks" / "fit_power.py"


def watts(model_id: str, box: Machine | str, tp: int, kind: BatchKind, tokens: int, latency: LatencySpec) -> float:
    """Of one accelerator, idle included."""
    box = machine(box) if isinstance(box, str) else box
    curve = compile_curve(model(model_id), box, tp, 1, latency)
    return working_w(model(model_id), box, tp, 1, curve)[kind][POWER_TOKENS.index(tokens)]


@pytest.mark.parametrize(
    ("model_id", "tp", "measured_w"), [("llama-3.1-8b", 1, 486), ("llama-3.1-70b", 4, 441), ("qwen3-32b", 1, 538)]
)
def test_decode_at_batch_8_on_h100_is_near_ml_energys_watts(model_id: str, tp: int, measured_w: float) -> None:
    assert watts(model_id, "dgx-h100", tp, BatchKind.DECODE, 8, LatencySpec()) == pytest.approx(measured_w, rel=0.15)


@pytest.mark.parametrize(
    ("model_id", "tp", "share"), [("bloom-176b", 8, 0.60), ("llama2-70b", 8, 0.43), ("llama2-70b", 2, 0.75)]
)
def test_decode_on_a100_is_near_splitwises_share_of_tdp(model_id: str, tp: int, share: float) -> None:
    drawn = watts(model_id, "dgx-a100", tp, BatchKind.DECODE, 1, LatencySpec(source="measured"))
    assert drawn / 400 == pytest.approx(share, rel=0.1)


@pytest.mark.parametrize(("tokens", "share"), [(512, 0.75), (1024, 0.74), (2048, 0.99), (4096, 1.0)])
def test_prefill_of_llama_70b_on_8_a100_rises_to_the_tdp_as_splitwise_measured(tokens: int, share: float) -> None:
    drawn = watts("llama2-70b", "dgx-a100", 8, BatchKind.PREFILL, tokens, LatencySpec(source="measured"))
    assert drawn / 400 == pytest.approx(share, rel=0.26)


def test_the_shipped_coefficients_are_what_the_measurements_give() -> None:
    here = {**os.environ, "PYTHONPATH": str(FIT.parents[1])}
    done = subprocess.run([sys.executable, str(FIT), "--check"], env=here, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "as committed"), done.stderr


@pytest.mark.parametrize("machine_id", machine_ids())
@pytest.mark.parametrize("model_id", model_ids())
def test_nothing_exceeds_the_tdp_or_the_cap_and_load_draws_more(model_id: str, machine_id: str) -> None:
    box = machine(machine_id)
    device = resolve_accelerator(box)
    tp = 8 if device.link_bandwidth_bytes_per_s > 100e9 else 1  # over PCIe a prefill at TP8 waits for its all-reduces
    curve = compile_curve(model(model_id), box, tp, 1, LatencySpec())
    ceiling = min(device.tdp_w, box.power_cap_w or device.tdp_w)
    prefill, decode_w, hybrid = working_w(model(model_id), box, tp, 1, curve)
    for kind in (prefill, decode_w, hybrid):
        assert all(device.idle_w < drawn <= ceiling for drawn in kind)
    assert prefill[-1] > prefill[0]
    assert all(drawn >= max(alone) for drawn, *alone in zip(hybrid, prefill, decode_w, strict=True))


@pytest.mark.parametrize("machine_id", ["dgx-a100", "dgx-h100", "dgx-b200"])
def test_a_prefill_of_a_thousand_tokens_of_a_large_model_draws_the_tdp(machine_id: str) -> None:
    drawn = watts("llama-3.1-70b", machine_id, 4, BatchKind.PREFILL, 1024, LatencySpec())
    assert drawn == resolve_accelerator(machine(machine_id)).tdp_w


@pytest.mark.parametrize("accelerator_id", accelerator_ids())
def test_more_use_draws_more_and_idle_with_work_stays_below_a_third(accelerator_id: str) -> None:
    fitted = power_coefficients(accelerator(accelerator_id))
    assert 0 < fitted.base < 1 / 3
    assert fitted.share(0, 0) == fitted.base < fitted.share(0.3, 0) < fitted.share(0.3, 0.1)
    assert fitted.share(1, 1) == 1


def test_an_accelerator_may_bring_its_own_coefficients() -> None:
    shipped = accelerator("h100-80gb")
    own = replace(shipped, power_base=0.5)
    assert power_coefficients(own).base == 0.5
    assert power_coefficients(own).by_mbu == power_coefficients(shipped).by_mbu
    assert (power_coefficients(own).status, power_coefficients(shipped).status) == ("given", "estimate")
    assert decode(Accelerator, encode(own)) == own
    box, ours = machine("dgx-h100"), replace(machine("dgx-h100"), accelerator=own)
    rises = [watts("llama-3.1-8b", one, 1, BatchKind.DECODE, 1, LatencySpec()) for one in (box, ours)]
    assert rises[1] - rises[0] == pytest.approx((0.5 - power_coefficients(shipped).base) * 625)


def test_an_accelerator_without_a_row_takes_the_mean_and_says_so() -> None:
    unknown = power_coefficients(replace(accelerator("h100-80gb"), id="new"))
    assert unknown.status == "assumption"
    assert unknown.base == pytest.approx(0.14)


def test_four_bit_weights_cost_more_where_cores_unpack_them() -> None:
    packed, plain = (
        least_work(of, device, stages(of, 1, 1)[0], 1, Load.of_decodes(8, 1000))
        for of in [model("gpt-oss-120b")]
        for device in (accelerator("h100-80gb"), replace(accelerator("h100-80gb"), fp4_flops_per_s=2e15))
    )
    assert 0.5 * packed.read_s < packed.packed_s < packed.read_s == plain.read_s
    assert plain.packed_s == 0
    fitted = power_coefficients(accelerator("h100-80gb"))
    assert fitted.share(*packed.over(0.02)) > fitted.share(*plain.over(0.02))
    assert least_work(model("llama-3.1-8b"), accelerator("h100-80gb"),
                      stages(model("llama-3.1-8b"), 1, 1)[0], 1, Load.of_prompt(9)).packed_s == 0  # fmt: skip


def test_an_accelerator_cannot_idle_above_its_tdp() -> None:
    with pytest.raises(SpecError, match=r"idle_w: found 900, expected at most tdp_w \(700\)"):
        replace(accelerator("h100-80gb"), idle_w=900)


def test_work_counts_experts_taken_windows_and_latents() -> None:
    device = accelerator("h100-80gb")

    def work(model_id: str, load: Load) -> tuple[float, float]:
        of = model(model_id)
        least = least_work(of, device, stages(of, 1, 1)[0], 1, load)
        return least.read_s * 3350e9, least.math_s * 989e12

    llama = model("llama-3.1-8b")
    read, math = work("llama-3.1-8b", Load.of_decodes(1, 0))
    active = llama.parameters - llama.vocab_size * llama.hidden_size  # the input embedding is looked up, not read
    assert read == pytest.approx(2 * active)
    assert math == pytest.approx(2 * active)
    read, math = work("llama-3.1-8b", Load.of_decodes(4, 1000))
    assert read == pytest.approx(2 * active + 4000 * 131072)
    assert math == pytest.approx(8 * active + 4000 * 32 * 4 * 32 * 128)
    few, all_experts = (work("qwen3-30b-a3b", Load.of_decodes(n, 0))[0] for n in (1, 4096))
    assert all_experts > 9 * few
    near, far = (work("gpt-oss-20b", Load.of_decodes(1, c))[0] for c in (128, 10_000))
    assert far - near == pytest.approx((10_000 - 128) * 12 * 2 * 8 * 64 * 2)  # its 12 full layers alone


def test_the_engine_gets_what_a_stage_and_its_fans_draw_above_idle() -> None:
    box = machine("dgx-h100")
    of = model("llama-3.1-70b")
    curve = compile_curve(of, box, 8, 1, LatencySpec())
    drawn = working_w(of, box, 8, 1, curve)[BatchKind.DECODE][3]
    milliwatts = stage_power(of, box, 8, 1, curve).milliwatts[BatchKind.DECODE][3]
    assert milliwatts == round(8 * (drawn - 75) * (1 + 800 / (8 * 625)) * 1000)
    still = stage_power(of, replace(box, fans_w=0.0), 8, 1, curve).milliwatts[BatchKind.DECODE][3]
    assert still == round(8 * (drawn - 75) * 1000)


def test_a_stage_is_its_own_accelerators_only() -> None:
    whole, stage = (
        stage_power(of, box, tp, pp, compile_curve(of, box, tp, pp, LatencySpec())).milliwatts[BatchKind.PREFILL][-1]
        for of, box in [(model("llama-3.1-70b"), machine("dgx-h100"))]
        for tp, pp in ((8, 1), (4, 2))
    )
    assert stage == whole // 2


def test_idle_is_the_host_and_its_accelerators() -> None:
    assert idle_w(machine("dgx-h100")) == 2000 + 8 * 75


def test_full_load_is_what_was_measured_at_most_and_within_the_nameplate() -> None:
    full = {}
    for machine_id in machine_ids():
        box, of = machine(machine_id), model("bloom-176b")
        tp = min(box.accelerators, 8)
        curve = compile_curve(of, box, tp, 1, LatencySpec())
        above = stage_power(of, box, tp, 1, curve).milliwatts[BatchKind.PREFILL][-1] / 1000
        full[machine_id] = idle_w(box) + above
        assert full[machine_id] <= box.nameplate_w
    assert full["dgx-h100"] == pytest.approx(8400)  # Latif et al. 2025, 8 x H100
    assert full["dgx-b200"] == pytest.approx(10400)  # MLPerf v5.1, 8 x B200 at the wall: 9.0 to 10.4 kW


def test_prefill_is_drawn_evenly_over_the_knots() -> None:
    for low, high in itertools.pairwise(POWER_TOKENS):
        assert low < high <= 2 * low
