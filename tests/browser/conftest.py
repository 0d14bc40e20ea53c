"""A Chromium on the real launcher's pages that fails a test on a console error or a request to any other host."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.watch import Watch
from tests.services import Planner

WAIT_MS = 60_000
"""How long anything may take to appear: other tests keep a core busy beside these, and the example the other."""


@pytest.fixture(scope="session")
def browser_type_launch_args(chromium: str) -> dict[str, Any]:
    return {"executable_path": chromium, "args": ["--no-sandbox"]}


@pytest.fixture
def watch(page: Page, planner: Planner) -> Iterator[Watch]:
    """Watches the page for the whole test."""
    expect.set_options(timeout=WAIT_MS)
    page.set_default_timeout(WAIT_MS)
    watching = Watch(planner.url.rstrip("/"))
    page.on("request", watching.on_request)
    page.on("console", watching.on_console)
    page.on("pageerror", watching.on_error)
    yield watching
    assert watching.foreign == []
    assert watching.unexpected() == []


@pytest.fixture
def home(page: Page, planner: Planner, watch: Watch) -> Page:
    """The first screen, watched."""
    page.goto(planner.url)
    return page
