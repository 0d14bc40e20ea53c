"""The frontier figures: valid for Plotly, safe with hostile names, honest about what has no place on them."""

import re
from dataclasses import replace
from itertools import pairwise
from math import exp, hypot, log

import plotly.graph_objects as go
import pytest

from planner.studies.axes import Plane, cost_plane, merits_plane, power_plane
from planner.studies.chart_traces import COLOURS, FAINT
from planner.studies.chart_words import summary
from planner.studies.figures import LABEL_GAP, frontier_figure
from planner.studies.series import MAX_FAMILIES, REST, Ghost, Look
from tests.unit.planner.design_rows import SPLIT, infeasible, row

HOSTILE = '<img src=x onerror="alert(1)">'


@pytest.fixture
def rows() -> list:
    return [
        row("a", 40.0, "80"),
        row("b", 75.0, "150"),
        row("c", 60.0, "170"),
        row("d", 90.0, "140", family=SPLIT, label="2 + 3"),
        infeasible("e", "Weights need 141 GB, one accelerator has 80 GB", usd_per_hour="20"),
        row("f", None, "10", status="screened", reason="its bound is under the rate"),
    ]


def traces(figure: dict, role: str) -> list[dict]:
    return [trace for trace in figure["data"] if trace["meta"]["role"] == role]


@pytest.mark.parametrize("kind", ["nameplate", "provisioned", "drawn_mean", "drawn_p99"])
def test_plotly_accepts_the_power_figure(rows: list, kind: str) -> None:
    figure = frontier_figure(rows, power_plane(kind, 408.0), Look(70.0, "d"))
    go.Figure(figure)
    assert figure["layout"]["xaxis"]["title"]["text"].startswith("kW")


def test_plotly_accepts_the_cost_figure(rows: list) -> None:
    go.Figure(frontier_figure(rows, cost_plane(200_000.0), Look(70.0, "d")))


@pytest.mark.parametrize("rows", [[], [infeasible("e", "no")], [row("a")]])
def test_plotly_accepts_figures_of_next_to_nothing(rows: list) -> None:
    go.Figure(frontier_figure(rows, cost_plane(), Look(70.0)))


def test_x_is_a_month_of_730_hours(rows: list) -> None:
    answer = traces(frontier_figure(rows, cost_plane(), Look(70.0, "d")), "answer")[0]
    assert (answer["x"], answer["y"], answer["customdata"]) == ([140 * 730.0], [90.0], ["d"])


def test_the_frontier_is_what_nothing_cheaper_beats(rows: list) -> None:
    frontier = traces(frontier_figure(rows, cost_plane(), Look(70.0)), "frontier")[0]
    assert frontier["y"] == [40.0, 90.0]
    assert frontier["line"]["shape"] == "hv"


def test_dominated_designs_are_faint(rows: list) -> None:
    figure = frontier_figure(rows, cost_plane(), Look(70.0))
    points = next(t for t in traces(figure, "designs") if "a" in t["customdata"])
    by_id = dict(zip(points["customdata"], points["marker"]["opacity"], strict=True))
    assert by_id == {"a": 1.0, "b": 1.0, "c": FAINT}


def test_infeasible_designs_are_hollow_with_the_reason(rows: list) -> None:
    hollow = [
        t
        for t in traces(frontier_figure(rows, cost_plane(), Look(70.0)), "designs")
        if t["marker"]["symbol"].endswith("-open")
    ]
    assert [t["customdata"] for t in hollow] == [["e"]]
    assert "Weights need 141 GB" in hollow[0]["text"][0]


def test_designs_that_break_a_limit_are_hollow_where_they_are(rows: list) -> None:
    figure = frontier_figure(rows, cost_plane(1.0), Look(70.0, hollow=frozenset({"b"})))
    hollow = next(t for t in traces(figure, "designs") if "b" in t["customdata"])
    assert hollow["marker"]["symbol"].endswith("-open")
    assert hollow["y"][hollow["customdata"].index("b")] == 75.0


