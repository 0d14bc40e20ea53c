"""The search against trying every count: at any prices, under any tighter limits, the cheapest was tried."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.answer.measure import measure_of
from simcore.answer.result import StudyResult, study_result
from simcore.catalogue import price_book, resolve_machine
from simcore.search.context import Context
from simcore.search.replay import Replay
from simcore.search.tried import Tried
from simcore.spec import PriceBook, StudySpec
from simcore.study import next_designs
from simcore.what_if.changes import Changes, changed, repriced, what_if
from simcore.what_if.untried import untried
from tests.unit.simcore.questions import asked, evaluation, told

H100, A100 = "dgx-h100", "dgx-a100"
MIXED, SAME, TURNED = f"splitwise:{H100}+{A100}", f"splitwise:{H100}+{H100}", f"splitwise:{A100}+{H100}"
ALONE = f"sarathi:{H100}"
BOOK = price_book("list")
MOST = 24
"""Machines of a pool in trying every count."""
RATE = 20.0


@st.composite
def boundaries(draw: st.DrawFn) -> np.ndarray:
    """What every pair of counts holds: more machines of either pool hold no less, in steps of any form."""
    first, second = draw(st.floats(0.5, 9)), draw(st.floats(0.5, 9))
    counts = np.arange(MOST + 1)
    p, d = np.meshgrid(counts, counts, indexing="ij")
    form = draw(st.sampled_from(["pools", "line", "round", "steps"]))
    if form == "pools":
        held = np.minimum(p * first, d * second)
    elif form == "line":
        held = p * first + d * second
    elif form == "round":
        held = np.sqrt(p * first * d * second)
    else:
        drawn = np.random.default_rng(draw(st.integers(0, 2**32))).exponential(size=p.shape) * draw(st.floats(1, 20))
        held = np.maximum.accumulate(np.maximum.accumulate(drawn, axis=0), axis=1)
    return np.where((p > 0) & (d > 0), held, 0.0)


PRICES = st.fixed_dictionaries({H100: st.integers(5, 80), A100: st.integers(5, 80)})
HELD = st.fixed_dictionaries({MIXED: boundaries(), TURNED: boundaries(), SAME: boundaries(), ALONE: st.floats(0.5, 4)})


def capacity(family: str, counts: tuple[int, ...], held) -> float:
    if len(counts) == 1:
        return counts[0] * held[family]
    return float(held[family][min(counts[0], MOST), min(counts[1], MOST)])


def searched(held, **changes) -> tuple[Context, StudyResult]:
    limits = {"machines": MOST, **changes.pop("limits", {})}
    context = asked(families=[ALONE, MIXED, TURNED, SAME], rate_req_per_s=RATE, limits=limits, **changes)
    designs, done = {}, {}
    while wave := next_designs(context, done):
        for design in wave:
            of_all = capacity(design.family, tuple(pool.machines for pool in design.case.pools), held)
            designs[design.design_id] = design
            done[design.design_id] = told(design, context, evaluation(design, of_all, "decode", RATE))
    return context, study_result(context.spec, list(designs.values()), done, BOOK)


def holding(context: Context, held) -> list[Counter[str]]:
    """The machines of every count within the limits of the question that holds the rate."""
    return [
        sum((Counter({pool.machine.id: n}) for pool, n in zip(line.pools, counts, strict=True)), Counter())
        for line in context.lines
        for counts in product(range(1, MOST + 1), repeat=len(line.pools))
        if sum(counts) <= MOST and capacity(line.family, counts, held) >= RATE
    ]


def least(every: list[Counter[str]], spec: StudySpec, book: PriceBook) -> float | None:
    """Of what the goal compares, by all that keep the power limit."""
    machines = {name: resolve_machine(name) for name in (H100, A100)}
    usd = {name: float(book.price(name).usd_per_hour) for name in machines}
    each = {
        "power": {name: one.provisioned() for name, one in machines.items()},
        "machines": dict.fromkeys(machines, 1.0),
    }
    most_w = (spec.limits.power_limit_kw or inf) * 1000 * (1 + 1e-12)
    weights = each.get(spec.goal, usd)
    figures = [
        sum(weights[name] * count for name, count in used.items())
        for used in every
        if sum(machines[name].nameplate_w * count for name, count in used.items()) <= most_w
    ]
    return min(figures, default=None)


@pytest.mark.parametrize("goal", ["cost", "power", "machines"])
@settings(max_examples=6, deadline=None)
@given(held=HELD, books=st.lists(PRICES, min_size=3, max_size=3), limit=st.integers(60, 250))
def test_at_any_prices_and_under_any_tighter_limits_the_least_of_all_counts_was_tried(goal, held, books, limit):
    context, result = searched(held, goal=goal)
    every = holding(context, held)
    for prices in books:
        for kilowatts in (None, limit):
            changes = Changes(
                usd_per_hour={name: Decimal(usd) for name, usd in prices.items()}, power_limit_kw=kilowatts
            )
            found = what_if(result, changes)
            best = least(every, changed(result.spec, changes), repriced(BOOK, changes))
            assert (found.result.winner is None) == (best is None)
            assert best is None or measure_of(result).figure(found.result.winner) == pytest.approx(best, rel=1e-12)
            assert untried(context, found).count == 0


def test_a_pair_that_holds_the_rate_and_was_then_screened_is_not_asked_for_its_capacity_for_ever():
    """The example asked for 39 + 1 without end: it held the rate in a trial, then failed at its rival's in a run."""
    context = asked(families=[MIXED], rate_req_per_s=RATE, limits={"machines": MOST})
    replay, pair = Replay(context, {}), (9, 1)
    replay.tried[0], replay.beside[0] = {pair: Tried(True, None)}, 1000  # its walk is at its end
    asks = dict(enumerate(context.bounds))
    assert (0, pair, False) in replay._proposed(asks)
    replay.beaten[0] = {pair}
    assert (0, pair, False) not in replay._proposed(asks)
