"""Every page: nothing serious for axe, quiet, no wider than its window; at both widths, light and dark."""

import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.question import MEASURED, STUDY_MS, ask_small, find, open_section, stop_the_example, wait_until_done
from tests.browser.watch import Watch
from tests.services import Planner
from tests.unit.planner.power_logs.logged_run import RUN, a_run

PHONE, DESK = (390, 844), (1440, 900)
GRAVE = {"serious", "critical"}
RULES = {"resultTypes": ["violations"]}
STATES: list[tuple[tuple[int, int], Any, bool]] = [
    (DESK, "light", True),
    (DESK, "dark", False),
    (PHONE, "light", False),
    (PHONE, "dark", True),
]
"""Each with whether axe looks: which colours are shown differs by scheme alone, which rules apply by width alone."""

LIBRARIES = [
    "workloads/",
    "workloads/1",
    "workloads/upload",
    "workloads/mix",
    "calibrations/",
    "calibrations/new",
    "calibrations/power/new",
    "catalogue/",
    "catalogue/machines/",
    "catalogue/machines/dgx-h100",
    "catalogue/machines/dgx-h100/edit",
    "catalogue/machines/add",
    "catalogue/machines/dgx-h100/delete",
    "catalogue/accelerators/h100-80gb",
    "catalogue/models/llama-3.1-70b",
    "catalogue/models/new",
    "catalogue/machines/import",
    "catalogue/prices/",
    "catalogue/prices/list",
    "catalogue/prices/list/edit",
    "catalogue/prices/add",
    "accounts/sign-in/",
    "accounts/tokens/",
    "accounts/",
    "accounts/reset/",
    "accounts/teams/",
    "accounts/teams/1/",
    "studies/1/finance/links/",
    "help/api/",
    "help/money/",
]


@pytest.fixture
def reach(page: Page, planner: Planner, watch: Watch) -> "Reach":
    return Reach(page, planner.url)


class Reach:
    def __init__(self, page: Page, home: str) -> None:
        self.page, self.home = page, home
        self.faults: list[str] = []

    def visit(self, path: str) -> None:
        self.page.set_viewport_size({"width": DESK[0], "height": DESK[1]})
        self.page.emulate_media(color_scheme="light")
        self.page.goto(self.home + path)
        self.look(path)

    def look(self, name: str) -> None:
        """The page as it stands, in each of the four states."""
        for (width, height), scheme, by_axe in STATES:
            self.page.set_viewport_size({"width": width, "height": height})
            self.page.emulate_media(color_scheme=scheme)
            where = f"{name} at {width} px, {scheme}"
            wide = self.page.evaluate("document.documentElement.scrollWidth")
            if wide > width:
                self.faults.append(f"{where}: {wide} px wide")
            if by_axe:
                self.faults += [f"{where}: {fault}" for fault in grave(self.page)]


def grave(page: Page) -> list[str]:
    found = Axe().run(page, options=RULES).response["violations"]
    return [
        f"{one['id']}: {[(node['target'], node['failureSummary']) for node in one['nodes'][:3]]}"
        for one in found
        if one["impact"] in GRAVE
    ]


def test_axe_sees_what_is_wrong(reach: Reach) -> None:
    reach.page.goto(reach.home)
    reach.page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert [fault.partition(":")[0] for fault in grave(reach.page)] == ["button-name"]


def test_the_question_and_the_libraries(reach: Reach, watch: Watch) -> None:
    watch.expected.append("status of 404")
    for path in ["", *LIBRARIES, "no/such/page"]:
        reach.visit(path)
    assert not reach.faults, "\n".join(reach.faults)


IMPORTED = """id,field,value,unit,source,date,status
h100-80gb,idle_w,9999,W,our meter,2026-11-30,user
a100-80gb,tdp_w,390,W,our data sheet,2026-11-30,user
a100-80gb,power_base,0.3,,our meter,2026-11-30,user
ours,name,Ours,,an offer,2026-11-30,user
"""


def test_what_a_file_would_change_and_a_power_log(reach: Reach) -> None:
    page = reach.page
    page.goto(f"{reach.home}catalogue/accelerators/import")
    page.get_by_label("CSV file").set_input_files(file_of(IMPORTED))
    page.get_by_role("button", name="Show what it would change").click()
    expect(page.get_by_role("heading", name="Refused")).to_be_visible()
    reach.look("what a file would change")
    page.goto(f"{reach.home}calibrations/power/new")
    page.get_by_label("Power logs").set_input_files(file_of(a_run()))
    page.get_by_label("Machine", exact=True).select_option("dgx-h100")
    page.get_by_label("Name").fill("looked at")
    for label, name in PLACES.items():
        page.get_by_label(label).fill(RUN[name])
    page.get_by_label("Model", exact=True).select_option(RUN["model"])
    page.get_by_role("button", name="Read").click()
    expect(page.locator("#watts .plot svg").first).to_be_visible()
    reach.look("a power log")
    assert not reach.faults, "\n".join(reach.faults)


