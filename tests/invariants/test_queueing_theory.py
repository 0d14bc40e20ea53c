"""Waits under known arrivals and services are those of queueing theory, whatever the scheduler.

With a batch size of 1 every kind is a first-come-first-served server, and a request of one output token a service of
its prompt's time. ``queueing.py`` has the exact values. Seeds are fixed and random numbers the same on every machine.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest

from simcore.engine.fast.cluster import run
from simcore.engine.inputs import ClusterInputs
from simcore.engine.oracle.cluster import run as run_oracle
from simcore.engine.outputs import FINISHED, RequestResults
from simcore.latency.curve import PS_PER_S, IterationCurve
from tests.clusters import NS, cluster, replica, scheduler
from tests.invariants.queueing import (
    LENGTHS,
    REPLICATIONS,
    Floats,
    Int64,
    arrivals_ps,
    geometric,
    lindley,
    md1_mean_wait,
    mdc_mean_wait,
    mdc_queue,
    mdc_wait_at_most,
    means,
    mg1_mean_wait,
    mm1_wait_beyond,
    shares_within,
    steady,
)
from tests.invariants.strategies import CHUNKED, CO_LOCATED, KINDS

SERVICE_PS = PS_PER_S // 10
CONSTANT = IterationCurve((1,), (SERVICE_PS,), (SERVICE_PS,), (SERVICE_PS,), 0, 0, 0, 0)
A_TOKEN_PS = 100 * NS
LINEAR = IterationCurve((0, 10**6), *[(0, 10**6 * A_TOKEN_PS)] * 3, 0, 0, 0, 0)
"""A prefill takes 100 ns a token, a decode step 100 ns."""
MEAN_TOKENS = 20_000
PLENTY = 10**6
OUTPUTS = 3
"""Stream of the outputs' random numbers."""
REQUESTS = 10_000
A_DECODE_IS_NOT_INTERRUPTED = (*CO_LOCATED, CHUNKED)


def loaded(
    kind: str,
    curve: IterationCurve,
    arrival_ps: Int64,
    prompts: Int64,
    outputs: Int64,
    roles: Sequence[str] = ("mixed",),
) -> ClusterInputs:
    """One request at a time on each replica; those of a role in turn."""
    policy = scheduler(
        kind,
        max_batch_size=1,
        token_budget=PLENTY,
        mixed_pool=False,
        router="round_robin",
        reservation="full_output",
        ageing="none",
    )
    machines = [replica(role, curve=curve, kv_blocks=PLENTY, transfer_ps_per_token=0) for role in roles]
    inputs = cluster(policy, [(0, 1, 1)] * len(arrival_ps), machines)
    return dataclasses.replace(inputs, arrival_ps=arrival_ps, prompt_tokens=prompts, output_tokens=outputs)


def finished(inputs: ClusterInputs) -> RequestResults:
    requests = run(inputs).requests
    assert (requests.status == FINISHED).all()
    return requests


def constant_service(kind: str, load: float, servers: int, seed: int, requests: int = REQUESTS) -> ClusterInputs:
    """D = 0.1 s a request."""
    ones = np.ones(requests, np.int64)
    arrival_ps = arrivals_ps(load * servers * PS_PER_S / SERVICE_PS, requests, seed)
    return loaded(kind, CONSTANT, arrival_ps, 16 * ones, ones, ["mixed"] * servers)


def exponential_service(kind: str, load: float, seed: int, requests: int = REQUESTS) -> ClusterInputs:
    """Prompts of 20,000 tokens on average, 100 ns a token: exponential but for rounding to a 20,000th."""
    arrival_ps = arrivals_ps(load * PS_PER_S / (MEAN_TOKENS * A_TOKEN_PS), requests, seed)
    return loaded(kind, LINEAR, arrival_ps, geometric(MEAN_TOKENS, requests, seed), np.ones(requests, np.int64))


def replicated_waits(inputs: Callable[[int], ClusterInputs], service_ps: int) -> list[Floats]:
    """In services, without the first tenth, by seed."""
    runs = [inputs(seed) for seed in range(REPLICATIONS)]
    return [steady((finished(run).first_scheduled_ps - run.arrival_ps) / service_ps) for run in runs]


