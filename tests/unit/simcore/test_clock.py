import json

import numpy as np
import pytest

from simcore import clock
from simcore.__main__ import main
from simcore.clock import check_clock
from simcore.engine.compile import compile_case
from simcore.spec import SCHEDULER_KINDS, SpecError, decode_case
from simcore.traces import Trace
from tests.unit.simcore.runs import CURVE

SLO = {"kind": "absolute", "limits": [{"metric": "ttft_s", "percentile": 90, "limit": 0.3}]}


def inputs(prompt=2000, output=300, requests=40, kind="sarathi", chunked=False, memory=None, transfer=None, **latency):
    pool = {"machine": "dgx-h100", "tensor_parallel": 8}
    roles = ("prefill", "decode") if kind == "splitwise" else ("mixed",)
    case = {
        "model": "llama2-7b",
        "pools": [{"role": role, **pool} for role in roles],
        "scheduler": {"kind": kind, "chunked": chunked},
        "latency": {**CURVE, **latency},
        "memory": memory or {},
        "kv_transfer": transfer or {},
        "slo": SLO,
    }
    rows = [np.full(requests, value, np.int64) for value in (prompt, output, 0, 0)]
    trace = Trace("t", np.arange(requests, dtype=np.int64) * 10**12, *rows)
    return compile_case(decode_case(case), trace)


@pytest.mark.parametrize("kind", SCHEDULER_KINDS)
def test_what_is_run_every_day_passes(kind):
    check_clock(inputs(kind=kind, requests=20_000, attention_s=1e-8, chunk_read_s=1e-6, context_s=1e-7))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ({"attention_s": 1}, "one iteration could take"),
        ({"attention_s": 1, "kind": "vllm"}, "one iteration could take"),
        ({"chunk_read_s": 1, "prompt": 20_000}, "one iteration could take"),
        ({"context_s": 1}, "the iterations could take"),
        ({"decode_seq_s": 1, "requests": 20_000}, "the iterations could take"),
        ({"kind": "splitwise", "transfer": {"bandwidth_bytes_per_s": 1}}, "the KV transfers could take"),
        ({"kind": "splitwise", "transfer": {"setup_s": 86_400}}, "the KV transfers could take"),
        ({"kind": "splitwise", "transfer": {"setup_s": 1e3, "block_tokens": 20}}, "the KV transfers could take"),
        ({"kind": "splitwise", "chunked": True, "transfer": {"setup_s": 1e3, "mode": "chunkwise"}}, "the KV transfers"),
    ],
)
def test_what_the_clock_cannot_hold_is_refused(made, message):
    with pytest.raises(SpecError, match=f"latency: found times at which {message} .*s, expected at most 2.31e.06 s"):
        check_clock(inputs(**made))


def test_transfers_that_do_not_contend_take_their_time_at_once():
    check_clock(inputs(kind="splitwise", transfer={"setup_s": 86_400, "contention": False}))
    check_clock(inputs(kind="splitwise", transfer={"setup_s": 1e3, "block_tokens": 2000}))


def test_a_request_that_can_never_fit_takes_no_time():
    check_clock(inputs(attention_s=1, memory={"max_model_tokens": 100}))


def test_work_is_a_prompt_and_each_token_after_it():
    """By hand: 0.1 s a prompt, (0.02 s of an iteration / 40 requests + 0.5 s each) x 2 tokens after the first."""
    made = inputs(output=3, decode_seq_s=0.5)
    prompt, output = (np.full(40, value, np.float64) for value in (2000, 3))
    work = clock._work_ps(made.replicas[0].curve, prompt, output, min(made.scheduler.max_batch_size, 40))
    assert work == pytest.approx(40 * (0.1 + 2 * (0.02 / 40 + 0.5)) * 1e12)


@pytest.mark.parametrize("kind", SCHEDULER_KINDS)
def test_requests_as_long_as_the_longest_take_no_less(kind):
    """Prompts whose iterations take less the longer they are, too."""
    curve = {"tokens": [1, 100, 4000], "prefill_s": [3, 2, 0.1], "decode_s": [1, 2, 1], "hybrid_s": [1, 2, 3]}
    made = inputs(kind=kind, transfer={"setup_s": 1, "block_tokens": 20}, **curve)
    rng = np.random.default_rng(3)
    prompts, outputs = rng.integers(1, 4000, 40), rng.integers(1, 9, 40)
    longest = clock._times_ps(made, prompts.max(keepdims=True), outputs.max(keepdims=True), 40)
    assert all(longest[what] >= taken_ps for what, taken_ps in clock._times_ps(made, prompts, outputs, 1).items())


def test_simulate_refuses_it_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    case = {
        "model": "llama2-7b",
        "pools": [{"role": "mixed", "machine": "dgx-h100", "tensor_parallel": 8}],
        "scheduler": {"kind": "sarathi"},
        "latency": {**CURVE, "attention_s": 1},
        "slo": SLO,
    }
    (tmp_path / "case.json").write_text(json.dumps(case))
    (tmp_path / "trace.csv").write_text("arrival_s,prompt_tokens,output_tokens\n0,3000,30\n")
    assert main(["simulate", "case.json", "--trace", "trace.csv"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("case.json: latency: found times at which one iteration could take")
    assert error.count("\n") == 1
