"""The question as the page shows it: which field stands where, what differs from the default and where that is from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms.boundfield import BoundField, BoundWidget

from planner.scenarios.by_machine import said
from planner.scenarios.forms import QuestionForm
from planner.scenarios.labels import label_of
from planner.scenarios.sources import NOTES, SOURCES, Source
from planner.scenarios.words import SENTENCE
from simcore.words import counted

ADVANCED = {
    "Traffic": ("arrivals", "seed", "growth_percent", "week_shape"),
    "Machines": (
        *("families", "on_hand", "tensor_parallel", "tensor_parallels", "pipeline_parallel"),
        *("decode_tensor_parallel", "decode_pipeline_parallel"),
    ),
    "Running": (
        *("token_budget", "token_budgets", "max_batch_tokens", "max_batch_size"),
        *("kv_transfer", "fabric", "kv_bandwidth_gb_per_s", "kv_setup_s", "kv_contention"),
        *("latency", "latency_by_machine", "power"),
    ),
    "Memory": (
        *("weight_precision", "kv_precision", "memory_usable", "reservation"),
        *("block_tokens", "watermark", "max_model_tokens"),
    ),
    "Limits": (
        "usd_per_month",
        "most_machines",
        "racks",
        "failures",
        "pue",
        "slowdown_multiplier",
        "slowdown_reference",
    ),
    "Search": (
        *("size_to", "hold_equal", "counts_tried", "mixed_counts", "prefill_counts", "decode_counts"),
        "replications",
    ),
}
POWER_FIGURES = (
    "Nameplate: the most that the makers say. Provisioned: what the site sets aside. Drawn: what the simulation finds."
)
LIMIT_PAIRS = tuple((f"{metric}_limit_s", f"{metric}_percentile") for metric in ("ttft", "tbt", "tpot", "e2e", "queue"))


@dataclass(frozen=True)
class Field:
    """A bound field with what the page says about it."""

    bound: BoundField
    note: str
    default: str
    """As the field shows it."""
    source: Source | None = None

    @property
    def label(self) -> str:
        return label_of(self.bound.name)

    @property
    def default_words(self) -> str:
        """What it is unless something else is chosen."""
        said = self.source.default if self.source else ""
        return said or _named(self, self.default)


@dataclass(frozen=True)
class Group:
    title: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class QuestionPage:
    """The form in the order of the sentence, the SLO's own fields, and the advanced ones in groups."""

    form: QuestionForm

    def __post_init__(self) -> None:
        for name in ("machines", "families"):
            _choose_by(self.form, name, forms.CheckboxSelectMultiple())
        _choose_by(self.form, "goal", forms.RadioSelect())

    @property
    def wrong_in_sentence(self) -> list[Field]:
        """Fields of the sentence with something to mend: their messages stand right under it."""
        return [self.field(name) for name in SENTENCE if self.form[name].errors]

    @property
    def limits(self) -> list[tuple[Field, Field]]:
        return [(self.field(limit), self.field(percentile)) for limit, percentile in LIMIT_PAIRS]

    @property
    def groups(self) -> list[Group]:
        return [Group(title, tuple(self.field(name) for name in names)) for title, names in ADVANCED.items()]

    @property
    def errors(self) -> list[tuple[Field | None, str]]:
        """Every message with its field, in the form's order; None for what belongs to no single field."""
        found: Mapping[str, Any] = self.form.errors
        return [
            (self.field(name) if name in self.form.fields else None, message)
            for name, messages in found.items()
            for message in messages
        ]

    @property
    def machines_shown(self) -> list[BoundWidget]:
        """The machines chosen; where none is, all that there are."""
        chosen = [option for option in self.form["machines"] if option.data["selected"]]
        return chosen or list(self.form["machines"])

    @property
    def machines_beside(self) -> list[BoundWidget]:
        """The others, which may be added."""
        shown = {option.data["value"] for option in self.machines_shown}
        return [option for option in self.form["machines"] if option.data["value"] not in shown]

    @property
    def goal_source(self) -> str:
        return SOURCES["goal"].origin

    @property
    def percentiles_source(self) -> str:
        return f"Default: {SOURCES['percentiles'].default}. {SOURCES['percentiles'].origin}"

    @property
    def attainment_source(self) -> str:
        return f"Default: 99 %. {SOURCES['attainment_share'].origin}"

    @property
    def power_source(self) -> str:
        """Whose figures a power limit is held against, and why the one is the default."""
        return f"{POWER_FIGURES} {SOURCES['power_kind'].origin}"

    @property
    def prices_source(self) -> str:
        """Each chosen machine's price with its source and date."""
        book = self.form.offered.price_books.get(str(self.form["price_book"].value()))
        if book is None:
            return "No prices are chosen."
        chosen, names = self.form["machines"].value() or [], dict(self.form.offered.machines)
        said_of = [
            f"{names.get(price.machine, price.machine)} ${price.usd_per_hour} an hour ({price.source}, {price.date})"
            for price in book.prices
            if price.machine in chosen
        ]
        quotes = sum(offer.machine in chosen for offer in book.offers)
        beside = f" {counted(quotes, 'quote')} beside them may be chosen under Finance." if quotes else ""
        return f"{book.name}: {'; '.join(said_of) or 'none of the machines chosen'}.{beside}"

    @property
    def differing(self) -> list[str]:
        return [f"{_mid_sentence(field.label)} {_shown(field)}" for field in self._advanced() if _differs(field)]

    @property
    def advanced_open(self) -> bool:
        """Something there is to be mended."""
        return any(field.bound.errors for field in self._advanced())

    def field(self, name: str) -> Field:
        bound = self.form[name]
        default = _text(bound.field.prepare_value(bound.field.initial))
        return Field(bound, NOTES.get(name, ""), default, SOURCES.get(name))

    def _advanced(self) -> Iterator[Field]:
        return (field for group in self.groups for field in group.fields)


def _choose_by(form: QuestionForm, name: str, widget: forms.CheckboxSelectMultiple | forms.RadioSelect) -> None:
    field: Any = form.fields[name]
    widget.choices = field.choices
    widget.is_required = False
    field.widget = widget


def _mid_sentence(label: str) -> str:
    """``Token budget`` → ``token budget``, but ``KV transfer`` and ``Power limit, kW`` keep their abbreviations."""
    return label if label[:2].isupper() else label[:1].lower() + label[1:]


def _differs(field: Field) -> bool:
    return _text(field.bound.value()).strip() not in {"", field.default}


def _shown(field: Field) -> str:
    """What differs, in short: a long list by its number."""
    chosen = field.bound.value()
    if isinstance(chosen, list) and hasattr(field.bound.field, "choices"):
        return f"{len(chosen)} chosen"
    if isinstance(chosen, Mapping):
        by_machine: Any = field.bound.field
        values = dict(getattr(by_machine.each, "choices", ()))
        named = {machine: values.get(value, value) for machine, value in chosen.items()}
        return said(named, dict(by_machine.widget.machines))
    return _named(field, _text(chosen))


def _named(field: Field, value: str) -> str:
    return str(dict(getattr(field.bound.field, "choices", ())).get(value, value))


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return said(value, {})
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