def test_screened_designs_are_left_to_the_table(rows: list) -> None:
    figure = frontier_figure(rows, cost_plane(), Look(70.0))
    assert not any("f" in t["customdata"] for t in traces(figure, "designs"))
    assert "1 screened design in the table only" in summary(rows, cost_plane(), Look(70.0))


def test_the_words_count_every_design_once() -> None:
    rows = [row("a"), row("b", 0.0), row("c", 0.0), row("d", None, status="screened"), infeasible("e", "no")]
    said = summary(rows, cost_plane(), Look(70.0))
    assert said.startswith("1 design in 1 family")
    assert "2 more designs hold the limits at no rate. 1 infeasible design on the zero line. 1 screened design" in said


def test_of_designs_that_cost_as_little_the_words_name_the_answer() -> None:
    rows = [row("a", 90.0, "80", label="more than is asked"), row("b", 75.0, "80", label="the answer")]
    assert "within the limits: the answer" in summary(rows, cost_plane(), Look(70.0, "b"))
    assert "within the limits: more than" in summary(rows, cost_plane(), Look(70.0))


def test_what_holds_the_rate_is_not_said_to_hold_less() -> None:
    rows = [row("a", 69.5, met=True)]  # a capacity is found to 1 %, and the run at the rate holds
    assert summary(rows, cost_plane(), Look(70.0)).endswith("up to 70 requests/s.")


def test_the_words_name_no_design_that_breaks_a_limit() -> None:
    rows = [row("a", 90.0, "80", label="over the budget"), row("b", 75.0, "90", label="within it")]
    assert "within the limits: within it" in summary(rows, cost_plane(), Look(70.0, hollow=frozenset({"a"})))


def test_names_are_escaped() -> None:
    rows = [row("a", label=HOSTILE, family=HOSTILE, reason=HOSTILE, binding_limit=HOSTILE)]
    text = str(frontier_figure(rows, cost_plane(), Look(70.0)))
    assert "<img" not in text
    assert "&lt;img" in text


def test_texts_have_no_tag_that_needs_an_inline_style(rows: list) -> None:
    figure = frontier_figure(rows, cost_plane(1.0), Look(70.0, "d"))
    texts = [text for trace in figure["data"] for text in trace.get("text", [])]
    texts += [note["text"] for note in figure["layout"]["annotations"]]
    assert any("<br>" in text for text in texts)
    assert {tag for text in texts for tag in re.findall(r"<[^>]*>", text)} <= {"<br>"}


def test_more_than_eight_families_share_the_last_line() -> None:
    rows = [row(str(n), 10.0 + n, family=f"family {n}") for n in range(12)]
    figure = frontier_figure(rows, cost_plane(), Look(70.0))
    names = [trace["name"] for trace in traces(figure, "family")]
    assert len(names) == MAX_FAMILIES
    assert names[0] == "family 11"
    assert names[-1] == REST
    plotted = {design for trace in traces(figure, "designs") for design in trace["customdata"]}
    assert plotted == {str(n) for n in range(12)}


def test_a_family_keeps_its_colour_when_another_overtakes_it() -> None:
    look = Look(70.0, family_names={"ours": "Ours", "theirs": "Theirs"})
    early = [row("a", 10.0, family="ours"), row("b", 20.0, family="theirs")]
    later = [*early, row("c", 90.0, family="ours")]
    colours = [
        {trace["name"]: trace["line"]["color"] for trace in traces(frontier_figure(rows, cost_plane(), look), "family")}
        for rows in (early, later)
    ]
    assert colours[0] == colours[1]
    assert len(set(colours[0].values())) == 2


def test_line_ends_do_not_overlap() -> None:
    rows = [row(str(n), 70.0 + n / 100, family=f"family {n}") for n in range(8)]
    layout = frontier_figure(rows, cost_plane(), Look(70.0))["layout"]
    top = layout["yaxis"]["range"][1]
    heights = sorted(note["y"] for note in layout["annotations"] if note["name"].startswith("family:"))
    assert len(heights) == 8
    assert heights[-1] <= top + 1e-9
    assert all(b - a >= LABEL_GAP * top - 1e-9 for a, b in pairwise(heights))


