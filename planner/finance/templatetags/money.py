"""Addresses on the finance page: of a view, a month, a file, of the row that a figure is from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template
from django.urls import reverse
from django.utils.http import urlencode

if TYPE_CHECKING:
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
def sources(line: CostLine, page: FinancePage) -> list[tuple[str, str]]:
    """Where the numbers of a line stand: a price in its book, an assumption in the form."""
    found = []
    for row in line.rows:
        if row.startswith("assumptions."):
            found.append((f"#{page.anchor(row.removeprefix('assumptions.'))}", "assumption"))
        elif row and not page.is_guest_view:
            found.append((reverse("catalogue:price_book", args=[row.partition("/")[0]]), "price"))
    return found
