"""From the answer to its pilot kit."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.question import EXAMPLE, STUDY_MS
from tests.services import Planner


@pytest.mark.parametrize("width", [1440, 390])
def test_the_answer_leads_to_its_pilot(home: Page, planner: Planner, width: int) -> None:
    home.set_viewport_size({"width": width, "height": 900})
    home.goto(planner.url + EXAMPLE)
    home.get_by_role("link", name="Look into this design").click(timeout=STUDY_MS)
    home.get_by_role("link", name="Test it before you buy").click(timeout=STUDY_MS)
    expect(home.get_by_role("heading", level=1)).to_contain_text("Pilot: ")
    expect(home.locator("pre").first).to_contain_text("export MODEL=bloom-176b")
    expect(home.get_by_role("table").first).to_contain_text("TPOT, mean")
    assert home.evaluate("document.documentElement.scrollWidth") <= width
