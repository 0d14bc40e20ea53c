"""Inputs become a StudySpec: each field reaches its place, and nothing else is made up."""

import json
from typing import Any

import pytest

from planner.accounts.models import User
from planner.accounts.teams import working_team
from planner.calibrations import services as calibrations
from planner.calibrations.models import Calibration
from planner.catalogue.services import fabric_for, names_of
from planner.power_logs import services as power_logs
from planner.power_logs.models import PowerLog
from planner.scenarios.errors import FieldErrors
from planner.scenarios.forms import QuestionForm, clean_inputs
from planner.studies.spec import Question, compile_question
from planner.workloads.models import Workload
from simcore.catalogue import resolve_accelerator
from simcore.latency.calibrated import parse_calibration
from simcore.measurements import Given, content_of
from simcore.serving_power.report import LoggedRun
from simcore.spec import (
    DEFAULT_PUE,
    AbsoluteSlo,
    AttainmentSlo,
    KvTransferSpec,
    LatencySpec,
    Limit,
    Machine,
    MemorySpec,
    Model,
    SlowdownSlo,
    decode_study,
    encode,
)
from simcore.study import load_trace
from tests.unit.planner.power_logs.logged_run import a_run
from tests.unit.simcore.calibration import known

NEW_FIELDS = ("token_budgets", "tensor_parallels", "counts_tried", "power", "pue")


def machine_id(machine: str | Machine) -> str:
    return machine if isinstance(machine, str) else machine.id


def asked(user: User, inputs: dict[str, Any], **changes: Any) -> Question:
    return compile_question(user, clean_inputs(user, inputs | changes))


def test_machines_and_model_are_copied_in(alice: User, inputs: dict[str, Any]) -> None:
    spec = asked(alice, inputs).spec
    assert isinstance(spec.model, Model)
    machines = [choice.machine for choice in spec.machines]
    assert all(isinstance(machine, Machine) for machine in machines)
    assert [machine.id for machine in machines if isinstance(machine, Machine)] == ["dgx-a100", "dgx-h100"]
    assert not any(isinstance(machine.accelerator, str) for machine in machines if isinstance(machine, Machine))


def test_a_spec_survives_the_database(alice: User, inputs: dict[str, Any]) -> None:
    spec = asked(alice, inputs, tbt_limit_x_decode="5x", queue_limit_s="2 s", slo_kind="absolute").spec
    assert decode_study(json.loads(json.dumps(encode(spec)))) == spec


def test_every_field_reaches_its_place(alice: User, inputs: dict[str, Any]) -> None:
    spec = asked(
        alice,
        inputs,
        power_limit_kw="408 kW",
        power_kind="provisioned",
        usd_per_month="$1,000,000",
        most_machines="40",
        goal="power",
        arrivals="poisson",
        kv_transfer="serialized",
        token_budget="1024",
        max_batch_tokens="4096",
        max_batch_size="64",
        tensor_parallel="8",
        seed="7",
        mixed_counts="5,10",
        prefill_counts="2",
        decode_counts="3",
        pue="1.2",
        failures="2",
        hold_equal="machines",
    ).spec
    limits, options, counts = spec.limits, spec.scheduler_options, spec.counts
    assert (limits.power_limit_kw, limits.power_kind, limits.usd_per_month) == (408.0, "provisioned", 1_000_000.0)
    assert (limits.machines, spec.goal, spec.arrivals, spec.seeds) == (40, "power", "poisson", (7,))
    assert (spec.kv_transfer.mode, spec.latency.source, spec.prices) == ("serialized", "measured", "list")
    assert (options.token_budget, options.max_batch_tokens, options.max_batch_size) == (1024, 4096, 64)
    assert (options.tensor_parallel, counts.mixed, counts.prefill, counts.decode) == (8, (5, 10), (2,), (3,))
    assert spec.families == ("sarathi:dgx-h100", "splitwise:dgx-h100+dgx-a100")
    assert (spec.rate_req_per_s, spec.pue) == (10.0, 1.2)
    assert (spec.failures, spec.hold_equal) == (2, "machines")


