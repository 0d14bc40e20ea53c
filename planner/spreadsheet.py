"""CSV that a spreadsheet program opens as it is meant: text never as a formula, numbers in the reader's own form."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from simcore.spec import SpecError, nearest

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
GUARD = "'"
BOM = "\ufeff"
POINT = ("en-US", "en-GB")
COMMA = (
    *("cs-CZ", "da-DK", "de-AT", "de-DE", "es-ES", "fi-FI", "fr-FR", "it-IT", "nb-NO", "nl-NL", "pl-PL"),
    *("pt-BR", "pt-PT", "sv-SE"),
)
LOCALES = tuple(sorted((*POINT, *COMMA)))


def guarded(cell: str) -> str:
    """A text cell with an apostrophe before what would be a formula."""
    return GUARD + cell if cell.startswith(FORMULA_STARTS) else cell


def unguarded(cell: str) -> str:
    """The text of a cell that ``guarded`` wrote."""
    return cell[1:] if cell.startswith(GUARD) and cell[1:].startswith(FORMULA_STARTS) else cell


@dataclass(frozen=True)
class CsvForm:
    """How a file is written: ``?locale=de-DE`` separates by semicolons and has decimal commas, ``?bom=1`` begins with
    the mark by which Excel knows UTF-8. Days and names stay as they are."""

    decimal_comma: bool = False
    bom: bool = False

    def written(self, header: Iterable[str], rows: Iterable[Sequence[Any]], line_end: str = "\n") -> str:
        """The file. Numbers are written as numbers, everything else as guarded text."""
        out = io.StringIO()
        writer = csv.writer(out, delimiter=";" if self.decimal_comma else ",", lineterminator=line_end)
        writer.writerow(header)
        writer.writerows([self._cell(value) for value in row] for row in rows)
        return (BOM if self.bom else "") + out.getvalue()

    def _cell(self, value: Any) -> str:
        if value is None:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, Decimal | float | int):
            text = f"{value:f}" if isinstance(value, Decimal) else repr(value)
            return text.replace(".", ",") if self.decimal_comma else text
        return guarded(str(value))


PLAIN = CsvForm()


def csv_form(query: Mapping[str, Any]) -> CsvForm:
    """As an address asks; SpecError names the parameter."""
    locale, bom = str(query.get("locale", "en-US")), str(query.get("bom", "0"))
    if locale not in LOCALES:
        raise SpecError(f"locale: found '{locale}', expected one of {', '.join(LOCALES)}{nearest(locale, LOCALES)}")
    if bom not in ("0", "1"):
        raise SpecError(f"bom: found '{bom}', expected 0 or 1")
    return CsvForm(locale in COMMA, bom == "1")
