"""A question in a browser: where its defaults are from, its revisions, and a link that somebody else opens."""

from playwright.sync_api import Browser, Page, expect

from tests.browser.question import MEASURED
from tests.browser.watch import Watch
from tests.services import Planner


def test_a_default_says_where_it_is_from_by_keyboard(home: Page) -> None:
    home.locator("details.advanced > summary").click()
    default = home.get_by_role("button", name="0.9: its source")
    default.focus()
    home.keyboard.press("Enter")
    expect(home.locator("#source-memory_usable")).to_be_visible()
    expect(home.locator("#source-memory_usable")).to_have_text("vLLM's gpu_memory_utilization, 2023 to 2025.")
    home.keyboard.press("Escape")
    expect(home.locator("#source-memory_usable")).to_be_hidden()
    expect(default).to_be_focused()


def test_the_objective_shows_its_limits_for_this_model(home: Page, planner: Planner) -> None:
    home.goto(planner.url + MEASURED)
    shown = home.locator("#slo-in-ms")
    before = shown.inner_text()
    assert "first token" in before
    home.get_by_label("Latency objective").select_option("attainment")
    home.get_by_label("Time to first token, s", exact=True).fill("450 ms")
    home.get_by_label("Time per output token, s", exact=True).fill("40 ms")
    expect(shown).to_have_text("(first token 450 ms, then 40 ms a token)")


def test_machines_are_added_to_the_sentence(home: Page) -> None:
    home.get_by_role("button", name="+ machine").click()
    home.locator("#more-machines").get_by_text("DGX B200", exact=True).click()
    home.keyboard.press("Escape")
    expect(home.locator("#id_machines > label").filter(has_text="DGX B200")).to_be_visible()
    expect(home.locator("#id_machines input[value=dgx-b200]")).to_be_checked()


def test_a_link_is_opened_by_somebody_else_and_revoked(home: Page, planner: Planner, browser: Browser) -> None:
    home.goto(f"{planner.url}studies/1/")
    home.get_by_role("link", name="Share").click()
    home.get_by_label("For whom").fill("the board")
    home.get_by_role("button", name="Make a link").click()
    address = home.get_by_label("Its address").input_value()
    other = browser.new_context().new_page()
    watching = Watch(planner.url.rstrip("/"))
    other.on("request", watching.on_request)
    other.on("console", watching.on_console)
    other.on("pageerror", watching.on_error)
    other.goto(address)
    expect(other.locator(".asked-of-link")).to_contain_text("Serve BLOOM 176B to Conversation mix at 70 requests/s")
    expect(other.locator("#answer .line-a")).not_to_be_empty()
    expect(other.locator("form[method=post]")).to_have_count(0)
    expect(other.locator("figure.chart .plot svg").first).to_be_visible()
    home.goto(home.url.partition("/links")[0])
    home.get_by_role("button", name="Revoke the board").click()
    expect(home.locator("main")).to_contain_text("Visible to team local; 1 link (1 revoked).")
    assert watching.foreign == []
    assert watching.unexpected() == []
    gone = other.goto(address)
    assert gone is not None
    assert gone.status == 404
