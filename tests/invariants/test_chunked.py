"""A chunked mixed machine batches as Sarathi-Serve's does: where no decode can lack blocks, the runs are the same."""

from __future__ import annotations

import dataclasses

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from simcore.engine.oracle.cluster import run
from tests.invariants.strategies import clusters
from tests.invariants.test_fast_equals_oracle import differing

EXAMPLES = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


@EXAMPLES
@given(data=st.data())
def test_a_chunked_mixed_machine_runs_as_sarathi_does(data: st.DataObject) -> None:
    inputs = data.draw(clusters("sarathi"))
    assume(inputs.scheduler.reservation in ("full_output", "max_length"))
    calm = dataclasses.replace(inputs.scheduler, preempt_when_full=False)
    sarathi = dataclasses.replace(inputs, scheduler=calm, replicas=inputs.replicas[:1])
    policy = dataclasses.replace(calm, kind="splitwise", chunked=True)
    chunked = dataclasses.replace(sarathi, scheduler=policy)
    assert differing(run(chunked), run(sarathi)) == []
