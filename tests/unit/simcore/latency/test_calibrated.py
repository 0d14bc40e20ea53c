"""A LATENCY.json as a latency source: its curve, its words, what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from simcore.catalogue import machine, model
from simcore.keys import capacity_key
from simcore.latency.calibrated import (
    FORMAT,
    Calibration,
    FittedFile,
    PhaseError,
    Replaced,
    Residual,
    Span,
    Validity,
    outside,
    parse_calibration,
)
from simcore.latency.coefficients import coefficients
from simcore.latency.compile import compile_curve
from simcore.latency.evidence import evidence
from simcore.latency.formula import SOURCES, formula
from simcore.latency.roofline import roofline_curve
from simcore.spec import LatencySpec, SpecError, decode_case, encode

SHIPPED_STEP_S = coefficients("h100-80gb", "vllm-2026").host_step_s
COEFFICIENTS = replace(coefficients("h100-80gb", "vllm-2026"), host_step_s=5e-3)
CALIBRATION = Calibration(
    format=FORMAT,
    date="2026-11-30",
    engine="vllm-2026",
    coefficients=COEFFICIENTS,
    replaced=(Replaced("host_step_s", SHIPPED_STEP_S, 5e-3),),
    validity=Validity("llama-3.1-8b", "h100-80gb", (1, 2), Span(500, 2000), Span(1, 64), Span(100, 400)),
    errors=(PhaseError("TPOT", 3, 0.3, 0.02, 0.04),),
    residuals=(Residual("a.json", "line 1", "TPOT", "1 in flight", 0.01, 0.007, 0.0101, 0.0102),),
    sources=(FittedFile("bench/a.json", "00", "vllm bench serve (JSON)", 3),),
    formula=formula(),
)
MODEL, MACHINE = model("llama-3.1-8b"), machine("dgx-h100")


def saved(tmp_path: Path, calibration: Calibration = CALIBRATION, name: str = "LATENCY.json") -> LatencySpec:
    (tmp_path / name).write_text(json.dumps(encode(calibration)))
    return LatencySpec(source="calibrated", path=str(tmp_path / name))


def test_the_curve_is_the_roofline_with_the_fitted_coefficients(tmp_path):
    found = compile_curve(MODEL, MACHINE, 2, 1, saved(tmp_path))
    expected = roofline_curve(MODEL, MACHINE, 2, 1, "vllm-2026", COEFFICIENTS)
    assert replace(found, source="") == replace(expected, source="")
    shipped = compile_curve(MODEL, MACHINE, 2, 1, LatencySpec())
    assert found.iteration_ps([], [1000]) - shipped.iteration_ps([], [1000]) == pytest.approx(
        (5e-3 - SHIPPED_STEP_S) * 1e12, rel=1e-6
    )


def test_words_say_files_date_error_and_what_is_outside(tmp_path):
    latency = saved(tmp_path)
    inside = compile_curve(MODEL, MACHINE, 1, 1, latency)
    assert inside.source == (
        "calibrated: vllm-2026 fitted to 3 figures of llama-3.1-8b on h100-80gb TP1/2 (a.json, 2026-11-30),"
        " 4% off on average at points held out of the fit"
    )
    beyond = compile_curve(model("llama-3.1-70b"), MACHINE, 8, 2, latency)
    assert evidence(model("llama-3.1-70b"), MACHINE, 8, latency, beyond).endswith(
        "; outside what was measured: model llama-3.1-70b (measured llama-3.1-8b), tensor_parallel 8 (measured 1, 2),"
        " pipeline_parallel 2 (measured 1)"
    )


def test_loads_beyond_the_range_are_named():
    def at(**figures: float) -> list[str]:
        return outside(CALIBRATION, MODEL, MACHINE, 1, **figures)

    assert at(prompt_tokens=500, output_tokens=100, sequences=64) == []
    assert at(prompt_tokens=2900) == []  # nearly within
    assert at(prompt_tokens=8000, sequences=256) == [
        "8,000 prompt tokens (measured 500 to 2,000)",
        "256 sequences at once (measured 1 to 64)",
    ]


def test_a_cap_slows_what_was_measured_without_one_and_stays_in_what_was_measured_under_it(tmp_path):
    capped = replace(MACHINE, id="capped", power_cap_w=350.0)
    free, slower = (compile_curve(MODEL, one, 1, 1, saved(tmp_path)) for one in (MACHINE, capped))
    prompt = [(4000, 0)]
    assert slower.iteration_ps(prompt, []) > 1.1 * free.iteration_ps(prompt, [])
    under = replace(CALIBRATION, validity=replace(CALIBRATION.validity, power_cap_w=350.0))
    kept = compile_curve(MODEL, capped, 1, 1, saved(tmp_path, under))
    assert kept.iteration_ps(prompt, []) == free.iteration_ps(prompt, [])
    assert outside(under, MODEL, MACHINE, 1) == ["no power cap (measured 350 W)"]


def test_a_fit_by_another_formula_says_so(tmp_path):
    found = compile_curve(MODEL, MACHINE, 1, 1, saved(tmp_path, replace(CALIBRATION, formula="0" * 12)))
    assert "the roofline's formula, which has changed since: calibrate again" in found.source


def test_another_accelerator_is_refused_by_name(tmp_path):
    with pytest.raises(SpecError, match=r"is of h100-80gb, found a100-80gb \(machine dgx-a100\)"):
        compile_curve(MODEL, machine("dgx-a100"), 1, 1, saved(tmp_path))


def test_a_path_is_asked_for():
    with pytest.raises(SpecError, match=r"path: missing, expected the LATENCY\.json"):
        LatencySpec(source="calibrated")


def test_a_study_holds_the_text_itself(tmp_path):
    text = json.dumps(encode(replace(CALIBRATION, residuals=())))
    held = compile_curve(MODEL, MACHINE, 2, 1, LatencySpec(source="calibrated", calibration=text))
    assert held == compile_curve(MODEL, MACHINE, 2, 1, saved(tmp_path))
    with pytest.raises(SpecError, match="path: found with calibration"):
        LatencySpec(source="calibrated", calibration=text, path="x.json")
    with pytest.raises(SpecError, match=r"latency\.calibration: line 1 is no JSON"):
        compile_curve(MODEL, MACHINE, 2, 1, LatencySpec(source="calibrated", calibration="{"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is no JSON|line 1 is no JSON"),
        ("[]", "format: found 'list'"),
        ('{"mean_ttft_ms": 4}', "benchmark files go to calibrate first"),
        ('{"format": "phaseplan calibration 1"}', "date: missing, expected text"),
    ],
)
def test_a_file_that_is_none_is_refused_in_one_line(tmp_path, text, message):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(SpecError, match=message) as refused:
        compile_curve(MODEL, MACHINE, 1, 1, LatencySpec(source="calibrated", path=str(tmp_path / "x.json")))
    assert "x.json" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(SpecError, match="cannot be read"):
        compile_curve(MODEL, MACHINE, 1, 1, LatencySpec(source="calibrated", path=str(tmp_path / "none.json")))


@pytest.mark.parametrize(("name", "value"), [("flops_share", 0.0), ("host_step_s", -1e-3), ("tile_tokens", 0)])
def test_coefficients_that_no_machine_has_are_refused(tmp_path, name, value):
    whole = encode(CALIBRATION)
    whole["coefficients"][name] = value
    (tmp_path / "x.json").write_text(json.dumps(whole))
    with pytest.raises(SpecError, match=rf"x.json.*coefficients\.{name}: found"):
        compile_curve(MODEL, MACHINE, 1, 1, LatencySpec(source="calibrated", path=str(tmp_path / "x.json")))


def test_keys_take_the_content_and_not_the_path(tmp_path):
    def key(latency: LatencySpec) -> str:
        case = decode_case(
            {"model": "llama-3.1-8b", "pools": [{"role": "mixed", "machine": "dgx-h100"}],
             "scheduler": {"kind": "sarathi"}, "latency": encode(latency)}
        )  # fmt: skip
        return capacity_key(case, "trace", 0, "engine")

    here, there = key(saved(tmp_path)), key(saved(tmp_path, name="moved.json"))
    changed = key(saved(tmp_path, replace(CALIBRATION, coefficients=replace(COEFFICIENTS, host_step_s=6e-3))))
    held = key(LatencySpec(source="calibrated", calibration=(tmp_path / "moved.json").read_text()))
    assert held == here == there != changed


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("errors",), [], "errors: found none"),
        (("sources",), [], "sources: found none"),
        (("validity", "tensor_parallel"), [], "tensor_parallel: found none"),
        (("validity", "sequences"), {"least": 9, "most": 1}, "validity.sequences.least: found 9, expected no more"),
        (("validity", "power_cap_w"), -5, "validity.power_cap_w: found -5"),
        (("errors", 0, "points"), 0, r"errors\[0\].points: found 0, expected at least 1"),
        (("errors", 0, "spread"), 1e300, r"errors\[0\].spread: found 1e\+300, expected at most 100"),
        (("errors", 0, "bias"), -800, r"errors\[0\].bias: found -800"),
        (("errors", 0, "held_out"), -1, r"errors\[0\].held_out: found -1"),
        (("residuals", 0, "measured_s"), 0, r"residuals\[0\].measured_s: found 0"),
        (("coefficients", "allreduce_latency_s"), [1e-6], "allreduce_latency_s: found 1, expected 3"),
    ],
)
def test_a_file_edited_to_what_no_fit_gives_is_refused_by_its_key(path, value, words):
    edited = encode(CALIBRATION)
    inside = edited
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    with pytest.raises(SpecError, match=words):
        parse_calibration(json.dumps(edited).encode())


def test_a_number_of_thousands_of_digits_is_no_json():
    with pytest.raises(SpecError, match="is no JSON"):
        parse_calibration(b'{"flagged": ' + b"1" * 5000 + b"}")


def test_the_formula_s_hash_covers_the_terms():
    assert {"latency/roofline.py", "latency/terms.py", "latency/operators.py", "shapes.py"} <= {*SOURCES}
