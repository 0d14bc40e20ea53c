"""A workload that is generated: lengths of a shipped mix or of classes of one's own, and how its requests come."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from django import forms
from django.conf import settings
from django.http import QueryDict

from planner.accounts.models import Team, User
from planner.plain_text import NameField
from planner.workloads import length_text, services
from planner.workloads.forms import NamedForm
from planner.workloads.models import Workload
from simcore.spec import SpecError
from simcore.spec.week import DAYS, HOURS, Week
from simcore.traces import SyntheticSpec
from simcore.traces.classes import MOST_CLASSES, SHARES_OFF
from simcore.traces.synthetic import DEFAULT_REQUESTS
from simcore.traces.week import day_and_night

OWN = "classes"
MIXES = [("conversation", "Conversation"), ("coding", "Coding"), (OWN, "classes of my own")]
CLASS_LENGTHS = [("", "typed here"), ("conversation", "of the conversation mix"), ("coding", "of the coding mix")]
ARRIVALS = [("poisson", "Poisson"), ("gamma", "bursty: gamma gaps"), ("constant", "evenly spaced")]
TRAFFIC = [("rate", "a rate"), ("users", "users who think")]
WEEKS = [("flat", "the same at all hours"), ("wave", "a wave a day"), ("hours", "typed by the hour")]
PATH = re.compile(r"classes\[(\d+)\]\.?(\w*)")
EXAMPLES = (
    {"name": "chat", "share": 80, "prompt": "P50 1,020; P90 2,735; P99 4,142", "output": "median 129; sigma 0.9"},
    {"name": "documents", "share": 20, "prompt": "P50 6,000; P99 15,000", "output": "mean 300; sigma 0.6"},
)
FIELD_OF = {"prompt_tokens": "prompt", "output_tokens": "output", "cached_prompt_share": "cached"}
FIELD_OF |= {"cache_hit_share": "hits", "growth_per_month": "growth"}


def share_of_all(value: float) -> None:
    """Of a percentage; the spec, which has shares, would say what was found in other numbers than were typed."""
    if not 0 <= value <= 100:
        raise forms.ValidationError(f"Found {value:g}, expected 0 to 100.")


class ClassForm(forms.Form):
    """One class of requests; percentages where the spec has shares."""

    name = NameField(max_length=40, label="Name")
    share = forms.FloatField(label="Share of requests, %", validators=[share_of_all])
    mix = forms.ChoiceField(choices=CLASS_LENGTHS, required=False, label="Lengths")
    prompt = forms.CharField(required=False, max_length=200, label="Prompt tokens")
    output = forms.CharField(required=False, max_length=200, label="Output tokens")
    correlation = forms.FloatField(required=False, label="Rank correlation of the two")
    cached = forms.FloatField(required=False, label="Of a prompt, cached, %", validators=[share_of_all])
    hits = forms.FloatField(required=False, label="Requests that hit the cache, %", validators=[share_of_all])
    cost_centre = forms.CharField(required=False, max_length=40, label="Cost centre")

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        for name in () if data.get("mix") else ("prompt", "output"):
            try:
                data[name] = length_text.parsed(data.get(name) or "")
            except ValueError as error:
                self.add_error(name, str(error))
        return data

    def spec(self) -> dict[str, Any]:
        """The class as JSON."""
        data = self.cleaned_data
        one: dict[str, Any] = {"name": data["name"], "share": data["share"] / 100}
        if data["mix"]:
            one["mix"] = data["mix"]
        else:
            one |= {"prompt_tokens": data["prompt"], "output_tokens": data["output"]}
            one |= {"correlation": data["correlation"] or 0.0}
        if data["cached"]:
            one |= {"cached_prompt_share": data["cached"] / 100}
            one |= {} if data["hits"] is None else {"cache_hit_share": data["hits"] / 100}
        return one | ({"cost_centre": data["cost_centre"]} if data["cost_centre"] else {})


class MixForm(NamedForm):
    """The whole; what is wrong is said at its field."""

    mix = forms.ChoiceField(choices=MIXES, label="Lengths of")
    traffic = forms.ChoiceField(choices=TRAFFIC, required=False, label="Traffic of")
    rate_req_per_s = forms.FloatField(label="Requests/s", initial=10.0, required=False)
    users = forms.FloatField(label="Active users", required=False)
    think_time_s = forms.FloatField(label="Think time, s", required=False)
    response_s = forms.FloatField(label="Time of an answer, s", required=False)
    arrivals = forms.ChoiceField(choices=ARRIVALS, label="Arrivals")
    gap_cv = forms.FloatField(label="Variation of the gaps", required=False)
    week_shape = forms.ChoiceField(choices=WEEKS, required=False, label="Over the week")
    busiest_hour = forms.IntegerField(label="Busiest hour, 0 to 23", initial=14, required=False)
    quietest = forms.FloatField(label="Quietest hour, % of it", initial=30, required=False)
    weekend = forms.FloatField(label="Weekend, % of a weekday", initial=60, required=False)
    week = forms.CharField(label="Rates by the hour", required=False, widget=forms.Textarea(attrs={"rows": 7}))
    growth = forms.FloatField(label="Growth a month, %", required=False)
    requests = forms.IntegerField(label="Requests", initial=DEFAULT_REQUESTS)
    seed = forms.IntegerField(label="Seed", initial=0)

    def __init__(self, team: Team, user: User, data: QueryDict | None = None) -> None:
        super().__init__(team, user, data)
        self._make_rows(data, EXAMPLES if data is None else [{}] * _count(data))

    def _make_rows(self, data: QueryDict | None, initial: Sequence[Mapping[str, Any]]) -> None:
        self.rows = [
            ClassForm(data, prefix=f"class-{n}", label_suffix="", initial=dict(one))
            for n, one in enumerate(initial[:MOST_CLASSES])
        ]

    @classmethod
    def restarted(cls, team: Team, user: User, typed: QueryDict, going: str) -> Self:
        """What was typed, unchecked, with a class more (``add``) or without one (``remove-2``)."""
        form = cls(team, user)
        form.initial = {name: typed[name] for name in form.fields if name in typed}
        rows = [
            {name: typed.get(f"class-{n}-{name}", "") for name in ClassForm.base_fields} for n in range(_count(typed))
        ]
        gone = going.removeprefix("remove-")
        kept = [row for n, row in enumerate(rows) if str(n) != gone]
        form._make_rows(None, [*kept, {}] if going == "add" else kept)
        return form

    def default_name(self, data: dict[str, Any]) -> str:
        if data.get("mix") != OWN:
            return f"{data.get('mix', '').capitalize()} mix, seed {data.get('seed')}"
        names = ", ".join(row["name"].value() or "" for row in self.rows)
        return f"Mix of {names}, seed {data.get('seed')}"[:100]

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        own = data.get("mix") == OWN
        if own and not self.rows:
            self.add_error("mix", "Found no class, expected at least one: add one below.")
        wrong = [row for row in self.rows if own and not row.is_valid()]
        if wrong:
            self.add_error(None, f"{len(wrong)} of the classes cannot be used: see below.")
        elif own and abs((together := sum(row.cleaned_data["share"] for row in self.rows)) - 100) > 100 * SHARES_OFF:
            self.add_error(None, f"Found shares that add up to {together:.6g} %, expected 100 %.")
        if self.errors:
            return data
        try:
            given = {key: one for key, one in self._spec(data).items() if one is not None}
            self.spec = SyntheticSpec.from_json(given, "")
            self._check_size()
        except SpecError as error:
            self._place(str(error))
        return data

    def complaints(self) -> Iterator[str]:
        """What is wrong, each in a sentence with the field's name."""
        fields: list[tuple[str, forms.Form]] = [("", self)]
        if self.cleaned_data.get("mix") == OWN:
            fields += [(f"class {n + 1}, ", row) for n, row in enumerate(self.rows)]
        for where, form in fields:
            for name, errors in form.errors.items():
                label = form.fields[name].label if name in form.fields else ""
                for error in errors:
                    yield f"{where}{label}: {error}" if label else str(error)

    def _spec(self, data: Mapping[str, Any]) -> dict[str, Any]:
        lengths = {OWN: [row.spec() for row in self.rows]} if data["mix"] == OWN else {"mix": data["mix"]}
        growth = None if data["growth"] is None else data["growth"] / 100
        return {
            **lengths,
            **self._traffic(data),
            "arrivals": data["arrivals"],
            "gap_cv": data["gap_cv"] if data["arrivals"] == "gamma" else None,
            "week": self._week(data),
            "growth_per_month": growth,
            "requests": data["requests"],
            "seed": data["seed"],
        }

    def _traffic(self, data: Mapping[str, Any]) -> dict[str, Any]:
        names = ("users", "think_time_s", "response_s") if data["traffic"] == "users" else ("rate_req_per_s",)
        needed = [name for name in names if data[name] is None and name != "response_s"]
        if needed:
            raise SpecError(f"{needed[0]}: found nothing, expected a number")
        if data["traffic"] != "users":
            return {"rate_req_per_s": data["rate_req_per_s"]}
        return {"users": {name: data[name] for name in names if data[name] is not None}}

    def _week(self, data: Mapping[str, Any]) -> Week | None:
        if data["week_shape"] == "hours":
            return typed_week(data["week"] or "")
        if data["week_shape"] != "wave":
            return None
        hour, quietest, weekend = (data[name] for name in ("busiest_hour", "quietest", "weekend"))
        limits = (("busiest_hour", hour, HOURS - 1), ("quietest", quietest, 100), ("weekend", weekend, 1000))
        for name, value, most in limits:
            if value is None or not 0 <= value <= most:
                raise SpecError(f"{name}: found {'nothing' if value is None else f'{value:g}'}, expected 0 to {most}")
        return day_and_night(hour, quietest / 100, weekend / 100)

    def _check_size(self) -> None:
        requests, rate = self.spec.requests or 0, self.spec.rate_req_per_s
        if requests > settings.TRACE_MAX_ROWS:
            raise SpecError(f"requests: found {requests:,}, expected at most {settings.TRACE_MAX_ROWS:,}")
        if requests / rate > services.LONGEST_MIX_S:
            raise SpecError(
                f"rate_req_per_s: found {requests:,} requests at {rate:g} requests/s, "
                f"expected a trace of at most {services.LONGEST_MIX_S:,} s"
            )

    def _place(self, error: str) -> None:
        """At the field that it names."""
        where, _, problem = error.partition(": ")
        said = f"{problem[:1].upper()}{problem[1:]}."
        match = PATH.match(where)
        if match and match[2]:
            row = self.rows[int(match[1])]
            name = FIELD_OF.get(match[2], match[2])
            row.add_error(name if name in row.fields else None, said)
            self.add_error(None, f"Class {int(match[1]) + 1}: {said}")
            return
        name = where.removeprefix("users.")
        name = "week" if name.startswith("week") else FIELD_OF.get(name, name)
        self.add_error(name if name in self.fields else None, said)

    def saved(self) -> Workload:
        return services.save_mix(self.team, self.user, self.cleaned_data["name"], self.spec)


def _count(data: QueryDict) -> int:
    """How many classes a form was sent with."""
    n = 0
    while f"class-{n}-share" in data and n < MOST_CLASSES:
        n += 1
    return n


def typed_week(text: str) -> Week:
    """Seven lines of 24 numbers, Monday first. SpecError says what was found."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) != DAYS:
        raise SpecError(f"week: found {len(lines)} lines, expected {DAYS}, Monday first")
    days = []
    for number, line in enumerate(lines, 1):
        cells = re.split(r"[,;\s]+", line.strip())
        try:
            days.append(tuple(float(cell) for cell in cells))
        except ValueError:
            bad = next(cell for cell in cells if not re.fullmatch(r"[\d.eE+-]+", cell))
            raise SpecError(f"week: line {number}: found ‘{bad}’, expected {HOURS} numbers") from None
    return tuple(days)
