"""What electricity costs, where it is paid beside the machines."""

from __future__ import annotations

from decimal import Decimal

SMALLEST = Decimal("0.000001")


def energy_usd_per_hour(mean_w: float, pue: float, usd_per_kwh: Decimal) -> Decimal:
    """What the site pays an hour for machines that draw ``mean_w`` on average: kW × PUE × the tariff, USD, to a
    millionth."""
    return (Decimal(repr(mean_w * pue / 1000)) * usd_per_kwh).quantize(SMALLEST)
