"""CSV cells that a spreadsheet program opens as text, never as a formula."""

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
GUARD = "'"


def guarded(cell: str) -> str:
    """A text cell with an apostrophe before what would be a formula."""
    return GUARD + cell if cell.startswith(FORMULA_STARTS) else cell


def unguarded(cell: str) -> str:
    """The text of a cell that ``guarded`` wrote."""
    return cell[1:] if cell.startswith(GUARD) and cell[1:].startswith(FORMULA_STARTS) else cell
