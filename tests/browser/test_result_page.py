"""The result page of the example: on a phone, in the dark, with the keyboard, without Plotly."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.question import EXAMPLE, STUDY_MS
from tests.browser.watch import Watch
from tests.services import Planner

SIZES = [(1440, 900), (390, 844)]


@pytest.fixture
def example(home: Page, planner: Planner) -> Page:
    """The example's result page with some designs on it, done or under way."""
    home.goto(planner.url + EXAMPLE)
    expect(home.locator("#frontier tbody tr").first).to_be_visible(timeout=STUDY_MS)
    return home


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.usefixtures("watch")
def test_every_page_fits_and_is_quiet(page: Page, planner: Planner, width: int, height: int, scheme: Any) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme)
    for path in ["", "workloads/", "catalogue/"]:
        page.goto(planner.url + path)
        expect(page.locator("main")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_question_fits_with_everything_open(home: Page, width: int, height: int) -> None:
    home.set_viewport_size({"width": width, "height": height})
    home.get_by_label("Latency objective").select_option("absolute")
    home.locator("details.advanced > summary").click()
    expect(home.get_by_label("or decode iterations")).to_be_visible()
    expect(home.get_by_label("Decode counts")).to_be_visible()
    assert home.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_charts_are_drawn(example: Page, width: int, height: int) -> None:
    example.set_viewport_size({"width": width, "height": height})
    expect(example.locator("#frontier .plot .main-svg").first).to_be_visible()
    expect(example.locator("#frontier .scatterlayer .points path").first).to_be_attached()
    assert example.evaluate("document.documentElement.scrollWidth") <= width


def test_long_names_at_the_ends_of_lines_are_not_cut(example: Page) -> None:
    expect(example.locator("#frontier .annotation").first).to_be_attached()
    over_px = example.evaluate(
        """name => {
            const data = document.getElementById("frontier-figure"), figure = JSON.parse(data.textContent);
            figure.layout.annotations.find((note) => note.name?.startsWith("family:")).text = name;
            data.textContent = JSON.stringify(figure);
            document.dispatchEvent(new CustomEvent("htmx:afterSettle"));
            const notes = [...document.querySelectorAll("#frontier .annotation text")];
            const end = (element) => element.getBoundingClientRect().right;
            const plot = document.querySelector("#frontier .plot");
            return end(notes.find((note) => note.textContent === name)) - end(plot);
        }""",
        "Split, DGX H100 capped + DGX H100 capped",
    )
    assert over_px <= 0


def test_what_is_outside_the_measured_is_said_once_and_of_a_changed_question_too(example: Page) -> None:
    expect(example.locator(".answer .outside")).to_be_visible(timeout=STUDY_MS)
    expect(example.locator(".preview .outside")).to_be_hidden()
    example.get_by_label("Required rate").fill("33")
    expect(example.locator(".preview .outside")).to_be_visible()


def test_the_chart_is_drawn_over_what_is_chosen_and_back_undoes_it(example: Page) -> None:
    title = example.locator("#frontier .xtitle")
    expect(title).to_contain_text("$ a month")
    example.locator(".views").get_by_text("kW", exact=True).first.click()
    expect(title).to_contain_text("kW nameplate")
    example.get_by_label("Which kW").select_option("drawn_mean")
    expect(example.locator("#frontier-data")).to_contain_text("Drawn power is that at each design's capacity")
    expect(example.locator("#frontier th[data-column='mean_w']")).to_have_attribute("aria-sort", "ascending")
    example.reload()
    expect(title).to_contain_text("drawn")
    moves = example.evaluate_handle(
        """() => {
            const moves = [], animate = Element.prototype.animate;
            Element.prototype.animate = function (frames, options) {
                if (frames[0].transform) moves.push(frames.map(({ transform }) => transform));
                return animate.call(this, frames, options);
            };
            return moves;
        }"""
    )
    example.locator(".views").get_by_text("both").click()
    expect(title).to_contain_text("Perf/W")
    assert moves.evaluate("moves => moves.length") > 1  # designs are moved from one form to the other
    example.emulate_media(reduced_motion="reduce")
    moved = moves.evaluate("moves => moves.length")
    example.go_back()
    expect(title).to_contain_text("kW drawn")
    assert moves.evaluate("moves => moves.length") == moved


def test_what_is_supposed_is_in_the_address_and_can_be_taken_back(example: Page) -> None:
    price = example.get_by_label("H100 $/h", exact=True)
    price.fill("9")
    price.press("Enter")
    expect(example).to_have_url(re.compile(r"\?usd\.dgx-h100=9$"))
    expect(example.locator("#supposed")).to_contain_text("DGX H100 at $9.00 an hour instead of")
    expect(example.locator("#outcome")).not_to_be_empty()
    example.go_back()
    expect(example.locator("#supposed .supposed")).to_have_count(0)
    expect(price).not_to_have_value("9")


def test_what_is_asked_anew_is_relative_to_the_new_answer_unless_a_baseline_was_chosen(example: Page) -> None:
    """As the page does while its study runs, and the answer changes."""
    ask = "() => htmx.ajax('GET', document.getElementById('what-if').dataset.viewUrl,"
    ask += " {source: document.getElementById('what-if'), swap: 'none'})"
    with example.expect_request(lambda request: "baseline=" in request.url) as seen:
        example.evaluate(ask)
    assert re.search(r"[?&]baseline=(&|$)", seen.value.url)
    example.locator("#baseline").select_option(index=1)
    expect(example).to_have_url(re.compile(r"\?baseline=\w+$"))
    with example.expect_request(lambda request: "baseline=" in request.url) as seen:
        example.evaluate(ask)
    assert re.search(r"[?&]baseline=\w+", seen.value.url)


def test_the_line_of_the_required_rate_is_dragged_and_moved_by_keys(example: Page) -> None:
    handle = example.get_by_role("slider", name="Rate line of the chart, requests a second")
    expect(handle).to_be_visible()
    example.locator("#frontier").evaluate(
        "section => section.scrollIntoView()"
    )  # the strip covers what is further down
    box = handle.bounding_box()
    assert box
    x, y = box["x"] + box["width"] - 20, box["y"] + box["height"] / 2
    example.mouse.move(x, y)
    example.mouse.down()
    example.mouse.move(x, y + 40, steps=4)
    example.mouse.up()
    expect(example).to_have_url(re.compile(r"\?rate="))
    expect(example.locator("#supposed")).to_contain_text("requests/s instead of 70")
    moved = example.locator("#move-rate").input_value()
    assert 0 < float(moved) < 70
    answer = example.locator("[data-first-baseline]").get_attribute("data-first-baseline")
    expect(example.locator("#baseline")).to_have_value(str(answer))
    handle.focus()
    example.keyboard.press("ArrowUp")
    expect(example.locator("#move-rate")).not_to_have_value(moved)
    expect(example).not_to_have_url(re.compile(rf"\?rate={moved}$"))


RENEWAL = """() => {
    const poll = document.createElement("div"), address = location.pathname + "status?seen=";
    Object.entries({ "hx-get": address, "hx-trigger": "every 100ms", "hx-target": "#status" })
        .forEach(([name, value]) => poll.setAttribute(name, value));
    document.querySelector("#status").append(poll);
    htmx.process(poll);
}"""
"""A page that asks for its state as one of a running study does, once: the answer takes its place."""


def test_a_press_is_not_lost_to_a_renewal_between_it_and_its_release(example: Page) -> None:
    summary = closed_table(example)
    summary.hover()
    example.mouse.down()
    with example.expect_response("**/status?seen=*"):
        example.evaluate(RENEWAL)
    with example.expect_response("**/status?seen=*"):
        pass  # it asks again for what was passed over
    example.mouse.up()
    expect(example.locator("#frontier tbody tr").first).to_be_visible()
    expect(example.locator("#status [hx-trigger='every 100ms']")).to_have_count(0)


def closed_table(example: Page) -> Locator:
    """The summary of the chart's table, which begins open."""
    example.locator("#frontier").evaluate("section => section.scrollIntoView()")
    summary = example.locator("#frontier details.designs > summary")
    summary.click()
    expect(example.locator("#frontier tbody tr").first).to_be_hidden()
    return summary


def test_a_table_opened_as_the_page_is_renewed_stays_open(example: Page) -> None:
    closed_table(example)
    example.evaluate(
        """async () => {
            const renewal = await (await fetch(location.pathname + "status?seen=")).text();
            document.querySelector("#frontier details.designs > summary").click();
            htmx.swap("#status", renewal, { swapStyle: "innerHTML" });
        }"""
    )
    expect(example.locator("#frontier tbody tr").first).to_be_visible()


def test_a_long_table_begins_short_takes_in_what_is_chosen_and_shows_all_when_asked(example: Page) -> None:
    more = example.locator("#frontier").get_by_role("link", name=re.compile(r"^Show all \d+"))
    expect(more).to_be_visible(timeout=STUDY_MS)
    shown = {row.get_attribute("data-design") for row in example.locator("#frontier tbody tr").all()}
    listed = example.request.get(
        example.get_by_role("link", name="API", exact=True).evaluate("link => link.href")
    ).json()
    hidden = next(row["design_id"] for row in listed["results"] if row["design_id"] not in shown)
    example.evaluate("id => { location.hash = `design=${id}`; }", hidden)
    row = example.locator(f"#frontier tr[data-design='{hidden}']")
    expect(row).to_have_attribute("aria-current", "true")
    more.click()
    expect(more).to_have_count(0)
    assert example.locator("#frontier tbody tr").count() >= len(listed["results"])
    expect(row).to_have_attribute("aria-current", "true")


def test_arrow_keys_walk_along_the_frontier(example: Page) -> None:
    expect(example.locator("#frontier .scatterlayer .points path").first).to_be_attached()
    example.locator("#frontier .plot").focus()
    example.keyboard.press("ArrowRight")
    expect(example.locator("#design-panel h2")).not_to_be_empty()
    first = example.url.partition("#design=")[2]
    example.locator("#frontier .plot").focus()
    example.keyboard.press("ArrowRight")
    expect(example).not_to_have_url(re.compile(f"#design={first}$"))


def test_a_link_to_a_design_opens_it(example: Page) -> None:
    row = example.locator("#frontier tbody tr").nth(1)
    design_id = row.get_attribute("data-design")
    example.goto(f"{example.url.partition('#')[0]}#design={design_id}")
    example.reload()
    expect(example.locator("#design-panel")).to_contain_text(design_id or "no id")


def test_columns_sort_by_exact_values(example: Page) -> None:
    example.locator("#frontier th[data-column='capacity_req_per_s'] button").click()
    titles = example.locator("#frontier tbody tr").evaluate_all(
        "rows => rows.map(row => row.cells[15].title).filter(Boolean).map(Number)"
    )
    assert titles == sorted(titles)


def test_text_and_tables_stand_without_plotly(browser: Browser, planner: Planner) -> None:
    page = browser.new_page()
    page.route("**/plotly*.js", lambda route: route.abort())
    page.goto(planner.url + EXAMPLE)
    expect(page.locator("#answer h2")).not_to_be_empty()
    expect(page.locator("#frontier tbody tr").first).to_be_visible(timeout=STUDY_MS)
    expect(page.locator("#frontier .plot")).to_have_attribute("data-waiting", re.compile("did not load"))
    page.locator("#frontier tbody tr").first.click()
    expect(page.locator("#design-panel")).to_be_visible()
    page.close()


def test_it_reads_without_any_script(browser: Browser, planner: Planner) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(planner.url + EXAMPLE)
    expect(page.locator("#answer h2")).not_to_be_empty()
    page.locator(".views").get_by_text("kW", exact=True).first.click()
    page.get_by_role("button", name="Show").first.click()
    expect(page.locator("th[data-column='nameplate_w']")).to_have_attribute("aria-sort", "ascending")
    expect(page.locator("#frontier tbody tr").first).to_be_visible()
    context.close()


def test_a_part_that_does_not_come_says_why_until_another_comes(example: Page, watch: Watch) -> None:
    watch.expected += ["status of 503", "Response Status Error Code 503"]
    said = "The database does not answer. Try again in a moment."
    asked, views = re.compile(r"/studies/\d+/view\b"), example.locator(".views")
    example.route(asked, lambda route: route.fulfill(status=503, content_type="text/plain", body=said))
    views.get_by_text("kW", exact=True).first.click()
    expect(example.locator("#trouble")).to_have_text(said)
    example.unroute(asked)
    views.get_by_text("both").click()
    expect(example.locator("#frontier .xtitle")).to_contain_text("Perf/W")
    expect(example.locator("#trouble")).to_be_hidden()
