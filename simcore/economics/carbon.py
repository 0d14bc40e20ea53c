"""Energy and carbon of a period, beside the money."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from simcore.economics.assumptions import Facility
from simcore.economics.physics import Physics
from simcore.economics.rounding import nine_digits


@dataclass(frozen=True)
class Energy:
    """All machines of the design, whoever pays for their electricity."""

    it_kwh: Decimal
    facility_kwh: Decimal
    kg_co2e: Decimal | None
    """None: no factor was given."""
    carbon_source: str


def energy(physics: Physics, mean_req_per_s: Decimal, hours: int, facility: Facility) -> Energy:
    """IT: watts at the mean rate × hours. Facility: × PUE. Carbon: facility kWh × the one factor, nine digits each."""
    it = nine_digits(physics.drawn_kw(mean_req_per_s) * hours)
    site = nine_digits(it * facility.pue)
    factor = facility.kg_co2e_per_kwh
    return Energy(it, site, None if factor is None else nine_digits(site * factor), facility.carbon_source)
