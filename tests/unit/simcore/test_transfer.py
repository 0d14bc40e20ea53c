"""KV transfer times against Splitwise's figures."""

from __future__ import annotations

from simcore.transfer import PS_PER_S, ps_per_token, replica_nic_bytes_per_s


def test_splitwise_sims_example() -> None:
    """2048 tokens of BLOOM at 200 GiB/s take 38.28 ms."""
    assert round(2048 * ps_per_token(4_014_080, 200 * 2**30) / PS_PER_S * 1e3, 2) == 38.28


def test_a_replica_sends_over_all_its_nics() -> None:
    assert replica_nic_bytes_per_s(25e9, 8, 1) == 200e9
    assert replica_nic_bytes_per_s(25e9, 4, 2) == 200e9


def test_a_token_takes_at_least_a_picosecond() -> None:
    assert ps_per_token(1, 1e15) == 1
    assert ps_per_token(4_014_080, 400e9) == 10_035_200
