"""Broken uploads: a clear message, and the name typed is still there."""

import gzip

import pytest
from playwright.sync_api import Page, expect

from tests.browser.watch import Watch
from tests.services import Planner
from tests.unit.simcore.traces.samples import mooncake

HEAD = "arrival_s,prompt_tokens,output_tokens\n"
BROKEN = {
    "empty": b"",
    "binary": bytes(range(256)) * 20,
    "header only": HEAD.encode(),
    "text in a number": f"{HEAD}0,many,5\n".encode(),
    "negative tokens": f"{HEAD}0,-3,5\n".encode(),
    "zero tokens": f"{HEAD}0,0,5\n".encode(),
    "NaN": f"{HEAD}nan,10,5\n".encode(),
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_trace_is_refused_in_words(page: Page, planner: Planner, watch: Watch, content: bytes) -> None:
    watch.expected.append("status of 422")
    page.goto(f"{planner.url}workloads/upload")
    page.get_by_label("Name").fill("my trace")
    page.get_by_label("File").set_input_files({"name": "trace.csv", "mimeType": "text/csv", "buffer": content})
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("xpected")
    expect(page.get_by_label("Name")).to_have_value("my trace")
    assert "Traceback" not in page.content()


def test_a_packed_trace_is_read_and_brought_to_another_rate(page: Page, planner: Planner, watch: Watch) -> None:
    rows = [(n // 3 * 900, 100 + n, 5 + n % 40) for n in range(600)]
    data = gzip.compress(mooncake(*rows, (1, 5, 0)))
    page.goto(f"{planner.url}workloads/upload")
    upload = {"name": "agents.jsonl.gz", "mimeType": "application/gzip", "buffer": data}
    page.get_by_label("File").set_input_files(upload)
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("heading", name="agents.jsonl.gz", exact=True)).to_be_visible()
    page.reload()
    expect(page.locator("main")).to_contain_text("600 accepted, of which none repaired; 1 refused")
    expect(page.get_by_role("row", name="601 output_length")).to_be_visible()
    expect(page.locator("#lengths .main-svg").first).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="agents", exact=True)).to_be_visible()
    page.get_by_label("Requests/s").fill("30")
    page.keyboard.press("Enter")
    ways = page.get_by_role("region", name="Burstiness at 30 requests/s")
    expect(ways.get_by_role("row")).to_have_count(5)
    expect(page.locator("#dispersion .main-svg").first).to_be_visible()
    ways.get_by_role("link", name="shifted copies").click()
    expect(page.get_by_label("Required rate, requests a second")).to_have_value("30.0")


def test_a_file_that_is_too_large_is_not_sent(page: Page, planner: Planner, watch: Watch) -> None:
    page.goto(f"{planner.url}workloads/upload")
    page.locator("form[data-upload]").evaluate("form => { form.dataset.mostBytes = 1000; }")
    large = {"name": "large.csv", "mimeType": "text/csv", "buffer": HEAD.encode() + b"1,2,3\n" * 200}
    page.get_by_label("File").set_input_files(large)
    expect(page.get_by_role("alert")).to_have_text("Found a file of more than 200 MB, expected at most 200 MB.")
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_label("File")).to_be_focused()
    expect(page).to_have_url(f"{planner.url}workloads/upload")


def test_a_mix_of_classes_is_seen_before_it_is_saved(page: Page, planner: Planner, watch: Watch) -> None:
    page.goto(f"{planner.url}workloads/mix")
    page.get_by_label("Lengths of").select_option("classes")
    preview = page.locator("#mix-preview")
    expect(preview).to_contain_text("2 classes of requests")
    page.get_by_label("Prompt tokens").first.fill("P50 900; P90 20")
    expect(preview).to_contain_text("Found 20, expected at least 900, P50's.")
    page.get_by_label("Prompt tokens").first.fill("P50 900; P90 2,000")
    expect(preview.locator("#lengths .main-svg").first).to_be_visible()
    page.get_by_role("button", name="Generate", exact=True).last.click()
    expect(page.get_by_role("heading", name="Mix of chat, documents, seed 0")).to_be_visible()
    expect(page.get_by_role("region", name="Classes: table")).to_contain_text("P50 900; P90 2,000")
