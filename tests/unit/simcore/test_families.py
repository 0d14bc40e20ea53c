"""Scheduler options of a study: which families they reach."""

import pytest

from simcore.families import lines
from simcore.spec import Case, SpecError, decode_study, encode
from tests.unit.simcore.questions import question


def case_of(family: str, **changes: object) -> tuple[Case, str]:
    line = next(line for line in lines(question(**changes)) if line.family == family)
    design = line.design((2,) * len(line.pools))
    return design.case, design.label


@pytest.mark.parametrize(
    ("given", "mode"), [({}, "chunkwise"), ({"kv_transfer": {"mode": "serialized"}}, "serialized")]
)
def test_chunked_reaches_the_splitwise_families_and_kv_goes_chunk_by_chunk(given: dict[str, object], mode: str) -> None:
    options = {"chunked": True, "token_budget": 1024, "tensor_parallel": 8}
    case, label = case_of("splitwise:dgx-h100+dgx-a100", scheduler_options=options, **given)
    assert (case.scheduler.chunked, case.scheduler.token_budget, case.kv_transfer.mode) == (True, 1024, mode)
    assert label == "2 DGX H100 prefill + 2 DGX A100 decode, chunked, 1024-token budget"


def test_co_located_families_are_the_same_designs_with_and_without() -> None:
    chunked = {"chunked": True, "token_budget": 512}
    assert case_of("sarathi:dgx-h100", scheduler_options=chunked) == case_of("sarathi:dgx-h100")
    given = {"scheduler_options": chunked, "kv_transfer": {"mode": "chunkwise"}}
    assert case_of("sarathi:dgx-h100", **given) == case_of("sarathi:dgx-h100")


def test_splitwise_takes_whole_prompts_and_sends_layer_by_layer_unless_asked() -> None:
    case, label = case_of("splitwise:dgx-h100+dgx-a100")
    assert (case.scheduler.chunked, case.scheduler.token_budget, case.kv_transfer.mode) == (False, None, "layerwise")
    assert label == "2 DGX H100 prefill + 2 DGX A100 decode"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"scheduler_options": {"chunked": True}, "kv_transfer": {"mode": "layerwise"}}, "found 'layerwise' with"),
        ({"kv_transfer": {"mode": "chunkwise"}}, "found 'chunkwise' without scheduler_options.chunked"),
    ],
)
def test_a_transfer_that_the_options_rule_out_is_refused_by_name(given: dict[str, object], words: str) -> None:
    with pytest.raises(SpecError, match=f"kv_transfer.mode: {words}"):
        question(**given)


@pytest.mark.parametrize(
    ("kind", "label", "budget"),
    [
        ("vllm_v1", "vLLM V1, 2025 on 2 DGX H100, 512-token budget", 512),
        ("orca", "Orca on 2 DGX H100", None),
        ("request_level", "FasterTransformer on 2 DGX H100", None),
    ],
)
def test_every_scheduler_is_a_family_with_a_name(kind: str, label: str, budget: int | None) -> None:
    family = f"{kind}:dgx-h100"
    case, said = case_of(family, families=[family])
    assert (case.scheduler.kind, case.scheduler.token_budget, said) == (kind, budget, label)


def test_budgets_are_tried_where_none_is_given() -> None:
    spec = question(families=["sarathi:dgx-h100", "vllm_v1:dgx-h100"], scheduler_options={"tensor_parallel": 8})
    found = [(line.scheduler.kind, line.scheduler.token_budget) for line in lines(spec)]
    assert found == [("sarathi", 512), ("sarathi", 2048), ("vllm_v1", 2048)]


def test_a_budget_may_be_left_to_the_objective() -> None:
    case, label = case_of("sarathi:dgx-h100", scheduler_options={"token_budget": "auto", "tensor_parallel": 8})
    assert case.scheduler.token_budget == "auto"
    assert label == "Sarathi on 2 DGX H100, auto budget"
    with pytest.raises(SpecError, match=r"slo\.limits: found limits on ttft_s only"):
        question(
            scheduler_options={"token_budget": "auto"},
            slo={"kind": "absolute", "limits": [{"metric": "ttft_s", "percentile": 99, "limit": 1}]},
        )


def test_decode_machines_may_be_run_in_another_parallelism() -> None:
    options = {"tensor_parallel": 4, "pipeline_parallel": 2, "decode_tensor_parallel": 2, "decode_pipeline_parallel": 4}
    case, label = case_of("splitwise:dgx-h100+dgx-a100", scheduler_options=options)
    assert [(pool.tensor_parallel, pool.pipeline_parallel) for pool in case.pools] == [(4, 2), (2, 4)]
    assert label == "2 DGX H100 prefill + 2 DGX A100 decode, TP4 PP2 + TP2 PP4"
    mixed, label = case_of("sarathi:dgx-h100", scheduler_options=options)
    assert [(pool.tensor_parallel, pool.pipeline_parallel) for pool in mixed.pools] == [(4, 2)]
    assert label.endswith(", TP4 PP2")


def test_the_same_parallelism_is_named_once_and_that_of_whole_machines_not_at_all() -> None:
    alike = {"tensor_parallel": 4, "pipeline_parallel": 2}
    assert case_of("splitwise:dgx-h100+dgx-a100", scheduler_options=alike)[1].endswith(" decode, TP4 PP2")
    assert "TP" not in case_of("sarathi:dgx-h100", scheduler_options={"tensor_parallel": 8})[1]


def test_with_stages_the_largest_replica_within_one_machine_is_tried_too():
    """Two stages of 8 span two machines; two of 4 are one machine."""
    spec = decode_study(
        {
            "model": "mixtral-8x7b",
            "workload": {"trace": "t.csv"},
            "rate_req_per_s": 1,
            "machines": [{"machine": "dgx-a100"}],
            "families": ["sarathi:dgx-a100"],
            "scheduler_options": {"pipeline_parallel": 2, "token_budget": 512},
        }
    )
    assert [line.pools[0].tensor_parallel for line in lines(spec)] == [8, 4, 1]
    alone = decode_study({**encode(spec), "scheduler_options": {"token_budget": 512}})
    assert [line.pools[0].tensor_parallel for line in lines(alone)] == [8, 2], "one stage: as before"
