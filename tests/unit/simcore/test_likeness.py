"""What was measured on a shipped accelerator stands for a row that is measured as it, as far as its figures are."""

import json
from dataclasses import replace

import pytest

from simcore.catalogue import POWERED, accelerator, departures, evidence_id, known_as, machine, model, resolve_machine
from simcore.latency.coefficients import coefficients, coefficients_of
from simcore.latency.compile import compile_curve
from simcore.latency.evidence import nearest_evidence
from simcore.power import power_coefficients
from simcore.spec import Case, LatencySpec, SpecError, decode, encode
from simcore.trust.outside import Asked, Curve, outside_measured
from simcore.trust.power_error import power_error
from simcore.trust.time_error import time_error

B200 = accelerator("b200-180gb")
OURS = replace(B200, id="b200-ours", name="B200, our memory", memory_bytes=100 * 2**30, measured_as="b200-180gb")
SLOWER = replace(OURS, memory_bandwidth_bytes_per_s=6e12)
LLAMA = model("llama-3.1-70b")
ROOFLINE = LatencySpec(engine="vllm-2026")


def with_(device):
    return replace(machine("dgx-b200"), id="ours", accelerator=device)


def curve(device, latency=ROOFLINE, llm=LLAMA, like="dgx-b200"):
    return compile_curve(llm, replace(machine(like), id="ours", accelerator=device), 8, 1, latency)


def times(device, latency=ROOFLINE):
    return replace(curve(device, latency), source="")


def test_a_clone_of_other_memory_is_predicted_as_what_it_is_cloned_from():
    assert times(OURS) == times(B200)
    assert times(replace(OURS, measured_as=None)) != times(B200)
    assert coefficients_of(OURS, "vllm-2026") == coefficients("b200-180gb", "vllm-2026")
    assert power_coefficients(OURS) == power_coefficients(B200)
    assert known_as(OURS) == ("b200-ours", "b200-180gb")


def test_it_keeps_the_errors_that_were_found_there():
    for of in (time_error, power_error):
        (own, cloned, nameless) = (
            of(LLAMA, with_(device), 8, *([1] * (of is time_error)), ROOFLINE)
            for device in (B200, OURS, replace(OURS, measured_as=None))
        )
        assert cloned == own
        assert nameless != own
    assert nearest_evidence(LLAMA, with_(OURS), 8, "kernel") == nearest_evidence(LLAMA, with_(B200), 8, "kernel")
    asked = Asked(1000.0, 200.0, 4000)
    said = [outside_measured([Curve(LLAMA, with_(device), 8, 1, ROOFLINE)], asked) for device in (B200, OURS)]
    assert said[0] == said[1]


def test_one_with_another_bandwidth_takes_shares_and_claims_no_error():
    found = coefficients_of(SLOWER, "vllm-2026")
    assert (found.status, found.stand_in) == ("assumption", "b200-180gb")
    assert found.bandwidth_share == coefficients("b200-180gb", "vllm-2026").bandwidth_share
    assert "no fit for these figures, shares of b200-180gb assumed" in curve(SLOWER).source
    assert departures(SLOWER) == ("memory_bandwidth_bytes_per_s",)
    assert known_as(SLOWER) == ("b200-ours",)
    wider = time_error(LLAMA, with_(SLOWER), 8, 1, ROOFLINE)
    assert wider.longer("decode") > time_error(LLAMA, with_(OURS), 8, 1, ROOFLINE).longer("decode")
    assert not nearest_evidence(LLAMA, with_(SLOWER), 8, "kernel").exact
    (line, *_) = outside_measured([Curve(LLAMA, with_(SLOWER), 8, 1, ROOFLINE)], Asked(1000.0, 200.0, 4000))
    assert line == "accelerator b200-ours: memory_bandwidth_bytes_per_s 6e+12, measured with 8e+12 (b200-180gb)"


def test_a_shipped_row_with_a_peak_of_its_own_departs_from_itself():
    overridden = replace(B200, bf16_flops_per_s=2e15)
    assert departures(overridden) == ("bf16_flops_per_s",)
    assert evidence_id(overridden) != "b200-180gb"
    assert "no fit for these figures" in curve(overridden).source


def test_rounding_of_a_data_sheet_is_no_other_figure():
    assert departures(replace(OURS, bf16_flops_per_s=1.005 * B200.bf16_flops_per_s)) == ()


def test_watts_rest_on_the_tdp_too():
    capped = replace(OURS, tdp_w=800.0)
    assert departures(capped) == ()
    assert departures(capped, POWERED) == ("tdp_w",)
    assert power_coefficients(capped).status == "assumption"
    assert "of b200-180gb as it is shipped" in power_coefficients(capped).source
    assert power_coefficients(replace(capped, power_base=0.2)).status == "given"


def test_measured_step_times_are_those_of_what_it_is_measured_as():
    measured, bloom = LatencySpec(source="measured"), model("bloom-176b")
    shipped = accelerator("h100-80gb")
    ours = replace(shipped, id="h100-ours", measured_as="h100-80gb")
    same = [replace(curve(device, measured, bloom, "dgx-h100"), source="") for device in (shipped, ours)]
    assert same[0] == same[1]
    with pytest.raises(SpecError, match="no measured prefill and decode times of bloom-176b on ours or h100-ours at"):
        curve(replace(ours, memory_bandwidth_bytes_per_s=4e12), measured, bloom, "dgx-h100")


def test_it_is_a_key_of_an_inline_accelerator_and_names_a_shipped_one():
    text = json.dumps(encode(with_(OURS)))
    plain = {"model": "llama-3.1-70b", "pools": [{"role": "mixed", "machine": json.loads(text), "machines": 1}]}
    case = decode(Case, plain | {"scheduler": {"kind": "sarathi"}})
    (pool,) = case.pools
    assert resolve_machine(pool.machine) == with_(OURS)
    with pytest.raises(SpecError, match=r"measured_as of b200-ours: found 'b200', expected one of .*\(nearest: 'b"):
        curve(replace(OURS, measured_as="b200"))
