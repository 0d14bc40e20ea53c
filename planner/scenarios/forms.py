"""The question's fields. Cleaned, they are a revision's inputs: a flat JSON object, keyed by these names."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from planner.accounts.owned import Visitor
from planner.catalogue.kept import NOTHING, Kept
from planner.scenarios import quantities as units
from planner.scenarios.advanced import AdvancedForm
from planner.scenarios.by_machine import of_chosen
from planner.scenarios.choices import LOST, Choices
from planner.scenarios.errors import FieldErrors
from planner.scenarios.fields import PickField, PickSeveralField, QuantityField
from planner.scenarios.quantities import shown_quantity
from simcore.search.offered_load import LEAST_SECONDS, requests_needed

SLO_KINDS = [
    ("slowdown", "Splitwise's nine slowdown limits"),
    ("absolute", "limits in seconds"),
    ("attainment", "a share of requests within limits"),
]
GOALS = [
    ("cost", "least cost"),
    ("power", "least power"),
    ("machines", "fewest machines"),
    ("throughput", "most requests/s"),
    ("frontier", "whole frontier"),
]
POWER_KINDS = [
    ("nameplate", "nameplate"),
    ("provisioned", "provisioned"),
    ("drawn_mean", "drawn, mean"),
    ("drawn_p99", "drawn, P99 of 1 s"),
]
BY_MACHINE = ("on_hand", "latency_by_machine")
AS_ABOVE = ("", "as above")
LIMITED = {"ttft": 99, "tbt": 99, "tpot": 99, "e2e": 99, "queue": 50}
"""The metrics that may be limited in seconds, and the percentile where none is typed."""
LIMIT_LABELS = {
    "ttft": "Time to first token",
    "tbt": "Time between tokens",
    "tpot": "Time per output token",
    "e2e": "End to end",
    "queue": "Scheduling delay",
}
RATE = "requests a second such as 70, 0.5 or 10k, from 0.0001 to a million"
LEAST_REQ_PER_S = 1e-4
"""At less, fifty requests take longer than a simulation's clock runs."""
SECONDS = "seconds above 0 such as 0.2, 1e-1 or 200 ms"
PERCENTILE = "a percentile above 0 and at most 100, such as 99"


def _seconds(label: str) -> QuantityField:
    return QuantityField(SECONDS, units.SECONDS, above=0, required=False, label=f"{label}, seconds")


def _percentile(metric: str) -> QuantityField:
    return QuantityField(
        PERCENTILE,
        units.PERCENT,
        above=0,
        most=100,
        required=False,
        initial=LIMITED[metric],
        label=f"{LIMIT_LABELS[metric]}, percentile",
    )


def _limit(metric: str) -> tuple[QuantityField, QuantityField]:
    return _seconds(LIMIT_LABELS[metric]), _percentile(metric)