def test_the_required_rate_and_the_limit_are_lines() -> None:
    layout = frontier_figure([row("a")], cost_plane(50_000.0), Look(70.0))["layout"]
    lines = [s for s in layout["shapes"] if s["name"] != "ray"]
    assert [(s["name"], s["y0"], s["x0"]) for s in lines] == [("rate", 70.0, 0), ("limit", 0, 50_000.0)]
    assert layout["yaxis"]["range"][1] > 70.0


def test_the_summary_names_the_least(rows: list) -> None:
    assert "2 + 3, $102,000 a month, up to 90 requests/s." in summary(rows, cost_plane(), Look(70.0))


def test_the_summary_says_when_none_holds() -> None:
    assert summary([row("a", 40.0)], cost_plane(), Look(70.0)).endswith("none holds 70 requests/s within the limits.")


def test_every_design_has_whiskers_and_the_answers_are_drawn() -> None:
    """The others' are shown by the page where a point is hovered or chosen; an interval may reach down to none."""
    wide = row("a", 70.0, capacity_low=0.0, capacity_high=80.0)
    data = frontier_figure([wide, row("b", 71.0, "120")], cost_plane(), Look(70.0, answer_id="a"))["data"]
    (answer,) = (trace for trace in data if trace["meta"]["role"] == "answer")
    assert (answer["error_y"]["array"], answer["error_y"]["arrayminus"]) == ([10.0], [70.0])
    designs = [trace["error_y"] for trace in data if trace["meta"]["role"] == "designs"]
    assert all(whiskers["visible"] is False for whiskers in designs)
    assert [up for whiskers in designs for up in whiskers["array"]] == pytest.approx([10.0, 0.71])


def test_whiskers_of_drawn_watts_and_of_both_merits_are_on_both_axes_and_within_the_chart() -> None:
    design, look = row("a", 70.0, capacity_low=60.0, capacity_high=90.0, req_per_usd_high=3000.0), Look(70.0, "a")
    spans = {"a": (0.8, 1.25)}
    power, rated, both = (
        traces(figure, "answer")[0] | {"right": figure["layout"]["xaxis"]["range"][1]}
        for plane in (
            power_plane("drawn_mean", None, spans),
            power_plane("nameplate"),
            merits_plane("drawn_mean", spans),
        )
        for figure in [frontier_figure([design], plane, look)]
    )
    kw = (design.mean_w or 0) / 1000
    assert power["error_x"]["array"] == pytest.approx([0.25 * kw])
    assert power["error_x"]["arrayminus"] == pytest.approx([0.2 * kw])
    assert "error_x" not in rated  # a nameplate is what it is
    # of what is held by 90/70, of the watts by 1/0.8, each off by itself
    most = 70 / kw * exp(hypot(log(90 / 70), log(0.8)))
    assert both["x"][0] + both["error_x"]["array"][0] == pytest.approx(most)
    assert both["right"] > most


def test_a_hovered_design_says_its_interval_and_whether_it_is_tied() -> None:
    tied = row("a", 70.0, tied_with_answer=True)
    texts = [
        text for trace in frontier_figure([tied], cost_plane(), Look(70.0))["data"] for text in trace.get("text", ())
    ]
    assert "holds 70 requests/s (68.6 to 70.7, 9 times in 10)" in texts[0]
    assert "tied with the answer by what is known" in texts[0]


PLANES = [cost_plane(), power_plane("nameplate"), power_plane("drawn_mean"), merits_plane("provisioned")]


@pytest.mark.parametrize("plane", PLANES, ids=lambda plane: plane.x.title)
def test_a_point_keeps_its_colour_and_symbol_whatever_the_chart_is_drawn_over(rows: list, plane: Plane) -> None:
    look = Look(70.0, family_names={SPLIT: "Split"}, places={SPLIT: 4, "sarathi:dgx-h100": 2})
    drawn = {
        design: (trace["meta"]["series"], trace["marker"]["color"])
        for trace in traces(frontier_figure(rows, plane, look), "designs")
        for design in trace["customdata"]
    }
    assert drawn["d"] == (4, COLOURS[4])
    assert drawn["b"] == (2, COLOURS[2])