def test_nothing_need_be_survived_or_held_equal_unless_it_is_asked(alice: User, inputs: dict[str, Any]) -> None:
    spec = asked(alice, inputs).spec
    assert (spec.failures, spec.hold_equal) == (0, None)
    with pytest.raises(FieldErrors) as refused:
        clean_inputs(alice, inputs | {"failures": "17"})
    assert "from 0 to 16" in refused.value.fields["failures"]


@pytest.mark.parametrize(
    ("shape", "busiest", "quietest"), [("office", 14, 0.02), ("evenings", 20, 0.25), ("even", 0, 1.0)]
)
def test_growth_and_a_week_are_kept_for_the_sections_that_read_them(
    alice: User, inputs: dict[str, Any], shape: str, busiest: int, quietest: float
) -> None:
    before = compile_question(alice, clean_inputs(alice, inputs)).spec.workload
    assert (before.growth_per_month, before.week) == (None, None)
    cleaned = clean_inputs(alice, {**inputs, "growth_percent": "4 %", "week_shape": shape})
    spec = compile_question(alice, cleaned).spec
    workload = decode_study(json.loads(json.dumps(encode(spec)))).workload  # as the database gives it back
    assert workload == spec.workload
    assert workload.growth_per_month == 0.04
    assert workload.week is not None
    monday = workload.week[0]
    assert (monday.index(max(monday)), min(map(min, workload.week))) == (busiest, pytest.approx(quietest))


@pytest.mark.parametrize("typed", ["0.9", "5.1", "high"])
def test_a_pue_is_1_to_5(alice: User, inputs: dict[str, Any], typed: str) -> None:
    with pytest.raises(FieldErrors) as refused:
        asked(alice, inputs, pue=typed)
    assert "from 1 to 5, such as 1.2" in refused.value.fields["pue"]
    assert asked(alice, inputs, pue="").spec.pue == DEFAULT_PUE


def test_every_advanced_field_reaches_its_place(alice: User, inputs: dict[str, Any]) -> None:
    spec = asked(
        alice,
        inputs | {"latency": "roofline"},
        pipeline_parallel="2",
        decode_tensor_parallel="4",
        decode_pipeline_parallel="1",
        kv_bandwidth_gb_per_s="25",
        kv_setup_s="1 ms",
        kv_contention="no",
        weight_precision="fp8",
        kv_precision="fp8",
        memory_usable="85 %",
        reservation="max_length",
        block_tokens="32",
        watermark="0.02",
        max_model_tokens="16384",
        racks="4",
        pue="1.2",
        replications="3",
        seed="5",
        on_hand={"dgx-h100": 12},
        latency_by_machine={"dgx-a100": "roofline-2023"},
    ).spec
    options, memory, transfer = spec.scheduler_options, spec.memory, spec.kv_transfer
    assert (options.pipeline_parallel, options.decode_tensor_parallel, options.decode_pipeline_parallel) == (2, 4, 1)
    assert transfer == KvTransferSpec("layerwise", bandwidth_bytes_per_s=25e9, contention=False, setup_s=0.001)
    assert memory == MemorySpec(0.85, "max_length", 32, 0.02, max_model_tokens=16384)
    assert (spec.limits.racks, spec.pue, spec.seeds) == (4, 1.2, (5, 6, 7))
    assert {machine_id(one.machine): one.on_hand for one in spec.machines} == {"dgx-a100": None, "dgx-h100": 12}
    assert [one.latency for one in spec.machines] == [LatencySpec(engine="vllm-2023"), None]
    assert isinstance(spec.model, Model)
    assert (spec.model.weight_precision, spec.model.kv_precision) == ("fp8", "fp8")


def test_a_fabric_is_the_machines_network(alice: User, inputs: dict[str, Any]) -> None:
    fabric = fabric_for(alice, names_of(alice, "fabrics")[0][0])
    spec = asked(alice, inputs, fabric=fabric.id).spec
    speeds = {one.machine.nic_bytes_per_s for one in spec.machines if isinstance(one.machine, Machine)}
    assert speeds == {fabric.achieved_bytes_per_s()}
    assert spec.kv_transfer is not None
    assert spec.kv_transfer.setup_s == fabric.setup_s


