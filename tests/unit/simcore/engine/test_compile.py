"""``compile_case``: every default of CONTRACT.md, and what is refused by name."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simcore.engine.compile import compile_case
from simcore.engine.inputs import ClusterInputs
from simcore.engine.oracle.cluster import run
from simcore.engine.outputs import FINISHED
from simcore.fleet import replica_count
from simcore.spec import PoolSpec, SpecError, decode_case
from simcore.traces import Trace

TRACE = Trace.of("two", [0, 5], [100, 3000], [10, 20])
CURVE = {"source": "curve", "tokens": [1], "prefill_s": [1.0], "decode_s": [0.5]}


def compiled(kind: str = "sarathi", pools: list[dict[str, Any]] | None = None, **changes: Any) -> ClusterInputs:
    plain = {
        "model": "llama2-70b",
        "pools": pools or [{"role": "mixed", "machine": "dgx-h100", "tensor_parallel": 8}],
        "scheduler": {"kind": kind},
        "latency": CURVE,
    }
    return compile_case(decode_case({**plain, **changes}), TRACE)


@pytest.mark.parametrize(
    ("kind", "tokens", "size", "reservation", "watermark", "arrivals"),
    [
        ("sarathi", 2048, 128, "on_demand", 0.01, "together"),
        ("vllm", 3000, 256, "on_demand", 0.01, "together"),
        ("vllm_v1", 2048, 256, "on_demand", 0.0, "together"),
        ("orca", 2048, 16, "full_output", 0.0, "together"),
        ("request_level", 2048, 8, "full_output", 0.0, "together"),
        ("splitwise", 2048, 512, "output_at_decode", 0.0, "one_by_one"),
        ("splitwise_baseline", 2048, 512, "output_at_decode", 0.0, "one_by_one"),
    ],
)
def test_defaults_by_kind(kind: str, tokens: int, size: int, reservation: str, watermark: float, arrivals: str) -> None:
    scheduler = compiled(kind).scheduler
    assert scheduler.token_budget == (2048 if kind == "vllm_v1" else 512)
    assert scheduler.max_batch_tokens == tokens
    assert scheduler.max_batch_size == size
    assert scheduler.reservation == reservation
    assert scheduler.watermark_blocks_share == watermark
    assert scheduler.simultaneous_arrivals == arrivals
    assert scheduler.block_tokens == 16
    assert scheduler.max_model_tokens == 0
    assert scheduler.prompt_pending_limit == 8192


@pytest.mark.parametrize(
    ("given", "budget"),
    [({}, 2048), ({"max_batch_tokens": 300}, 300), ({"max_batch_tokens": 300, "token_budget": 200}, 200)],
)
def test_chunked_machines_keep_the_token_budget_or_else_the_batch_tokens(given: dict[str, int], budget: int) -> None:
    pools = [{"role": "mixed", "machine": "dgx-h100", "tensor_parallel": 4, "pipeline_parallel": 2}]
    inputs = compiled(scheduler={"kind": "splitwise", "chunked": True, **given}, pools=pools)
    assert (inputs.scheduler.chunked, inputs.scheduler.token_budget) == (True, budget)
    assert inputs.replicas[0].stages == 2
    assert not compiled("splitwise").scheduler.chunked


@pytest.mark.parametrize("kind", ["orca", "request_level"])
def test_the_longest_request_is_reserved_for_where_it_is_known(kind: str) -> None:
    assert compiled(kind, memory={"max_model_tokens": 5000}).scheduler.reservation == "max_length"


def test_padding_is_request_level_s_alone() -> None:
    padded = [(kind, compiled(kind).scheduler) for kind in ("request_level", "orca", "sarathi")]
    assert [(kind, s.pad_compute, s.keep_finished) for kind, s in padded if s.pad_compute or s.keep_finished] == [
        ("request_level", True, True)
    ]


def test_what_is_given_stands() -> None:
    inputs = compiled(
        scheduler={"kind": "vllm", "max_batch_tokens": 100, "max_batch_size": 7},
        memory={"reservation": "full_output", "watermark": 0, "block_tokens": 32, "kv_tokens": 1000},
        simultaneous_arrivals="one_by_one",
        router="least_kv",
        seed=3,
    )
    assert (inputs.scheduler.max_batch_tokens, inputs.scheduler.max_batch_size) == (100, 7)
    assert (inputs.scheduler.reservation, inputs.scheduler.watermark_blocks_share) == ("full_output", 0)
    assert inputs.replicas[0].kv_blocks == 1000 // 32
    assert (inputs.scheduler.router, inputs.scheduler.seed) == ("least_kv", 3)
    assert inputs.scheduler.simultaneous_arrivals == "one_by_one"
    assert inputs.window == (0, 2)


@pytest.mark.parametrize(
    ("pool", "replicas"),
    [
        ({"tensor_parallel": 8}, 1),
        ({"tensor_parallel": 2, "machines": 3}, 12),
        ({"tensor_parallel": 3, "machines": 2}, 4),
        ({"tensor_parallel": 8, "pipeline_parallel": 2, "machines": 5}, 2),
        ({"tensor_parallel": 2, "replicas": 5}, 5),
    ],
)
def test_replicas_of_machines(pool: dict[str, Any], replicas: int) -> None:
    assert replica_count(PoolSpec(role="mixed", machine="dgx-h100", **pool)) == replicas


def test_a_replica_larger_than_the_pool_s_machines_is_an_error() -> None:
    with pytest.raises(SpecError, match="found 1 of machine dgx-h100, expected at least 2"):
        replica_count(PoolSpec(role="mixed", machine="dgx-h100", tensor_parallel=8, pipeline_parallel=2))


def test_replicas_are_numbered_by_pool_in_the_case_s_order() -> None:
    pools = [
        {"role": "decode", "machine": "dgx-a100", "machines": 1, "tensor_parallel": 8},
        {"role": "prefill", "machine": "dgx-h100", "machines": 2, "tensor_parallel": 8},
    ]
    inputs = compiled("splitwise", pools)
    assert [(r.pool, r.role) for r in inputs.replicas] == [(0, "decode"), (1, "prefill"), (1, "prefill")]
    # DGX A100: 25e9 B/s an accelerator, DGX H100: 50e9
    assert inputs.replicas[0].transfer_ps_per_token == 2 * inputs.replicas[1].transfer_ps_per_token


def test_availability_is_compiled_for_each_replica_by_time() -> None:
    pool = {"role": "mixed", "machine": "dgx-h100", "tensor_parallel": 4}
    changes = [
        {"at_s": 60, "state": "up", "replica": 1},
        {"at_s": 0.5, "state": "starting", "replica": 1},
        {"at_s": 60, "state": "draining"},
    ]
    first, second = compiled(pools=[{**pool, "availability": changes}]).replicas
    assert first.availability == ((60 * 10**12, "draining"),)
    assert second.availability == ((5 * 10**11, "starting"), (60 * 10**12, "up"), (60 * 10**12, "draining"))


def test_availability_of_a_replica_that_is_not_there_is_an_error() -> None:
    pool = {"role": "mixed", "machine": "dgx-h100", "tensor_parallel": 4}
    changes = [{"at_s": 1, "state": "failed"}, {"at_s": 1, "state": "failed", "replica": 2}]
    words = r"pools\[0\].availability\[1\].replica: found 2, expected null \(all\) or at most 1: .* 2 replicas"
    with pytest.raises(SpecError, match=words):
        compiled(pools=[{**pool, "availability": changes}])


def test_transfer_in_whole_picoseconds() -> None:
    inputs = compiled(
        kv_transfer={
            "mode": "layerwise",
            "bandwidth_bytes_per_s": 1e9,
            "block_tokens": 16,
            "setup_s": 1e-3,
            "retry_s": 1.0,
        },
        memory={"kv_bytes_per_token": 2500, "kv_tokens": 10_000},
    )
    assert inputs.transfer.ps_per_token == 2_500_000
    assert (inputs.transfer.setup_ps, inputs.transfer.retry_ps) == (10**9, 10**12)
    assert (inputs.transfer.layers, inputs.transfer.block_tokens) == (80, 16)
    assert (compiled().transfer.ps_per_token, compiled().transfer.block_tokens) == (0, 0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"memory": {"reservation": "max_length"}}, "memory.max_model_tokens: found null"),
        ({"scheduler": {"kind": "splitwise_baseline"}, "memory": {"reservation": "on_demand"}}, "found on_demand"),
        (
            {"scheduler": {"kind": "splitwise", "chunked": True}, "memory": {"reservation": "on_demand"}},
            "found on_demand",
        ),
        (
            {
                "scheduler": {"kind": "splitwise_baseline", "decode_runs": "contiguous"},
                "pools": [{"role": "mixed", "machine": "dgx-h100", "tensor_parallel": 4, "pipeline_parallel": 2}],
            },
            r"scheduler.decode_runs: found contiguous with pools\[0\].pipeline_parallel 2, expected stepwise",
        ),
    ],
)
def test_what_a_kind_cannot_do_is_refused_by_name(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        compiled(**changes)


def test_a_model_that_does_not_fit_says_so_in_bytes() -> None:
    with pytest.raises(SpecError, match="bytes"):
        compiled(pools=[{"role": "mixed", "machine": "dgx-h100", "tensor_parallel": 1}])


@pytest.mark.parametrize(
    ("model_id", "layers"),
    [("llama2-70b", (80, 0, 0)), ("gpt-oss-120b", (18, 18, 128)), ("deepseek-v3", (61, 0, 0))],
)
def test_layers_that_keep_a_window(model_id: str, layers: tuple[int, int, int]) -> None:
    pools = [{"role": "mixed", "machine": "dgx-b200", "tensor_parallel": 8}]
    rules = compiled(pools=pools, model=model_id).scheduler
    assert (rules.full_layers, rules.windowed_layers, rules.window_tokens) == layers


@pytest.mark.parametrize(("model_id", "bytes_a_token"), [("deepseek-v3", 70_272), ("gpt-oss-120b", 73_728)])
def test_a_token_is_sent_once_whatever_its_copies(model_id: str, bytes_a_token: int) -> None:
    """Eight NICs of 50 GB/s share it, with mla too, whose latent is on every rank."""
    pools = [{"role": role, "machine": "dgx-b200", "tensor_parallel": 8} for role in ("prefill", "decode")]
    inputs = compiled("splitwise", pools=pools, model=model_id)
    assert [r.transfer_ps_per_token for r in inputs.replicas] == [round(bytes_a_token / 400e9 * 1e12)] * 2


def test_a_windowed_model_holds_more_requests_at_once() -> None:
    """Room for 3,168 tokens of all layers: one request of 3,020 fits alone; of gpt-oss-120b, 18 x 3,020 + 18 x 128
    over 36 layers, two do at once."""
    peaks = {}
    for model_id in ("llama2-70b", "gpt-oss-120b"):
        inputs = compiled("orca", model=model_id, memory={"kv_tokens": 3168, "reservation": "full_output"})
        lengths = {"prompt_tokens": [3000, 3000], "output_tokens": [20, 20]}
        inputs = replace(inputs, **{name: np.array(column) for name, column in lengths.items()})
        result = run(inputs)
        assert (result.requests.status == FINISHED).all()
        peaks[model_id] = int(result.replicas.kv_peak_tokens[0])
    assert peaks == {"llama2-70b": 3024, "gpt-oss-120b": 2 * 1584}