class QuestionForm(AdvancedForm):
    """``QuestionForm(user, data)`` checks a question; ``QuestionForm(user, initial=inputs)`` shows a revision."""

    model = PickField(choices=[], label="Model")
    workload = PickField(choices=[], label="Workload")
    rate_req_per_s = QuantityField(RATE, units.REQ_PER_S, least=LEAST_REQ_PER_S, most=1e6, label="Requests a second")
    machines = PickSeveralField(label="Machines", error_messages={"required": "Choose at least one machine."})
    price_book = PickField(choices=[], label="Prices")
    goal = PickField(choices=GOALS, required=False, label="Goal", initial="cost")

    power_limit_kw = QuantityField("kilowatts such as 408, 400 kW or 0.4 MW", units.KW, least=0.001, required=False)
    power_kind = PickField(choices=POWER_KINDS, required=False, initial="nameplate", label="Power figure")

    slo_kind = PickField(choices=SLO_KINDS, required=False, label="Latency objective", initial="slowdown")
    slowdown_multiplier = QuantityField(
        "a factor above 0 such as 1 or 2x", units.TIMES, above=0, required=False, initial=1.0
    )
    slowdown_reference = PickField(choices=[], required=False, label="Reference machine", initial="dgx-a100")
    ttft_limit_s, ttft_percentile = _limit("ttft")
    tbt_limit_s, tbt_percentile = _limit("tbt")
    tbt_limit_x_decode = QuantityField(
        "a number of decode iterations such as 5 or 25x", units.TIMES, above=0, required=False
    )
    tpot_limit_s, tpot_percentile = _limit("tpot")
    e2e_limit_s, e2e_percentile = _limit("e2e")
    queue_limit_s, queue_percentile = _limit("queue")
    attainment_ttft_s = _seconds("Time to first token")
    attainment_tpot_s = _seconds("Time per output token")
    attainment_share = QuantityField(
        "a share above 0 and at most 1, such as 0.99 or 99 %",
        units.SHARE,
        above=0,
        most=1,
        required=False,
        initial=0.99,
    )

    def __init__(self, user: Visitor, data: Any = None, *, offered: Choices | None = None, **options: Any) -> None:
        super().__init__(data, **options)
        self.offered = offered or Choices.of(user)
        for name, choices in self.offered.fields(self["machines"].value() or ()).items():
            self.fields[name].choices = choices  # type: ignore[attr-defined]
        for name in BY_MACHINE:
            self.fields[name].offer(self.offered.machines)  # type: ignore[attr-defined]
        self.fields["latency_by_machine"].each.choices = [AS_ABOVE, *self.offered.latencies()]  # type: ignore[attr-defined]
        self.lost = self._lost()

    def _lost(self) -> dict[str, str]:
        """Fields whose uploaded row is no more, with what is said of it. It stays chosen until another is: a select
        without it would show, and ask, another question."""
        found = {}
        for name, (prefix, words) in LOST.items():
            field: Any = self.fields[name]
            given = self[name].value()
            if isinstance(given, str) and given.startswith(prefix) and not field.valid_value(given):
                field.choices = [*field.choices, (given, words)]
                found[name] = words
        return found

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for name, field in self.fields.items():
            if name in cleaned and cleaned[name] in (None, "") and field.initial is not None:
                cleaned[name] = field.initial
        for name, words in self.lost.items():
            self.add_error(name, f"Found {words}; expected one that there is.")
        for name in BY_MACHINE:
            cleaned[name] = of_chosen(cleaned.get(name) or {}, cleaned.get("machines") or [])
        self._check_rate(cleaned)
        self._check_families(cleaned)
        self._check_degrees(cleaned)
        self._check_slo(cleaned)
        self._check_prices(cleaned)
        self._check_goal(cleaned)
        return cleaned

    def _check_rate(self, cleaned: Mapping[str, Any]) -> None:
        """A run simulates at least two minutes of arrivals: one that takes a worker too long is refused before."""
        rate, most = cleaned.get("rate_req_per_s"), settings.MOST_REQUESTS_A_RUN
        if rate is not None and requests_needed(rate) > most:
            self.add_error(
                "rate_req_per_s",
                f"Found {shown_quantity(rate)} requests/s: each run would simulate {requests_needed(rate):,} requests,"
                f" at most {most:,} are allowed. Expected at most {most // LEAST_SECONDS:,} requests/s;"
                " plan for a part of the traffic and multiply its machines.",
            )

    def _check_families(self, cleaned: Mapping[str, Any]) -> None:
        chosen = set(cleaned.get("machines") or [])
        for family in cleaned.get("families") or []:
            missing = [name for name in family.partition(":")[2].split("+") if name not in chosen]
            if missing and chosen:
                self.add_error("families", f"Found {family}, but {missing[0]} is not among the machines chosen.")

    def _check_degrees(self, cleaned: Mapping[str, Any]) -> None:
        one, several = cleaned.get("tensor_parallel"), cleaned.get("tensor_parallels")
        if one and several:
            self.add_error(
                "tensor_parallels",
                f"Found {', '.join(map(str, several))} beside tensor parallel {one}, expected only one of the two.",
            )

    def _check_slo(self, cleaned: Mapping[str, Any]) -> None:
        kind = cleaned.get("slo_kind")
        if kind == "absolute":
            self._check_limits(cleaned)
        if kind == "attainment":
            for name in ("attainment_ttft_s", "attainment_tpot_s"):
                if name in cleaned and cleaned[name] is None:
                    self.add_error(name, f"Found nothing, expected {SECONDS}.")

    def _check_limits(self, cleaned: Mapping[str, Any]) -> None:
        given = [name for name in (*(f"{m}_limit_s" for m in LIMITED), "tbt_limit_x_decode") if cleaned.get(name)]
        if not given and not self.errors:
            self.add_error("ttft_limit_s", "Found no limit, expected at least one of the latencies to have one.")
        if {"tbt_limit_s", "tbt_limit_x_decode"} <= set(given):
            self.add_error("tbt_limit_x_decode", "Found seconds too, expected only one of the two.")

    def _check_goal(self, cleaned: Mapping[str, Any]) -> None:
        """The most requests of what? Of a power limit, so many machines, those on hand, or a budget."""
        bounded = any(cleaned.get(name) for name in ("power_limit_kw", "most_machines", "racks", "usd_per_month"))
        on_hand = cleaned.get("on_hand") or {}
        if cleaned.get("goal") == "throughput" and not bounded and set(on_hand) != set(cleaned.get("machines") or ()):
            self.add_error(
                "goal",
                "Found the most requests/s without a limit, expected a limit of power, money, machines or racks, or how"
                " many of each machine are on hand.",
            )

    def _check_prices(self, cleaned: Mapping[str, Any]) -> None:
        book = self.offered.price_books.get(cleaned.get("price_book", ""))
        for machine in cleaned.get("machines") or []:
            if book is not None and machine not in {price.machine for price in book.prices}:
                self.add_error(
                    "price_book",
                    f"{book.name} has no price for {machine}, expected a book with one, or another machine.",
                )


def with_defaults(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """A revision's inputs, also of one that is older than some of the fields."""
    return {name: field.initial for name, field in QuestionForm.base_fields.items()} | dict(inputs)


def clean_inputs(user: Visitor, data: Mapping[str, Any], kept: Kept = NOTHING) -> dict[str, Any]:
    """A revision's inputs from typed or JSON values, of rows that it keeps or today's; FieldErrors says what is wrong
    with which field."""
    form = QuestionForm(user, data, offered=Choices.of(user, kept))
    if not form.is_valid():
        raise FieldErrors({name: " ".join(map(str, messages)) for name, messages in form.errors.items()})
    return dict(form.cleaned_data)
