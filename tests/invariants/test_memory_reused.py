"""Runs of one design share its memory, and each gives what it would give if it were the only one.

Whatever came before: another load and window, a run that was given up, tables that were enlarged, gaps that were
thinned. All results are compared after the last run, so that no run changes what an earlier one has handed out.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simcore.engine.fast import cluster as fast
from simcore.engine.fast import room
from simcore.engine.inputs import ClusterInputs, Wait, WaitLimit
from simcore.engine.oracle import cluster as oracle
from tests.invariants.strategies import CHUNKED, CO_LOCATED, KINDS, clusters, failing, pipelines
from tests.invariants.test_fast_equals_oracle import EXAMPLES, differing

SETTINGS = settings(
    max_examples=EXAMPLES or 40, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=not EXAMPLES
)
FEW_GAPS = 30
"""Rows of runs of gaps beyond which they are thinned."""


@st.composite
def designs(draw: st.DrawFn, kind: str) -> ClusterInputs:
    """With pipeline stages as often as without, and changes of availability now and then."""
    piped = kind in (*CO_LOCATED, CHUNKED) and draw(st.booleans())
    inputs = draw(pipelines(kind) if piped else clusters(kind))
    return draw(failing(inputs)) if draw(st.sampled_from([False, False, True])) else inputs


@st.composite
def loads(draw: st.DrawFn, inputs: ClusterInputs) -> ClusterInputs:
    """The same requests in another order, slower or faster, with other answers, another window and limits."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = len(inputs.arrival_ps)
    order = rng.permutation(count)
    outputs = np.maximum(inputs.output_tokens[order] // draw(st.sampled_from([1, 1, 2, 5])), 1)
    first = draw(st.integers(0, count))
    window = first, draw(st.integers(first, count))
    load = dataclasses.replace(
        inputs,
        arrival_ps=inputs.arrival_ps * draw(st.sampled_from([0, 1, 3])) // draw(st.sampled_from([1, 2])),
        prompt_tokens=inputs.prompt_tokens[order],
        output_tokens=outputs,
        cached_prompt_tokens=inputs.cached_prompt_tokens[order],
        max_output_tokens=inputs.max_output_tokens[order],
        window=window,
    )
    return dataclasses.replace(load, wait_limits=draw(wait_limits(load)))


@st.composite
def wait_limits(draw: st.DrawFn, load: ClusterInputs) -> tuple[WaitLimit, ...]:
    """None, one that ends the run at its first token or finish, or one that little more than the least may keep."""
    first, end = load.window
    if first == end or draw(st.booleans()):
        return ()
    limit_ps = np.full(end - first, draw(st.sampled_from([0, 10**6, 10**8])), np.int64)
    return (WaitLimit(draw(st.sampled_from(Wait)), limit_ps, draw(st.integers(0, 3))),)


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(data=st.data())
def test_runs_of_one_design_do_not_know_of_each_other(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(designs(kind))
    runs = [inputs, *data.draw(st.lists(loads(inputs), min_size=1, max_size=3)), inputs]
    with pytest.MonkeyPatch.context() as patched:
        make_room(patched, data.draw(st.sampled_from(["much", "little", "thinned"])))
        ours = [fast.run(each) for each in runs]
        for one, other in zip(ours, map(oracle.run, runs), strict=True):
            assert one.gave_up == other.gave_up
            if not one.gave_up:
                assert differing(one, other) == []
                assert (one.end_ps, one.busy_until_ps) == (other.end_ps, other.busy_until_ps)


def make_room(patched: pytest.MonkeyPatch, how: str) -> None:
    """``little``: so short that tables are enlarged; ``thinned``: and no more room for gaps than for a few."""
    if how != "much":
        for name, length in (("FIRST_SLOTS", 1), ("FIRST_GAPS", 0), ("FIRST_SECONDS", 1)):
            patched.setattr(room, name, length)
    if how == "thinned":
        patched.setattr(room, "most_runs", lambda memory: room.most_gaps(memory) + FEW_GAPS)
