"""A forecast in the columns of FOCUS 1.2 (docs/exports.md): a row a month and kind of token, and one for idle.

It is no bill: BilledCost and InvoiceId are left out, and ``x_IsForecast`` says so in every row. Of the columns that
FOCUS 1.2 makes mandatory all others are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from planner.finance.costs import Costs
from planner.finance.tables import CURRENCY, KEYS, Row, Table, by_month, keyed, line_interval
from simcore.economics.interval import summed
from simcore.economics.lines import View
from simcore.economics.rounding import nine_digits
from simcore.economics.tokens import MILLION
from simcore.economics.unit_cost import UnitCost

FOCUS_VERSION = "1.2"
SERVICE_CATEGORY = "AI and Machine Learning"
ISSUER = "Phaseplan forecast"
STANDARD = (
    *("BillingCurrency", "BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart", "ChargePeriodEnd"),
    *("ChargeCategory", "ChargeDescription", "ServiceCategory", "ServiceName", "SkuId", "PricingQuantity"),
    *("PricingUnit", "ListCost", "ContractedCost", "EffectiveCost", "ConsumedQuantity", "ConsumedUnit", "Tags"),
    *("BillingAccountId", "BillingAccountName", "ChargeClass", "ChargeFrequency", "InvoiceIssuerName"),
    *("ProviderName", "PublisherName"),
)
OWN = ("x_IsForecast", "x_CostPerMillionTokens", "x_CostAllocationMethod", "x_View", "x_FocusVersion")
OF_KEYS = tuple(f"x_{name.title().replace('_', '')}" for name in KEYS)
OF_MEASURES = ("x_LowCost", "x_BaseCost", "x_HighCost", "x_SloAttainment", "x_Headroom")


@dataclass(frozen=True)
class FocusTable(Table):
    """With ``x_`` columns last."""

    @property
    def header(self) -> tuple[str, ...]:
        return (*STANDARD, *OWN, *OF_KEYS, *OF_MEASURES)

    def cells(self, costs: Costs, view: View) -> Iterator[list[Any]]:
        keys = list(keyed(costs).values())
        return ([*row.cells, *keys, *row.measures] for row in self.rows(costs, view))


def _rows(costs: Costs, view: View) -> Iterator[Row]:
    """ListCost is what the same would cost at the quotes' prices before discount; ContractedCost and EffectiveCost are
    the view's."""
    team = costs.study.team
    account = [f"team-{team.pk}", team.name, None, "Usage-Based", ISSUER, ISSUER, ISSUER]
    title = costs.study.revision.title
    before = [_used(found) for *_, found in by_month(costs, costs.list_sheet.lines(view))]
    for place, (need, hours, lines, found) in enumerate(by_month(costs, costs.lines(view))):
        one, listed = _used(found), before[place]
        whole = summed(line_interval(costs, line) for line in lines)
        head = [CURRENCY, *(need.month.start, need.month.end) * 2, "Usage"]
        own = ["true", one.allocation, view, FOCUS_VERSION]
        for token, of_list in zip(one.tokens, listed.tokens, strict=True):
            name = f"{token.kind.replace('_', ' ').capitalize()} tokens"
            cells = [
                *head, name, SERVICE_CATEGORY, title, f"{token.kind}-tokens", token.tokens / MILLION, "1000000 Tokens",
                of_list.usd, token.usd, token.usd, token.tokens, "Tokens", "{}", *account,
                own[0], token.usd_per_million, *own[1:],
            ]  # fmt: skip
            yield Row(cells, whole.part(token.usd), need)
        idle = 1 - min(one.req_per_s / need.physics.capacity_req_per_s, Decimal(1))
        cells = [
            *head, "Idle capacity", SERVICE_CATEGORY, title, "idle", nine_digits(hours * one.accelerators * idle),
            "Hours", listed.idle_usd, one.idle_usd, one.idle_usd, None, None, "{}", *account,
            own[0], None, *own[1:],
        ]  # fmt: skip
        yield Row(cells, whole.part(one.idle_usd), need)


def _used(found: list[UnitCost]) -> UnitCost:
    return next(one for one in found if one.load == "duty_cycle")


FOCUS = FocusTable((*STANDARD, *OWN), _rows)