def test_several_token_budgets_and_every_count(alice: User, inputs: dict[str, Any]) -> None:
    spec = asked(alice, inputs, token_budgets="128, 512", counts_tried="every").spec
    assert spec.scheduler_options.token_budgets == (128, 512)
    assert spec.counts.every
    assert not asked(alice, inputs).spec.counts.every
    with pytest.raises(FieldErrors, match="only one of the two"):
        asked(alice, inputs, token_budgets="128", token_budget="512")


def test_a_revision_from_before_there_were_several_budgets_is_asked_as_it_was(
    alice: User, inputs: dict[str, Any]
) -> None:
    old = {name: value for name, value in clean_inputs(alice, inputs).items() if name not in NEW_FIELDS}
    assert compile_question(alice, old).spec == asked(alice, inputs).spec


@pytest.mark.parametrize(("typed", "chunked"), [("layerwise", False), ("serialized", False), ("chunkwise", True)])
def test_kv_sent_chunk_by_chunk_has_prompts_chunked(
    alice: User, inputs: dict[str, Any], typed: str, chunked: bool
) -> None:
    spec = asked(alice, inputs, kv_transfer=typed).spec
    assert spec.kv_transfer is not None
    assert (spec.kv_transfer.mode, spec.scheduler_options.chunked) == (typed, chunked)


@pytest.mark.parametrize(
    ("typed", "source"),
    [
        ("roofline", ("roofline", "vllm-2026")),
        ("roofline-2023", ("roofline", "vllm-2023")),
        ("roofline-kernel", ("roofline", "kernel")),
        ("measured", ("measured", "vllm-2026")),
    ],
)
def test_latency_sources(alice: User, inputs: dict[str, Any], typed: str, source: tuple[str, str]) -> None:
    latency = asked(alice, inputs, latency=typed).spec.latency
    assert (latency.source, latency.engine) == source


def test_slowdown_limits(alice: User, inputs: dict[str, Any]) -> None:
    slo = asked(alice, inputs, slowdown_multiplier="2x", slowdown_reference="dgx-h100").spec.slo
    assert slo == SlowdownSlo(reference="dgx-h100", multiplier=2.0)


def test_limits_in_seconds(alice: User, inputs: dict[str, Any]) -> None:
    slo = asked(alice, inputs, slo_kind="absolute", tbt_limit_x_decode="5", queue_limit_s="2").spec.slo
    assert slo == AbsoluteSlo((Limit("queue_s", 50, 2.0), Limit("tbt_s", 99, limit_x_decode=5.0)))


def test_attainment(alice: User, inputs: dict[str, Any]) -> None:
    typed = {"slo_kind": "attainment", "attainment_ttft_s": "450 ms", "attainment_tpot_s": "40ms"}
    assert asked(alice, inputs, **typed, attainment_share="95 %").spec.slo == AttainmentSlo(0.45, 0.04, 0.95)


def test_the_requests_are_those_of_the_workload(alice: User, inputs: dict[str, Any], workload: Workload) -> None:
    question = asked(alice, inputs)
    assert question.workload == workload
    assert question.trace_hash == workload.trace().content_hash() == load_trace(question.spec).content_hash()


def test_a_revision_whose_workload_is_gone_says_so(alice: User, charlie: User, revision: Any) -> None:
    assert compile_question(alice, revision.inputs, revision.rows).spec.rate_req_per_s == 10.0
    with pytest.raises(FieldErrors, match=r"workload: Found ‘.*’, expected one of your team's workloads"):
        compile_question(charlie, revision.inputs, revision.rows)


@pytest.fixture
def calibrated(alice: User) -> str:
    """The key of a calibration of Llama-3.1-8B on H100."""
    text = known.serving(known.SLOWER, (1, 8))
    texts = [content_of("bench.json", text.encode())]
    fitted = calibrations.fit(texts, Given(), model=known.MODEL, machine=known.MACHINE)
    team = working_team(alice)
    assert team is not None
    return f"{calibrations.PREFIX}{calibrations.save(team, alice, 'mine', fitted).pk}"


