import pytest

from simcore.evaluation import Evaluation
from simcore.trust.margins import margin
from simcore.trust.sentences import confidence_words, interval_parts, interval_words, tie_words, times_by_curve
from tests.unit.planner.design_rows import row
from tests.unit.simcore.runs import case

SPLIT = case(
    model="bloom-176b",
    latency={"source": "measured"},
    scheduler={"kind": "splitwise"},
    pools=[{"role": role, "machine": "dgx-h100", "tensor_parallel": 8} for role in ("prefill", "decode")],
)
TOLD = Evaluation("x", "evaluated", "", 10.0, 9.0, 12.0, "unstable", "decode")


def test_pools_of_one_curve_are_named_once():
    assert times_by_curve(SPLIT, margin(SPLIT, TOLD)) == [("DGX H100 TP8", "prefills ±8 %, decodes ±3 %")]


def test_what_the_interval_joins():
    wide = row("1", noise_low=69.0, noise_high=71.5)
    assert interval_parts(SPLIT, wide, margin(SPLIT, TOLD)) == (
        "the interval, 9 times in 10, joins chance in the simulation (69 to 71.5) and iteration times"
        " (DGX H100 TP8: prefills ±8 %, decodes ±3 %)"
    )
    exact = row("1", capacity_low=70.0, capacity_high=70.0)
    assert interval_parts(SPLIT, exact, margin(SPLIT, TOLD)) == interval_words(exact) == ""


def test_an_interval_may_begin_at_no_rate_and_reaches_what_a_run_held():
    assert interval_words(row("1", capacity_low=0.0, capacity_high=80.0)) == " (none to 80)"
    assert interval_words(row("1", capacity_low=68.0, capacity_high=69.9), 70.0) == " (68 to 70)"


def test_what_holds_the_rate_at_its_low_end_too():
    answer, larger = row("1"), row("2")
    assert confidence_words(70.0, answer, answer) == "at the interval's low end too it holds 70 requests/s"
    said = confidence_words(70.0, answer, larger, "add 3 DGX H100", "+$9,000 a month")
    assert said.startswith("for 90 % confidence at 70 requests/s add 3 DGX H100: +$9,000 a month")
    assert "no design tried within the limits will do" in confidence_words(70.0, answer, None)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"mixed_machines": 6}, "about 9 machines of the answer's kind would (not simulated)"),
        (
            {"mixed_machines": None, "prefill_machines": 4, "decode_machines": 2},
            "about 6 prefill and 3 decode machines of the answer's kind would (not simulated)",
        ),
    ],
)
def test_the_answer_is_said_to_be_enlarged_by_what_its_low_end_lacks(counts, words):
    answer = row("1", capacity_low=50.0, **counts)
    said = confidence_words(70.0, answer, row("2", mixed_machines=40), "buy 40 machines", "+400 % cost")
    assert said.endswith(f"buy 40 machines: +400 % cost; by its interval's share {words}")
    near = row("3", **{name: count and 9 for name, count in counts.items()})
    if "prefill_machines" not in counts:
        assert confidence_words(70.0, answer, near, "add 3", "+50 % cost").endswith("add 3: +50 % cost")
    none = confidence_words(70.0, row("1", capacity_low=0.0, **counts), None)
    assert "machines" not in none


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ("cost", "their requests a dollar apart; the least cost decides."),
        ("power", "their requests/s a kW apart; the least power decides."),
        ("machines", "their requests/s a machine apart; the least number of machines decides."),
        ("throughput", "their requests/s apart; the most held decides."),
    ],
)
def test_ties_say_what_the_goal_compares_and_what_decides(goal, words):
    assert tie_words(goal, ["a", "b"], 3).startswith("a and b are tied with the answer: ")
    assert tie_words(goal, ["a"], 3).endswith(words)


@pytest.mark.parametrize(("goal", "then"), [("cost", "the most held"), ("machines", "the least cost")])
def test_what_decides_between_ties_that_need_as_little_is_said(goal, then):
    assert tie_words(goal, ["a"], 3, alike=True).endswith(f" decides, of equals {then}.")


def test_many_ties_are_counted_and_none_is_said():
    assert tie_words("cost", list("abcde"), 5).startswith("a, b and 3 more are tied")
    assert tie_words("cost", [], 2) == "No other's interval of requests a dollar reaches the answer's."
    assert tie_words("cost", [], 0) == ""
