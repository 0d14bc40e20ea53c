"""Steps on the question page that several tests take."""

from playwright.sync_api import Locator, Page, expect

STUDY_MS = 180_000
EXAMPLE = "studies/1/"
"""The first start's own study. The first page shows what was asked last, which is another test's."""
MEASURED = "?model=bloom-176b&latency=measured"
"""Begins with the example's step times, whatever was asked last."""


def ask_small(page: Page) -> None:
    """A question unlike the example that is answered in seconds: another model and SLO, one machine, few counts."""
    page.get_by_label("Model", exact=True).select_option("llama-3.1-70b")
    set_defaults(page)
    page.get_by_label("Required rate").fill("12")
    page.get_by_label("Latency objective").select_option("attainment")
    page.get_by_label("Share of all requests").fill("95 %")
    page.get_by_label("Time to first token, s", exact=True).fill("2")
    page.get_by_label("Time per output token, s", exact=True).fill("200 ms")
    only_machine(page, "DGX H100")
    page.get_by_label("Power limit in kW").fill("200 kW")
    advanced(page, "Co-located counts", "2")
    advanced(page, "Prefill counts", "2")
    advanced(page, "Decode counts", "1-2")


def set_defaults(page: Page) -> None:
    """The example's measured step times know nothing of another model, as the preview says."""
    offer = page.get_by_role("button", name="Set Advanced to its defaults")
    expect(offer).to_be_visible()
    offer.click()
    expect(offer).to_be_hidden()


def only_machine(page: Page, name: str) -> None:
    """Ticks it, wherever it stands, and unticks the others."""
    box = page.locator("#id_machines").get_by_role("checkbox", name=name, exact=True)
    if not box.is_visible():
        page.get_by_role("button", name="+ machine").click()
    box.set_checked(True, force=True)
    page.keyboard.press("Escape")
    ticked = page.locator("#id_machines input:checked")
    for other in ticked.evaluate_all("boxes => boxes.map(box => box.value)"):
        if other != box.get_attribute("value"):
            page.locator(f"#id_machines input[value='{other}']").set_checked(False, force=True)


def advanced(page: Page, label: str, value: str) -> None:
    field = page.get_by_label(label, exact=True)
    if not field.is_visible():
        page.locator("details.advanced > summary").click()
    field.fill(value)


def stop_the_example(page: Page, address: str) -> None:
    """It may still be computed, and what is asked next waits behind it."""
    page.goto(address + EXAMPLE)
    cancel = page.get_by_role("button", name="Cancel")
    if cancel.is_visible():
        cancel.click()
        expect(cancel).to_be_hidden()


def find(page: Page) -> None:
    again = page.locator("details.again:not([open]) > summary")
    if again.count():
        again.click()
    page.locator("[data-ask]").click()
    page.wait_for_url("**/studies/*/")


def wait_until_done(page: Page) -> None:
    expect(page.locator("#status .done")).to_be_visible(timeout=STUDY_MS)


def open_section(page: Page, kind: str) -> Locator:
    """A section below the answer, with all that was found where something was."""
    section = page.locator(f"#analysis-{kind}")
    expect(section).to_be_visible()
    closed = section.locator("details[data-fold]:not([open]) > summary")
    if closed.count():
        closed.click()
        expect(section.locator("details[data-fold] > .about")).to_be_visible()
    return section
