from decimal import Decimal

import pytest

from simcore.economics.energy import energy_usd_per_hour
from simcore.economics.tokens import OUTPUT_IN_INPUTS, usd_per_million_tokens


@pytest.mark.parametrize(("inputs", "outputs"), [(1000.0, 200.0), (5.0, 0.0), (0.0, 12.0)])
def test_both_prices_together_pay_for_all_machines(inputs, outputs):
    of_input, of_output = usd_per_million_tokens(Decimal("360"), inputs, outputs)
    assert (of_input * inputs + of_output * outputs) * 3600 / 1e6 == pytest.approx(360)
    assert of_output == OUTPUT_IN_INPUTS * of_input


def test_where_no_token_is_served_there_is_no_price():
    assert usd_per_million_tokens(Decimal(1), 0.0, 0.0) == (0.0, 0.0)


def test_energy_is_kilowatts_at_the_facility_times_the_tariff():
    assert energy_usd_per_hour(100_000.0, 1.25, Decimal("0.08")) == Decimal("10.000000")
