"""What of the difference between two answers comes from which input: steps that add up, none of them guessed."""

from dataclasses import fields, replace
from decimal import Decimal

import pytest

from simcore.answer.result import study_result
from simcore.catalogue import price_book, resolve_machine
from simcore.comparing.drivers import ORDER, between, drivers, machine_steps, sentence
from simcore.comparing.inputs import Side, simulated_inputs
from simcore.economics.hourly import usd_per_month
from simcore.evaluation import Evaluation, Loss
from simcore.spec import (
    AlsoTry,
    CountGrid,
    KvTransferSpec,
    LatencySpec,
    MemorySpec,
    SchedulerOptions,
    SlowdownSlo,
    StudyLimits,
    StudySpec,
)
from simcore.survival import together
from tests.unit.simcore.questions import asked, explored

EACH = {"sarathi:dgx-h100": (2.0,), "splitwise:dgx-h100+dgx-a100": (6.0, 4.0)}
BOOK = price_book("splitwise-2023")
DEAR = {"dgx-a100": Decimal("70.07"), "dgx-h100": Decimal("33.33")}
NO_LIMIT = {"limits": {}}


def side(book=BOOK, each=EACH, trace="t", engine="e", **changes):
    context = asked(**{**NO_LIMIT, **changes})
    designs, done = explored(context, each)
    return Side(study_result(context.spec, designs, done, book), trace, engine)


def designs_of(one):
    return list(one.result.designs.values())


def known(one):
    return one.result.evaluations


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
        ("simulated anew", ("rate 70 → 5,000 requests/s", "the latency limits: multiplier 1 → 1.5"))
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
    assert [(step.kind, step.inputs) for step in found.steps] == [("engine version", ("engine e → f",))]
    assert "comes from one thing that differs, the engine version: engine e → f." in sentence(found, "A", "B")


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
    assert kinds == ["model", "workload", "workload", "machines", "engine version"]


def test_degrees_listed_in_place_of_one_are_named():
    first = side(scheduler_options={"token_budget": 512, "tensor_parallel": 8})
    options = replace(first.result.spec.scheduler_options, tensor_parallel=None, tensor_parallels=(4, 8))
    second = Side(replace(first.result, spec=replace(first.result.spec, scheduler_options=options)), "t", "e")
    (found,) = simulated_inputs(first, second)
    assert found.kind == "serving options"
    assert found.words == "scheduler options: tensor_parallel 8 → none, tensor_parallels: none → 4 and 8"


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


def test_a_chosen_design_is_a_step_at_its_end():
    first, second = side(), side(priced(DEAR), rate_req_per_s=60)
    (mine, theirs) = (
        next(row for row in one.result.rows if row.met and row.design_id != one.result.winner.design_id)
        for one in (first, second)
    )
    found = drivers(first, second, before=mine, after=theirs)
    assert [step.kind for step in found.steps] == ["the choice", "prices", "rate", "the choice"]
    assert (found.start, found.end) == (usd_per_month(mine.usd_per_hour), usd_per_month(theirs.usd_per_hour))
    assert sum((step.change for step in found.steps), Decimal(0)) == found.change
    assert found.steps[0].answer == first.result.winner.label
    assert found.steps[-1].answer == theirs.label
    answers = drivers(first, second)
    assert [step.change for step in found.steps[1:-1]] == [step.change for step in answers.steps]


def test_a_chosen_design_that_misses_says_so():
    first, second = side(), side(priced(DEAR))
    missing = next(row for row in second.result.rows if not row.met)
    (step,) = drivers(first, second, after=missing).steps[-1:]
    assert "which does not do what its question asks, in place of its study's answer" in step.inputs[0]


@pytest.mark.parametrize("order", [ORDER, tuple(reversed(ORDER)), ("rate", "prices", *ORDER[2:-1], "machines")])
def test_in_any_order_steps_add_up_and_say_what_each_does_alone(order):
    power = side().result.winner.nameplate_w / 1000
    first = side(limits={"power_limit_kw": 4 * power})
    second = side(
        replace(priced(DEAR), usd_per_kwh=Decimal("0.113")),
        rate_req_per_s=60,
        limits={"power_limit_kw": 5 * power},
        slo={"kind": "slowdown", "multiplier": 1.5},
    )
    found = drivers(first, second, order=order)
    add_up(found, first, second)
    told = [step.kind for step in found.steps if not step.is_simulated]
    assert told == [kind for kind in order if kind in told]
    assert {"prices", "tariff", "limits", "rate"} <= set(told)
    alone = {step.kind: step.alone for step in found.steps}
    assert alone == {step.kind: step.alone for step in drivers(first, second).steps}
    assert found.steps[0].alone == found.steps[0].change
    assert alone["objective"] is None


