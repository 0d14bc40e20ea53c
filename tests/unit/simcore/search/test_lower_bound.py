"""A question sized to its interval's lower bound, on made-up capacities."""

import pytest

from simcore.answer.result import study_result
from simcore.catalogue import price_book
from simcore.explain import answer
from simcore.flips import flips
from simcore.shortfalls import machines
from simcore.spec import SpecError, decode_study
from tests.unit.simcore.questions import asked, explored

EACH = {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (6.0, 4.0)}
RATE = 70.0
BARE = {
    "model": "bloom-176b",
    "workload": {"synthetic": {"mix": "conversation"}},
    "rate_req_per_s": 1,
    "machines": [{"machine": "dgx-a100"}],
}


def answered(**changes):
    context = asked(**changes)
    designs, done = explored(context, EACH)
    return study_result(context.spec, designs, done, price_book("splitwise-2023"))


def test_the_answer_holds_the_rate_at_its_intervals_lower_bound_with_the_fewest_machines():
    result = answered(size_to="lower_bound", families=["sarathi:dgx-h100"], limits={})
    assert result.winner.capacity_low >= RATE
    fewer = [row for row in result.rows if machines(row) == machines(result.winner) - 1]
    assert fewer, "one machine fewer was tried"
    assert all(row.capacity_low < RATE and not row.met for row in fewer)


def test_of_a_split_family_each_pool_is_brought_down_to_what_fails():
    result = answered(size_to="lower_bound", families=["splitwise:dgx-h100+dgx-a100"], limits={})
    rows = {(row.prefill_machines, row.decode_machines): row for row in result.rows}
    assert result.winner.capacity_low >= RATE
    first, second = min((counts for counts, row in rows.items() if row.met), key=lambda counts: (sum(counts), counts))
    failing = [counts for counts, row in rows.items() if (row.capacity_low or 0.0) < RATE]  # or it failed at the rate
    assert any(prefill == first - 1 and decode >= second for prefill, decode in failing)
    assert any(prefill >= first and decode == second - 1 for prefill, decode in failing)


def test_the_median_goes_with_it_and_what_that_would_save():
    median, sized = answered(), answered(size_to="lower_bound")
    assert median.winner == median.median
    assert sized.median.design_id == median.winner.design_id
    assert sized.winner.usd_per_hour > sized.median.usd_per_hour
    saved = 730 * (sized.winner.usd_per_hour - sized.median.usd_per_hour)
    detail = next(line.detail for line in answer(sized) if line.key == "C")
    assert f"for the median {sized.median.label} would do: ${float(f'{saved:.3g}'):,.0f} a month less" in detail


def test_a_design_that_only_holds_the_rate_in_the_median_says_so():
    sized = answered(size_to="lower_bound")
    row = sized.row(sized.median.design_id)
    assert not row.met
    assert row.reason.endswith("requests/s at its interval's lower bound instead of 70")


def test_flips_of_a_lower_bound_go_by_it():
    sized = answered(size_to="lower_bound")
    above = next(f for f in flips(sized).answer if f.asked.kind == "rate_req_per_s" and f.is_above)
    lows = [row.capacity_low for row in sized.rows if row.family == sized.winner.family and row.status == "evaluated"]
    assert above.value in lows
    assert not any(asked_.kind == "slo_multiplier" for asked_ in flips(sized).asked)


def test_sizing_to_the_median_asks_nothing_more():
    plain, sized = answered(), answered(size_to="lower_bound")
    assert {row.design_id for row in plain.rows} < {row.design_id for row in sized.rows}


def test_what_it_may_be_sized_to_is_named():
    with pytest.raises(SpecError, match="size_to: found 'p90', expected one of median, lower_bound"):
        decode_study(BARE | {"size_to": "p90"})
