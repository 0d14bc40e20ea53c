"""Rows of designs for tests of pages and figures."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from simcore.rows import DesignRow

SPLIT = "splitwise:dgx-h100+dgx-a100"
SARATHI = "sarathi:dgx-h100"


def row(design_id: str, capacity: float | None = 70.0, usd_per_hour: str = "100", **changes: Any) -> DesignRow:
    usd = Decimal(usd_per_hour)
    plain = DesignRow(
        design_id=design_id,
        label=f"design {design_id}",
        family=SARATHI,
        scheduler="sarathi",
        prefill_machine=None,
        prefill_machines=None,
        decode_machine=None,
        decode_machines=None,
        mixed_machine="dgx-h100",
        mixed_machines=3,
        tensor_parallel=8,
        pipeline_parallel=1,
        token_budget=512,
        decode_tensor_parallel=None,
        decode_pipeline_parallel=None,
        capacity_req_per_s=capacity,
        capacity_low=None if capacity is None else capacity * 0.98,
        capacity_high=None if capacity is None else capacity * 1.01,
        met=capacity is not None and capacity >= 70,
        binding_limit="tbt_slowdown_p90",
        binding_pool="mixed",
        usd_per_hour=usd,
        nameplate_w=30_600.0,
        provisioned_w=25_000.0,
        mean_w=None if capacity is None else 18_123.456,
        p99_w=None if capacity is None else 22_000.0,
        req_per_usd=None if capacity is None else 3600 * capacity / float(usd),
        req_per_s_per_kw=None if capacity is None else capacity / 25,
        on_cost_frontier=False,
        cost_dominated_by=None,
        on_power_frontier=False,
        power_dominated_by=None,
        status="evaluated",
        reason="",
    )
    return replace(plain, **changes)


def infeasible(design_id: str, reason: str, **changes: Any) -> DesignRow:
    return row(design_id, None, status="infeasible", reason=reason, binding_limit=None, binding_pool=None, **changes)
