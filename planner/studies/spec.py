"""A revision's inputs as a StudySpec: the only translation. Everything the study rests on is copied in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.accounts.owned import Visitor
from planner.calibrations.services import calibration_for, latency_of
from planner.catalogue.kept import NOTHING, Kept, machines_of, model_of, prices_of
from planner.power_logs.services import with_logged_power
from planner.scenarios.errors import FieldErrors, at_field
from planner.scenarios.forms import LIMITED
from planner.scenarios.models import Revision
from planner.workloads.models import Workload
from simcore.catalogue import resolve_accelerator
from simcore.spec import (
    DEFAULT_PUE,
    AbsoluteSlo,
    AttainmentSlo,
    CountGrid,
    KvTransferSpec,
    LatencySpec,
    Limit,
    Machine,
    MachineChoice,
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
    "roofline-2023": LatencySpec(engine="vllm-2023"),
    "roofline-kernel": LatencySpec(engine="kernel"),
    "measured": LatencySpec(source="measured"),
}
SCHEDULER_OPTIONS = ("token_budget", "max_batch_tokens", "max_batch_size", "tensor_parallel")


@dataclass(frozen=True)
class Question:
    """What a study needs: the spec, the prices applied afterwards, and the requests."""

    spec: StudySpec
    prices: PriceBook
    workload: Workload
    trace_hash: str


def study_spec(revision: Revision, user: Visitor) -> StudySpec:
    """The revision's StudySpec with the rows that it keeps; FieldErrors where something does not fit."""
    return compile_question(user, revision.inputs, revision.rows).spec


def compile_question(user: Visitor, inputs: Mapping[str, Any], kept: Kept = NOTHING) -> Question:
    """The question that cleaned inputs ask (see scenarios.forms), of rows as they were where they are kept and of
    today's catalogue elsewhere; FieldErrors says what cannot be asked."""
    workload = _workload(user, inputs["workload"])
    with at_field("price_book"):
        prices = prices_of(user, inputs["price_book"], inputs["machines"], kept)
    return Question(_spec(user, inputs, workload, kept), prices, workload, workload.content_hash)


def _spec(user: Visitor, inputs: Mapping[str, Any], workload: Workload, kept: Kept) -> StudySpec:
    with at_field("model"):
        model = model_of(user, inputs["model"], kept)
    with at_field("machines"):
        found = machines_of(user, inputs["machines"], kept)
    with at_field("power"):
        found = _drawn_power(user, inputs.get("power"), found)
    with at_field("latency"):
        latency, machines = _iteration_times(user, inputs["latency"], model, found)
    with at_field("slo_kind"):
        slo = _slo(inputs)
    with at_field("__all__"):
        return StudySpec(
            model=model,
            workload=_workload_spec(workload),
            rate_req_per_s=inputs["rate_req_per_s"],
            machines=machines,
            families=tuple(inputs["families"]),
            scheduler_options=SchedulerOptions(
                **{name: inputs[name] for name in SCHEDULER_OPTIONS},
                token_budgets=tuple(inputs.get("token_budgets") or ()),
                chunked=inputs["kv_transfer"] == "chunkwise",
            ),
            slo=slo,
            prices=inputs["price_book"],
            limits=StudyLimits(
                usd_per_month=inputs["usd_per_month"],
                power_limit_kw=inputs["power_limit_kw"],
                power_kind=inputs["power_kind"],
                machines=inputs["most_machines"],
            ),
            goal=inputs["goal"],
            latency=latency,
            pue=inputs.get("pue") or DEFAULT_PUE,
            kv_transfer=KvTransferSpec(mode=inputs["kv_transfer"]),
            arrivals=inputs["arrivals"],
            seeds=(inputs["seed"],),
            counts=CountGrid(
                mixed=_counts(inputs["mixed_counts"]),
                prefill=_counts(inputs["prefill_counts"]),
                decode=_counts(inputs["decode_counts"]),
                every=inputs.get("counts_tried") == "every",
            ),
        )


def _iteration_times(
    user: Visitor, key: str, model: Model, machines: Sequence[Machine]
) -> tuple[LatencySpec, tuple[MachineChoice, ...]]:
    """The latency source, and the machines: those that a calibration is of have it, others the roofline it began
    from."""
    if key in LATENCIES:
        return LATENCIES[key], tuple(MachineChoice(machine) for machine in machines)
    calibration = calibration_for(user, key)
    own = [machine for machine in machines if resolve_accelerator(machine).id == calibration.accelerator]
    if calibration.model != model.id:
        raise SpecError(
            f"found {calibration.name}, which is of {calibration.model}; expected a calibration of {model.id}"
        )
    if not own:
        raise SpecError(f"found {calibration.name}, which is of {calibration.accelerator}; no machine chosen has it")
    latency = latency_of(calibration)
    choices = tuple(MachineChoice(machine, latency=latency if machine in own else None) for machine in machines)
    return LatencySpec(engine=calibration.fitted().engine), choices


def _drawn_power(user: Visitor, key: str | None, machines: list[Machine]) -> list[Machine]:
    """The machines as they are, or with what a team's power log shows of their accelerator."""
    return machines if key in (None, "", "catalogue") else with_logged_power(user, key, machines)


def _workload_spec(workload: Workload) -> WorkloadSpec:
    """For whoever reads the spec; the study's own requests are those of its workload's row."""
    if workload.spec is not None:
        return WorkloadSpec(synthetic=workload.spec)
    return WorkloadSpec(trace=workload.file_name or workload.name)


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
