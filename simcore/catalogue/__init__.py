"""The shipped catalogue: accelerators, machines, models and price books, each figure with unit, source, date and
status.
"""

from simcore.catalogue.figures import STATUSES, TABLES, Figure, figures
from simcore.catalogue.prices import price_book, price_book_ids, price_books
from simcore.catalogue.rows import (
    accelerator,
    accelerator_ids,
    build,
    machine,
    machine_ids,
    model,
    model_ids,
    resolve_accelerator,
    resolve_machine,
    resolve_model,
)

__all__ = [
    "STATUSES",
    "TABLES",
    "Figure",
    "accelerator",
    "accelerator_ids",
    "build",
    "figures",
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
]
