"""What is revived is what was encoded: the same objects as by decoding, without its checks."""

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from simcore.catalogue import machine_ids, model_ids, price_book
from simcore.evaluation import Design, Evaluation, PhaseResult, PoolResult, RateRun
from simcore.spec import Case, PriceBook, StudySpec, decode_case, encode
from simcore.spec.revive import revive
from simcore.study import next_designs
from tests.unit.simcore.questions import asked, evaluation, question


def back(value: Any) -> Any:
    return revive(type(value), json.loads(json.dumps(encode(value))))


def test_designs_of_every_machine_and_model_come_back() -> None:
    for machine in machine_ids():
        families = [f"{kind}:{machine}" for kind in ("sarathi", "orca")] + [f"splitwise:{machine}+{machine}"]
        context = asked(machines=[{"machine": machine}], families=families, latency={}, model=model_ids()[3])
        for design in next_designs(context, {}):
            assert back(design) == design


@pytest.mark.parametrize(
    "slo",
    [
        {"kind": "slowdown", "reference": "dgx-h100"},
        {"kind": "absolute", "limits": [{"metric": "tbt_s", "percentile": 99, "limit_x_decode": 5}]},
        {"kind": "attainment", "ttft_s": 1.0, "tpot_s": 0.05},
    ],
)
def test_every_kind_of_slo_comes_back(slo: dict[str, Any]) -> None:
    pools = [{"role": "mixed", "machine": "dgx-h100", "latency": {"source": "measured"}}]
    case = decode_case({"model": "llama2-70b", "pools": pools, "scheduler": {"kind": "vllm"}, "slo": slo})
    assert revive(Case, encode(case)) == case
    assert back(question(slo=slo, scheduler_options={"token_budget": "auto"})) == question(
        slo=slo, scheduler_options={"token_budget": "auto"}
    )


def test_evaluations_come_back_with_their_pools_and_phases() -> None:
    (design, *_) = next_designs(asked(), {})
    shares = dict.fromkeys(("busy", "prefill", "decode", "hybrid", "idle", "blocked", "mfu", "mbu"), 1 / 3)
    pool = PoolResult(
        "mixed", "dgx-h100", 2, 4, **shares, kv_peak_share=0.1, nic_busy=0.0, bubbles=({"prefill": 0.1},),
        phases=(PhaseResult("decode", 0.1, 0.2, 0.3),),
    )  # fmt: skip
    found = evaluation(design, 70.123456789012345)
    assert found.at_required is not None
    run = RateRun(found.at_required, "", 10_000)
    whole = Evaluation(
        **{**vars(found), "at_capacity": type(found.at_required)(**{**vars(found.at_required), "pools": (pool,)})}
    )
    for value in (found, run, whole, RateRun(None, "no"), Evaluation("x", "infeasible", "too large")):
        assert back(value) == value
    assert isinstance(back(design), Design)


def test_money_comes_back_exactly() -> None:
    book = price_book("list")
    again = back(book)
    assert isinstance(again, PriceBook)
    assert again == book


def test_a_key_that_is_missing_takes_its_default_and_an_unknown_one_is_refused() -> None:
    @dataclass(frozen=True)
    class Small:
        first: int
        price: Decimal | None = None

    assert revive(Small, {"first": 1}) == Small(1)
    assert revive(Small, {"first": 1, "price": "0.10"}) == Small(1, Decimal("0.10"))
    with pytest.raises(TypeError):
        revive(Small, {"first": 1, "second": 2})
    with pytest.raises(TypeError):
        revive(Small, {})


def test_a_whole_study_comes_back() -> None:
    spec = question(seeds=[1, 2], counts={"mixed": [1, 2]})
    assert back(spec) == spec
    assert isinstance(back(spec), StudySpec)
