"""Broken uploads: a clear message, and the name typed is still there."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.watch import Watch
from tests.services import Planner

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
