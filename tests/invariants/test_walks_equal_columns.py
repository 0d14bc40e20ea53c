"""What the compiled walks tell of a window is, bit for bit, what its whole columns tell by the plain definitions."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.engine.inputs import ClusterInputs
from simcore.engine.outputs import FINISHED, NEVER, REFUSED, UNFINISHED, RunResult
from simcore.engine.tally import ranks, tally
from simcore.engine.tally.lone import KNOWN_TOKENS
from simcore.engine.tally.tally import Requested, Tally
from simcore.latency.curve import IterationCurve
from simcore.metrics.feasibility import feasibility_of
from simcore.metrics.waited import SUMMARISED, Waited, window_latencies
from simcore.slo.distribution import distribution_s
from simcore.slo.objective import ColumnsOfWaits, Objective, check, values_ps
from simcore.spec import AbsoluteSlo, AttainmentSlo, Limit, SlowdownSlo
from tests.unit.simcore.runs import case, inputs_of, run_result, trace

CURVES = (
    IterationCurve((1, 64, 4096), (3, 70, 9000), (5, 90, 9000), (5, 99, 9900), 2, 1, 3, 1),
    IterationCurve((1,), (10**9,), (10**9,), (10**9,), 1 << 20, 1 << 12, 40_000, 7),
    IterationCurve((512, 513), (10**9, 5), (10**9, 7), (10**9, 9), 0, 0, 0, 0),
)
HUGE = IterationCurve((1, 2), (1, 2**60), (1, 2**60), (1, 2**60), 2**40, 1, 2**40, 1)
SECONDS = ("queue_s", "ttft_s", "tpot_s", "e2e_s")
SLOWDOWNS = ("ttft_slowdown", "tbt_slowdown", "e2e_slowdown")

SOME_PS = st.sampled_from([0, 1, 10**9]) | st.integers(0, 10**6) | st.integers(0, 10**15) | st.integers(0, 2**58)
request = st.tuples(
    st.integers(0, 10**6) | st.integers(0, 10**15),  # after the one before
    st.sampled_from([1, 100, KNOWN_TOKENS - 1, KNOWN_TOKENS, KNOWN_TOKENS + 5]) | st.integers(1, 20_000),  # prompt
    st.integers(0, 100),  # of it cached, per cent
    st.sampled_from([1, 2]) | st.integers(1, 3000),  # output
    st.tuples(SOME_PS, SOME_PS, SOME_PS),  # scheduled, first token, finish: each after the one before
    st.sampled_from([FINISHED] * 12 + [REFUSED, UNFINISHED]),
    st.tuples(st.integers(0, 2), st.integers(0, 2)),  # replicas
    st.integers(0, 2),  # preemptions
)
percents = st.sampled_from([0.1, 1, 50, 90, 95, 99, 99.9, 100]) | st.floats(0.01, 100).map(lambda p: round(p, 2))
limits = st.lists(st.tuples(percents, st.floats(1e-6, 100)), min_size=1, max_size=3)
absolute = st.tuples(st.lists(st.sampled_from(SECONDS), min_size=1, max_size=3), limits).map(
    lambda asked: AbsoluteSlo(tuple(Limit(metric, p, limit) for metric in set(asked[0]) for p, limit in asked[1]))
)
attainment = st.builds(AttainmentSlo, st.floats(1e-9, 1e3), st.floats(1e-9, 1e3), st.sampled_from([0.01, 0.5, 0.99, 1]))
goals = absolute.map(Objective) | attainment.map(Objective)
goals |= st.sampled_from(CURVES).map(lambda curve: Objective(SlowdownSlo(), curve))


@dataclass(frozen=True)
class Window:
    """A run of three replicas in two pools, with the part of it that is asked about."""

    inputs: ClusterInputs
    run: RunResult
    span: tuple[int, int]


def window(requests: list[Any], curves: tuple[IterationCurve, IterationCurve], cut: tuple[int, int]) -> Window:
    after, prompt, cached, output, waits, status, replicas, preemptions = zip(*requests, strict=True)
    arrival = np.cumsum(after) % 2**60
    scheduled, first, last = np.cumsum(np.array(waits), axis=1).T + arrival
    finish = np.where(np.array(output) == 1, first, last)
    came = np.array(status) == FINISHED
    inputs = inputs_of(case(), trace([0.0] * len(requests), list(prompt), list(output)))
    prompts = np.array(prompt)
    one = inputs.replicas[0]
    pools = [replace(one, pool=int(i > 0), curve=curves[int(i > 0)], stages=1 + int(i > 0)) for i in range(3)]
    inputs = replace(
        inputs, replicas=tuple(pools), arrival_ps=arrival,
        cached_prompt_tokens=np.minimum(prompts * np.array(cached) // 100, prompts - 1),
    )  # fmt: skip
    run = run_result([0.0] * len(requests), [0.0] * len(requests), [0.0] * len(requests))
    kept = replace(
        run.requests,
        status=np.array(status),
        **{
            name: np.where(came, column, NEVER)
            for name, column in (
                ("first_scheduled_ps", scheduled), ("first_token_ps", first), ("finish_ps", finish),
                ("prefill_replica", np.array(replicas)[:, 0]), ("decode_replica", np.array(replicas)[:, 1]),
            )
        },
        preemptions=np.array(preemptions),
    )  # fmt: skip
    first_asked = min(cut[0], len(requests) - 1)
    return Window(inputs, replace(run, requests=kept), (first_asked, max(len(requests) - cut[1], first_asked + 1)))


windows = st.builds(
    window,
    st.lists(request, min_size=1, max_size=80),
    st.tuples(st.sampled_from(CURVES), st.sampled_from(CURVES)),
    st.tuples(st.sampled_from([0, 0, 3]), st.sampled_from([0, 0, 2])),
)
samples = st.tuples(st.sampled_from([1, 2, 3, 100]), st.sampled_from([4.0, 0.3, 0.0]), st.sampled_from([2, 1]))
"""How far apart requests of the sample are (1: all are kept whole), and its bounds from a rank: 0 misses often."""


def plain(waited: Waited) -> Waited:
    """The same by whole columns: as if nothing had been found by walking."""
    made = replace(waited)
    counts = {name: int(count) for name, count in waited.tally.counts.items()}
    vars(made)["tally"] = Tally(counts)
    return made


@settings(deadline=None)  # the first call compiles
@given(windows, goals, samples)
def test_walks_tell_what_columns_tell(asked: Window, goal: Objective, sample: tuple[int, float, int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tally, "stride_of", lambda _: sample[0])
        patch.setattr(ranks, "DEVIATIONS", sample[1])
        patch.setattr(ranks, "SPARE", sample[2])
        found = Waited(asked.inputs, asked.run, goal, asked.span, summarised=True)
        assert found.tally.sums is not None
    columns, latencies = plain(found), window_latencies(asked.inputs, asked.run, asked.span)
    assert feasibility_of(found) == feasibility_of(columns)
    assert feasibility_of(found).slo == check(goal, latencies)
    for metric in SUMMARISED:
        assert found.distribution(metric) == distribution_s(values_ps(metric, latencies)), metric
    assert (found.e2e_sum_ps, found.decode_sum_ps) == (columns.e2e_sum_ps, columns.decode_sum_ps)
    assert found.gaps_never == latencies.gaps_never


@settings(deadline=None)
@given(windows)
def test_counts_are_those_of_the_columns(asked: Window) -> None:
    inputs, requests = asked.inputs, asked.run.requests
    counts = Requested.of(inputs, asked.run).counts((0, len(inputs.arrival_ps)))
    done, several = requests.status == FINISHED, inputs.output_tokens >= 2
    assert counts == {
        "finished": done.sum(),
        "refused": (requests.status == REFUSED).sum(),
        "unfinished": (requests.status == UNFINISHED).sum(),
        "several": several.sum(),
        "several_finished": (several & done).sum(),
        "output_tokens": inputs.output_tokens.sum(),
        "finished_prompt_tokens": inputs.prompt_tokens[done].sum(),
        "finished_output_tokens": inputs.output_tokens[done].sum(),
        "preemptions": requests.preemptions.sum(),
        "preempted": np.count_nonzero(requests.preemptions),
        "longest_prompt": inputs.prompt_tokens.max(),
        "longest_output": inputs.output_tokens.max(),
    }


def test_of_many_requests_few_values_are_kept_and_each_percentile_is_found() -> None:
    """A sample's bounds hold where they are as far away as they are meant to be."""
    random = np.random.default_rng(4)
    size = 6000
    waits = random.lognormal(25, 1, (size, 3)).astype(np.int64) * (random.random((size, 3)) < 0.9)
    requests = [(10**9, 900, 0, 1 + i % 90, tuple(wait), FINISHED, (0, 0), 0) for i, wait in enumerate(waits.tolist())]
    asked = window(requests, (CURVES[0], CURVES[0]), (0, 0))
    goal = Objective(SlowdownSlo(), CURVES[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranks, "MOST_KEPT_WHOLE", 1000)
        found = Waited(asked.inputs, asked.run, goal, asked.span, summarised=True)
        assert len(found.tally.found) >= 4 * 5 + 3 * 3 - 1  # P99 and P99 of a metric are asked for once
    columns = ColumnsOfWaits(goal, found.latencies)
    for metric in SLOWDOWNS:
        assert found.percentiles(metric, [50, 90, 99]) == columns.percentiles(metric, [50, 90, 99])


def test_times_alone_beyond_int64_are_told_by_columns() -> None:
    requests = [(10**9, 900, 0, 5, (1, 2, 3), FINISHED, (0, 0), 0)] * 40
    asked = window(requests, (HUGE, HUGE), (0, 0))
    found = Waited(asked.inputs, asked.run, Objective(SlowdownSlo(), HUGE), asked.span, summarised=True)
    assert found.tally.sums is None
    assert feasibility_of(found).slo == check(found.goal, found.latencies)
    assert found.distribution("ttft_s").max == 3 / 10**12