@pytest.mark.parametrize(("servers", "load"), [(1, 0.8), (2, 0.5), (3, 0.8), (8, 0.9)])
def test_the_two_formulas_of_m_d_c_agree(servers: int, load: float) -> None:
    queue = mdc_queue(load, servers)
    assert (np.arange(len(queue)) * queue).sum() / (load * servers) == pytest.approx(mdc_mean_wait(load, servers))
    assert servers > 1 or mdc_mean_wait(load, 1) == pytest.approx(md1_mean_wait(load))
    steps = np.linspace(0, 30, 1501)
    beyond = [1 - mdc_wait_at_most(load, servers, float(wait)) for wait in steps]
    # the wait's distribution jumps at 0 and is continuous beyond: its tail's integral is its mean
    assert np.trapezoid(beyond, steps) == pytest.approx(mdc_mean_wait(load, servers), rel=1e-3)


@pytest.mark.parametrize("load", [0.1, 0.3, 0.5, 0.7, 0.8, 0.9])
def test_waits_under_constant_service_are_those_of_m_d_1(load: float) -> None:
    found = means(replicated_waits(partial(constant_service, "vllm", load, 1), SERVICE_PS))
    assert found.agrees(md1_mean_wait(load)), found
    assert found.half < 0.15 * found.mean


@pytest.mark.parametrize(
    ("kind", "servers", "load"),
    [("sarathi", 1, 0.8), ("sarathi", 2, 0.5), ("sarathi", 8, 0.9)] + [(kind, 3, 0.8) for kind in KINDS],
)
def test_waits_of_replicas_in_turn_are_those_of_m_d_c(kind: str, servers: int, load: float) -> None:
    """Constant services begun in order end in order, so that the next free of c servers is the next in turn."""
    waits = replicated_waits(partial(constant_service, kind, load, servers), SERVICE_PS)
    assert means(waits).agrees(mdc_mean_wait(load, servers)), means(waits)
    assert means(waits).half < 0.25 * means(waits).mean
    for wait in (0.0, 0.3, 1.0, 1.5):
        share = shares_within(waits, wait)
        assert share.agrees(mdc_wait_at_most(load, servers, wait)), (wait, share)
        assert share.half < 0.04


@pytest.mark.parametrize(("kind", "load"), [("vllm", 0.5), *[(kind, 0.8) for kind in KINDS]])
def test_waits_under_exponential_prompts_are_those_of_m_m_1(kind: str, load: float) -> None:
    waits = replicated_waits(partial(exponential_service, kind, load), MEAN_TOKENS * A_TOKEN_PS)
    assert means(waits).agrees(mg1_mean_wait(load, 1, 2)), means(waits)
    assert means(waits).half < 0.15 * means(waits).mean
    for wait in (0.0, 1.0, 3.0):
        share = shares_within(waits, wait)
        assert share.agrees(1 - mm1_wait_beyond(load, wait)), (wait, share)
        assert share.half < 0.04


@pytest.mark.parametrize("kind", A_DECODE_IS_NOT_INTERRUPTED)
def test_waits_under_geometric_outputs_are_those_of_pollaczek_and_khinchine(kind: str) -> None:
    """Each token of an output, the first included, takes D: E[S] = m D, E[S^2] = m(2m - 1) D^2."""
    mean, load, prompts = 8, 0.7, np.full(REQUESTS, 16)

    def inputs(seed: int) -> ClusterInputs:
        arrival_ps = arrivals_ps(load * PS_PER_S / (mean * SERVICE_PS), REQUESTS, seed)
        return loaded(kind, CONSTANT, arrival_ps, prompts, geometric(mean, REQUESTS, seed))

    found = means(replicated_waits(inputs, SERVICE_PS))
    assert found.agrees(mg1_mean_wait(load, mean, mean * (2 * mean - 1))), found
    assert found.half < 0.15 * found.mean


