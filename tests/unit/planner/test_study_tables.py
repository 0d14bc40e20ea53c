"""The designs' tables: exactly the columns of designs.csv, short on screen, exact in the title."""

import re
from collections.abc import Sequence
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

from planner.studies.tables import HEAD, NUMERIC, SHORT_ROWS, Extent, Marks, Table, designs_table, kept_designs
from simcore.rows import COLUMNS, DesignRow
from tests.unit.planner.design_rows import infeasible, row


def result(rows: Sequence[DesignRow], best: Sequence[DesignRow] = (), closest: Sequence[DesignRow] = ()) -> Any:
    """All that a table reads of a StudyResult."""
    return SimpleNamespace(rows=tuple(rows), best_by_family=tuple(best), closest=tuple(closest))


def table(rows: Sequence[DesignRow], sorted_by: str = "usd_per_hour") -> Table:
    marks = Marks(lambda design_id: f"/designs/{design_id}/", frozenset({"c"}), "a")
    return designs_table(result(rows), marks, sorted_by, kept_designs(result(rows), Extent.ALL))


def cells(one: DesignRow) -> dict[str, tuple[str, str]]:
    """Column → (text, title) of a single row."""
    found = re.findall(r"<td([^>]*)>(.*?)</td>", table([one]).rows[0].html)
    titles = [re.search(r'title="([^"]*)"', attributes) for attributes, _ in found]
    shown = [(text, title[1] if title else "") for (_, text), title in zip(found, titles, strict=True)]
    return dict(zip(COLUMNS, shown, strict=True))


def test_the_columns_are_those_of_the_csv() -> None:
    assert tuple(column.name for column in HEAD) == COLUMNS
    assert len(cells(row("a"))) == len(COLUMNS)


def test_numbers_are_short_and_exact_in_the_title() -> None:
    shown = cells(row("a", 70.123456, usd_per_hour="1234.5678"))
    assert shown["capacity_req_per_s"] == ("70.1", "70.123456")
    assert shown["usd_per_hour"] == ("1,230", "1234.5678")
    assert shown["mixed_machines"] == ("3", "")
    assert shown["met"] == ("yes", "")
    assert shown["prefill_machine"] == ("", "")


def test_texts_are_escaped() -> None:
    html = table([row("a", label="<b>&", reason='"<script>')]).rows[0].html
    assert "&lt;b&gt;&amp;" in html
    assert "<script" not in html


def test_numeric_columns_are_found_by_their_types() -> None:
    assert {"capacity_req_per_s", "usd_per_hour", "mixed_machines", "token_budget"} <= NUMERIC
    assert not {"label", "met", "status", "on_cost_frontier"} & NUMERIC


def test_rows_are_sorted_with_what_has_no_value_last() -> None:
    rows = [infeasible("c", "no", mean_w=None), row("b", mean_w=9.0), row("a", mean_w=3.0)]
    assert [found.design_id for found in table(rows, "mean_w").rows] == ["a", "b", "c"]


def test_rows_say_what_they_are() -> None:
    rows = [row("a"), row("b", cost_dominated_by="a", usd_per_hour=str(Decimal(200))), infeasible("c", "no")]
    assert {found.design_id: found.css for found in table(rows).rows} == {
        "a": "answer",
        "b": "dominated",
        "c": "cannot",
    }


def test_a_short_table_has_what_matters_most_and_the_design_looked_at() -> None:
    plain = [row(f"p{number}", cost_dominated_by="f") for number in range(SHORT_ROWS)]
    cost, power = row("c", on_cost_frontier=True), row("f", on_power_frontier=True)
    every = result([*plain, cost, power], best=[plain[3]])
    assert kept_designs(every, Extent.SHORT, "p7") == {"c", "f", "p3", "p7"}
    assert kept_designs(every, Extent.ALL) == {one.design_id for one in every.rows}
    assert kept_designs(every, Extent.NONE, "p7") == set()


def test_a_short_table_where_nothing_holds_has_the_closest() -> None:
    every = [row(f"p{number}", 1.0) for number in range(SHORT_ROWS + 1)]
    assert kept_designs(result(every, closest=every[4:6]), Extent.SHORT) == {"p4", "p5"}


def test_few_designs_are_all_in_the_short_table() -> None:
    every = [row(f"p{number}") for number in range(SHORT_ROWS)]
    assert len(kept_designs(result(every), Extent.SHORT)) == SHORT_ROWS


def test_a_chosen_design_that_is_none_adds_no_row() -> None:
    every = result([row("a"), row("b")])
    found = designs_table(every, Marks(str), "usd_per_hour", kept_designs(every, Extent.SHORT, "<nonsense>"))
    assert [one.design_id for one in found.rows] == ["a", "b"]
    assert found.is_whole
