"""A server for several people, in a browser: the first one comes in, invites another, and a guesser is locked out."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import WAIT_MS
from tests.browser.watch import Watch
from tests.services import Planner, running_planner

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planner]:
    options = {"PHASEPLAN_SIGN_IN": "true", "PHASEPLAN_SSL_REDIRECT": "0", "PHASEPLAN_FIRST_ADMIN": "ada"}
    with running_planner(tmp_path_factory.mktemp("people"), **options) as started:
        yield started


def watched(browser: Browser, server: Planner) -> tuple[Page, Watch]:
    page = browser.new_context().new_page()
    page.set_default_timeout(WAIT_MS)
    watching = Watch(server.url.rstrip("/"))
    page.on("request", watching.on_request)
    page.on("pageerror", watching.on_error)
    return page, watching


def test_people_come_in_one_by_one_and_a_guesser_does_not(browser: Browser, server: Planner) -> None:
    expect.set_options(timeout=WAIT_MS)
    ada, seen = watched(browser, server)
    link = re.search(r"http://127\.0\.0\.1:\d+/accounts/reset/\S+", server.output)
    assert link is not None
    assert link[0].startswith(server.url)
    ada.goto(link[0])
    ada.get_by_label("New password:", exact=True).fill(PASSWORD)
    ada.get_by_label("New password confirmation").fill(PASSWORD)
    ada.get_by_role("button", name="Set the password").click()
    sign_in(ada, "ada", PASSWORD)
    expect(ada.get_by_role("link", name="team planners")).to_be_visible()
    expect(ada.get_by_text("single user")).to_have_count(0)

    ada.get_by_role("link", name="team planners").click()
    ada.get_by_role("link", name="planners", exact=True).click()
    ada.get_by_label("For whom").fill("Bob")
    ada.get_by_role("button", name="Make an invitation").click()
    invitation = ada.locator("code.secret").inner_text()

    bob, seen_too = watched(browser, server)
    bob.goto(invitation)
    bob.get_by_label("Username").fill("bob")
    bob.get_by_label("Password:", exact=True).fill(PASSWORD)
    bob.get_by_label("Password confirmation").fill(PASSWORD)
    bob.get_by_role("button", name="Make an account and join").click()
    expect(bob.get_by_text("You are in team planners.")).to_be_visible()
    bob.get_by_role("button", name="Sign out").click()

    bob.goto(f"{server.url}accounts/sign-in/")
    for _ in range(5):
        sign_in(bob, "bob", "a guess")
        expect(bob.get_by_text("Please enter a correct username and password")).to_be_visible()
    sign_in(bob, "bob", PASSWORD)
    expect(bob.get_by_role("alert")).to_contain_text("Too many failed sign-ins under this name")
    expect(bob.get_by_role("alert")).to_contain_text("15 minutes")
    assert seen.foreign == seen_too.foreign == []


def sign_in(page: Page, name: str, password: str) -> None:
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password:", exact=True).fill(password)
    page.get_by_role("button", name="Sign in").click()
