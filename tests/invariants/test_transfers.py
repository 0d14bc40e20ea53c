"""What holds of every KV transfer: the statements of docs/invariants.md that need to see what is sent when."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from simcore.engine.inputs import ClusterInputs
from simcore.engine.oracle import chunkwise, transfer
from simcore.engine.oracle.availability import DOWN
from simcore.engine.oracle.blocks import held_tokens
from simcore.engine.oracle.cluster import run
from simcore.engine.oracle.state import Cluster, Request
from tests.invariants.strategies import CHUNKED, clusters, failing_clusters
from tests.invariants.watching import in_flight, instants

EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


@dataclass(frozen=True)
class Sent:
    """One thing that took up two NICs."""

    request: int
    source: int
    destination: int
    tokens: int
    start_ps: int
    end_ps: int


@contextmanager
def watched_sends() -> Iterator[list[Sent]]:
    """All that the oracle sends meanwhile, in the order in which it is decided."""
    sends: list[Sent] = []
    send = transfer.send

    def watched(cluster: Cluster, request: Request, tokens: int, ready_ps: int, not_before_ps: int) -> int:
        source, destination = transfer.ends(cluster, request)
        before = source.counters.nic_busy_ps
        end = send(cluster, request, tokens, ready_ps, not_before_ps)
        start = end - (source.counters.nic_busy_ps - before)
        sends.append(Sent(request.index, source.index, destination.index, tokens, start, end))
        return end

    with patch.object(transfer, "send", watched), patch.object(chunkwise, "send", watched):
        yield sends


def chunk_ends(inputs: ClusterInputs) -> dict[int, list[int]]:
    """When the iterations with a chunk of each request end, in order."""
    ends: dict[int, list[int]] = defaultdict(list)
    seen = set()
    kept = []
    for _, cluster in instants(inputs):
        for _, batch in in_flight(cluster):
            if id(batch) in seen:
                continue
            seen.add(id(batch))
            kept.append(batch)  # so that no other gets its id
            for request, new in zip(batch.members, batch.new_tokens, strict=True):
                if new:
                    ends[request.index].append(batch.end_ps)
    return ends


@pytest.mark.parametrize("kind", ["splitwise", CHUNKED])
@EXAMPLES
@given(data=st.data())
def test_a_nic_carries_one_thing_at_a_time(kind: str, data: st.DataObject) -> None:
    """A replica that goes down forgets what it had planned to send."""
    inputs = data.draw(failing_clusters(kind))
    assume(inputs.transfer.contention)
    with watched_sends() as sends:
        result = run(inputs)
    for index, replica in enumerate(inputs.replicas):
        here = [(s.start_ps, s.end_ps) for s in sends if index in (s.source, s.destination)]
        assert sum(end - start for start, end in here) == result.replicas.nic_busy_ps[index]
        if not any(state in DOWN for _, state in replica.availability):
            assert all(one[1] <= other[0] for one, other in itertools.pairwise(sorted(here)))


@EXAMPLES
@given(data=st.data())
def test_a_chunk_s_kv_is_sent_after_the_chunk_and_all_of_the_prompt_is_sent(data: st.DataObject) -> None:
    inputs = data.draw(clusters(CHUNKED))
    with watched_sends() as sends:
        ends = chunk_ends(inputs)
    by_request: dict[int, list[Sent]] = defaultdict(list)
    for sent in sends:
        by_request[sent.request].append(sent)
    for request, parts in by_request.items():
        # one part for each chunk, or all of them at the end
        assert len(parts) in (1, len(ends[request]))
        ready = ends[request] if len(parts) > 1 else ends[request][-1:]
        assert all(part.start_ps >= end for part, end in zip(parts, ready, strict=True))
        assert all(one.end_ps <= other.start_ps for one, other in itertools.pairwise(parts))
        assert sum(part.tokens for part in parts) == held_tokens(int(inputs.prompt_tokens[request]), inputs.scheduler)
