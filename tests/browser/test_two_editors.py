"""Two people in two browsers change one question at once: the second chooses, and loses nothing."""

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import WAIT_MS
from tests.browser.question import MEASURED, ask_small, find
from tests.browser.watch import Watch


def test_the_second_to_save_chooses(home: Page, watch: Watch, browser: Browser) -> None:
    """One tab each: the local user's two windows know as little of one another."""
    watch.expected.append("409")
    home.goto(f"{home.url}{MEASURED}")
    ask_small(home)
    find(home)
    here = home.url
    other = browser.new_context().new_page()
    other.set_default_timeout(WAIT_MS)
    other.goto(here)
    save(other, "7")
    expect(other).not_to_have_url(here)

    save(home, "9")
    expect(home.get_by_role("heading", name="Not saved yet: this question was changed meanwhile")).to_be_visible()
    expect(home.get_by_role("region", name="What you changed")).to_contain_text("→ 9 requests/s")
    expect(home.get_by_role("region", name="What changed meanwhile")).to_contain_text("→ 7 requests/s")
    home.get_by_role("button", name="Mine on top of theirs").click()
    expect(home.get_by_label("Required rate")).to_have_value("9")
    other.context.close()


def save(page: Page, rate: str) -> None:
    page.get_by_label("Required rate").fill(rate)
    page.locator("[data-ask]").click()
