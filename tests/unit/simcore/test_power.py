"""Power by kind and load: the measured anchors, the cap, and the machine's own figures."""

from __future__ import annotations

import itertools

import pytest

from simcore.catalogue import accelerator, machine, machine_ids, model, model_ids
from simcore.latency.compile import compile_curve
from simcore.latency.curve import BatchKind
from simcore.power import idle_w, stage_power
from simcore.spec import LatencySpec


def watts(model_id: str, machine_id: str, tp: int, kind: BatchKind, tokens: int, latency: LatencySpec) -> float:
    """Of one accelerator, idle included."""
    box = machine(machine_id)
    curve = compile_curve(model(model_id), box, tp, 1, latency)
    knots, by_kind = stage_power(model(model_id), box, tp, 1, curve)
    above = by_kind[kind][knots.index(tokens)] / 1000 / tp
    return above + accelerator(str(box.accelerator)).idle_w


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
    assert drawn / 400 == pytest.approx(share, rel=0.15)


@pytest.mark.parametrize("machine_id", machine_ids())
@pytest.mark.parametrize("model_id", model_ids())
def test_prefill_nears_the_tdp_or_the_cap_and_nothing_exceeds_it(model_id: str, machine_id: str) -> None:
    box = machine(machine_id)
    device = accelerator(str(box.accelerator))
    knots, by_kind = stage_power(model(model_id), box, 8, 1)
    ceiling = min(device.tdp_w, box.power_cap_w or device.tdp_w)
    for kind in BatchKind:
        assert all(0 < mw <= 8 * (ceiling - device.idle_w) * 1000 for mw in by_kind[kind])
    assert by_kind[BatchKind.PREFILL][-1] == 8 * (ceiling - device.idle_w) * 1000
    assert all(low <= high for low, high in itertools.pairwise(by_kind[BatchKind.PREFILL]))
    assert len(knots) == len(by_kind[BatchKind.HYBRID])


def test_a_cap_leaves_memory_bound_work_below_it_alone() -> None:
    plain, capped = (
        stage_power(
            model("llama2-70b"),
            machine(m),
            8,
            1,
            compile_curve(model("llama2-70b"), machine(m), 8, 1, LatencySpec(source="measured")),
        )[1]
        for m in ("dgx-h100", "dgx-h100-pcap")
    )
    assert capped[BatchKind.DECODE] == plain[BatchKind.DECODE]
    assert capped[BatchKind.PREFILL][-1] == 8 * (490 - 75) * 1000 < plain[BatchKind.PREFILL][-1]


def test_a_stage_is_its_own_accelerators_only() -> None:
    whole, stage = (
        stage_power(model("llama-3.1-70b"), machine("dgx-h100"), tp, pp)[1][BatchKind.PREFILL][-1]
        for tp, pp in ((8, 1), (4, 2))
    )
    assert stage == whole // 2


def test_idle_is_the_host_and_its_accelerators() -> None:
    assert idle_w(machine("dgx-h100")) == 2800 + 8 * 75


def test_full_load_stays_within_the_nameplate() -> None:
    for machine_id in machine_ids():
        box = machine(machine_id)
        above = stage_power(model("bloom-176b"), box, 8, 1)[1][BatchKind.PREFILL][-1] / 1000
        assert idle_w(box) + above <= box.nameplate_w
