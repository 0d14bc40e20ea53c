"""Two answers and a design compared: from the panel and the list, by keyboard, with the chart on one pair of axes."""

from playwright.sync_api import Page, expect

from tests.browser.question import MEASURED, STUDY_MS, advanced, find, wait_until_done
from tests.services import Planner


def test_an_answer_is_compared_with_another_and_with_a_design(home: Page, planner: Planner) -> None:
    home.goto(planner.url + MEASURED)
    home.get_by_label("Required rate").fill("20")
    advanced(home, "Co-located counts", "12, 16")
    advanced(home, "Prefill counts", "8")
    advanced(home, "Decode counts", "4, 8")
    find(home)
    wait_until_done(home)
    home.get_by_role("link", name="Compare", exact=True).last.click()
    expect(home.locator(".compared-list li")).to_have_count(1)
    address = home.url
    home.go_back()
    home.get_by_label("Budget, $ a month").evaluate("box => box.closest('details').open = true")
    home.get_by_label("Budget, $ a month").fill("2000000")
    find(home)
    wait_until_done(home)
    home.goto(address)
    offer = home.locator("#add-title ~ ul a").first
    offer.focus()
    home.keyboard.press("Enter")
    expect(home.locator(".compared-list li")).to_have_count(2)
    expect(home.locator(".verdict-words")).to_contain_text("A and B cost the same")
    expect(home.locator("#asked-title")).to_have_text("What differs in what they were asked")
    expect(home.locator("#drivers-title ~ p").first).to_contain_text("limits")
    expect(home.locator("figure.chart .plot svg").first).to_be_visible(timeout=STUDY_MS)
    home.get_by_role("link", name="kW", exact=True).click()
    expect(home.locator("#chart-title")).to_contain_text("Power frontier")
    expect(home.locator("figure.chart .plot svg").first).to_be_visible()
    home.set_viewport_size({"width": 390, "height": 844})
    # the chart takes its new width a little later
    home.wait_for_function("document.documentElement.scrollWidth <= 390")
    home.get_by_role("link", name="take B away").click()
    home.locator("h3:has-text('Designs of these studies') + ul a").first.click()
    expect(home.locator("#drivers-title ~ h3").first).to_have_text("From A to B")
