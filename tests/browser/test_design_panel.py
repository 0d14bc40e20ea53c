"""A design looked into: from a point to its run in detail, along the frontier, over the map of its neighbours."""

import re

from playwright.sync_api import Page, expect

from tests.browser.question import EXAMPLE, STUDY_MS, open_section
from tests.services import Planner


def test_a_design_is_looked_into(home: Page, planner: Planner) -> None:
    home.goto(planner.url + EXAMPLE)
    expect(home.locator("#status .done")).to_be_visible(timeout=STUDY_MS)
    panel = home.locator("#design-panel")

    # from a cell of the map, by its link
    open_section(home, "neighbourhood").locator(".heat-map a[data-design]").first.click()
    expect(panel.locator(".verdict")).to_be_visible()
    first = home.url
    assert "#design=" in first

    # along the frontier by keys, and back by the browser's button
    panel.locator("[data-step]").first.focus()
    home.keyboard.press("ArrowRight" if panel.locator("[data-step='1']").count() else "ArrowLeft")
    home.wait_for_url(lambda url: url != first)
    home.go_back()
    home.wait_for_url(first)

    # its run in detail: words, then charts in the panel's own width
    panel.get_by_role("button", name="Work it out").click()
    expect(panel.get_by_role("heading", name="The busiest minute")).to_be_visible(timeout=STUDY_MS)
    expect(panel.locator("#cdf-tbt-s-title")).to_be_visible()
    expect(panel.locator("figure.tall .main-svg").first).to_be_visible()
    lanes = panel.locator("figure.tall g.yaxislayer-above").count()
    assert lanes == 4

    # why not mine: a design that was never tried
    home.keyboard.press("Escape")
    mine = home.locator("#analysis-why_not_mine")
    mine.get_by_label("Run as").select_option("sarathi:dgx-h100")
    mine.get_by_label("Machines", exact=True).fill("5")
    mine.get_by_role("button", name="Work it out").click()
    expect(mine.locator(".line").first).to_contain_text(
        re.compile(r"Sarathi on 5 DGX H100.*is not the answer: it holds [0-9.]+ requests/s of 70"), timeout=STUDY_MS
    )


def test_sections_and_panel_are_of_what_is_supposed(home: Page, planner: Planner) -> None:
    home.goto(planner.url + EXAMPLE + "?usd.dgx-h100=9")
    expect(home.locator("#status .done")).to_be_visible(timeout=STUDY_MS)
    growth = open_section(home, "growth")
    expect(home).to_have_url(re.compile(r"\?usd\.dgx-h100=9&open=growth$"))
    home.reload()
    expect(growth.locator(".of")).to_contain_text("What if DGX H100")
    home.get_by_role("link", name="Look into this design").click()
    panel = home.locator("#design-panel")
    expect(panel.locator(".supposed")).to_contain_text("DGX H100 at $9.00 an hour")
    home.get_by_role("link", name="Reset all").click()
    expect(panel.locator(".supposed")).to_have_count(0)
    expect(panel.locator(".verdict")).to_be_visible()
    expect(growth.locator(".of")).to_have_count(0)
    expect(growth.locator(".found")).to_be_visible()
