"""The shipped catalogue: accelerators, machines, fabrics, models and price books, each figure with unit, source, date
and status.
"""

from simcore.catalogue.figures import STATUSES, TABLES, Figure, figures
from simcore.catalogue.likeness import POWERED, TIMED, departures, evidence_id, fitted_as, known_as
from simcore.catalogue.prices import price_book, price_book_ids, price_books, resolve_prices
from simcore.catalogue.rows import (
    CLASSES,
    accelerator,
    accelerator_ids,
    build,
    fabric,
    fabric_ids,
    machine,
    machine_ids,
    model,
    model_ids,
    resolve_accelerator,
    resolve_machine,
    resolve_model,
)

__all__ = [
    "CLASSES",
    "POWERED",
    "STATUSES",
    "TABLES",
    "TIMED",
    "Figure",
    "accelerator",
    "accelerator_ids",
    "build",
    "departures",
    "evidence_id",
    "fabric",
    "fabric_ids",
    "figures",
    "fitted_as",
    "known_as",
    "machine",
    "machine_ids",
    "model",
    "model_ids",
    "price_book",
    "price_book_ids",
    "price_books",
    "resolve_accelerator",
    "resolve_machine",
    "resolve_model",
    "resolve_prices",
]
