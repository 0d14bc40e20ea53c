from decimal import Decimal

import pytest

from simcore.analyses import analyse, kind_of
from simcore.economics.physics import Physics
from simcore.spec import SpecError, decode
from tests.unit.simcore.analyses.subjects import MadeUp, subject

FOUND = {
    "mean_w": 61234.567891234, "saturation_req_per_s": 101.23456789123,
    "new_prompt_tokens": 1000.0, "cached_prompt_tokens": 0.0, "output_tokens": 200.5,
    "slo_attainment": 0.99123456789,
}  # fmt: skip
BUSY = {"prefill": 0.1, "decode": 0.0, "hybrid": 0.6}


class CostingLab(MadeUp):
    def costing(self, case, rate_req_per_s, capacity_req_per_s):
        self.asked = [*getattr(self, "asked", []), (rate_req_per_s, capacity_req_per_s)]
        pools = len(case.pools)
        return {
            **FOUND,
            "rate_req_per_s": rate_req_per_s,
            "busy": [BUSY] * pools,
            "prompt_share_of_mixed": [1 / 3] * pools,
        }


def test_figures_of_a_design_enter_with_nine_digits_and_come_back_from_json():
    asked, lab = subject(families=["sarathi:dgx-h100"]), CostingLab()
    row = asked.result.best_by_family[0]
    told = analyse("costing", asked, lab, {})
    (physics,) = (decode(Physics, step) for step in told["steps"])
    assert lab.asked == [(asked.result.spec.rate_req_per_s, row.capacity_req_per_s)]
    assert (told["design_id"], physics.design_id) == (row.design_id, row.design_id)
    assert physics.mean_w == Decimal("61234.5679")
    assert physics.saturation_req_per_s == Decimal("101.234568")
    assert physics.output_tokens == Decimal("200.5")
    assert physics.slo_attainment == Decimal("0.991234568")
    assert physics.capacity_low <= physics.capacity_req_per_s <= physics.capacity_high
    (mixed,) = physics.pools
    assert (mixed.prefill, mixed.hybrid_prefill, mixed.hybrid_decode) == (
        Decimal("0.1"),
        Decimal("0.2"),
        Decimal("0.4"),
    )
    assert mixed.accelerators == 8 * mixed.machines == 8 * row.mixed_machines
    assert physics.provisioned_kw == mixed.machines * Decimal("10.2")


def test_designs_that_follow_as_traffic_grows_are_each_looked_at():
    asked, lab = subject(families=["sarathi:dgx-h100"]), CostingLab()
    told = analyse("costing", asked, lab, {"growth_percent": 1.0, "months": 12})
    steps = [decode(Physics, step) for step in told["steps"]]
    assert [step.machines for step in steps] == [
        7,
        8,
    ]  # 70 requests/s at 10 a machine, 1 % more from the first month on
    assert [float(step.rate_req_per_s) for step in steps] == pytest.approx([70, 70.7])


def test_a_design_without_a_capacity_has_no_price():
    asked = subject(each=0.0)
    with pytest.raises(SpecError, match="there is nothing to put a price on"):
        kind_of("costing").task(asked, kind_of("costing").parameters())
