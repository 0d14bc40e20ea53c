"""From benchmark files to a calibration with its residual plot, and from there to a question."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.browser.watch import Watch
from tests.services import Planner
from tests.unit.planner.power_logs.logged_run import RUN, a_run
from tests.unit.simcore.calibration import known


def files(text: str) -> dict[str, object]:
    return {"name": "sweep.json", "mimeType": "application/json", "buffer": text.encode()}


@pytest.mark.parametrize("width", [1440, 390])
def test_measurements_become_a_calibration_that_a_question_offers(
    page: Page, planner: Planner, watch: Watch, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    spoilt = json.dumps({**json.loads(known.serving(known.SLOWER, (1,)).splitlines()[0]), "failed": 412})
    page.goto(f"{planner.url}calibrations/")
    page.get_by_role("link", name="Upload measurements").click()
    page.get_by_label("Benchmark files").set_input_files(files("<html>sign in</html>"))
    page.get_by_label("Name").fill(f"our H100 {width}")
    page.get_by_label("Model").select_option("llama-3.1-8b")
    page.get_by_label("Machine", exact=True).select_option("dgx-h100")
    page.get_by_role("button", name="Fit").click()
    expect(page.get_by_role("alert")).to_contain_text("found an HTML or XML page")
    expect(page.get_by_label("Name")).to_have_value(f"our H100 {width}")

    page.get_by_label("Benchmark files").set_input_files(files(f"{known.serving(known.SLOWER)}\n{spoilt}"))
    page.get_by_role("button", name="Fit").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"our H100 {width}")
    expect(page.locator("#residuals .plot .scatterlayer .trace")).to_have_count(2)
    expect(page.get_by_text("row left out (failed): 1")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    page.get_by_role("link", name="Ask a question with it").click()
    options = page.get_by_label("Iteration times").locator("option")
    expect(options.filter(has_text=f"Calibrated: our H100 {width} (llama-3.1-8b, h100-80gb)")).to_have_count(1)
    page.goto(f"{planner.url}calibrations/")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_power_logs_become_figures_that_a_question_offers(page: Page, planner: Planner, watch: Watch) -> None:
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(f"{planner.url}calibrations/")
    page.get_by_role("link", name="Upload power logs").click()
    page.get_by_label("Power logs").set_input_files(files("<html>sign in</html>"))
    page.get_by_label("Machine", exact=True).select_option("dgx-h100")
    page.get_by_label("Name").fill("logged H100")
    page.get_by_label("Model", exact=True).select_option(RUN["model"])
    page.get_by_label("Tensor parallel").fill(RUN["tensor_parallel"])
    page.get_by_label("Requests in flight").fill(RUN["concurrency"])
    page.get_by_label("Prompt tokens").fill(RUN["prompt_tokens"])
    page.get_by_label("Output tokens").fill(RUN["output_tokens"])
    page.get_by_role("button", name="Read").click()
    expect(page.get_by_role("alert")).to_contain_text("found an HTML or XML page")
    expect(page.get_by_label("Requests in flight")).to_have_value(RUN["concurrency"])

    page.get_by_label("Power logs").set_input_files(files(a_run()))
    page.get_by_role("button", name="Read").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("logged H100")
    expect(page.locator("#watts .plot .scatterlayer .trace")).to_have_count(2)
    expect(page.get_by_text("no reading: missing, not 0 W")).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    page.get_by_role("link", name="Ask a question with it").click()
    options = page.get_by_label("Drawn power").locator("option")
    expect(options.filter(has_text="Logged: logged H100 (h100-80gb)")).to_have_count(1)
