"""What differs between two studies that only a simulation can tell the effect of, by kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from simcore.answer.result import StudyResult
from simcore.catalogue import resolve_machine, resolve_model
from simcore.spec import Machine, Model, StudySpec
from simcore.words import listed

PRECISIONS = frozenset({"weight_precision", "kv_precision", "expert_precision"})
"""Of a model's row; a question chooses them."""
SERVING = ("scheduler_options", "memory", "kv_transfer")
TRIED = ("families", "counts", "also")


@dataclass(frozen=True)
class Side:
    """A study's result with what its evaluations depend on beside the question."""

    result: StudyResult
    trace_hash: str = ""
    engine_version: str = ""


@dataclass(frozen=True)
class Input:
    """Something that differs: ``model``, ``BLOOM 176B → Llama 3.1 70B``."""

    kind: str
    words: str


def simulated_inputs(first: Side, second: Side) -> list[Input]:
    """All that differs and that stored evaluations say nothing of. What prices, limits and the rate do is told by
    ``drivers``."""
    before, after = first.result.spec, second.result.spec
    return [
        *_model(resolve_model(before.model), resolve_model(after.model)),
        *_traffic(first, second),
        *([Input("objective", "the latency limits")] if before.slo != after.slo else []),
        *_machines(before, after),
        *(
            [Input("iteration times", "the source of iteration times")]
            if _latencies(before) != _latencies(after)
            else []
        ),
        *_of_fields(before, after, SERVING, "serving options"),
        *_of_fields(before, after, TRIED, "designs to try"),
        *_engine(first, second),
    ]


def _model(before: Model, after: Model) -> Iterator[Input]:
    if before.id != after.id:
        yield Input("model", f"{before.name} → {after.name}")
        return
    changed = _changed(before, after)
    if precisions := [name for name in changed if name in PRECISIONS]:
        yield Input("model", f"{before.name}: {_values(before, after, precisions)}")
    if rest := [name for name in changed if name not in PRECISIONS]:
        yield Input("catalogue", f"{before.name}: {_values(before, after, rest)}")


def _traffic(first: Side, second: Side) -> Iterator[Input]:
    before, after = first.result.spec, second.result.spec
    if first.trace_hash != second.trace_hash:
        yield Input("workload", "the workload's requests")
    if before.arrivals != after.arrivals:
        yield Input("workload", f"arrivals {before.arrivals} → {after.arrivals}")
    if before.seeds != after.seeds:
        yield Input("workload", f"seeds {_said(before.seeds)} → {_said(after.seeds)}")


def _machines(before: StudySpec, after: StudySpec) -> Iterator[Input]:
    """Which may be bought, and figures of those of both that the catalogue had otherwise."""
    was, now = (_rows(spec) for spec in (before, after))
    if set(was) != set(now):
        names = [listed([machine.name for machine in rows.values()]) for rows in (was, now)]
        yield Input("machines", " → ".join(names))
    for name, machine in was.items():
        if name in now and (changed := _changed(machine, now[name])):
            yield Input("catalogue", f"{machine.name}: {_values(machine, now[name], changed)}")


def _rows(spec: StudySpec) -> dict[str, Machine]:
    return {machine.id: machine for machine in (resolve_machine(choice.machine) for choice in spec.machines)}


def _latencies(spec: StudySpec) -> dict[str, Any]:
    """By machine."""
    return {resolve_machine(choice.machine).id: choice.latency or spec.latency for choice in spec.machines} | {
        "": spec.latency
    }


def _of_fields(before: StudySpec, after: StudySpec, names: tuple[str, ...], kind: str) -> Iterator[Input]:
    changed = [name for name in names if getattr(before, name) != getattr(after, name)]
    if changed:
        yield Input(kind, listed([name.replace("_", " ") for name in changed]))


def _engine(first: Side, second: Side) -> Iterator[Input]:
    was, now = first.engine_version, second.engine_version
    if was and now and was != now:
        yield Input("engine version", f"{was} → {now}")


def _changed(before: Any, after: Any) -> list[str]:
    """Names of the fields that differ."""
    return [field.name for field in fields(before) if getattr(before, field.name) != getattr(after, field.name)]


def _values(before: Any, after: Any, names: list[str]) -> str:
    """``tdp_w 700 → 500``; a part that has figures of its own only by its name."""
    return ", ".join(
        f"{name} {_said(was)} → {_said(now)}" if _is_plain(was) and _is_plain(now) else f"{name}: {_deep(was, now)}"
        for name, was, now in ((name, getattr(before, name), getattr(after, name)) for name in names)
    )


def _deep(before: Any, after: Any) -> str:
    if type(before) is type(after) and hasattr(before, "__dataclass_fields__"):
        return _values(before, after, _changed(before, after))
    return "otherwise"


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _said(value: Any) -> str:
    if isinstance(value, tuple):
        return listed([str(one) for one in value])
    return "none" if value is None else f"{value:,.10g}" if isinstance(value, int | float) else str(value)
