"""The pilot kit: its predictions against the engine, its runs, its commands."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.pilot.error import TimeRange, time_range
from simcore.pilot.part import smallest_part
from simcore.pilot.prediction import predict
from simcore.simulation import simulate
from simcore.slo.objective import objective
from simcore.spec import Case, SpecError, decode_case
from simcore.traces import Trace
from tests.unit.simcore.pilot.pilots import CO_LOCATED, PAIR, kit_of


def one_replica_each(case: Case) -> Case:
    return replace(case, pools=tuple(replace(pool, machines=None, replicas=1) for pool in case.pools))


def simulated(case: Case, prompt: int, output: int, rate: float, requests: int = 1500) -> tuple[float, float]:
    """Mean TTFT and TPOT of the part in the engine, at Poisson arrivals."""
    gaps = np.random.default_rng(3).exponential(1 / rate, requests)
    arrivals = [round(t * 1e12) for t in np.cumsum(gaps)]
    trace = Trace.of("alike", arrivals, [prompt] * requests, [output] * requests)
    part = one_replica_each(case)
    summary = simulate(part, trace, objective(part), None).summary
    assert summary.ttft_s.mean is not None
    assert summary.tpot_s.mean is not None
    return summary.ttft_s.mean, summary.tpot_s.mean


@pytest.mark.parametrize(
    ("case", "prompt", "output", "rate"),
    [
        *((CO_LOCATED, 1020, 211, 1.5), (CO_LOCATED, 3000, 50, 1.0)),
        *((PAIR, 1020, 211, 3.0), (PAIR, 612, 211, 5.0), (PAIR, 300, 60, 15.0), (PAIR, 2000, 50, 4.0)),
    ],
    ids=["co-located", "long prompts", "pair", "pair, decode loaded", "short prompts", "prefill half busy"],
)
def test_predictions_are_the_engines_means(case: dict[str, Any], prompt: int, output: int, rate: float) -> None:
    predicted = predict(smallest_part(decode_case(case)), prompt, output, rate)
    ttft_s, tpot_s = simulated(decode_case(case), prompt, output, rate)
    assert predicted.tpot_s == pytest.approx(tpot_s, rel=0.04)
    assert predicted.ttft_s == pytest.approx(ttft_s, rel=0.1)


def test_a_co_located_design_is_shown_by_one_replica_with_its_share_of_the_load() -> None:
    kit = kit_of(CO_LOCATED)
    (run,) = kit.runs
    assert "one mixed replica (4 of the 8 accelerators of a DGX H100; the design has 20)" in kit.part
    assert (run.req_per_s, run.prompt_tokens, run.output_tokens) == (1.5, 1020, 211)
    assert run.requests == 900


def test_pools_of_unlike_size_have_a_run_each_that_loads_their_replica_as_the_design_does() -> None:
    first, second = kit_of(PAIR).runs
    assert (first.req_per_s, first.prompt_tokens, first.output_tokens) == (3.0, 1020, 211)
    assert "prefill replica as loaded" in first.shows
    assert (second.req_per_s, second.prompt_tokens, second.output_tokens) == (5.0, 612, 211)
    assert second.req_per_s * second.prompt_tokens == pytest.approx(first.req_per_s * first.prompt_tokens)


def test_more_decode_than_prefill_shortens_outputs() -> None:
    pools = [PAIR["pools"][0] | {"machines": 5}, PAIR["pools"][1] | {"machines": 3}]
    first, second = kit_of(PAIR | {"pools": pools}).runs
    assert "decode replica as loaded" in first.shows
    assert (second.prompt_tokens, second.output_tokens) == (1020, 1 + round(210 * 0.6))


def test_pools_of_one_size_need_one_run() -> None:
    pools = [pool | {"machines": 4} for pool in PAIR["pools"]]
    assert len(kit_of(PAIR | {"pools": pools}).runs) == 1


def test_commands_say_what_the_design_is() -> None:
    kit = kit_of(CO_LOCATED)
    served = kit.serve[-1].text
    assert "--tensor-parallel-size 4 --pipeline-parallel-size 1" in served
    assert "--max-num-batched-tokens 512 --max-num-seqs 128" in served
    assert "--max-model-len 1247" in served
    assert "--request-rate 1.5 --burstiness 1.0 --num-prompts 900" in kit.runs[0].command.text
    assert "--ignore-eos" in kit.runs[0].command.text


def test_commands_of_a_pair_serve_both_and_join_them() -> None:
    titles = [command.title for command in kit_of(PAIR).serve]
    assert [title.split(":")[0] for title in titles[1:3]] == ["Serve for prefill", "Serve for decode"]
    producer, consumer, proxy = (command.text for command in kit_of(PAIR).serve[1:])
    assert '"kv_role":"kv_producer"' in producer
    assert '"kv_role":"kv_consumer"' in consumer
    assert "--prefiller-port 8100" in proxy


def test_a_capped_machine_is_capped_first_and_precisions_become_flags() -> None:
    model = {"id": "m", "name": "M", "parameters": 8_030_261_248, "layers": 32, "hidden_size": 4096, "heads": 32}
    model |= {"kv_heads": 8, "head_dim": 128, "intermediate_size": 14336, "vocab_size": 128256}
    model |= {"max_model_tokens": 131072, "weight_precision": "fp8", "kv_precision": "fp8"}
    pools = [{"role": "mixed", "machine": "dgx-h100-pcap", "machines": 2}]
    kit = kit_of(CO_LOCATED | {"model": model, "pools": pools})
    assert kit.serve[1].text.startswith("nvidia-smi --power-limit ")
    assert "--quantization fp8 --kv-cache-dtype fp8" in kit.serve[2].text


@settings(deadline=None)
@given(error=st.floats(0, 0.4), headroom=st.floats(1, 3))
def test_bands_hold_the_prediction_and_grow_with_the_error(error: float, headroom: float) -> None:
    for run in kit_of(CO_LOCATED, error=error, headroom=headroom).runs:
        for band in run.bands:
            assert band.low <= band.predicted <= band.high
            if band.figure != "req_per_s":
                assert band.predicted <= band.limit
            else:
                assert band.limit <= band.predicted


@pytest.mark.parametrize(
    ("case", "headroom", "words"),
    [
        (CO_LOCATED | {"scheduler": {"kind": "orca"}}, 1.1, "found orca, which no engine of today runs"),
        (CO_LOCATED | {"pools": [*CO_LOCATED["pools"], *CO_LOCATED["pools"]]}, 1.1, "found roles mixed, mixed"),
        (CO_LOCATED, 0.9, "capacity: found 0.9 × the required rate"),
        (CO_LOCATED, math.nan, "expected a design that holds it"),
    ],
)
def test_what_has_no_pilot_says_why(case: dict[str, Any], headroom: float, words: str) -> None:
    with pytest.raises(SpecError) as error:
        kit_of(case, headroom=headroom)
    assert words in str(error.value)


def test_ranges_are_those_of_the_products_intervals() -> None:
    case = decode_case(PAIR)
    prefill, decode = (time_range(case, role) for role in ("prefill", "decode"))
    for span in (prefill, decode):
        assert 0.5 < span.faster < 1 < span.slower < 2
        assert "measured point" in span.basis
    given = decode_case(
        CO_LOCATED
        | {"latency": {"source": "curve", "tokens": [1, 100], "prefill_s": [0.1, 0.2], "decode_s": [0.1, 0.2]}}
    )
    assert time_range(given, "mixed") == TimeRange("mixed", pytest.approx(0.8), pytest.approx(1.25), "")
