"""A model that the catalogue does not have: its config.json pasted, checked, saved, asked about."""

import json

from playwright.sync_api import Page, expect

from tests.browser.question import set_defaults
from tests.unit.simcore.hf_config.configs import PUBLISHED

NAME = "Qwen3 14B"


def test_a_pasted_configuration_becomes_a_model_to_ask_about(home: Page) -> None:
    total, config = PUBLISHED[NAME]
    home.get_by_role("link", name="Catalogue").click()
    home.get_by_role("link", name="Add a model from its config.json").click()
    home.get_by_label("Name").fill(NAME)
    home.get_by_label("or its text").fill(json.dumps(config, indent=2))
    home.get_by_label("Published parameters").fill(str(total))
    home.get_by_role("button", name="Check").click()
    expect(home.locator(".checks")).to_contain_text("✓ Parameters: the same as the published total.")
    home.get_by_role("button", name="Save the model").click()
    expect(home.get_by_role("status")).to_contain_text("Qwen3 14B is saved")
    home.get_by_role("link", name="Questions").click()
    home.get_by_label("Model", exact=True).select_option("qwen3-14b")
    set_defaults(home)
    expect(home.get_by_text("Before any queueing: one request alone")).to_be_visible()
