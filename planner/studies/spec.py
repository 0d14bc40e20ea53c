"""A revision's inputs as a StudySpec: the only translation. Everything the study rests on is copied in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from planner.accounts.owned import Visitor
from planner.calibrations.services import calibration_for, latency_of
from planner.catalogue.kept import NOTHING, Kept, fabric_of, machines_of, model_of, prices_of
from planner.power_logs.services import with_logged_power
from planner.scenarios.errors import FieldErrors, at_field
from planner.scenarios.forms import LIMITED, with_defaults
from planner.scenarios.weeks import week_of
from planner.workloads.models import Workload
from simcore.catalogue import known_as, resolve_accelerator
from simcore.spec import (
    AbsoluteSlo,
    AttainmentSlo,
    CountGrid,
    Fabric,
    KvTransferSpec,
    LatencySpec,
    Limit,
    Machine,
    MachineChoice,
    MemorySpec,
    Model,
    PriceBook,
    SchedulerOptions,
    Slo,
    SlowdownSlo,
    SpecError,
    StudyLimits,
    StudySpec,
    WorkloadSpec,
)

LATENCIES = {
    "roofline": LatencySpec(),
    "roofline-trtllm": LatencySpec(engine="trtllm-2025"),
    "roofline-2023": LatencySpec(engine="vllm-2023"),
    "roofline-kernel": LatencySpec(engine="kernel"),
    "measured": LatencySpec(source="measured"),
}
BYTES_A_GB = 1e9
SCHEDULER_OPTIONS = (
    *("token_budget", "max_batch_tokens", "max_batch_size"),
    *("tensor_parallel", "pipeline_parallel", "decode_tensor_parallel", "decode_pipeline_parallel"),
)


@dataclass(frozen=True)
class Question:
    """What a study needs: the spec, the prices applied afterwards, and the requests."""

    spec: StudySpec
    prices: PriceBook
    workload: Workload
    trace_hash: str


def compile_question(user: Visitor, inputs: Mapping[str, Any], kept: Kept = NOTHING) -> Question:
    """The question that cleaned inputs ask (see scenarios.forms), of rows as they were where they are kept and of
    today's catalogue elsewhere; FieldErrors says what cannot be asked."""
    inputs = with_defaults(inputs)
    workload = _workload(user, inputs["workload"])
    with at_field("price_book"):
        prices = prices_of(user, inputs["price_book"], inputs["machines"], kept)
    return Question(_spec(user, inputs, workload, kept), prices, workload, workload.content_hash)


def _spec(user: Visitor, inputs: Mapping[str, Any], workload: Workload, kept: Kept) -> StudySpec:
    with at_field("model"):
        model = _served(model_of(user, inputs["model"], kept), inputs)
    with at_field("machines"):
        found = machines_of(user, inputs["machines"], kept)
    with at_field("fabric"):
        fabric = fabric_of(user, inputs["fabric"], kept) if inputs["fabric"] else None
    if fabric is not None:
        found = [replace(machine, nic_bytes_per_s=fabric.achieved_bytes_per_s()) for machine in found]
    with at_field("power"):
        found = _drawn_power(user, inputs.get("power"), found)
    with at_field("latency"):
        latency, machines = _iteration_times(user, inputs, model, found)
    with at_field("slo_kind"):
        slo = _slo(inputs)
    with at_field("__all__"):
        return StudySpec(
            model=model,
            workload=_workload_spec(workload, inputs),
            rate_req_per_s=inputs["rate_req_per_s"],
            machines=machines,
            families=tuple(inputs["families"] or ()),
            scheduler_options=_scheduler_options(inputs),
            slo=slo,
            prices=inputs["price_book"],
            pue=inputs["pue"],
            limits=_limits(inputs),
            goal=inputs["goal"],
            hold_equal=inputs["hold_equal"] or None,
            size_to=inputs["size_to"],
            failures=inputs["failures"],
            latency=latency,
            memory=_memory(inputs),
            kv_transfer=_kv_transfer(inputs, fabric),
            arrivals=inputs["arrivals"],
            seeds=tuple(range(inputs["seed"], inputs["seed"] + inputs["replications"])),
            counts=_count_grid(inputs),
        )


def _served(model: Model, inputs: Mapping[str, Any]) -> Model:
    """The model at the precisions asked for; one of the weights is of all of them, experts too."""
    weights, kv = inputs["weight_precision"], inputs["kv_precision"]
    if weights:
        model = replace(model, weight_precision=weights, expert_precision=None)
    return replace(model, kv_precision=kv) if kv else model


def _scheduler_options(inputs: Mapping[str, Any]) -> SchedulerOptions:
    return SchedulerOptions(
        **{name: inputs[name] for name in SCHEDULER_OPTIONS},
        token_budgets=tuple(inputs["token_budgets"] or ()),
        tensor_parallels=tuple(inputs["tensor_parallels"] or ()),
        chunked=inputs["kv_transfer"] == "chunkwise",
    )


def _limits(inputs: Mapping[str, Any]) -> StudyLimits:
    return StudyLimits(
        usd_per_month=inputs["usd_per_month"],
        power_limit_kw=inputs["power_limit_kw"],
        power_kind=inputs["power_kind"],
        machines=inputs["most_machines"],
        racks=inputs["racks"],
    )


