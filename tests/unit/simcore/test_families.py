"""Scheduler options of a study: which families they reach."""

from itertools import product

import pytest

from simcore.families import Line, lines
from simcore.spec import Case, SpecError, StudySpec, decode_study, encode
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


def llama(families: list[str], machines: tuple[str, ...] = ("dgx-h100",), **options: object) -> StudySpec:
    """Llama-2-70B on the roofline, which runs at any degree from 2 on."""
    return decode_study(
        {
            "model": "llama2-70b",
            "workload": {"trace": "t.csv"},
            "rate_req_per_s": 1,
            "machines": [{"machine": machine} for machine in machines],
            "families": families,
            "scheduler_options": {"token_budget": 512, **options},
        }
    )


def degrees(found: list[Line]) -> list[tuple[int, ...]]:
    return [tuple(pool.tensor_parallel for pool in line.pools) for line in found]


def test_every_listed_degree_is_a_line_and_one_that_cannot_run_is_told_with_the_reason() -> None:
    found = lines(llama(["sarathi:dgx-h100"], tensor_parallels=[1, 8, 2, 4, 3, 4]))
    assert degrees([line for line in found if not line.reason]) == [(8,), (4,), (2,)]
    reasons = {line.pools[0].tensor_parallel: line.reason for line in found if line.reason}
    assert list(reasons) == [1, 3]
    assert "llama2-70b does not fit dgx-h100 at tensor_parallel 1" in reasons[1]
    assert reasons[3] == "tensor_parallel: found 3, expected a divisor of llama2-70b's 64 heads"
    assert degrees(lines(llama(["sarathi:dgx-h100"]))) == [(8,), (2,)], "without a list: the most and the fewest"


def test_a_listed_degree_is_the_same_design_as_that_degree_alone() -> None:
    several = lines(llama(["sarathi:dgx-h100"], tensor_parallels=[2, 4]))
    alone = [lines(llama(["sarathi:dgx-h100"], tensor_parallel=size))[0] for size in (4, 2)]
    ids = [[line.design((3,)).design_id for line in found] for found in (several, alone)]
    assert ids[0] == ids[1]


def test_each_listed_degree_is_tried_with_each_budget() -> None:
    spec = llama(["sarathi:dgx-h100"], token_budget=None, token_budgets=[256, 512], tensor_parallels=[1, 4, 8])
    found = [(line.scheduler.token_budget, *degrees([line])[0]) for line in lines(spec) if not line.reason]
    assert found == [(256, 8), (256, 4), (512, 8), (512, 4)]
    assert len([line for line in lines(spec) if line.reason]) == 1


def test_split_pools_try_each_degree_of_prefill_with_each_of_decode() -> None:
    split = ["splitwise:dgx-h100+dgx-a100"]
    found = lines(llama(split, ("dgx-h100", "dgx-a100"), tensor_parallels=[1, 2, 4, 8]))
    able = degrees([line for line in found if not line.reason])
    assert able == list(product((8, 4, 2), repeat=2))
    told = [(degrees([line])[0], line.reason) for line in found if line.reason]
    assert [pair for pair, _ in told] == [(1, 8), (8, 1)]
    assert ["dgx-h100 at" in told[0][1], "dgx-a100 at" in told[1][1]] == [True, True]


def test_decode_keeps_the_degree_that_is_given_for_it() -> None:
    split = ["splitwise:dgx-h100+dgx-h100"]
    assert degrees(lines(llama(split, tensor_parallels=[4, 8], decode_tensor_parallel=2))) == [(8, 2), (4, 2)]
    cannot = lines(llama(split, tensor_parallels=[4, 8], decode_tensor_parallel=1))
    assert degrees(cannot) == [(8, 1)]
    assert "does not fit dgx-h100 at tensor_parallel 1" in cannot[0].reason


def test_where_no_listed_degree_runs_each_is_told() -> None:
    found = lines(llama(["sarathi:dgx-h100"], tensor_parallels=[1, 3]))
    assert degrees(found) == [(1,), (3,)]
    assert all(line.reason for line in found)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tensor_parallel": 8, "tensor_parallels": [2, 4]}, "tensor_parallels: found with tensor_parallel, expected"),
        ({"tensor_parallels": [2, 0]}, r"tensor_parallels\[1\]: found 0, expected at least 1"),
        ({"tensor_parallels": 4}, "tensor_parallels: found "),
    ],
)
def test_a_list_that_cannot_be_tried_is_refused_by_name(options: dict[str, object], words: str) -> None:
    with pytest.raises(SpecError, match=rf"scheduler_options\.{words}"):
        llama(["sarathi:dgx-h100"], **options)
