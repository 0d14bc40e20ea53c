"""InferenceX (InferenceMAX): an array of results, latencies in seconds, throughput a GPU.

ISL and OSL are nominal (lengths are drawn from 0.8 to 1.0 of them: 0.9 on average), so the requests' own lengths and
their rate are estimates. Whether throughput a GPU is of all GPUs or of one pool's: rows that also have
``output_tput_per_decode_gpu`` give it over all; older split rows give output over decode GPUs and input over prefill
GPUs. A split result is no replica's: its TPOT becomes a decode step of one decode replica, its TTFT is not used.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from simcore.measurements.points import ServingPoint, Setting, StepPoint
from simcore.measurements.record import Record

FORMAT = "InferenceX (JSON)"
DRAWN_SHARE = 0.9
NO_SPECULATION = ("none", "false", "off", "0", "")
OWN = ("tput_per_gpu", "output_tput_per_gpu")
OTHERS = ("median_ttft", "median_tpot", "power_valid", "output_tput_tps", "request_metrics")


def is_ours(value: Any) -> bool:
    """Whether a JSON value is one such result."""
    if not isinstance(value, dict):
        return False
    inner = value.get("metrics")
    figures = {**value, **inner} if isinstance(inner, dict) else value
    return "conc" in value and any(name in figures for name in (*OWN, *OTHERS))


def read(record: Record) -> ServingPoint | StepPoint | None:
    """The result as a point of one deployment, or as a decode step where prefill and decode are apart."""
    inner = record.values.get("metrics")
    if isinstance(inner, dict):
        record = replace(record, values={**record.values, **inner})
    scenario = record.text("scenario_type") or ""
    if scenario.startswith("agentic") or "request_metrics" in record.values:
        reason = "turns of conversations with most of each prompt cached, which are not requests of one length"
        record.flag("scenario_type", scenario, reason, "row left out")
        return None
    if _true(record.values.get("dp_attention")) or (record.count("ep", "decode_ep", least=1) or 1) > 1:
        record.flag("ep, dp_attention", "", "expert and data parallel ranks are not modelled", "row left out")
        return None
    speculation = record.values.get("spec_decoding", record.values.get("spec_method"))
    if str(speculation or "none").strip().lower() not in NO_SPECULATION:
        record.flag("spec_decoding", speculation, "speculation is not modelled", "row left out")
        return None
    return _split(record) if _true(record.values.get("disagg")) else _together(record)


def _together(record: Record) -> ServingPoint | None:
    stages = record.count("pp", least=1) or 1
    if stages > 1:
        record.flag("pp", stages, "expected 1: pipelines are not fitted", "row left out")
        return None
    setting = _setting(record, ("tp", "decode_tp"))
    output_per_gpu = record.per_second("output_tput_per_gpu")
    gpus = setting.tensor_parallel
    output = output_per_gpu * gpus if output_per_gpu and gpus else None
    drawn = _drawn(record, "osl")
    concurrency = record.count("conc", least=1)
    return ServingPoint(
        file=record.file,
        where=record.where,
        format=FORMAT,
        load="concurrency" if concurrency else None,
        concurrency=concurrency,
        rate_req_per_s=None,
        prompt_tokens=_drawn(record, "isl"),
        output_tokens=drawn,
        requests_per_s=output / drawn if output and drawn else None,
        output_tokens_per_s=output,
        ttft_s=record.seconds("mean_ttft"),
        ttft_median_s=record.seconds("median_ttft"),
        tpot_s=record.seconds("mean_tpot", "median_tpot"),
        itl_s=record.seconds("mean_itl", "median_itl"),
        e2e_s=record.seconds("mean_e2el"),
        completed=None,
        failed=None,
        duration_s=None,
        setting=setting,
        notes=("lengths taken as 0.9 of the nominal ones",) if drawn else (),
    )


def _split(record: Record) -> StepPoint | None:
    """A decode step: so many sequences in each decode replica, by Little's law over the decode phase."""
    setting = _setting(record, ("decode_tp", "tp"))
    prompt, output = _drawn(record, "isl"), _drawn(record, "osl")
    tpot, per_gpu = record.seconds("mean_tpot", "median_tpot"), record.per_second("output_tput_per_gpu")
    decode_gpus, gpus = record.count("num_decode_gpu", least=1), setting.tensor_parallel
    needed = {
        "isl": prompt,
        "osl": output,
        "mean_tpot": tpot,
        "output_tput_per_gpu": per_gpu,
        "num_decode_gpu": decode_gpus,
        "decode_tp": gpus,
    }
    missing = [name for name, value in needed.items() if not value]
    if missing or not (prompt and output and tpot and per_gpu and decode_gpus and gpus):
        record.flag(", ".join(missing), "", "a split result needs it", "row left out")
        return None
    over_all = record.has("output_tput_per_decode_gpu")
    total_gpus = decode_gpus + (record.count("num_prefill_gpu") or 0) if over_all else decode_gpus
    replicas = decode_gpus / gpus
    sequences = round(per_gpu * total_gpus * tpot * (output - 1) / output / replicas)
    if sequences < 1:
        record.flag("mean_tpot", tpot, "throughput x TPOT is less than one sequence in flight", "row left out")
        return None
    note = f"split: {sequences} sequences in each of {replicas:g} decode replicas by throughput x TPOT; TTFT not used"
    return StepPoint(record.file, record.where, "decode", sequences, prompt + output / 2, tpot, setting, (note,))


def _setting(record: Record, tensor_parallel: tuple[str, ...]) -> Setting:
    return Setting(
        model=record.text("infmax_model_prefix", "model"),
        engine=record.text("framework"),
        engine_version=record.text("image"),
        accelerator=record.text("decode_hw", "hw", "hardware", "device"),
        tensor_parallel=record.count(*tensor_parallel, least=1),
        replicas=1,
        precision=record.text("precision"),
        date=record.text("date"),
    )


def _drawn(record: Record, name: str) -> float | None:
    nominal = record.tokens(name)
    return None if nominal is None else max(nominal * DRAWN_SHARE, 1.0)


def _true(value: Any) -> bool:
    return value is True or str(value).strip().lower() in ("true", "1", "yes")