def _memory(inputs: Mapping[str, Any]) -> MemorySpec:
    return MemorySpec(
        usable=inputs["memory_usable"],
        reservation=inputs["reservation"] or None,
        block_tokens=inputs["block_tokens"],
        watermark=inputs["watermark"],
        max_model_tokens=inputs["max_model_tokens"],
    )


def _kv_transfer(inputs: Mapping[str, Any], fabric: Fabric | None) -> KvTransferSpec:
    gb_per_s, setup_s = inputs["kv_bandwidth_gb_per_s"], inputs["kv_setup_s"]
    if setup_s is None and fabric is not None:
        setup_s = fabric.setup_s
    return KvTransferSpec(
        mode=inputs["kv_transfer"],
        bandwidth_bytes_per_s=None if gb_per_s is None else gb_per_s * BYTES_A_GB,
        contention=inputs["kv_contention"] == "yes",
        setup_s=setup_s,
    )


def _count_grid(inputs: Mapping[str, Any]) -> CountGrid:
    return CountGrid(
        mixed=_counts(inputs["mixed_counts"]),
        prefill=_counts(inputs["prefill_counts"]),
        decode=_counts(inputs["decode_counts"]),
        every=inputs["counts_tried"] == "every",
    )


def _iteration_times(
    user: Visitor, inputs: Mapping[str, Any], model: Model, machines: Sequence[Machine]
) -> tuple[LatencySpec, tuple[MachineChoice, ...]]:
    """The latency source, and the machines: those that a calibration is of, or that have a source of their own, with
    it; others take the source, or the roofline that the calibration began from."""
    latency, own = _source(user, inputs["latency"], model, machines)
    on_hand, by_machine = inputs["on_hand"] or {}, inputs["latency_by_machine"] or {}
    for machine in machines:
        if key := by_machine.get(machine.id):
            source, calibrated = _source(user, key, model, [machine])
            own[machine.id] = calibrated.get(machine.id, source)
    choices = (MachineChoice(machine, on_hand.get(machine.id), own.get(machine.id)) for machine in machines)
    return latency, tuple(choices)


def _source(
    user: Visitor, key: str, model: Model, machines: Sequence[Machine]
) -> tuple[LatencySpec, dict[str, LatencySpec]]:
    """What a key stands for, and for which of the machines it is something of their own."""
    if key in LATENCIES:
        return LATENCIES[key], {}
    calibration = calibration_for(user, key)
    own = [machine for machine in machines if calibration.accelerator in known_as(resolve_accelerator(machine))]
    if calibration.model != model.id:
        raise SpecError(
            f"found {calibration.name}, which is of {calibration.model}; expected a calibration of {model.id}"
        )
    if not own:
        raise SpecError(f"found {calibration.name}, which is of {calibration.accelerator}; no machine chosen has it")
    latency = latency_of(calibration)
    return LatencySpec(engine=calibration.fitted().engine), {machine.id: latency for machine in own}


def _drawn_power(user: Visitor, key: str | None, machines: list[Machine]) -> list[Machine]:
    """The machines as they are, or with what a team's power log shows of their accelerator."""
    return machines if key in (None, "", "catalogue") else with_logged_power(user, key, machines)


def _workload_spec(workload: Workload, inputs: Mapping[str, Any]) -> WorkloadSpec:
    """For whoever reads the spec; the study's own requests are those of its workload's row."""
    percent = inputs["growth_percent"]
    trace = None if workload.spec is not None else workload.file_name or workload.name
    return WorkloadSpec(
        trace=trace,
        synthetic=workload.spec,
        growth_per_month=None if percent is None else percent / 100,
        week=week_of(inputs["week_shape"]),
    )


def _slo(inputs: Mapping[str, Any]) -> Slo:
    if inputs["slo_kind"] == "slowdown":
        return SlowdownSlo(reference=inputs["slowdown_reference"], multiplier=inputs["slowdown_multiplier"])
    if inputs["slo_kind"] == "attainment":
        return AttainmentSlo(inputs["attainment_ttft_s"], inputs["attainment_tpot_s"], inputs["attainment_share"])
    limits = [
        Limit(f"{metric}_s", inputs[f"{metric}_percentile"], limit)  # type: ignore[arg-type]
        for metric in LIMITED
        if (limit := inputs[f"{metric}_limit_s"]) is not None
    ]
    if inputs["tbt_limit_x_decode"] is not None:
        limits.append(Limit("tbt_s", inputs["tbt_percentile"], limit_x_decode=inputs["tbt_limit_x_decode"]))
    return AbsoluteSlo(tuple(limits))


def _counts(counts: list[int] | None) -> tuple[int, ...] | None:
    return tuple(counts) if counts else None


def _workload(user: Visitor, workload_id: str) -> Workload:
    found = Workload.objects.visible_to(user).filter(pk=workload_id).first() if str(workload_id).isdecimal() else None
    if found is None:
        raise FieldErrors({"workload": f"Found ‘{workload_id}’, expected one of your team's workloads."})
    return found
