"""Growth, from designs that hold 10 requests/s a machine: every month can be worked out by hand."""

from math import log
from typing import Any

import pytest

from simcore.analyses import analyse
from simcore.spec import SpecError
from tests.unit.simcore.analyses.subjects import MadeUp, subject

COUNTS = {"mixed": [7, 8, 10, 12, 14], "prefill": [7], "decode": [7]}


def told(changes: dict[str, Any] | None = None, **parameters: Any) -> dict[str, Any]:
    asked = subject(**{"counts": COUNTS, "limits": {}, **(changes or {})})
    return analyse("growth", asked, MadeUp(), {"growth_percent": 10, "months": 12, **parameters})


def bought(found: dict[str, Any]) -> list[tuple[int, Any]]:
    return [(step["month"], step.get("buy")) for step in found["purchases"]]


def test_the_next_purchase_is_the_cheapest_that_holds_that_month() -> None:
    # 70 x 1.1^n: 77, 84.7, 93.2, 102.5, 112.7, 124.0, 136.4, 150.1 in months 1 to 8; 7 machines hold 70
    found = told()
    assert bought(found) == [
        (0, {"DGX H100": 7}),
        (1, {"DGX H100": 1}),
        (2, {"DGX H100": 2}),
        (4, {"DGX H100": 2}),
        (6, {"DGX H100": 2}),
        (8, None),
    ]
    # 10 machines at $36 an hour, 730 h a month; they last ln(100 / 70) / ln 1.1 months
    third = found["purchases"][2]
    assert (third["usd_per_month"], third["more_usd_per_month"]) == ("262800.00", "52560.00")
    assert third["lasts_to_month"] == pytest.approx(log(100 / 70) / log(1.1))
    assert found["purchases"][-1]["why"] == "no design that was tried holds it with the machines that are there"


def test_what_is_outgrown_first_has_its_interval() -> None:
    latency = told()["breaks"][0]
    assert (latency["kind"], latency["rate_req_per_s"], latency["month"]) == ("latency", 70.0, 0.0)
    assert latency["month_high"] == pytest.approx(log(latency["rate_high"] / 70) / log(1.1))
    assert latency["month_low"] == 0.0  # its low end is below the rate already


def test_a_limit_breaks_above_the_most_that_holds_within_it() -> None:
    # 102 kW: 10 DGX H100 of 10.2 kW, 100 requests/s
    found = told({"limits": {"power_limit_kw": 102}})
    power = found["breaks"][1]
    assert (power["kind"], power["rate_req_per_s"], power["reached"]) == ("power", 100.0, True)
    assert power["month"] == pytest.approx(log(100 / 70) / log(1.1))
    assert bought(found)[-1] == (4, None)
    assert found["purchases"][-1]["why"] == (
        "the cheapest that holds it, Sarathi on 12 DGX H100, 512-token budget, needs 20.4 kW more nameplate power"
    )
    assert any("the power limit, 102 kW nameplate is reached first: in month 4" in text for text in found["sentences"])


def test_each_limit_has_its_month() -> None:
    limits = {"usd_per_month": 320_000, "machines": 14, "power_limit_kw": 1000}
    machines = [{"machine": "dgx-h100", "on_hand": 8}, {"machine": "dgx-a100"}]
    found = told({"limits": limits, "machines": machines})
    months = {one["kind"]: one["rate_req_per_s"] if one["reached"] else None for one in found["breaks"][1:]}
    # $26,280 a machine a month: 12; all 14 machines, which fill their limit; 8 on hand
    assert months == {"power": None, "budget": 120.0, "machines": 140.0, "on_hand": 80.0}
    assert "Not reached by any design that was tried: the power limit, 1,000 kW nameplate." in found["sentences"]


def test_what_is_there_is_kept() -> None:
    # from the split design: only designs with its 7 DGX H100 and 7 DGX A100 follow, and none is larger
    asked = subject(counts=COUNTS, limits={})
    split = next(row for row in asked.result.rows if row.scheduler == "splitwise")
    found = analyse("growth", asked, MadeUp(), {"growth_percent": 10, "design": split.design_id})
    assert bought(found) == [(0, {"DGX H100": 7, "DGX A100": 7}), (1, None)]


def test_the_growth_is_the_workloads_where_it_has_one() -> None:
    mix = {"mix": "conversation", "rate_req_per_s": 70, "requests": 500, "seed": 1}
    found = told({"workload": {"synthetic": {**mix, "growth_per_month": 0.02}}}, growth_percent=None)
    assert found["growth_percent"] == 2.0
    of_a_trace = told({"workload": {"synthetic": mix, "growth_per_month": 0.03}}, growth_percent=None)
    assert of_a_trace["growth_percent"] == 3.0
    assert "the question’s growth_per_month" in [one["source"] for one in of_a_trace["assumptions"]]
    assert told({"workload": {"synthetic": mix}}, growth_percent=None)["growth_percent"] == 5.0


def test_a_workload_that_shrinks_is_said_to() -> None:
    mix = {"mix": "conversation", "rate_req_per_s": 70, "requests": 500, "seed": 1, "growth_per_month": -0.02}
    found = told({"workload": {"synthetic": mix}}, growth_percent=None)
    assert "itself does not grow (-2 % a month); set yours" in found["assumptions"][0]["source"]


def test_without_growth_there_is_nothing_to_say() -> None:
    with pytest.raises(SpecError, match=r"parameters\.growth_percent: found 0, expected more than 0"):
        told(growth_percent=0)
    with pytest.raises(SpecError, match="nothing to grow from"):
        analyse("growth", subject(each=0.0), MadeUp(), {})


def test_sized_to_the_lower_bound_each_purchase_holds_its_month_there_too() -> None:
    asked = subject(counts=COUNTS, limits={}, size_to="lower_bound")
    found = analyse("growth", asked, MadeUp(), {"growth_percent": 10, "months": 12})
    low = {row.label: row.capacity_low or 0.0 for row in asked.result.rows}
    steps = [step for step in found["purchases"][1:] if step["design"]]
    assert steps
    assert all(low[step["design"]] >= step["rate_req_per_s"] for step in steps)
    assert steps != told()["purchases"][1:]
