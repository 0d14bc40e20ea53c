"""Who pays for a study's months: the classes of its workload, the cost centre of each, and what each centre costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.core.cache import cache

from planner.finance.assumed import own
from planner.finance.costs import Costs
from planner.finance.models import AssumptionSet
from planner.studies.contexts import trace_of
from planner.studies.models import Study
from simcore.economics.assumptions import Assumptions, SharingRule
from simcore.economics.cost_centres import NOBODY, CentreCost, ClassTokens, Shared, by_centre
from simcore.economics.lines import View
from simcore.economics.months import Month
from simcore.economics.unit_cost import KINDS, TokenKind
from simcore.spec import SpecError, encode
from simcore.traces.classes import LONGEST_NAME

Json = dict[str, Any]
NO_CLASS = "no class"
"""Requests whose class is not said."""
NOT_SAID = "no cost centre"
APART = "not shared"
"""What the rule leaves apart, as it is written."""
RULES: tuple[tuple[SharingRule, str], ...] = (
    ("by_use", "as what each cost centre is served"),
    ("evenly", "in equal parts"),
    ("apart", "to none: a line of its own"),
)
KEPT_S = 24 * 3600
MOST_CLASSES = 200


@dataclass(frozen=True)
class Centres:
    """A study's costs by cost centre, month by month."""

    costs: Costs
    view: View

    @cached_property
    def classes(self) -> list[ClassTokens]:
        """SpecError where there are too many to be shared among."""
        return classes_of(self.costs.study, self.costs.assumptions)

    @cached_property
    def months(self) -> list[tuple[Month, Shared]]:
        found, sheet, assumptions = [], self.costs.sheet, self.costs.assumptions
        sharing = assumptions.sharing
        for place, need in enumerate(sheet.timeline.needs):
            lines = [line for line in self.costs.lines(self.view) if line.period == str(need.month)]
            rates = (need.mean_req_per_s, need.rate_req_per_s)
            of = sheet.month(place)
            shared = by_centre(
                of.physics, lines, of.hours, rates, self.classes, assumptions.allocation, sharing.idle, sharing.headroom
            )
            found.append((need.month, shared))
        return found

    def sums(self) -> list[tuple[str, tuple[str, ...], Decimal]]:
        """Over all months: centre, classes, USD."""
        usd: dict[str, Decimal] = {}
        classes: dict[str, tuple[str, ...]] = {}
        for _, shared in self.months:
            for centre in shared.centres:
                name = centre_name(centre)
                usd[name] = usd.get(name, Decimal(0)) + centre.usd
                classes[name] = centre.classes
        return [(name, classes[name], amount) for name, amount in usd.items()]

    def rows(self) -> Iterable[list[Any]]:
        """Of the file, under ``COLUMNS``."""
        assumptions = self.costs.assumptions
        for month, shared in self.months:
            head = [month.start, month.end, self.view]
            rules = [assumptions.allocation, assumptions.sharing.idle, assumptions.sharing.headroom]
            for centre in shared.centres:
                for kind, usd in centre.by_kind_usd.items():
                    if centre.cost_centre != NOBODY:
                        yield [*head, centre_name(centre), " ".join(centre.classes), kind, usd, *rules]
                for part, usd in (("idle", centre.idle_usd), ("headroom", centre.headroom_usd)):
                    yield [*head, centre_name(centre), " ".join(centre.classes), part, usd, *rules]


COLUMNS = (
    *("period_start", "period_end", "view", "cost_centre", "classes", "part", "amount_usd"),
    *("allocation", "idle_rule", "headroom_rule"),
)


def centre_name(centre: CentreCost) -> str:
    return centre.cost_centre or APART


def classes_of(study: Study, assumptions: Assumptions) -> list[ClassTokens]:
    """In the order of their names, each with the centre that the assumptions say, or else the workload's class."""
    stated = {**_of_the_workload(study), **{one.name: one.cost_centre for one in assumptions.sharing.classes}}
    found = _counted(study)
    if len(found) > MOST_CLASSES:
        raise SpecError(f"class: found {len(found):,} classes in the workload, expected at most {MOST_CLASSES}")
    return [replace(one, cost_centre=stated.get(one.name) or NOT_SAID) for one in found]


def with_sharing(costs: Costs, idle: str, headroom: str, centres: Mapping[str, str]) -> Json:
    """The values of a set as it is, but for the sharing. SpecError names what is wrong."""
    rules = dict(RULES)
    for name, rule in (("idle", idle), ("headroom", headroom)):
        if rule not in rules:
            raise SpecError(f"{name}: found {rule!r}, expected one of {', '.join(rules)}")
    kept: list[Json] = []
    inherited = _of_the_workload(costs.study)
    for name, text in centres.items():
        centre = text.strip()
        if len(centre) > LONGEST_NAME or not (centre.isprintable()):
            raise SpecError(f"{name}: found {centre!r}, expected at most {LONGEST_NAME} printable characters")
        if centre != inherited.get(name, ""):
            kept.append({"name": name, "cost_centre": centre})
    values = dict(costs.chosen.values) if costs.chosen else encode(own(costs.study))
    return {**values, "sharing": {"idle": idle, "headroom": headroom, "classes": kept}}


def sharing_of(chosen: AssumptionSet | None) -> Json:
    """What a save of other assumptions keeps."""
    sharing = chosen.values.get("sharing") if chosen else None
    return {"sharing": sharing} if sharing else {}


def _of_the_workload(study: Study) -> dict[str, str]:
    """A synthetic mix's classes say their cost centre."""
    spec = study.workload.spec or {}
    return {one["name"]: one.get("cost_centre", "") for one in spec.get("classes", ())}


def _counted(study: Study) -> list[ClassTokens]:
    """Each class's part of tokens and requests; counted once a trace."""
    key = f"finance-classes-{study.trace_hash}"
    told: list[Json] | None = cache.get(key)
    if told is None:
        told = _count(study)
        cache.set(key, told, KEPT_S)
    return [
        ClassTokens(
            one["name"], NOT_SAID, {kind: Decimal(one[kind]) for kind in KINDS}, Decimal(one["requests"])
        )
        for one in told
    ]  # fmt: skip


def _count(study: Study) -> list[Json]:
    """Tokens as counted: only their proportions matter."""
    import numpy as np  # not before somebody asks

    try:
        trace = trace_of(study)
    except ValueError as error:
        raise SpecError(str(error)) from None
    names = np.array(trace.classes if trace.classes is not None else [""] * len(trace))
    unique, place = np.unique(names, return_inverse=True)
    cached = trace.cached_prompt_tokens
    columns: dict[TokenKind, Any] = {
        "input": trace.prompt_tokens - cached, "cached_input": cached, "output": trace.output_tokens
    }  # fmt: skip
    sums = {kind: np.bincount(place, weights=column, minlength=len(unique)) for kind, column in columns.items()}
    requests = np.bincount(place, minlength=len(unique))
    return [
        {"name": str(name) or NO_CLASS, "requests": int(requests[at])}
        | {kind: int(sums[kind][at]) for kind in KINDS}
        for at, name in enumerate(unique)
    ]  # fmt: skip
