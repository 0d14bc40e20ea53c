"""What of the difference between two answers comes from which input: steps that add up, none of them guessed."""

from dataclasses import replace
from decimal import Decimal

from simcore.answer.result import study_result
from simcore.catalogue import price_book, resolve_machine
from simcore.comparing.drivers import drivers, machine_steps, sentence
from simcore.comparing.inputs import Side, simulated_inputs
from simcore.economics.hourly import usd_per_month
from tests.unit.simcore.questions import asked, explored

EACH = {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (6.0, 4.0)}
BOOK = price_book("splitwise-2023")
DEAR = {"dgx-a100": Decimal("70.07"), "dgx-h100": Decimal("33.33")}
NO_LIMIT = {"limits": {}}


def side(book=BOOK, each=EACH, trace="t", engine="e", **changes):
    context = asked(**{**NO_LIMIT, **changes})
    designs, done = explored(context, each)
    return Side(study_result(context.spec, designs, done, book), trace, engine)


def priced(usd):
    return replace(BOOK, prices=tuple(replace(p, usd_per_hour=usd.get(p.machine, p.usd_per_hour)) for p in BOOK.prices))


def month(one):
    return usd_per_month(one.result.winner.usd_per_hour)


def add_up(found, first, second):
    assert found.start == month(first)
    assert found.end == month(second)
    assert sum((step.change for step in found.steps), Decimal(0)) == found.change == month(second) - month(first)
    reached = found.start
    for step in found.steps:
        reached += step.change
        assert step.usd_per_month == reached


def test_the_same_twice_has_no_steps():
    first, second = side(), side()
    found = drivers(first, second)
    assert found.steps == ()
    assert sentence(found, "A", "B") == "B is asked the same as A and answered the same."


def test_prices_alone_are_one_exact_step():
    first, second = side(), side(priced(DEAR))
    found = drivers(first, second)
    add_up(found, first, second)
    assert [(step.kind, step.is_simulated) for step in found.steps] == [("prices", False)]
    assert found.steps[0].answer == second.result.winner.label
    assert found.steps[0].inputs == ("DGX A100 $17.68 → $70.07 an hour", "DGX H100 $38.08 → $33.33 an hour")


def test_prices_tariff_pue_limits_and_rate_add_up_to_the_cent():
    power = side().result.winner.nameplate_w / 1000
    first = side(limits={"power_limit_kw": 4 * power})
    second = side(
        replace(priced(DEAR), usd_per_kwh=Decimal("0.113")),
        pue=1.4,
        rate_req_per_s=60,
        limits={"power_limit_kw": 5 * power},
        slo={"kind": "slowdown", "multiplier": 1.5},
    )
    found = drivers(first, second)
    add_up(found, first, second)
    assert [step.kind for step in found.steps] == ["prices", "tariff", "PUE", "limits", "rate", "objective"]
    assert [step.is_simulated for step in found.steps] == [False] * 5 + [True]


def test_a_step_that_no_tried_design_survives_is_left_to_the_simulation():
    first = side()
    second = side(rate_req_per_s=5_000, slo={"kind": "slowdown", "multiplier": 1.5})
    found = drivers(first, second)
    add_up(found, first, second)
    assert [(step.kind, step.inputs) for step in found.steps] == [
        ("simulated anew", ("rate 70 → 5,000 requests/s", "the latency limits"))
    ]
    assert "cannot be told apart without simulating" in sentence(found, "A", "B")


def test_the_rate_alone_is_told_by_the_second_studys_own_designs():
    first, second = side(), side(rate_req_per_s=90)
    found = drivers(first, second)
    add_up(found, first, second)
    assert [(step.kind, step.is_simulated) for step in found.steps] == [("rate", True)]
    assert "All of it comes from one thing that differs, the rate: rate 70 → 90 requests/s." in sentence(
        found, "A", "B"
    )


def test_only_the_engine_version_differs_and_that_is_what_is_said():
    first, second = side(), side(each={**EACH, "sarathi:dgx-h100": (9.0,)}, engine="f")
    found = drivers(first, second)
    add_up(found, first, second)
    assert [(step.kind, step.inputs) for step in found.steps] == [("engine version", ("e → f",))]
    assert "comes from one thing that differs, the engine version: e → f." in sentence(found, "A", "B")


def test_figures_of_the_catalogue_are_named_with_their_values():
    first = side()
    machine = resolve_machine("dgx-h100")
    spec = first.result.spec
    machines = (spec.machines[0], replace(spec.machines[1], machine=replace(machine, nameplate_w=9_000.0)))
    second = Side(replace(first.result, spec=replace(spec, machines=(*machines, spec.machines[2]))), "t", "e")
    (found,) = simulated_inputs(first, second)
    assert (found.kind, found.words) == ("catalogue", "DGX H100: nameplate_w 10,200 → 9,000")


def test_what_is_simulated_otherwise_is_named_by_kind():
    first = side()
    spec = first.result.spec
    other = replace(spec, model="llama-3.1-70b", arrivals="poisson", machines=spec.machines[:2])
    second = Side(replace(first.result, spec=other), "u", "f")
    kinds = [one.kind for one in simulated_inputs(first, second)]
    assert kinds == ["model", "workload", "workload", "machines", "iteration times", "engine version"]


def test_without_an_answer_there_is_no_difference():
    assert drivers(side(), side(limits={"machines": 1})) is None


def test_two_designs_of_one_study_differ_by_their_machines():
    one = side(replace(BOOK, usd_per_kwh=Decimal("0.2")))
    before, after = one.result.winner, one.result.best_by_family[-1]
    assert before.design_id != after.design_id
    found = machine_steps(one.result, before, after)
    assert sum((step.change for step in found.steps), Decimal(0)) == found.change
    assert found.end == usd_per_month(after.usd_per_hour)
    assert {"DGX A100", "DGX H100"} <= {step.kind for step in found.steps}
