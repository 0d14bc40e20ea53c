"""What machines take of a question's limits, each limit alone."""

from typing import Any

import pytest

from simcore.study import context, load_trace
from simcore.within import machines_within
from tests.unit.simcore.questions import MACHINES, question


def within(choices: list[dict[str, Any]] | None = None, /, **limits: Any) -> bool | None:
    """Twelve DGX H100: 122.4 kW nameplate."""
    offered = choices or [{"machine": machine} for machine in MACHINES]
    spec = question(counts={"mixed": [12]}, families=["sarathi:dgx-h100"], limits=limits, machines=offered)
    return machines_within(context(spec, load_trace(spec)).design(0).case, spec)


@pytest.mark.parametrize(
    ("limits", "keeps"),
    [
        ({}, True),
        ({"machines": 12}, True),
        ({"machines": 11}, False),
        ({"power_limit_kw": 122.4}, True),
        ({"power_limit_kw": 122.3}, False),
        ({"power_limit_kw": 1, "power_kind": "drawn_mean"}, None),
        ({"power_limit_kw": 1, "power_kind": "drawn_mean", "machines": 11}, False),
        ({"racks": 3}, True),
        ({"racks": 2}, False),
        ({"usd_per_month": 1}, True),
    ],
)
def test_a_limit_is_kept_or_not(limits: dict[str, Any], keeps: bool | None) -> None:
    assert within(**limits) is keeps


def test_machines_on_hand_are_a_limit_too() -> None:
    assert within([{"machine": "dgx-h100", "on_hand": 12}]) is True
    assert within([{"machine": "dgx-h100", "on_hand": 11}]) is False
