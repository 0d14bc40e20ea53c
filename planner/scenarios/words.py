"""Inputs in words: a question as a sentence, and what differs between two."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.scenarios.forms import LIMIT_LABELS, LIMITED, QuestionForm
from planner.scenarios.labels import UNITS, bare_label
from simcore.words import listed

Inputs = Mapping[str, Any]
Names = Mapping[str, Mapping[str, str]]
"""Input → value → what people call it."""

NONE = "none"
EMPTY: tuple[Any, ...] = (None, "", [], {})
SHARES = ("attainment_share", "memory_usable", "watermark")
SENTENCE = (
    *("model", "workload", "rate_req_per_s", "slo_kind", "machines"),
    *("price_book", "power_limit_kw", "power_kind", "goal"),
)
"""The inputs that a question's sentence says."""
OF_SLO = {
    "slowdown": ("slowdown_multiplier", "slowdown_reference"),
    "absolute": (
        *(f"{metric}_{part}" for metric in LIMITED for part in ("limit_s", "percentile")),
        "tbt_limit_x_decode",
    ),
    "attainment": ("attainment_ttft_s", "attainment_tpot_s", "attainment_share"),
}
"""The inputs that one kind of SLO alone reads."""


@dataclass(frozen=True)
class Change:
    """One input that differs between two revisions."""

    name: str
    label: str
    before: str
    after: str

    def __str__(self) -> str:
        """``rate 70 → 85 requests/s``: a unit that both have is said once."""
        unit = UNITS.get(self.name, "")
        before = self.before.removesuffix(f" {unit}") if unit and self.after.endswith(unit) else self.before
        return f"{self.label} {before} → {self.after}"


@dataclass(frozen=True)
class Words:
    """How inputs are said. ``names``: of what has a name that the form does not know by itself."""

    names: Names

    def value(self, name: str, inputs: Inputs) -> str:
        """One input with its unit; a list in words; ``none`` where nothing is given."""
        given = value_of(name, inputs)
        if given in EMPTY:
            return NONE
        if isinstance(given, Mapping):
            return self._by_machine(name, given)
        if isinstance(given, list):
            return self._joined(name, given)
        return self._one(name, given)

    def _by_machine(self, name: str, given: Mapping[str, Any]) -> str:
        of = "latency" if name == "latency_by_machine" else name
        return ", ".join(f"{self._name('machines', key)} {self._name(of, one)}" for key, one in given.items())

    def _joined(self, name: str, given: Sequence[Any]) -> str:
        said = ", ".join(self._name(name, one) for one in given)
        return f"{said} {UNITS[name]}" if name in UNITS else said

    def _one(self, name: str, given: Any) -> str:
        if name in SHARES:
            return f"{100 * given:.10g} %"
        if name == "usd_per_month":
            return f"${given:,.10g} a month"
        said = self._name(name, given)
        return f"{said} {UNITS[name]}" if name in UNITS and said != "auto" else said

    def _name(self, name: str, given: Any) -> str:
        if isinstance(given, bool):
            return "yes" if given else "no"
        known = self.names.get(name) or _choices(name)
        if str(given) in known:
            return known[str(given)]
        return f"{given:,.10g}" if isinstance(given, int | float) else str(given)

    def sentence(self, inputs: Inputs) -> str:
        """The question, as its page asks it."""
        within = value_of("power_limit_kw", inputs)
        power = f" within {self.value('power_limit_kw', inputs)} {self.value('power_kind', inputs)}" if within else ""
        figure = f" ({self.value('power_kind', inputs)})" if value_of("goal", inputs) == "power" else ""
        machines = listed([self._name("machines", one) for one in inputs["machines"]])
        return (
            f"Serve {self.value('model', inputs)} to {self.value('workload', inputs)} at"
            f" {self.value('rate_req_per_s', inputs)} so that {self.objective(inputs)} hold, choosing among {machines}"
            f" priced by {self.value('price_book', inputs)}{power} for the {self.value('goal', inputs)}{figure}."
        )

    def objective(self, inputs: Inputs) -> str:
        """What latency must hold."""
        kind = value_of("slo_kind", inputs)
        if kind == "attainment":
            first, then = self.value("attainment_ttft_s", inputs), self.value("attainment_tpot_s", inputs)
            share = self.value("attainment_share", inputs)
            return f"a first token within {first} and then one every {then} for {share} of all requests"
        if kind == "absolute":
            return listed(self._limits(inputs))
        multiplier = value_of("slowdown_multiplier", inputs)
        times = "" if multiplier == 1 else f", times {multiplier:.10g},"
        reference = self.value("slowdown_reference", inputs)
        return f"{self._name('slo_kind', kind)}{times} (against a lone request on {reference})"

    def _limits(self, inputs: Inputs) -> list[str]:
        said = []
        for metric in LIMITED:
            at = f"P{value_of(f'{metric}_percentile', inputs):.10g} {_lower(LIMIT_LABELS[metric])}"
            if value_of(f"{metric}_limit_s", inputs) is not None:
                said.append(f"{at} within {self.value(f'{metric}_limit_s', inputs)}")
            elif metric == "tbt" and value_of("tbt_limit_x_decode", inputs) is not None:
                said.append(f"{at} within {self.value('tbt_limit_x_decode', inputs)}")
        return said

    def apart_from_defaults(self, inputs: Inputs) -> list[str]:
        """What is set that the sentence does not say: ``token budget 700 tokens``."""
        said = {*SENTENCE, *(name for names in OF_SLO.values() for name in names)}
        return [
            f"{bare_label(name)} {self.value(name, inputs)}"
            for name in QuestionForm.base_fields
            if name not in said and value_of(name, inputs) != default_of(name)
        ]

    def changes(self, before: Inputs, after: Inputs) -> list[Change]:
        """The inputs that differ, in the form's order, but for those that neither of the two reads."""
        read = {*read_by(before), *read_by(after)}
        return [
            Change(name, bare_label(name), self.value(name, before), self.value(name, after))
            for name in QuestionForm.base_fields
            if name in read and value_of(name, before) != value_of(name, after)
        ]


def value_of(name: str, inputs: Inputs) -> Any:
    """An input's value; the default where a revision is older than the input."""
    given = inputs.get(name)
    return default_of(name) if given in EMPTY else given


def default_of(name: str) -> Any:
    initial = QuestionForm.base_fields[name].initial
    return None if initial in EMPTY else initial


def names_for(form: QuestionForm) -> Names:
    """Of what the form's user may choose from."""
    return {name: {str(key): str(label) for key, label in choices} for name, choices in form.offered.fields().items()}


def read_by(inputs: Inputs) -> list[str]:
    kind = value_of("slo_kind", inputs)
    unread = {name for other, names in OF_SLO.items() if other != kind for name in names}
    return [name for name in QuestionForm.base_fields if name not in unread]


def _choices(name: str) -> dict[str, str]:
    return {str(key): str(label) for key, label in getattr(QuestionForm.base_fields[name], "choices", ())}


def _lower(label: str) -> str:
    return label[:1].lower() + label[1:]