def test_both_merits_are_drawn_of_what_holds_the_rate(rows: list) -> None:
    figure = frontier_figure(rows, merits_plane("nameplate"), Look(70.0, "d"))
    go.Figure(figure)
    shown = {
        design: xy
        for t in traces(figure, "designs")
        for design, *xy in zip(t["customdata"], t["x"], t["y"], strict=True)
    }
    assert set(shown) == {"b", "d"}
    by_id = {one.design_id: one for one in rows}
    for design, (x, y) in shown.items():
        assert x == pytest.approx(by_id[design].capacity_req_per_s / by_id[design].nameplate_w * 1000)
        assert y == by_id[design].req_per_usd
    assert not any(shape["name"] in ("rate", "ray") for shape in figure["layout"]["shapes"])
    assert [n["text"] for n in figure["layout"]["annotations"] if n["name"] == "better"] == ["Up and right is better ↗"]


def test_of_both_merits_the_frontier_has_the_best_of_each_at_its_ends() -> None:
    dollars = row("a", 90.0, "80")
    watts = row("b", 90.0, "160", nameplate_w=dollars.nameplate_w / 2)
    beaten = row("c", 75.0, "170")
    figure = frontier_figure([dollars, watts, beaten], merits_plane("nameplate"), Look(70.0))
    frontier = traces(figure, "frontier")[0]
    assert frontier["line"]["shape"] == "vh"
    assert frontier["y"] == [dollars.req_per_usd, watts.req_per_usd]
    assert frontier["x"] == sorted(frontier["x"])
    words = summary([dollars, watts, beaten], merits_plane("nameplate"), Look(70.0))
    assert "Of the 3 that hold 70 requests/s within the limits, the most requests a dollar: " in words
    assert "The most requests/s a kW: " in words


def test_lines_through_the_origin_are_of_equal_requests_a_dollar(rows: list) -> None:
    layout = frontier_figure(rows, cost_plane(), Look(70.0))["layout"]
    rays = [shape for shape in layout["shapes"] if shape["name"] == "ray"]
    texts = [note["text"] for note in layout["annotations"] if note["name"] == "ray"]
    assert len(rays) == len(texts) > 1
    for ray, text in zip(rays, texts, strict=True):
        assert (ray["x0"], ray["y0"]) == (0, 0)
        a_dollar = ray["y1"] / ray["x1"] * 730 * 3600
        assert text == f"{a_dollar:,.4g} requests/$"
        assert ray["x1"] <= layout["xaxis"]["range"][1]
        assert ray["y1"] <= layout["yaxis"]["range"][1] * (1 + 1e-9)


def test_what_was_asked_stays_behind_what_is_supposed_where_it_differs(rows: list) -> None:
    cheaper = [replace(one, usd_per_hour=one.usd_per_hour / 2) for one in rows]
    ghost = Ghost(rows, 70.0, 90_000.0)
    figure = frontier_figure(cheaper, cost_plane(50_000.0), Look(80.0), ghost)
    go.Figure(figure)
    (behind,) = traces(figure, "ghost")
    asked = traces(frontier_figure(rows, cost_plane(), Look(70.0)), "frontier")[0]
    assert (behind["x"], behind["y"]) == (asked["x"], asked["y"])
    ghosts = [(s["y0"], s["x0"]) for s in figure["layout"]["shapes"] if s["name"] == "ghost"]
    assert ghosts == [(70.0, 0), (0, 90_000.0)]
    assert figure["layout"]["xaxis"]["range"][1] >= max(behind["x"])
    same = frontier_figure(rows, cost_plane(), Look(70.0), Ghost(rows, 70.0))
    assert not traces(same, "ghost")
