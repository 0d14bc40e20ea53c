"""Waits of windows with refused, unfinished and one-token requests, each against its definition in plain numbers."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simcore.engine.outputs import NEVER, CountedGaps
from simcore.fluid.lone import lone_times
from simcore.latency.curve import IterationCurve
from simcore.slo.latencies import INFINITE, Latencies
from simcore.slo.objective import slowdown

REFERENCE = IterationCurve((1, 64), (3, 70), (5, 90), (5, 99), 2, 1, 3, 1)
NO_GAPS = CountedGaps(np.array([], np.int64), np.array([], np.int64))

request = st.tuples(
    st.integers(0, 10**6),  # arrival
    st.integers(1, 500),  # prompt
    st.integers(1, 4) | st.integers(1, 900),  # output
    st.integers(0, 10**13),  # arrival to first token
    st.integers(0, 10**13),  # first token to last
    st.booleans(),  # finished
)


def window(requests):
    arrival, prompt, output, first, decode, done = (np.array(column) for column in zip(*requests, strict=True))
    first_ps, decode = arrival + first, np.where(output > 1, decode, 0)
    none = np.zeros(len(arrival), np.int64)
    return Latencies(
        arrival, prompt, none, output, np.where(done, first_ps, NEVER), np.where(done, first_ps, NEVER),
        np.where(done, first_ps + decode, NEVER), done, NO_GAPS, 0,
    )  # fmt: skip


@given(st.lists(request, min_size=1, max_size=40))
def test_tpot_is_that_of_the_requests_with_a_second_token(requests):
    expected = [(d / (o - 1) if o > 1 else 0.0) if done else math.inf for _, _, o, _, d, done in requests]
    found = window(requests)
    assert found.tpot_ps.tolist() == expected
    several = [tpot for tpot, request in zip(expected, requests, strict=True) if request[2] > 1]
    assert found.tpot_of_several_ps.tolist() == several


@given(st.lists(request, min_size=1, max_size=40))
def test_slowdowns_are_each_time_over_that_alone(requests):
    found = window(requests)
    alone = lone_times(REFERENCE, 1, found.prompt_tokens, found.cached_prompt_tokens, found.output_tokens)
    whole = {"ttft_slowdown": (found.ttft_ps, alone.ttft_ps), "e2e_slowdown": (found.e2e_ps, alone.e2e_ps)}
    for metric, (waited, least) in whole.items():
        pairs = zip(waited.tolist(), least.tolist(), strict=True)
        expected = [math.inf if ps == INFINITE else ps / max(ps_alone, 1) for ps, ps_alone in pairs]
        assert slowdown(REFERENCE, found, metric).tolist() == expected
    pairs = zip(requests, alone.decode_ps.tolist(), strict=True)
    expected = [
        d / (o - 1) / max(ps / (o - 1), 1.0) if done else math.inf for (_, _, o, _, d, done), ps in pairs if o > 1
    ]
    assert slowdown(REFERENCE, found, "tbt_slowdown").tolist() == expected
