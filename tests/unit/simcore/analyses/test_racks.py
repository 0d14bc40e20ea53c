"""Racks and breakers, from made-up draws: each count can be worked out by hand."""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import pytest

from simcore.analyses import analyse, racks
from simcore.analyses.key import analysis_key
from simcore.spec import Case, SpecError
from tests.unit.simcore.analyses.subjects import MadeUp, subject

ONE_PHASE = {"volts": 230, "breaker_a": 100, "phases": 1, "power_factor": 1.0}
"""23 kW, of which 18.4 kW for hours."""
DRAWN = {
    "dgx-h100": [(8000, 8400), (15_000, 16_200), (22_000, 24_000), (29_000, 31_000)],
    "dgx-a100": [(4000, 4200), (7800, 8200), (11_500, 12_200), (15_200, 16_200)],
}
"""P99 and most of 1 s, of racks of 1, 2, 3, 4 machines."""


def drawn(case: Case, rate: float, most: Sequence[int]) -> list[dict[str, Any]]:
    assert rate == 70.0
    return [
        {
            "role": pool.role,
            "machine": pool.machine.id,
            "machines": pool.machines,
            "seconds": 96,
            "mean_w": 3000.0,
            "racks": [
                {"machines": size, "p99_w": p99, "most_w": top}
                for size, (p99, top) in enumerate(DRAWN[pool.machine.id][:size_most], 1)
            ],
        }
        for pool, size_most in zip(case.pools, most, strict=True)
    ]  # fmt: skip


def split_id() -> str:
    return next(row.design_id for row in subject().result.rows if row.scheduler == "splitwise")


def told(**parameters: Any) -> dict[str, Any]:
    """7 DGX H100 for prefill and 7 DGX A100 for decode."""
    given = {"design": split_id(), **ONE_PHASE, **parameters}
    return analyse("racks", subject(), MadeUp(rack_watts=drawn), given)


def test_what_a_feed_carries() -> None:
    assert racks.Parameters().usable_w == pytest.approx(sqrt(3) * 415 * 60 * 0.95 * 0.8)
    found = told()
    assert (found["rating_w"], found["usable_w"]) == (23_000, pytest.approx(18_400))


def test_machines_a_rack_by_each_figure_and_what_binds() -> None:
    prefill, decode = (pool["figures"] for pool in told()["pools"])
    # 18.4 kW: of 10.2 kW one; drawing, two (15.0 kW) but not three (22.0)
    assert prefill["nameplate"] == {"per_rack": 1, "by_breaker": 1, "binds": "breaker", "racks": 7}
    assert prefill["drawn"] == {"per_rack": 2, "by_breaker": 2, "binds": "breaker", "racks": 4}
    # of 6.5 kW two; drawing, four (15.2 kW), for which there is just space
    assert decode["nameplate"] == {"per_rack": 2, "by_breaker": 2, "binds": "breaker", "racks": 4}
    assert decode["drawn"] == {"per_rack": 4, "by_breaker": 4, "binds": "space", "racks": 2}
    assert (told()["racks"]["nameplate"], told()["racks"]["drawn"]) == (11, 6)


def test_no_second_may_trip_the_breaker() -> None:
    # the P99 of three, 22.0 kW, keeps to the whole rating of 23 kW; their worst second, 24.0 kW, does not
    assert told(continuous_share=1.0)["pools"][0]["figures"]["drawn"]["per_rack"] == 2


def test_a_power_limit_is_filled_by_each_figure() -> None:
    # 408 kW over 7 x (10.2 + 6.5) = 116.9 kW of nameplates, 14 machines; all draw 1.5 kW together at the rate
    site = told()["site"]
    assert site["machines"]["nameplate"] == 48
    assert site["machines"]["drawn"] == 3808
    assert "carries 48 machines of this mix by nameplate" in told()["sentences"][-1]


def test_a_cap_makes_room() -> None:
    # DGX H100: host 1,900 W and 8 x 700 W, fans 900 W at full speed; at 350 W of 700: 900 x (350 - idle)/(700 - idle)
    caps = told()["pools"][0]["caps"]
    full, half = caps[0], caps[-1]
    machine = next(p.machine for p in subject().result.designs[split_id()].case.pools)
    idle = machine.accelerator.idle_w
    assert full["machine_w"] == machine.host_w + 8 * 700 + machine.fans_w
    assert half["machine_w"] == pytest.approx(machine.host_w + 8 * 350 + machine.fans_w * (350 - idle) / (700 - idle))
    assert half["by_breaker"] == int(18_400 // half["machine_w"])


def test_a_feed_too_small_for_any_says_so() -> None:
    found = told(breaker_a=10)
    assert found["racks"]["nameplate"] is None
    assert "Not one of these machines fits this feed: it needs a larger breaker." in found["sentences"]


def test_feeds_are_not_in_the_key() -> None:
    tasks = [racks.task(subject(), racks.Parameters(breaker_a=amperes)) for amperes in (30, 60)]
    assert len({analysis_key("racks", task, "requests", "code") for task in tasks}) == 1


@pytest.mark.parametrize("bad", [{"phases": 2}, {"volts": 0}, {"continuous_share": 1.2}, {"power_factor": 0}])
def test_odd_feeds_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match=f"parameters.{next(iter(bad))}"):
        told(**bad)