def test_a_calibration_is_of_its_accelerator_and_copied_in(
    alice: User, inputs: dict[str, Any], calibrated: str
) -> None:
    spec = asked(alice, inputs, model="llama-3.1-8b", latency=calibrated).spec
    assert (spec.latency.source, spec.latency.engine) == ("roofline", "vllm-2026")
    own = {machine_id(choice.machine): choice.latency for choice in spec.machines}
    assert own["dgx-a100"] is None
    assert own["dgx-h100"] is not None
    assert own["dgx-h100"].calibration is not None
    assert parse_calibration(own["dgx-h100"].calibration.encode()).residuals == ()
    assert decode_study(json.loads(json.dumps(encode(spec)))) == spec


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "llama-3.1-70b"}, "mine, which is of llama-3.1-8b; expected a calibration of llama-3.1-70b"),
        ({"machines": ["dgx-a100"], "families": []}, "which is of h100-80gb; no machine chosen has it"),
    ],
)
def test_a_calibration_of_something_else_is_refused(
    alice: User, inputs: dict[str, Any], calibrated: str, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(FieldErrors) as refused:
        asked(alice, inputs | {"model": "llama-3.1-8b"}, latency=calibrated, **changes)
    assert message in refused.value.fields["latency"]


def test_a_deleted_calibration_is_asked_for_again(alice: User, inputs: dict[str, Any], calibrated: str) -> None:
    cleaned = clean_inputs(alice, inputs | {"model": "llama-3.1-8b", "latency": calibrated})
    Calibration.objects.visible_to(alice).delete()
    with pytest.raises(FieldErrors) as refused:
        compile_question(alice, cleaned)
    assert "expected one of your team's calibrations" in refused.value.fields["latency"]


@pytest.fixture
def logged(alice: User) -> str:
    """The key of a power log of an H100."""
    run = LoggedRun(known.MODEL, known.MACHINE, 1, 128.0, 1000, 200, LatencySpec())
    done = power_logs.read(
        [content_of("power.csv", a_run().encode())], power_logs.Asked(None, None, 3.0, None, None), known.MACHINE, run
    )
    team = working_team(alice)
    assert team is not None
    return f"{power_logs.PREFIX}{power_logs.save(team, alice, 'mine', done).pk}"


def test_logged_power_is_of_its_accelerator_and_copied_in(alice: User, inputs: dict[str, Any], logged: str) -> None:
    plain, spec = asked(alice, inputs).spec, asked(alice, inputs, power=logged).spec
    before, after = ({machine_id(c.machine): c.machine for c in of.machines} for of in (plain, spec))
    assert after["dgx-a100"] == before["dgx-a100"]
    assert (resolve_accelerator(before["dgx-h100"]).idle_w, resolve_accelerator(after["dgx-h100"]).idle_w) == (75, 70)
    PowerLog.objects.visible_to(alice).delete()
    assert decode_study(json.loads(json.dumps(encode(spec)))) == spec


def test_a_deleted_power_log_is_asked_for_again(alice: User, inputs: dict[str, Any], logged: str) -> None:
    cleaned = clean_inputs(alice, inputs | {"power": logged})
    PowerLog.objects.visible_to(alice).delete()
    with pytest.raises(FieldErrors) as refused:
        compile_question(alice, cleaned)
    assert "expected one of your team's power logs: it may have been deleted" in refused.value.fields["power"]


@pytest.mark.parametrize(("field", "words"), [("latency", "a calibration that"), ("power", "a power log that")])
def test_a_deleted_row_stays_chosen_and_is_refused_until_another_is(
    alice: User, inputs: dict[str, Any], calibrated: str, logged: str, field: str, words: str
) -> None:
    key = calibrated if field == "latency" else logged
    saved = clean_inputs(alice, inputs | {"model": "llama-3.1-8b", field: key})
    Calibration.objects.visible_to(alice).delete()
    PowerLog.objects.visible_to(alice).delete()
    shown = str(QuestionForm(alice, initial=saved)[field])
    assert f'value="{key}" selected' in shown
    assert f"{words} was deleted, or is another team&#x27;s" in shown
    with pytest.raises(FieldErrors) as refused:
        clean_inputs(alice, saved)
    assert (
        refused.value.fields[field] == f"Found {words} was deleted, or is another team's; expected one that there is."
    )
    assert clean_inputs(alice, saved | {field: ""})[field] in ("roofline", "catalogue")
