"""The question as the page shows it: which field stands where, what differs from the default and where that is from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms.boundfield import BoundField

from planner.scenarios.forms import QuestionForm
from planner.scenarios.labels import label_of
from planner.scenarios.words import SENTENCE

ADVANCED = {
    "Traffic": ("arrivals", "seed"),
    "Machines": ("families", "tensor_parallel"),
    "Running": (
        "token_budget",
        "token_budgets",
        "max_batch_tokens",
        "max_batch_size",
        "kv_transfer",
        "latency",
        "power",
    ),
    "Limits": ("usd_per_month", "most_machines", "pue", "slowdown_multiplier", "slowdown_reference"),
    "Search": ("counts_tried", "mixed_counts", "prefill_counts", "decode_counts"),
}
NOTES = {
    "arrivals": "How the trace reaches another rate. Poisson keeps its lengths only.",
    "seed": "Same seed, same bits.",
    "families": "None ticked: Sarathi and vLLM V0 on each machine chosen, and every split pair of them.",
    "tensor_parallel": "Empty: all of a machine's accelerators, and the fewest that the model fits on.",
    "token_budget": "Empty: 512 and 2048 for Sarathi (Sarathi-Serve, OSDI 2024: strict, relaxed), 2048 for vLLM V1."
    " auto: the largest within the TBT limit.",
    "token_budgets": "Such as 128, 512, 2048: each is tried, in place of the one above.",
    "max_batch_tokens": "Empty: 2048 (Splitwise, ISCA 2024; vLLM V0).",
    "max_batch_size": "Empty: 128 Sarathi, 256 vLLM, 16 Orca, 8 FasterTransformer, 512 Splitwise.",
    "kv_transfer": "Splitwise sends KV layer by layer from 512 prompt tokens up. Chunk by chunk is not in the paper.",
    "latency": "Roofline takes any model and machine; measured has BLOOM-176B and Llama-2-70B only; a calibration is of"
    " its accelerator, other machines take the roofline that it began from.",
    "power": "A power log's figures are of its accelerator; other machines keep the catalogue's.",
    "pue": "Facility power over that of the machines: 1.54 is the mean of Uptime Institute's survey of 2025."
    " It multiplies drawn watts alone.",
    "usd_per_month": "A month is 730 h.",
    "most_machines": "Of all kinds together.",
    "slowdown_multiplier": "1: Splitwise's Table VI as it is.",
    "slowdown_reference": "A request alone, batch 1, memory fit ignored (Splitwise: DGX-A100).",
    "counts_tried": "Every: co-located, each count; split, beside each prefill count as many decode machines as fit."
    " What another design beats by proof is not simulated.",
    "mixed_counts": "Such as 10, 20-40/5. Empty: what the search picks.",
    "prefill_counts": "Such as 10, 20-40/5. Empty: what the search picks.",
    "decode_counts": "Such as 10, 20-40/5. Empty: what the search picks.",
}
LIMIT_PAIRS = tuple((f"{metric}_limit_s", f"{metric}_percentile") for metric in ("ttft", "tbt", "tpot", "e2e", "queue"))


@dataclass(frozen=True)
class Field:
    """A bound field with what the page says about it."""

    bound: BoundField
    note: str
    default: str

    @property
    def label(self) -> str:
        return label_of(self.bound.name)


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
    def differing(self) -> list[str]:
        return [f"{_mid_sentence(field.label)} {_shown(field)}" for field in self._advanced() if _differs(field)]

    @property
    def advanced_open(self) -> bool:
        """Something there is to be mended."""
        return any(field.bound.errors for field in self._advanced())

    def field(self, name: str) -> Field:
        bound = self.form[name]
        return Field(bound, NOTES.get(name, ""), _text(bound.field.prepare_value(bound.field.initial)))

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
    value = _text(field.bound.value())
    return dict(getattr(field.bound.field, "choices", ())).get(value, value)


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
