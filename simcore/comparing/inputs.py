"""What differs between two studies that only a simulation can tell the effect of, by kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from simcore.answer.result import StudyResult
from simcore.catalogue import resolve_machine, resolve_model
from simcore.spec import LatencySpec, Machine, Model, StudySpec, WorkloadSpec
from simcore.words import listed

PRECISIONS = frozenset({"weight_precision", "kv_precision", "expert_precision"})
"""Of a model's row; a question chooses them."""
SERVING = ("scheduler_options", "memory", "kv_transfer")
TRIED = ("counts", "also")
TRIED_KIND = "designs to try"
MOST_NAMED = 4
"""Of families; more are counted."""


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
        *_objective(before, after),
        *gone(before, after),
        *_machines(before, after),
        *_times(before, after),
        *_of_fields(before, after, SERVING, "serving options"),
        *_more_families(before, after),
        *_of_fields(before, after, TRIED, TRIED_KIND),
        *_engine(first, second),
    ]


def gone(before: StudySpec, after: StudySpec) -> Iterator[Input]:
    """What the second may not choose any more: told by what was simulated for the first."""
    if machines := machines_gone(before, after):
        names = {machine.id: machine.name for machine in _rows(before).values()}
        yield Input("machines", f"without {listed([names[name] for name in machines])}")
    if families := families_gone(before, after):
        yield Input(TRIED_KIND, f"without {_families(families)}")
    elif after.families and not before.families:
        yield Input(TRIED_KIND, f"of all families only {_families(after.families)}")


def machines_gone(before: StudySpec, after: StudySpec) -> list[str]:
    """Ids of machines that the first may choose and the second may not."""
    return [name for name in _rows(before) if name not in _rows(after)]


def families_gone(before: StudySpec, after: StudySpec) -> list[str]:
    """Families named by the first and not tried by the second; where the first tries all, none is known by name."""
    return [name for name in before.families if after.families and name not in after.families]


def _more_families(before: StudySpec, after: StudySpec) -> Iterator[Input]:
    if before.families and not after.families:
        yield Input(TRIED_KIND, "all families in place of those named")
    elif more := [name for name in after.families if before.families and name not in before.families]:
        yield Input(TRIED_KIND, f"{_families(more)} too")


def _families(names: Sequence[str]) -> str:
    return listed(list(names)) if len(names) <= MOST_NAMED else f"{len(names)} families"


def _objective(before: StudySpec, after: StudySpec) -> Iterator[Input]:
    if before.slo != after.slo:
        yield Input("objective", f"the latency limits: {_otherwise(before.slo, after.slo)}")
    if before.failures != after.failures:
        yield Input("objective", f"machines lost that must be survived {before.failures} → {after.failures}")


def _times(before: StudySpec, after: StudySpec) -> Iterator[Input]:
    """By machine, where several differ alike once."""
    was, now = _latencies(before), _latencies(after)
    changed = [name for name in was if name in now and was[name] != now[name]]
    said = dict.fromkeys(f"iteration times {_source(was[name])} → {_source(now[name])}" for name in changed)
    yield from (Input("iteration times", words) for words in said)


def _source(latency: LatencySpec) -> str:
    if latency.source == "roofline":
        return f"roofline {latency.engine}"
    return f"{latency.source} ({latency.path})" if latency.path else latency.source


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
        names = [_workload(spec.workload) for spec in (before, after)]
        yield Input("workload", " → ".join(names) if names[0] != names[1] else "the workload's requests")
    if before.arrivals != after.arrivals:
        yield Input("workload", f"arrivals {before.arrivals} → {after.arrivals}")
    if before.seeds != after.seeds:
        yield Input("workload", f"seeds {_said(before.seeds)} → {_said(after.seeds)}")


def _workload(workload: WorkloadSpec) -> str:
    return Path(workload.trace).stem if workload.trace else "a synthetic mix"


def _machines(before: StudySpec, after: StudySpec) -> Iterator[Input]:
    """Which may be bought too, and figures of those of both that the catalogue had otherwise."""
    was, now = (_rows(spec) for spec in (before, after))
    if more := [machine.name for name, machine in now.items() if name not in was]:
        yield Input("machines", f"{listed(more)} too")
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
    for name in names:
        was, now = getattr(before, name), getattr(after, name)
        if was != now:
            yield Input(kind, f"{name.replace('_', ' ')}: {_otherwise(was, now)}")


def _engine(first: Side, second: Side) -> Iterator[Input]:
    was, now = first.engine_version, second.engine_version
    if was and now and was != now:
        yield Input("engine version", f"engine {was} → {now}")


def _changed(before: Any, after: Any) -> list[str]:
    """Names of the fields that differ."""
    return [field.name for field in fields(before) if getattr(before, field.name) != getattr(after, field.name)]


def _values(before: Any, after: Any, names: list[str]) -> str:
    """``tdp_w 700 → 500``; of a part that has figures of its own, in which of them it differs."""
    return ", ".join(
        f"{name}{' ' if _is_plain(was) and _is_plain(now) else ': '}{_otherwise(was, now)}"
        for name, was, now in ((name, getattr(before, name), getattr(after, name)) for name in names)
    )


def _otherwise(before: Any, after: Any) -> str:
    """In which figures; of two forms each as it is."""
    if type(before) is type(after) and hasattr(before, "__dataclass_fields__"):
        return _values(before, after, _changed(before, after))
    if _is_row(before) and _is_row(after) and len(before) == len(after):
        return ", ".join(_otherwise(was, now) for was, now in zip(before, after, strict=True) if was != now)
    return f"{_said(before)} → {_said(after)}"


def _is_row(value: Any) -> bool:
    return isinstance(value, tuple) and all(hasattr(one, "__dataclass_fields__") for one in value)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _said(value: Any) -> str:
    if isinstance(value, tuple):
        return listed([_said(one) for one in value]) if value else "none"
    if hasattr(value, "__dataclass_fields__"):
        given = [field.name for field in fields(value) if getattr(value, field.name) not in (None, ())]
        return ", ".join(f"{name} {_said(getattr(value, name))}" for name in given)
    return "none" if value is None else f"{value:,.10g}" if isinstance(value, int | float) else str(value)
