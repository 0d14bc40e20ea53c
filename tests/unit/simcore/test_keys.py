"""An evaluation's keys: every figure that can change a result is in them, nothing else is."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simcore.catalogue import machine, model, resolve_accelerator
from simcore.evaluate import evaluate
from simcore.evaluation import Design
from simcore.keys import LABELS, RATINGS, capacity_key, rate_key
from simcore.spec import Case, LatencySpec, SlowdownSlo, SpecError, decode_case, encode
from simcore.study import next_designs
from tests.unit.simcore.questions import asked

UNSEEN = LABELS | RATINGS | {"prices", "pue"}
Path_ = tuple[Any, ...]


def inline(name: str) -> Any:
    """The machine with its accelerator's figures, every one of them given."""
    plain = machine(name)
    power = {"power_base": 0.2, "power_by_mbu": 0.7, "power_by_mfu": 1.4}
    accelerator = replace(resolve_accelerator(plain), fp8_flops_per_s=2e15, fp4_flops_per_s=4e15, **power)
    return replace(plain, accelerator=accelerator, provisioned_w=9e3, power_cap_w=500.0, machines_per_rack=4)


def split_case(**changes: Any) -> Case:
    pools = [
        {"role": role, "machine": encode(inline(name)), "machines": 2, "tensor_parallel": 8}
        for role, name in (("prefill", "dgx-h100"), ("decode", "dgx-a100"))
    ]
    plain = {
        "model": encode(model("gpt-oss-120b")),
        "pools": pools,
        "scheduler": {"kind": "splitwise", "max_batch_tokens": 2048, "max_batch_size": 256},
        "kv_transfer": {"bandwidth_bytes_per_s": 5e10, "block_tokens": 16, "setup_s": 1e-4, "retry_s": 1.0},
        "memory": {"watermark": 0.01, "kv_tokens": 500_000, "kv_bytes_per_token": 1e5, "max_model_tokens": 8000},
        "latency": {"source": "roofline"},
        "slo": {"kind": "absolute", "limits": [{"metric": "ttft_s", "percentile": 90, "limit": 2.0}]},
    }
    return decode_case({**plain, **changes})


def key(case: Case, trace: str = "t", seed: int = 0, engine: str = "e") -> str:
    return capacity_key(case, trace, seed, engine)


def leaves(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for name, item in items:
            yield from leaves(item, (*path, name))
    elif value is not None:
        yield path, value


def changed(value: Any, path: Path_, leaf: Any) -> Any:
    """The JSON with one leaf another value of its type."""
    copy = json.loads(json.dumps(value))
    place = copy
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = not leaf if isinstance(leaf, bool) else f"{leaf}x" if isinstance(leaf, str) else leaf * 2 or 1
    return copy


def test_each_figure_of_a_case_counts_and_labels_prices_and_ratings_do_not() -> None:
    plain = encode(split_case())
    tried = []
    for path, leaf in leaves(plain):
        try:
            case = decode_case(changed(plain, path, leaf))
        except SpecError:  # a choice that has no such value
            continue
        assert (key(case) == key(split_case())) == (path[-1] in UNSEEN), path
        assert (rate_key(case, "t", 2.0, "e") == rate_key(split_case(), "t", 2.0, "e")) == (path[-1] in UNSEEN), path
        tried.append(path)
    assert len(tried) > 90


@pytest.mark.parametrize("change", ["sarathi", "vllm"])
def test_a_choice_counts(change: str) -> None:
    pools = [{"role": "mixed", "machine": "dgx-h100", "machines": 2, "tensor_parallel": 8}]
    one = split_case(pools=pools, scheduler={"kind": change}, kv_transfer={})
    assert key(one) != key(split_case(pools=pools, scheduler={"kind": "orca"}, kv_transfer={}))
    assert key(one) != key(replace(one, arrivals="poisson"))
    assert key(one) != key(replace(one, router="random"))


def test_requests_seeds_rate_and_engine_count() -> None:
    case = split_case()
    assert len({key(case), key(case, trace="u"), key(case, seed=1), key(case, seed=2), key(case, engine="f")}) == 5
    rates = {rate_key(case, "t", rate, engine) for rate in (2, 2.0, 3.0) for engine in ("e", "f")}
    assert len(rates) == 4
    assert key(case) not in rates


def test_a_row_that_was_edited_under_its_id_is_another() -> None:
    """By id and inline the shipped row is the same; with one figure edited it is not."""
    by_id = split_case(
        pools=[{"role": "mixed", "machine": "dgx-h100", "tensor_parallel": 8}], scheduler={"kind": "vllm"}
    )
    shipped = machine("dgx-h100")

    def on(row: Any) -> Case:
        return replace(by_id, pools=(replace(by_id.pools[0], machine=row),))

    assert key(on(shipped)) == key(by_id)
    assert key(on(replace(shipped, accelerator=resolve_accelerator(shipped)))) == key(by_id)
    assert key(on(replace(shipped, nic_bytes_per_s=1e9))) != key(by_id)
    hotter = replace(resolve_accelerator(shipped), idle_w=1.0)
    assert key(on(replace(shipped, accelerator=hotter))) != key(by_id)
    assert key(on(replace(shipped, name="Ours", nameplate_w=1.0))) == key(by_id)


def test_the_reference_of_a_slowdown_counts_by_its_figures() -> None:
    keys = {key(replace(split_case(), slo=SlowdownSlo(reference=name))) for name in ("dgx-a100", "dgx-h100")}
    assert len(keys) == 2


def test_measured_times_count_by_their_content(tmp_path: Path) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("1")
    second.write_text("1")

    def read(path: Path) -> str:
        return key(replace(split_case(), latency=LatencySpec(source="measured", path=str(path))))

    before = read(first)
    assert read(second) == before
    first.write_text("2")
    assert read(first) != before
    with pytest.raises(SpecError, match=r"latency.path: '.*nowhere.csv' cannot be read"):
        read(tmp_path / "nowhere.csv")


def test_what_is_left_out_of_the_key_changes_no_result() -> None:
    context = asked(rate_req_per_s=3, counts={"mixed": [1], "prefill": [1], "decode": [1]})
    for design in next_designs(context, {}):
        other = replace(design, case=relabelled(design.case))
        assert key(other.case) == key(design.case)
        assert evaluate(other, context) == evaluate(design, context)


def relabelled(case: Case) -> Case:
    pools = []
    for pool in case.pools:
        row = pool.machine
        assert not isinstance(row, str)
        ratings = {"nameplate_w": 1.0, "provisioned_w": 1.0, "machines_per_rack": 1}
        accelerator = replace(resolve_accelerator(row), name="X", vendor="Y")
        pools.append(replace(pool, machine=replace(row, name="Z", accelerator=accelerator, **ratings)))
    assert not isinstance(case.model, str)
    return replace(case, pools=tuple(pools), model=replace(case.model, name="M"), prices="ours", pue=1.1)


def test_evaluations_under_one_key_are_equal_but_for_whose_design_it_is() -> None:
    context = asked(rate_req_per_s=3, counts={"mixed": [1]}, families=["sarathi:dgx-h100"])
    (design,) = next_designs(context, {})
    other = Design("another", "another label", design.family, design.case)
    assert replace(evaluate(other, context), design_id=design.design_id) == evaluate(design, context)