def file_of(text: str) -> Any:
    return {"name": "ours.csv", "mimeType": "text/csv", "buffer": text.encode()}


PLACES = {
    "Tensor parallel": "tensor_parallel",
    "Requests in flight": "concurrency",
    "Prompt tokens": "prompt_tokens",
    "Output tokens": "output_tokens",
}


def test_an_answer_and_what_is_reached_from_it(reach: Reach, planner: Planner) -> None:
    """A small study: its page with every cheap section worked out, a design beside it and alone, its pilot, a link."""
    page = reach.page
    stop_the_example(page, planner.url)
    page.goto(planner.url + MEASURED)
    ask_small(page)
    find(page)
    wait_until_done(page)
    result = page.url.removeprefix(planner.url)
    page.reload()
    work_out(page)
    reach.look("the result")
    page.get_by_role("link", name="Look into this design").click()
    expect(page.locator("#design-panel h2")).to_be_visible()
    design = page.url.partition("#design=")[2]
    reach.look("a design beside the result")
    page.keyboard.press("Escape")
    page.locator("[name=rate_req_per_s]").fill("13")
    expect(page.locator("#result.stale")).to_be_visible()
    reach.look("an answer to another question")
    scenario = page.get_by_role("link", name="Share").get_attribute("href") or ""
    study = result.split("/")[1]
    compare = f"compare/?add={study}:{design}"
    alone = f"{result}designs/{design}/"
    for path in (compare, alone, f"{alone}pilot", scenario.removeprefix("/")):
        reach.visit(path)
    costs(reach, f"{result}finance/")
    page.goto(f"{planner.url}{scenario.removeprefix('/')}")
    page.get_by_label("For whom").fill("the board")
    page.get_by_role("button", name="Make a link").click()
    reach.visit(page.get_by_label("Its address").input_value().removeprefix(planner.url))
    assert not reach.faults, "\n".join(reach.faults)


def costs(reach: Reach, path: str) -> None:
    """The finance pages: approved, changed since, told against what was billed; and on paper."""
    page = reach.page
    page.goto(reach.home + path)
    page.get_by_role("button", name="Work it out").click()
    expect(page.locator(".analysis .found, #months-title").first).to_be_visible(timeout=STUDY_MS)
    page.goto(reach.home + path)
    page.get_by_role("button", name="Approve revision").click()
    expect(page.locator(".approved")).to_contain_text("Approved by")
    page.locator("[name='overheads.staff_usd_per_month']").fill("20000")
    page.locator("[name='demand.start']").fill("2027-02")
    page.get_by_role("button", name="Save as").click()
    expect(page.locator("#since-words")).to_contain_text("licences and staff +$720,000.00")
    for part in ("", "cost-centres/", "actuals/"):
        reach.visit(path + part)
        if not part:
            on_paper(page)
    page.get_by_label("File", exact=True).set_input_files(file_of("month,cost\n2027-02,700000\n2031-01,5\n"))
    page.get_by_role("button", name="Read").click()
    expect(page).to_have_url(re.compile(r"actuals/\d+/"))
    reach.look("the report of a file of actuals")


PAPER_PX = 960
"""Letter across, between its margins; A4 is wider."""


def on_paper(page: Page) -> None:
    """Nothing is cut, nothing is there to be pressed, and what is folded is open."""
    page.set_viewport_size({"width": PAPER_PX, "height": 700})
    page.emulate_media(media="print", color_scheme="dark")
    wide = page.evaluate(
        "[...document.querySelectorAll('main *')].filter((one) => one.getClientRects().length && !one.closest('.plot')"
        " && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 120))"
    )
    assert wide == []
    for hidden in (".masthead", "main nav", "main button", ".files"):
        for one in page.locator(hidden).all():
            expect(one).to_be_hidden()
    for shown in (".how .formula", "[aria-label='Costs by month, by category']", "[name='facility.pue']"):
        expect(page.locator(shown).first).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.emulate_media(media="screen")


CHEAP = ["neighbourhood", "token_budget", "slo_cost", "racks", "failures"]


def work_out(page: Page) -> None:
    for kind in CHEAP:
        section = open_section(page, kind)
        section.get_by_role("button", name="Work it out").click()
        expect(section.locator(".found")).to_be_visible(timeout=STUDY_MS)
    page.locator("#result details, .analyses details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    expect(page.locator(".analysis.folds [hx-trigger]")).to_have_count(0)  # all of it has come
