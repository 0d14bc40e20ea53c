"""Addresses on the finance page: of a view, a month, a file, of the row that a figure is from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template
from django.urls import reverse
from django.utils.http import urlencode

if TYPE_CHECKING:
    from planner.finance.formulas import Formula
    from planner.finance.page import FinancePage
    from simcore.economics.lines import CostLine

register = template.Library()


@register.simple_tag
def finance_address(page: FinancePage, **changes: str) -> str:
    """The same page with another view or month."""
    return f"?{urlencode({**page.address, **changes})}"


@register.simple_tag
def finance_export(page: FinancePage, name: str, kind: str) -> str:
    address = reverse("finance:export", args=[page.costs.study.pk, name, kind])
    return f"{address}?{urlencode({**page.address, 'set': page.costs.set_name})}"


@register.filter
def sources(row: CostLine | Formula, page: FinancePage) -> list[tuple[str, str]]:
    """Where the numbers of a figure stand: a price in its book, a quote or an assumption on the page."""
    return [found for name in dict.fromkeys(row.rows) if (found := _source(name, page))]


def _source(row: str, page: FinancePage) -> tuple[str, str] | None:
    if row.startswith("#"):
        return row, "lines" if row == "#lines-title" else "figures"
    if row.startswith("assumptions."):
        return f"#{page.form.anchor(row.removeprefix('assumptions.'))}", "assumption"
    book, _, rest = row.partition("/")
    if rest.startswith("quotes/"):
        return f"#quote-{rest.removeprefix('quotes/')}", "quote"
    if page.is_guest_view:
        return f"#{page.form.anchor(f'machines.{rest}.on_demand_usd_per_hour')}", "price"
    return f"{reverse('catalogue:price_book', args=[book])}#price-{rest}", "price"
