"""The pages that explain say all that there is, and what they say is computed."""

import inspect
import json
import re
import shlex
from decimal import Decimal
from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from planner.api.document import document
from planner.api.operation import JSON
from planner.api.shapes import problems
from planner.finance import exports, formulas
from planner.finance.columns import COLUMN_HELP
from planner.finance.words import (
    ALLOCATION_HELP,
    CATEGORY_HELP,
    CATEGORY_NAMES,
    CAUSE_HELP,
    CAUSE_NAMES,
    KIND_HELP,
    KIND_NAMES,
    LOAD_HELP,
    LOAD_NAMES,
    VIEW_HELP,
    VIEW_NAMES,
)
from planner.help import money
from planner.help.example import BOUGHT, BY_THE_HOUR, DESIGN, RESERVED, sheet
from planner.help.rest import Described, operations
from simcore.economics.lines import total
from tests.unit.simcore.economics import plans

DOCS = Path(__file__).resolve().parents[4] / "docs"


def described() -> dict[tuple[str, str], Described]:
    return {(one.method.lower(), one.path): one for _, _, every in operations() for one in every}


def test_every_operation_is_on_the_page_with_what_it_reads(alice_client: Client) -> None:
    page = unescape(alice_client.get("/help/api/").content.decode())
    found = described()
    assert set(found) == {(method, path) for path, methods in document()["paths"].items() for method in methods}
    for (method, path), one in found.items():
        assert f'<article id="{one.name}"' in page
        assert one.curl in page, path
        said = document()["paths"][path][method]
        named = {parameter["name"] for parameter in said.get("parameters", ())}
        assert named == {field.name for field in one.parameters}, path
        assert {int(status) for status in said["responses"]} == {
            status for status, *_ in (*one.answers, *one.errors)
        }, path
    token_page = alice_client.get("/accounts/tokens/").content.decode()
    assert 'href="/help/api/"' in token_page


def test_the_examples_are_what_their_operations_take() -> None:
    seen = 0
    for (method, path), one in described().items():
        words = shlex.split(one.curl)
        assert words[0] == "curl"
        assert words[-1].startswith(f"$URL{path}"), path
        said = document()["paths"][path][method]
        sends = words[words.index("-X") + 1] if "-X" in words else "POST" if {"-d", "-F"} & set(words) else "GET"
        assert sends == method.upper(), path
        if "-d" in words:
            seen += 1
            shape = said["requestBody"]["content"][JSON]["schema"]
            whole = document()["components"]["schemas"].get(shape.get("$ref", "").rpartition("/")[2], shape)
            assert list(problems(whole, json.loads(words[words.index("-d") + 1]))) == [], path
    assert seen > 8


def test_every_name_of_a_figure_has_its_meaning() -> None:
    for names, help_ in (
        (CATEGORY_NAMES, CATEGORY_HELP),
        (VIEW_NAMES, VIEW_HELP),
        (LOAD_NAMES, LOAD_HELP),
        (KIND_NAMES, KIND_HELP),
        (CAUSE_NAMES, CAUSE_HELP),
    ):
        assert names.keys() == help_.keys()
    assert dict(money.ALLOCATIONS).keys() == ALLOCATION_HELP.keys()
    every = {column for name, table in exports.TABLES.items() if name != "focus" for column in table.header}
    assert every == COLUMN_HELP.keys()
    functions = [name for name, _ in inspect.getmembers(formulas, inspect.isfunction) if name.startswith("of_")]
    assert [name for name in functions if f"formulas.{name}(" not in inspect.getsource(money)] == []


def test_the_page_has_the_formulas_of_the_finance_page(alice_client: Client) -> None:
    page = unescape(alice_client.get("/help/money/").content.decode())
    for part in money.parts():
        assert part.entries
        for entry in part.entries:
            assert entry.name in page
            assert all(one.formula in page and one.figure in page for one in entry.worked)
    for line in sheet(BOUGHT).lines("book")[:9]:
        if line.pool != "decode":
            assert line.formula in page
    bought = {entry.name: entry.worked for part in money.parts() for entry in part.entries}
    assert [one.figure for one in bought["A month"]] == ["$50,393.40"]
    assert [one.figure for one in bought["Against an API"]] == ["21.2595934 requests/s"]


def test_the_example_is_the_worked_one() -> None:
    """Its design and plans are those that docs/worked-example.md takes by the pocket calculator."""
    assert (DESIGN.pools, DESIGN.rate_req_per_s, DESIGN.mean_w) == (
        plans.PHYSICS.pools, plans.PHYSICS.rate_req_per_s, plans.PHYSICS.mean_w,
    )  # fmt: skip
    told = (DOCS / "worked-example.md").read_text(encoding="utf-8")
    by_heading = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", told, re.MULTILINE | re.DOTALL))
    bold = {name: [Decimal(one.replace(",", "")) for one in re.findall(r"\*\*([\d,.]+?)\*\*", text)]
            for name, text in by_heading.items()}  # fmt: skip
    hourly = sheet(BY_THE_HOUR).lines("book")
    assert [hourly[0].amount_usd, hourly[1].amount_usd, total(hourly)] == bold["By the hour"]
    assert [total(line for line in sheet(BOUGHT).lines("book") if line.period == "2027-01")] == bold["Bought"]
    reserved = [one.amount_usd for one in sheet(RESERVED).lines("book") if one.category == "reserved"]
    assert reserved[:1] == bold["Reserved for a year, 70 % of the machines, half upfront"]


@pytest.mark.parametrize("at", ["/help/api/", "/help/money/"])
def test_they_are_for_who_is_signed_in(client: Client, db: None, at: str) -> None:
    assert client.get(at).status_code == 302


def test_the_letters_of_the_recipe_are_those_of_the_file() -> None:
    recipe = (DOCS / "spreadsheets.md").read_text(encoding="utf-8")
    header = exports.TABLES["lines"].header
    for letter, name in re.findall(r"\b([A-Z]) (?:is )?`(\w+)`", recipe):
        assert header[ord(letter) - ord("A")] == name
    assert '"select J, sum(T) group by J pivot P"' in recipe
    assert {"J", "P", "T"} <= {letter for letter, _ in re.findall(r"\b([A-Z]) (?:is )?`(\w+)`", recipe)}
