"""What each figure of money means and how it is come by, with the numbers of the worked example.

The words are those of the finance pages (``finance.words``, ``finance.columns``), the formulas what those pages open
(``finance.formulas``, the lines' own), computed here of the example: a formula that changes, changes here.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from planner.finance import exports, formulas
from planner.finance.centres import RULES
from planner.finance.columns import COLUMN_HELP
from planner.finance.fields import ALLOCATIONS
from planner.finance.words import (
    ALLOCATION_HELP,
    CATEGORY_HELP,
    CATEGORY_NAMES,
    CAUSE_HELP,
    CAUSE_NAMES,
    KIND_HELP,
    KIND_NAMES,
    LOAD_HELP,
    LOAD_NAMES,
    VIEW_HELP,
    VIEW_NAMES,
)
from planner.help.example import BOUGHT, BY_THE_HOUR, DESIGN, RESERVED, WITH_FABRIC, sheet
from planner.numerals import cents
from simcore.economics.break_even import against_api, break_even_month, break_even_use
from simcore.economics.carbon import energy
from simcore.economics.cash_flow import cash_flow, reconciled
from simcore.economics.cost_sheet import bridge
from simcore.economics.lines import CostLine, View, total
from simcore.economics.served import forecast_month
from simcore.economics.unit_cost import unit_costs
from simcore.economics.variance import Served, variance

VIEWS: tuple[View, ...] = ("book", "economic", "cash")
CENTRES = (
    (
        "Serves",
        "mean rate ÷ capacity under the objective, of the month’s cost; shared by the classes’ tokens of each kind",
    ),
    ("Idle", "(rate sized for - mean rate) ÷ capacity"),
    ("Headroom", "1 - rate sized for ÷ capacity"),
)


@dataclass(frozen=True)
class Worked:
    """A figure of the example: what it is of, the formula with its numbers, what that comes to."""

    of: str
    formula: str
    figure: str


@dataclass(frozen=True)
class Entry:
    """A figure: what it is called, what it means, and examples."""

    name: str
    words: str
    worked: tuple[Worked, ...] = ()


@dataclass(frozen=True)
class Part:
    """A section of the page."""

    key: str
    title: str
    words: str
    entries: tuple[Entry, ...]


@cache
def parts() -> tuple[Part, ...]:
    return (
        Part("views", "Three views", "Every amount is of one of them; over a life they come to the same.", _views()),
        Part(
            "lines", "Lines", "An amount of a month, a pool and a category. Totals are sums of printed lines.", _lines()
        ),
        Part("sums", "Sums and the way from the result’s $/month", "", _sums()),
        Part("tokens", "A million tokens", "A month’s cost shared among kinds of tokens, idle apart.", _tokens()),
        Part("even", "Break-even", "", _even()),
        Part("energy", "Energy and carbon", "", _energy()),
        Part("centres", "Cost centres", "Each of the three is a share of the month’s cost.", _centres()),
        Part("variance", "Forecast against actual", "Why a month cost something else, in this order.", _variance()),
    )


def columns() -> list[tuple[str, str, str]]:
    """Of the files: column, what it means, in which of them it stands."""
    found: dict[str, list[str]] = {}
    for name, table in exports.TABLES.items():
        for column in table.header if name != "focus" else ():
            found.setdefault(column, []).append(name)
    own = [name for name in exports.TABLES if name != "focus"]
    return [
        (column, COLUMN_HELP[column], "all" if files == own else ", ".join(files)) for column, files in found.items()
    ]


def _views() -> tuple[Entry, ...]:
    return tuple(Entry(VIEW_NAMES[view], VIEW_HELP[view]) for view in VIEWS)


def _lines() -> tuple[Entry, ...]:
    return tuple(
        Entry(name, f"{CATEGORY_HELP[category]}.", _worked_lines(category)) for category, name in CATEGORY_NAMES.items()
    )


def _worked_lines(category: str) -> tuple[Worked, ...]:
    """The first line of the category in each view, those that are alike once."""
    plan = sheet({"on_demand": BY_THE_HOUR, "reserved": RESERVED}.get(category, WITH_FABRIC))
    found: dict[str, tuple[CostLine, list[str]]] = {}
    for view in VIEWS:
        line = next((one for one in plan.lines(view) if one.category == category), None)
        if line is not None:
            found.setdefault(line.formula, (line, []))[1].append(view)
    return tuple(
        Worked(
            f"{' and '.join(views) if len(views) < len(VIEWS) else 'every'} view, {line.period}",
            formula,
            cents(line.amount_usd),
        )
        for formula, (line, views) in found.items()
    )


def _sums() -> tuple[Entry, ...]:
    plan = sheet(BOUGHT)
    lines, first = plan.lines("book"), plan.month(0)
    month = [line for line in lines if line.period == first.period]
    periods = [str(need.month) for need in plan.timeline.needs]
    by_month = [(at, total(line for line in lines if line.period == at)) for at in periods]
    steps = bridge(DESIGN, BY_THE_HOUR, plan, "book")
    flow, left = cash_flow(plan), reconciled(plan)
    return (
        Entry("A month", "The sum of its lines.", (_one("book", formulas.of_sum(month).words, total(month)),)),
        Entry(
            "All months", "The sum of the months.", (_one("book", formulas.of_months(by_month).words, total(lines)),)
        ),
        Entry(
            "From the result’s $/month",
            "The screen has 730 h and every machine by the hour; the calendar’s hours, the duty cycle and the terms"
            " lead to a month in steps that add up.",
            tuple(Worked(step.what, step.how, cents(step.usd)) for step in steps),
        ),
        Entry(
            "Net present value",
            "What is paid, each payment taken back to the start of the first month.",
            (_one("cash", formulas.of_npv(flow, plan).words, flow.npv_usd),),
        ),
        Entry(
            "Left at the end",
            "What is paid and not yet booked: book value and what is paid ahead.",
            (_one("", formulas.of_left(left).words, left.left_usd),),
        ),
    )


def _one(of: str, formula: str, usd: Decimal) -> Worked:
    return Worked(f"{of} view" if of else "", formula, cents(usd))


def _tokens() -> tuple[Entry, ...]:
    plan = sheet(BOUGHT)
    month = plan.month(0)
    lines = [line for line in plan.lines("book") if line.period == month.period]
    found = unit_costs(month.physics, lines, month.hours, month.mean_req_per_s, BOUGHT.allocation)
    used = next(one for one in found if one.load == "duty_cycle")
    loads = tuple(Worked(LOAD_NAMES[one.load], LOAD_HELP[one.load], f"{one.req_per_s:f} requests/s") for one in found)
    kinds = tuple(
        Entry(
            f"{KIND_NAMES[token.kind]}, $/1M",
            f"{KIND_HELP[token.kind]}: their share of what serves ÷ their number.",
            (Worked(LOAD_NAMES["duty_cycle"], formulas.of_token(token, used, month.physics, month.hours).words,
                    f"${token.usd_per_million:f}"),),
        )
        for token in used.tokens
    )  # fmt: skip
    shares = tuple(Worked(words, ALLOCATION_HELP[name], "") for name, words in ALLOCATIONS)
    return (
        Entry("Three loads, side by side", "The same machines, at three rates.", loads),
        Entry("Shared by", "As the assumptions say; the parts add up to the cent.", shares),
        *kinds,
        Entry(
            "Idle",
            "What serves nobody at that load.",
            (Worked(LOAD_NAMES["duty_cycle"], formulas.of_idle(used, month.physics).words, cents(used.idle_usd)),),
        ),
        Entry(
            "An accelerator",
            "The month’s cost by all of the design’s.",
            (Worked("", formulas.of_accelerator(used).words, cents(used.per_accelerator_usd)),),
        ),
    )


def _even() -> tuple[Entry, ...]:
    plan = sheet(BOUGHT)
    month = plan.month(0)
    use = break_even_use([DESIGN], DESIGN.rate_req_per_s, BOUGHT, "owned")
    when = break_even_month([DESIGN], DESIGN.rate_req_per_s, BOUGHT, "owned")
    lines = [line for line in plan.lines("book") if line.period == month.period]
    price = BOUGHT.api
    assert price is not None  # noqa: S101 - the example's
    api = against_api(month.physics, lines, month.hours, month.mean_req_per_s, price)
    tokens = next(
        one for one in unit_costs(month.physics, lines, month.hours, month.mean_req_per_s, BOUGHT.allocation)
        if one.load == "duty_cycle"
    ).tokens  # fmt: skip
    rate = f"{api.break_even_req_per_s} requests/s" if api.break_even_req_per_s else "never"
    return (
        Entry(
            "Use and month",
            "The share of the hours above which holding machines is cheaper than renting them, and the first month from"
            " which no more has been paid.",
            (Worked("bought", formulas.of_break_even(use, when, ()).words, str(when.month or "never")),),
        ),
        Entry(
            "Against an API",
            "The rate at which an API’s bill for these tokens is what the machines cost.",
            (Worked("book view", formulas.of_api(api, price, tokens).words, rate),),
        ),
    )


def _energy() -> tuple[Entry, ...]:
    month = sheet(BOUGHT).month(0)
    found = energy(month.physics, month.mean_req_per_s, month.hours, BOUGHT.facility)
    how = formulas.of_energy(found, month.physics, month.mean_req_per_s, month.hours, BOUGHT.facility)
    words = (
        "The straight line from the watts at no load to those simulated at the rate sized for, at the mean rate, ×"
        " hours; × PUE at the site; × one carbon factor with its source."
    )
    return (Entry("kWh and kg CO₂e", words, (Worked(month.period, how.words, f"{found.facility_kwh:,f} kWh"),)),)


def _centres() -> tuple[Entry, ...]:
    rules = tuple(Worked(words, "", "") for _, words in RULES)
    return (
        *(Entry(name, f"{words}.") for name, words in CENTRES),
        Entry("Idle and headroom go", "By a rule that the assumptions state.", rules),
    )


def _variance() -> tuple[Entry, ...]:
    """Of a month that served a tenth more tokens and cost $5,000 more."""
    plan = sheet(BOUGHT)
    month = plan.month(0)
    lines = [line for line in plan.lines("book") if line.period == month.period]
    planned = forecast_month(month, lines, BOUGHT)
    served = planned.served
    more = {kind: count * Decimal("1.1") for kind, count in (served.tokens or {}).items()}
    actual = Served(served.cost_usd + 5000, served.accelerator_hours, more, served.used_accelerator_hours)
    found = variance(served, actual, planned.standard_hours)
    by_cause = {effect.cause: effect for effect in found.effects}
    return tuple(
        Entry(
            CAUSE_NAMES[cause],
            f"{words}.",
            (Worked(by_cause[cause].words, by_cause[cause].formula, cents(by_cause[cause].usd)),),
        )
        for cause, words in CAUSE_HELP.items()
    )
