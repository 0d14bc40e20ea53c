"""By how much a study's answer costs more at today's prices than at those that it keeps."""

from planner.accounts.owned import Visitor
from planner.catalogue.books import with_prices
from planner.catalogue.kept import SUPPOSED
from planner.catalogue.services import price_books_for
from planner.studies.models import Study
from planner.studies.results import study_result
from simcore import fleet
from simcore.economics.hourly import usd_per_hour
from simcore.spec import SpecError
from simcore.words import percent

LEAST_SHARE = 0.0005
"""Less is no change that one would write."""


def price_change(user: Visitor, study: Study) -> str:
    """``+3 %``; empty where nothing has changed, there is no answer, or its prices are there no more."""
    found = study_result(study)
    today = price_books_for(user).get(found.book.id)
    if found.winner is None or today is None:
        return ""
    book = with_prices(today, [price for price in found.book.prices if price.source == SUPPOSED])
    counts = fleet.machine_counts(found.designs[found.winner.design_id].case)
    try:
        share = float(usd_per_hour(counts, book) / usd_per_hour(counts, found.book)) - 1
    except SpecError:
        return ""
    return "" if abs(share) < LEAST_SHARE else f"{'+' if share > 0 else '−'}{percent(abs(share))}"
