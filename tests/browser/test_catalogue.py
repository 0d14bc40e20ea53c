"""The catalogue as somebody keeps it: rows found by words, overridden, taken back, imported after a look."""

import re

from playwright.sync_api import Page, expect

from tests.browser.watch import Watch

OURS = """id,name,accelerator,accelerators,nic_bytes_per_s,host_w,nameplate_w,source
browser-box,Browser box,h100-80gb,4,50e9,900,5000,our offer
"""


def test_rows_are_found_as_words_are_typed(home: Page) -> None:
    home.get_by_role("link", name="Catalogue").click()
    home.wait_for_load_state()  # what is typed before the scripts have run waits for the form's button
    home.get_by_label("With the words").fill("h100 capped")
    expect(home).to_have_url(re.compile("q=h100"))
    expect(home.locator("tbody tr")).to_have_count(1)
    expect(home.get_by_label("With the words")).to_be_focused()
    home.get_by_label("With the words").fill("")
    home.get_by_label("Show").select_option("unverified")
    expect(home.get_by_role("link", name="dgx-a100")).to_be_visible()
    home.get_by_role("link", name="Nameplate").click()
    expect(home.get_by_role("columnheader", name="Nameplate")).to_have_attribute("aria-sort", "ascending")


def test_a_figure_is_overridden_and_taken_back(home: Page, watch: Watch) -> None:
    watch.expected.append("status of 422")
    home.goto(f"{home.url}catalogue/machines/amd-mi250")
    home.get_by_role("link", name="Override figures").click()
    home.get_by_label("Host: CPUs, NICs, switches").fill("much")
    home.get_by_role("button", name="Save").click()
    expect(home.get_by_role("alert")).to_contain_text("Found ‘much’, expected a number of W from 0")
    home.get_by_label("Source", exact=True).fill("our meter")
    home.get_by_label("Host: CPUs, NICs, switches").fill("1.4 kW")
    home.get_by_role("button", name="Save").click()
    figure = home.get_by_role("row", name=re.compile("^Host"))
    expect(figure).to_contain_text("1,400 W")
    expect(figure).to_contain_text("Shipped: 1,500 W")
    figure.get_by_role("button").click()
    expect(home.get_by_role("row", name=re.compile("^Host"))).not_to_contain_text("Shipped")


def test_a_file_is_looked_at_and_then_taken_as_a_whole(home: Page) -> None:
    home.goto(f"{home.url}catalogue/machines/import")
    for text, line in ((OURS.replace("5000", "5 kW"), "found ‘5 kW’"), (OURS, "Browser box")):
        file = {"name": "offer.csv", "mimeType": "text/csv", "buffer": text.encode()}
        home.get_by_label("CSV file").set_input_files(files=[file])  # type: ignore[list-item]
        home.get_by_role("button", name="Show what it would change").click()
        expect(home.get_by_text(line)).to_be_visible()
        if text != OURS:
            expect(home.get_by_role("button", name="Make these changes")).to_have_count(0)
            home.get_by_role("link", name="Another file").click()
    home.get_by_role("button", name="Make these changes").click()
    expect(home.get_by_role("status")).to_contain_text("6 figures added, 0 figures changed")
    home.get_by_role("link", name="browser-box").click()
    home.get_by_role("link", name="Delete").click()
    expect(home.get_by_text("Nothing depends on it.")).to_be_visible()
    home.get_by_role("button", name="Delete").click()
    expect(home.get_by_role("link", name="browser-box")).to_have_count(0)
