"""cached_prompt_tokens and max_output_tokens in every kind, with and without failures (docs/invariants.md)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from simcore.engine.inputs import ClusterInputs
from simcore.engine.oracle.blocks import blocks_of
from simcore.engine.oracle.cluster import run
from simcore.engine.oracle.state import MicroBatch, Replica, Request
from simcore.engine.oracle.tokens import is_finished
from simcore.engine.outputs import FINISHED, NEVER
from tests.invariants.admission import EXAMPLES
from tests.invariants.strategies import KINDS, clusters, failing_clusters
from tests.invariants.watching import in_flight, instants


def formed(inputs: ClusterInputs) -> Iterator[tuple[Replica, MicroBatch]]:
    """Every micro-batch, at the end of the instant in which it was formed: nothing of it is done yet."""
    known: list[MicroBatch] = []
    for _, cluster in instants(inputs):
        flying = in_flight(cluster)
        yield from ((replica, batch) for replica, batch in flying if not any(batch is other for other in known))
        known = [batch for _, batch in flying]


def chunks(inputs: ClusterInputs) -> dict[int, list[tuple[Request, int, int]]]:
    """By request, in the order of time: where each of its chunks starts and how long it is."""
    found: dict[int, list[tuple[Request, int, int]]] = {}
    for _, batch in formed(inputs):
        for request, new in zip(batch.members, batch.new_tokens, strict=True):
            if new:
                found.setdefault(request.index, []).append((request, request.done_tokens, new))
    return found


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_cached_tokens_are_never_prefilled(kind: str, data: st.DataObject) -> None:
    inputs = data.draw(st.one_of(clusters(kind), failing_clusters(kind)))
    for index, made in chunks(inputs).items():
        cached = int(inputs.cached_prompt_tokens[index])
        ends = [start + new for _, start, new in made]
        starts = [start for _, start, _ in made]
        assert starts[0] == cached
        assert all(start in (cached, end) for start, end in zip(starts[1:], ends, strict=False))
        request = made[0][0]
        if request.status == FINISHED:
            assert ends[-1] == request.target_tokens
            assert starts.count(cached) <= 1 + request.preemptions


def limited(request: Request, inputs: ClusterInputs) -> int:
    """Blocks for the prompt and as many tokens as it may generate."""
    return blocks_of(request.prompt_tokens + int(inputs.max_output_tokens[request.index]), inputs.scheduler)


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_a_reservation_counts_the_limit(kind: str, data: st.DataObject) -> None:
    """Whoever decodes has room for its limit, and with full_output where it prefills too, if it decodes there."""
    inputs = data.draw(clusters(kind, limits=True))
    assume(inputs.scheduler.reservation in ("full_output", "output_at_decode"))
    for replica, batch in formed(inputs):
        for request, new in zip(batch.members, batch.new_tokens, strict=True):
            at_once = inputs.scheduler.reservation == "full_output" and request.decode_replica == replica.index
            if not is_finished(request) and (at_once or not new):
                assert request.blocks >= limited(request, inputs)


@pytest.mark.parametrize("kind", KINDS)
@EXAMPLES
@given(data=st.data())
def test_no_rule_reads_output_tokens_early_under_failures(kind: str, data: st.DataObject) -> None:
    """As without failures; a transfer that is begun before its prompt has ended knows whether the last token is next,
    so that only transfers of whole prompts are asked here."""
    drawn = data.draw(failing_clusters(kind, limits=True))
    inputs = dataclasses.replace(drawn, transfer=dataclasses.replace(drawn.transfer, mode="serialized"))
    longer = data.draw(st.integers(0, len(inputs.arrival_ps) - 1))
    assume(2 <= inputs.output_tokens[longer] < inputs.max_output_tokens[longer])
    outputs = inputs.output_tokens.copy()
    outputs[longer] = inputs.max_output_tokens[longer]
    before, after = run(inputs).requests, run(dataclasses.replace(inputs, output_tokens=outputs)).requests
    until = before.finish_ps[longer] if before.finish_ps[longer] != NEVER else np.iinfo(np.int64).max
    settled = (before.first_token_ps != NEVER) & (before.first_token_ps < until)
    assert (before.first_token_ps[settled] == after.first_token_ps[settled]).all()
    settled = (before.finish_ps != NEVER) & (before.finish_ps < until)
    assert (before.finish_ps[settled] == after.finish_ps[settled]).all()
    assert ((after.finish_ps[~settled] == NEVER) | (after.finish_ps[~settled] >= until)).all()
