"""The worked example for a pocket calculator (docs/worked-example.md): a design whose figures are round."""

from dataclasses import replace
from decimal import Decimal

from simcore.economics.assumptions import (
    Assumptions,
    Demand,
    Facility,
    MachineCost,
    Overheads,
    Ownership,
    Terms,
    TokenPrice,
)
from simcore.economics.cost_sheet import CostSheet, cost_sheet
from simcore.economics.physics import Physics, PoolPhysics

D = Decimal
DESIGN = Physics(
    "example",
    "1 DGX H100 for prefill, 3 DGX A100 for decoding",
    (
        PoolPhysics("prefill", "dgx-h100", 1, 8, D(10_000), prefill=D("0.5")),
        PoolPhysics("decode", "dgx-a100", 3, 24, D(18_000), decode=D("0.6")),
    ),
    rate_req_per_s=D(10),
    capacity_req_per_s=D(12),
    idle_w=D(6_000),
    mean_w=D(16_000),
    input_tokens=D(1000),
    cached_input_tokens=D(200),
    output_tokens=D(250),
    saturation_req_per_s=D(15),
)
START = "2027-01"
BY_THE_HOUR = Assumptions(
    (
        MachineCost("dgx-h100", D(36), D(30), D(22), D(300_000), D(12_000), ports=8),
        MachineCost("dgx-a100", D(28), D(20), D(15), D(120_000), ports=8),
    ),
    demand=Demand(START, 2),
)
BOUGHT = replace(
    BY_THE_HOUR,
    terms=Terms(base="owned"),
    ownership=Ownership(48, D("0.1")),
    facility=Facility(
        pue=D("1.25"), usd_per_kwh=D("0.08"), colocation_usd_per_kw_month=D(150), kg_co2e_per_kwh=D("0.4")
    ),
    overheads=Overheads(licence_usd_per_accelerator_year=D(4500), staff_usd_per_month=D(20_000)),
    annual_discount_rate=D("0.08"),
    demand=Demand(START, 48, duty_cycle=D("0.5")),
    api=TokenPrice(D("0.5"), D("1.5"), D("0.05")),
)
RESERVED = replace(
    BY_THE_HOUR,
    terms=Terms(base="reserved_1y", base_share=D("0.7"), upfront_share=D("0.5")),
    annual_discount_rate=D("0.08"),
    demand=Demand(START, 12),
)
WITH_FABRIC = replace(BOUGHT, ownership=replace(BOUGHT.ownership, fabric_usd_per_port=D(900)))
"""As bought, with a price of a port, which the document leaves out."""


def sheet(assumptions: Assumptions) -> CostSheet:
    return cost_sheet([DESIGN], DESIGN.rate_req_per_s, assumptions)