def test_what_may_no_longer_be_tried_needs_no_simulation():
    first = side()
    spec = replace(first.result.spec, machines=first.result.spec.machines[1:], families=("sarathi:dgx-h100",))
    designs = [one for one in designs_of(first) if one.family in spec.families]
    second = Side(study_result(spec, designs, known(first), BOOK), "t", "e")
    found = drivers(first, second)
    add_up(found, first, second)
    assert [(step.kind, step.inputs, step.is_simulated) for step in found.steps] == [
        ("machines", ("without DGX A100", "without splitwise:dgx-h100+dgx-a100"), False)
    ]


def test_an_answer_between_divides_what_is_left():
    slo = {"kind": "slowdown", "multiplier": 1.5}
    dearer = {**EACH, "splitwise:dgx-h100+dgx-a100": (3.0, 2.0)}
    first, second = side(), side(each=dearer, trace="u", slo=slo)
    middle, other = side(each={**EACH, "sarathi:dgx-h100": (1.5,)}, trace="u"), side(rate_req_per_s=99)
    assert [step.kind for step in drivers(first, second).steps] == ["simulated anew"]
    way = between(first, second, [other, second, middle, first])
    assert way == [middle]
    found = drivers(first, second, by_way_of=way)
    add_up(found, first, second)
    assert [step.kind for step in found.steps] == ["workload", "objective"]
    assert found.steps[0].usd_per_month == month(middle)


OTHERWISE = {
    "model": "llama-3.1-70b",
    "rate_req_per_s": 71.0,
    "machines": "fewer",
    "families": ("sarathi:dgx-h100",),
    "scheduler_options": SchedulerOptions(token_budget=768),
    "slo": SlowdownSlo(multiplier=1.5),
    "pue": 1.9,
    "limits": StudyLimits(racks=500),
    "goal": "power",
    "size_to": "lower_bound",
    "failures": 1,
    "latency": LatencySpec(engine="trtllm-2025"),
    "memory": MemorySpec(usable=0.8),
    "kv_transfer": KvTransferSpec(mode="serialized"),
    "arrivals": "poisson",
    "seeds": (0, 1),
    "counts": CountGrid(mixed=(3,)),
    "also": (AlsoTry("sarathi:dgx-h100", (3,)),),
}
ELSEWHERE = {
    "workload": "whose requests are compared by their hash",
    "prices": "the book's id: its prices are compared",
    "hold_equal": "which designs a chart compares: it changes no answer",
}


def surviving(found: Evaluation, pools: int) -> Evaluation:
    """As if it held as much with a machine of the first of its pools lost."""
    return together(found, [Loss((1, 0)[:pools], found)]) if pools else found


@pytest.mark.parametrize("field", [field.name for field in fields(StudySpec) if field.name not in ELSEWHERE])
def test_every_input_of_a_study_that_differs_is_named(field):
    first = side()
    spec = first.result.spec
    value = spec.machines[1:] if field == "machines" else OTHERWISE[field]
    assert value != getattr(spec, field)
    spec = replace(spec, **{field: value})
    left = {"machines": ["sarathi:dgx-h100"], "families": ["sarathi:dgx-h100"]}.get(field)
    designs = [one for one in designs_of(first) if left is None or one.family in left]
    pools = {one.design_id: len(one.case.pools) for one in designs_of(first)}
    evaluations = {
        name: surviving(one, pools[name] if field == "failures" else 0) for name, one in known(first).items()
    }
    second = Side(study_result(spec, designs, evaluations, BOOK), "t", "e")
    found = drivers(first, second)
    words = [words for step in found.steps for words in step.inputs]
    assert len(words) == 1
    assert "designs tried against" not in words[0]
