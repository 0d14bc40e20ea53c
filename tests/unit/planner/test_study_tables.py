"""The designs' tables: exactly the columns of designs.csv, short on screen, exact in the title."""

from decimal import Decimal

from planner.studies.tables import NUMERIC, designs_table
from simcore.rows import COLUMNS
from tests.unit.planner.design_rows import infeasible, row


def test_the_columns_are_those_of_the_csv() -> None:
    table = designs_table([row("a")], "usd_per_hour", frozenset(), None)
    assert tuple(column.name for column in table.columns) == COLUMNS
    assert tuple(cell.column for cell in table.rows[0].cells) == COLUMNS


def test_numbers_are_short_and_exact_in_the_title() -> None:
    table = designs_table([row("a", 70.123456, usd_per_hour="1234.5678")], "usd_per_hour", frozenset(), None)
    cells = {cell.column: (cell.text, cell.title) for cell in table.rows[0].cells}
    assert cells["capacity_req_per_s"] == ("70.1", "70.123456")
    assert cells["usd_per_hour"] == ("1,230", "1234.5678")
    assert cells["mixed_machines"] == ("3", "3")
    assert cells["met"] == ("yes", "")
    assert cells["prefill_machine"] == ("", "")


def test_numeric_columns_are_found_by_their_types() -> None:
    assert {"capacity_req_per_s", "usd_per_hour", "mixed_machines", "token_budget"} <= NUMERIC
    assert not {"label", "met", "status", "on_cost_frontier"} & NUMERIC


def test_rows_are_sorted_with_what_has_no_value_last() -> None:
    rows = [infeasible("c", "no", mean_w=None), row("b", mean_w=9.0), row("a", mean_w=3.0)]
    table = designs_table(rows, "mean_w", frozenset(), None)
    assert [found.design_id for found in table.rows] == ["a", "b", "c"]


def test_rows_say_what_they_are() -> None:
    rows = [row("a"), row("b", cost_dominated_by="a", usd_per_hour=str(Decimal(200))), infeasible("c", "no")]
    table = designs_table(rows, "usd_per_hour", frozenset({"c"}), "a")
    assert {found.design_id: found.css for found in table.rows} == {"a": "answer", "b": "dominated", "c": "cannot"}
