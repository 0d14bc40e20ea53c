"""The main job in a browser: upload, ask, watch, cancel, ask again, look into a design, take the numbers along."""

import csv
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from simcore.rows import COLUMNS
from tests.browser.question import MEASURED, advanced, ask_small, find, stop_the_example, wait_until_done
from tests.services import Planner


@pytest.fixture
def uploaded(home: Page, planner: Planner, shared_data: Path) -> Page:
    """The question page after the Azure trace was uploaded from inside the sentence."""
    stop_the_example(home, planner.url)
    home.goto(planner.url + MEASURED)
    home.get_by_label("Required rate").fill("12")
    home.get_by_role("button", name="upload a trace").click()
    home.get_by_label("File").set_input_files(shared_data / "traces" / "azure_conv_2023.csv")
    home.get_by_role("button", name="Upload", exact=True).click()
    expect(home.locator("main")).to_contain_text("19,366")
    home.get_by_role("button", name="Save", exact=True).click()
    home.get_by_role("link", name="Ask a question about it").click()
    return home


def test_the_main_job(uploaded: Page) -> None:
    page = uploaded
    expect(page.get_by_label("Required rate")).to_have_value("12")
    expect(page.locator("#id_workload option:checked")).to_contain_text("azure_conv_2023")
    ask_small(page)
    find(page)
    cancel_in_the_middle(page)
    find(page)
    wait_until_done(page)
    choose_a_point(page)
    assert_same_rows(page)


def cancel_in_the_middle(page: Page) -> None:
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#status")).to_contain_text("Partial study, cancelled")


def choose_a_point(page: Page) -> None:
    page.locator("#frontier .scatterlayer .points path").last.click(force=True)
    panel = page.locator("#design-panel")
    expect(panel).to_be_visible()
    expect(panel).to_contain_text("At the required 12 requests/s")
    design_id = page.url.partition("#design=")[2]
    expect(page.locator(f"#frontier tr[data-design='{design_id}']")).to_have_attribute("aria-current", "true")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    assert "#design" not in page.url


def assert_same_rows(page: Page) -> None:
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    in_file = list(csv.DictReader(text.splitlines()))
    in_api = page.request.get(page.get_by_role("link", name="API", exact=True).evaluate("link => link.href")).json()[
        "results"
    ]
    on_page = rows_on_page(page)
    assert len(in_file) > 3
    assert list(in_file[0]) == list(COLUMNS)
    assert [as_cells(row) for row in in_api] == in_file
    assert {row["design_id"]: row for row in on_page} == {row["design_id"]: row for row in in_file}


def rows_on_page(page: Page) -> list[dict[str, str]]:
    cells = page.locator("#frontier tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.title || cell.textContent.trim()))"
    )
    heads = page.locator("#frontier thead th").evaluate_all("heads => heads.map(head => head.dataset.column)")
    booleans = {"yes": "true", "no": "false"}
    return [dict(zip(heads, [booleans.get(cell, cell) for cell in row], strict=True)) for row in cells]


def as_cells(row: dict[str, object]) -> dict[str, str]:
    """An API row as the CSV writes it."""

    def text(value: object) -> str:
        if value is None:
            return ""
        return str(value).lower() if isinstance(value, bool) else str(value)

    return {name: text(row[name]) for name in COLUMNS}


def test_an_edit_greys_the_answer_and_says_what_changed(home: Page) -> None:
    before = home.get_by_label("Required rate").input_value()
    home.get_by_label("Required rate").fill("85")
    expect(home.locator("[data-stale]")).to_have_text(f"Inputs changed: required rate {before} → 85")
    expect(home.locator("[data-answer]")).to_have_class("asked stale")
    home.get_by_label("Required rate").fill(before)
    expect(home.locator("[data-stale]")).to_be_hidden()


def test_the_preview_follows_the_form_without_a_worker(home: Page, planner: Planner) -> None:
    home.goto(planner.url + MEASURED)
    preview = home.locator("#preview")
    expect(preview).to_contain_text("Before any queueing")
    home.get_by_label("Model", exact=True).select_option("llama-3.1-8b")
    expect(preview).to_contain_text("Nothing chosen can run this.")
    expect(home.locator("[data-ask]")).to_be_disabled()
    home.get_by_role("button", name="Set Advanced to its defaults").click()
    expect(preview).to_contain_text("The work alone needs")
    expect(home.locator("[data-ask]")).to_be_enabled()
    expect(home.locator("[data-differing]")).to_have_text("(all at their defaults)")
    home.get_by_label("Power limit in kW").fill("3")
    expect(preview).to_contain_text("is under one")


def test_mistakes_are_named_at_the_field_and_nothing_typed_is_lost(home: Page) -> None:
    home.get_by_label("Required rate").fill("seventy")
    home.get_by_label("Power limit in kW").fill("400 kW")
    advanced(home, "Token budget", "a few")
    home.locator("[data-ask]").click()
    summary = home.get_by_role("alert")
    expect(summary).to_contain_text("Found ‘seventy’, expected requests a second")
    expect(summary).to_contain_text("Found ‘a few’, expected a whole number")
    expect(home.get_by_label("Required rate")).to_have_value("seventy")
    expect(home.get_by_label("Required rate")).to_have_attribute("aria-invalid", "true")
    expect(home.get_by_label("Power limit in kW")).to_have_value("400 kW")
    expect(home.get_by_label("Token budget", exact=True)).to_have_value("a few")
    summary.get_by_role("link", name="Token budget").click()
    expect(home.get_by_label("Token budget", exact=True)).to_be_focused()
