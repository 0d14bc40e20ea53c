"""A split design whose figures a pocket calculator can take: 4 machines of 8 accelerators."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from simcore.economics.assumptions import (
    Assumptions,
    Demand,
    Facility,
    MachineCost,
    Overheads,
    Ownership,
    Terms,
)
from simcore.economics.physics import Physics, PoolPhysics

D = Decimal
PREFILL = PoolPhysics("prefill", "dgx-h100", 1, 8, D(10_000), prefill=D("0.5"))
DECODE = PoolPhysics("decode", "dgx-a100", 3, 24, D(18_000), decode=D("0.6"))
PHYSICS = Physics(
    "split-1-3", "Splitwise, 1 DGX H100 and 3 DGX A100", (PREFILL, DECODE),
    rate_req_per_s=D(10), capacity_req_per_s=D(12), idle_w=D(6_000), mean_w=D(16_000),
    input_tokens=D(1000), cached_input_tokens=D(200), output_tokens=D(250), saturation_req_per_s=D(15),
)  # fmt: skip
LARGER = replace(
    PHYSICS, design_id="split-2-5", capacity_req_per_s=D(24),
    pools=(replace(PREFILL, machines=2, accelerators=16, provisioned_w=D(20_000)),
           replace(DECODE, machines=5, accelerators=40, provisioned_w=D(30_000))),
)  # fmt: skip
H100 = MachineCost(
    "dgx-h100", D(36), D(30), D(22), D(300_000), D(12_000), ports=8, row="prices/list/dgx-h100"
)  # fmt: skip
A100 = MachineCost("dgx-a100", D(28), D(20), D(15), capex_usd=D(120_000), ports=8, row="prices/list/dgx-a100")


def assumed(**parts: Any) -> Assumptions:
    """Machines by the hour and nothing else, but for what is given."""
    return replace(Assumptions((H100, A100)), **parts)


def owned(**owner: Any) -> Assumptions:
    """All machines bought, a site with power, colocation, licences and staff."""
    return assumed(
        terms=Terms(base="owned"),
        ownership=Ownership(**{"life_months": 48, "residual_share": D("0.1"), **owner}),
        facility=Facility(pue=D("1.25"), usd_per_kwh=D("0.08"), colocation_usd_per_kw_month=D(150)),
        overheads=Overheads(licence_usd_per_accelerator_year=D(4500), staff_usd_per_month=D(20_000)),
        annual_discount_rate=D("0.08"),
    )


def over(months: int, **demand: Any) -> Demand:
    return Demand("2027-01", months, **demand)
