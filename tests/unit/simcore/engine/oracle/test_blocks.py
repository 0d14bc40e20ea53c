"""How much KV a request holds where some layers keep a window only."""

from __future__ import annotations

from typing import Any

import pytest

from simcore.engine.oracle.blocks import blocks_of, held_tokens
from simcore.engine.oracle.cluster import run
from simcore.engine.outputs import FINISHED, REFUSED
from tests.clusters import NS, cluster, in_ns, replica, scheduler

HALF_WINDOWED: dict[str, Any] = {"full_layers": 2, "windowed_layers": 2, "window_tokens": 100}
ALL_WINDOWED: dict[str, Any] = {"full_layers": 0, "windowed_layers": 3, "window_tokens": 100}


@pytest.mark.parametrize(
    ("tokens", "half", "every"), [(1, 1, 1), (100, 100, 100), (101, 101, 100), (102, 101, 100), (1000, 550, 100)]
)
def test_held_tokens_by_hand(tokens: int, half: int, every: int) -> None:
    assert held_tokens(tokens, scheduler("vllm")) == tokens
    assert held_tokens(tokens, scheduler("vllm", **HALF_WINDOWED)) == half
    assert held_tokens(tokens, scheduler("vllm", **ALL_WINDOWED)) == every


def test_blocks_are_those_of_the_weighted_count() -> None:
    """ceil((full t + windowed min(t, W)) / (layers x block tokens)): rounding twice changes nothing."""
    policy = scheduler("vllm", full_layers=18, windowed_layers=18, window_tokens=128)
    for tokens in range(1, 3000):
        assert blocks_of(tokens, policy) == -(-(18 * tokens + 18 * min(tokens, 128)) // (36 * 16))


def test_what_fits_only_with_windows_is_served() -> None:
    """1,000 tokens hold 550 of all layers: 35 blocks of 16 are enough, 34 are not."""
    policy = scheduler("vllm", **HALF_WINDOWED)
    status = [
        int(run(cluster(policy, [(0, 999, 1)], [replica(kv_blocks=blocks)])).requests.status[0]) for blocks in (34, 35)
    ]
    assert status == [REFUSED, FINISHED]
    dense = run(cluster(scheduler("vllm"), [(0, 999, 1)], [replica(kv_blocks=35)]))
    assert int(dense.requests.status[0]) == REFUSED


@pytest.mark.parametrize(("layers", "sent"), [({}, 1000), (HALF_WINDOWED, 550), (ALL_WINDOWED, 100)])
def test_a_transfer_sends_what_is_held(layers: dict[str, Any], sent: int) -> None:
    """1 ns a token sent: prompt 1,000 ns, then the transfer, then one decode of 100 ns."""
    policy = scheduler("splitwise", **layers)
    pools = [replica("prefill", transfer_ps_per_token=NS), replica("decode", transfer_ps_per_token=NS)]
    result = run(cluster(policy, [(0, 1000, 2)], pools))
    assert in_ns(result.requests.finish_ps) == [1000 + sent + 100]
    assert in_ns(result.replicas.nic_busy_ps) == [sent, sent]