@pytest.mark.parametrize("kind", ["splitwise", CHUNKED])
def test_a_prefill_and_a_decode_machine_in_a_row_are_two_queues_of_their_own(kind: str) -> None:
    """Burke, Jackson: what leaves M/M/1 is a Poisson process again, so the decode machine waits as if alone.

    Prompts are exponential; outputs geometric, of which the first token is no decode: a share 1/m has none at all.
    """
    load, decode_load, mean = 0.6, 0.7, 50
    rate = load * PS_PER_S / (MEAN_TOKENS * A_TOKEN_PS)
    step_ps = round(decode_load * PS_PER_S / rate / (mean - 1))
    curve = dataclasses.replace(LINEAR, decode_ps=(step_ps, step_ps))
    prefills, decodes = [], []
    for seed in range(REPLICATIONS):
        prompts, outputs = (geometric(m, REQUESTS, seed, n) for m, n in ((MEAN_TOKENS, LENGTHS), (mean, OUTPUTS)))
        inputs = loaded(kind, curve, arrivals_ps(rate, REQUESTS, seed), prompts, outputs, ["prefill", "decode"])
        requests = finished(inputs)
        prefills.append(steady(requests.first_token_ps - inputs.arrival_ps) / (MEAN_TOKENS * A_TOKEN_PS))
        decoded = steady(outputs) > 1
        decodes.append(steady(requests.finish_ps - requests.first_token_ps)[decoded] / step_ps)
    assert means(prefills).agrees(1 / (1 - load)), means(prefills)
    assert means(decodes).agrees(mean + mg1_mean_wait(decode_load, mean, mean * (2 * mean - 1))), means(decodes)
    assert means(decodes).half < 0.15 * means(decodes).mean


@pytest.mark.parametrize("engine", [run, run_oracle], ids=["fast", "oracle"])
@pytest.mark.parametrize("servers", [1, 3])
@pytest.mark.parametrize("kind", A_DECODE_IS_NOT_INTERRUPTED)
def test_every_wait_is_lindley_s_to_the_picosecond(kind: str, servers: int, engine: Callable) -> None:
    """Any services, first come first served: prompts and outputs both drawn, some requests at the same instant."""
    requests = 1_000
    arrival_ps = arrivals_ps(servers * 0.9 * PS_PER_S / (150 * A_TOKEN_PS), requests, 5)
    arrival_ps[1::7] = arrival_ps[:-1:7][: len(arrival_ps[1::7])]
    prompts, outputs = geometric(130, requests, 5), geometric(20, requests, 5, OUTPUTS)
    decode = dataclasses.replace(LINEAR, decode_ps=(A_TOKEN_PS, A_TOKEN_PS))
    inputs = loaded(kind, decode, arrival_ps, prompts, outputs, ["mixed"] * servers)
    service = (prompts + outputs - 1) * A_TOKEN_PS
    found = engine(inputs).requests
    expected = lindley(arrival_ps.tolist(), service.tolist(), servers)
    assert (found.first_scheduled_ps - arrival_ps).tolist() == expected
    assert (found.finish_ps - arrival_ps).tolist() == (np.array(expected) + service).tolist()


@pytest.mark.parametrize("engine", [run, run_oracle], ids=["fast", "oracle"])
def test_a_pipeline_makes_requests_wait_for_its_first_stage_only(engine: Callable) -> None:
    """Equal services in a row: M/D/1 at the first stage, nothing to wait for behind it."""
    stages, requests = 4, 1_500
    arrival_ps = arrivals_ps(0.85 * PS_PER_S / SERVICE_PS, requests, 7)
    ones = np.ones(requests, np.int64)
    inputs = loaded("vllm", CONSTANT, arrival_ps, 16 * ones, ones)
    policy = dataclasses.replace(inputs.scheduler, max_batch_size=stages)
    pipeline = dataclasses.replace(inputs.replicas[0], stages=stages)
    found = engine(dataclasses.replace(inputs, scheduler=policy, replicas=(pipeline,))).requests
    expected = np.array(lindley(arrival_ps.tolist(), [SERVICE_PS] * requests))
    assert (found.first_scheduled_ps - arrival_ps).tolist() == expected.tolist()
    assert (found.finish_ps - arrival_ps).tolist() == (expected + stages * SERVICE_PS).tolist()


@pytest.mark.parametrize("servers", [1, 3])
def test_the_share_of_time_busy_is_the_offered_load(servers: int) -> None:
    inputs = constant_service("sarathi", 0.6, servers, seed=2)
    result = run(inputs)
    assert result.replicas.busy_ps.sum() == REQUESTS * SERVICE_PS
    assert result.replicas.busy_ps.sum() / (servers * result.end_ps) == pytest.approx(0.6, rel=0.03)
