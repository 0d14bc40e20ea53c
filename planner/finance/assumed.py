"""The assumptions that a study's costs rest on: what was entered, and the study's own where nothing was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import transaction

from planner.accounts import audit
from planner.accounts.owned import Visitor
from planner.finance.models import AssumptionSet
from planner.scenarios.services import author
from planner.studies.models import Study
from planner.studies.stored import prices_of, spec_of
from simcore.catalogue import resolve_machine
from simcore.economics.assumptions import Assumptions, Demand, Facility, MachineCost, Sharing
from simcore.economics.months import Month
from simcore.economics.rounding import quantised
from simcore.spec import PriceBook, decode, encode

Json = dict[str, Any]


def assumptions_of(study: Study, chosen: AssumptionSet | None) -> Assumptions:
    """Those of the set, or the study's own. SpecError names what is wrong in a set."""
    return with_prices(study, chosen.values if chosen else encode(own(study)))


@transaction.atomic
def save(user: Visitor, study: Study, values: Json) -> AssumptionSet:
    """Another set, which the study's costs rest on from now on."""
    last = AssumptionSet.unscoped.filter(study=study).first()
    before = last.values if last else encode(own(study))
    made = AssumptionSet.objects.create(team=study.team, created_by=author(user), study=study, values=values)
    told = audit.changed(audit.flat(before), audit.flat(values))
    audit.record(study.team, user, "saved", made, told, name=f"assumptions of {study}")
    return made


def own(study: Study) -> Assumptions:
    """What the study itself says: its machines by the hour, its PUE and tariff, the growth of its workload."""
    spec, book = spec_of(study), prices_of(study)
    created = study.created_at
    growth = spec.workload.monthly_growth
    return Assumptions(
        tuple(MachineCost(resolve_machine(choice.machine).id) for choice in spec.machines),
        facility=Facility(
            "owned" if book.usd_per_kwh is None else "all", quantised(spec.pue), book.usd_per_kwh or quantised(0.0)
        ),
        demand=Demand(
            str(Month(created.year, created.month).plus(1)),
            growth_per_month=quantised(growth or 0.0),
        ),
    )


def with_prices(study: Study, values: Mapping[str, Any]) -> Assumptions:
    """As entered; a price by the hour that was left empty is the study's book's."""
    entered = decode(Assumptions, values)
    book = prices_of(study)
    return replace(entered, machines=tuple(_priced(one, book) for one in entered.machines))


def hash_of(assumptions: Assumptions) -> str:
    """16 hex digits that every exported row carries: the same for the same assumptions, prices included."""
    said = encode(assumptions)
    for machine in said["machines"]:
        del machine["taken"]  # follows from the plan
        if not machine["quotes"]:  # as before there were any
            del machine["quotes"]
    if assumptions.sharing == Sharing():
        del said["sharing"]
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _priced(cost: MachineCost, book: PriceBook) -> MachineCost:
    price = next((price for price in book.prices if price.machine == cost.machine), None)
    if price is None:
        return cost
    if cost.on_demand_usd_per_hour is not None:
        return cost
    return replace(cost, on_demand_usd_per_hour=price.usd_per_hour, row=f"{book.id}/{cost.machine}")
