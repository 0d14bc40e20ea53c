from dataclasses import replace
from decimal import Decimal

import pytest

from simcore.analyses import Subject, analyse, kind_of
from simcore.economics.physics import Physics
from simcore.evaluation import PoolResult
from simcore.spec import SpecError, decode
from tests.unit.simcore.analyses.subjects import MadeUp, subject

FOUND = {
    "rate_req_per_s": 70.0, "prompt_share_of_mixed": [1 / 3], "saturation_req_per_s": 101.23456789123,
    "new_prompt_tokens": 1000.0, "cached_prompt_tokens": 0.0, "output_tokens": 200.5,
}  # fmt: skip


class CostingLab(MadeUp):
    def costing(self, case, rate_req_per_s, capacity_req_per_s):
        self.asked = (rate_req_per_s, capacity_req_per_s)
        return {**FOUND, "prompt_share_of_mixed": FOUND["prompt_share_of_mixed"] * len(case.pools)}


def test_figures_of_a_design_enter_with_nine_digits_and_come_back_from_json():
    asked, lab = subject(families=["sarathi:dgx-h100"]), CostingLab()
    row = asked.result.best_by_family[0]
    _with_pools(asked, row.design_id)
    told = analyse("costing", asked, lab, {"design": row.design_id})
    physics = decode(Physics, told["physics"])
    assert lab.asked == (asked.result.spec.rate_req_per_s, row.capacity_req_per_s)
    assert [pool.machine for pool in physics.pools] == ["dgx-h100"] * len(physics.pools)
    mixed = physics.pools[0]
    assert (mixed.hybrid_prefill, mixed.hybrid_decode) == (Decimal("0.2"), Decimal("0.4"))
    assert mixed.accelerators == 8 * mixed.machines
    assert physics.saturation_req_per_s == Decimal("101.234568")
    assert physics.output_tokens == Decimal("200.5")
    assert physics.design_id == row.design_id
    assert physics.capacity_req_per_s == Decimal(str(row.capacity_req_per_s))


def test_a_design_without_a_capacity_has_no_price():
    asked = subject(each=0.0)
    with pytest.raises(SpecError, match="there is nothing to put a price on"):
        kind_of("costing").task(asked, kind_of("costing").parameters())


def _with_pools(asked: Subject, design_id: str) -> None:
    """The design's run at the rate, with its pools' use."""
    found = asked.result.evaluations[design_id]
    pools = tuple(
        PoolResult(pool.role, "dgx-h100", pool.machines, pool.machines, 0.7, 0.1, 0.0, 0.6, 0.3, 0, 0.2, 0.2, 0.5, 0.0)
        for pool in asked.result.designs[design_id].case.pools
    )
    asked.result.evaluations[design_id] = replace(found, at_required=replace(found.at_required, pools=pools))
