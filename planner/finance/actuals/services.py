"""Files of actuals kept, matched, saved and taken back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone

from planner.accounts import audit
from planner.accounts.models import User
from planner.accounts.owned import Visitor
from planner.finance.actuals.charges import Charge
from planner.finance.actuals.focus import COSTS
from planner.finance.actuals.matching import Frame, MonthTotal, reason, services_at_first, totals
from planner.finance.actuals.reading import FOCUS, read
from planner.finance.actuals.table import MOST_BYTES, FileError
from planner.finance.costs import Costs
from planner.finance.models import ActualRow, Actuals
from planner.scenarios.services import author
from planner.studies.models import Study

Json = dict[str, Any]
HOURS_OF = ("machines", "accelerators")
BATCH = 1000
MOST_DRAFTS = 20


def may_keep(user: Visitor, study: Study) -> bool:
    """Members of the team who may write: what was billed is the team's, not of who was given a question by name."""
    return Study.objects.owned_by(user).filter(pk=study.pk).exists()


@transaction.atomic
def keep(user: Visitor, costs: Costs, upload: Any, name: str, cost_column: str, hours_of: str) -> Actuals:
    """A file with its report, not saved yet. FileError says what is wrong with the file."""
    if upload.size > MOST_BYTES:
        raise FileError(f"found a file of more than {MOST_BYTES // 1_000_000} MB, expected at most so much")
    found = read(upload, cost_column, hours_of)
    revision = costs.study.revision
    services = services_at_first(found.charges, [revision.title, revision.scenario.name])
    rules = {"services": services, "cost": found.cost_column, "hours_of": hours_of}
    kept = Actuals.objects.create(
        team=costs.study.team, created_by=author(user), study=costs.study, design_id=costs.physics.design_id,
        file_name=name[:255], format=found.format, content_hash=found.content_hash, rules=rules,
        report={"unread": list(found.unread)},
    )  # fmt: skip
    ActualRow.objects.bulk_create((_row(kept, charge) for charge in found.charges), batch_size=BATCH)
    _forget_drafts(kept)
    _matched(kept, costs, services)
    _record(user, "uploaded, not saved yet,", kept, audit.made(_told(kept)))
    return kept


@transaction.atomic
def match(user: Visitor, kept: Actuals, costs: Costs, services: Sequence[str]) -> Actuals:
    """Its rows again, with the services that are said to be the study's. ValueError once it is saved."""
    if kept.saved_at is not None:
        raise ValueError("These actuals are saved: expected a new upload")
    before = _told(kept)
    _matched(kept, costs, services)
    _record(user, "matched", kept, audit.changed(before, _told(kept)))
    return kept


def _matched(kept: Actuals, costs: Costs, services: Sequence[str]) -> None:
    frame = Frame.of(costs)
    there: dict[str, Json] = {}
    reasons: dict[str, Json] = {}
    counted: list[Charge] = []
    changed: list[ActualRow] = []
    for row in kept.rows.all().iterator(chunk_size=BATCH):
        charge = charge_of(row)
        why = reason(charge, frame, services)
        _add(there, charge.service, charge)
        if why:
            _add(reasons, why, charge)
        else:
            counted.append(charge)
        if why != row.reason:
            row.reason = why[:300]
            changed.append(row)
    ActualRow.objects.bulk_update(changed, ["reason"], batch_size=BATCH)
    kept.rules = {**kept.rules, "services": list(services)}
    kept.design_id = costs.physics.design_id
    kept.report = {
        "unread": kept.report["unread"],
        "rows": sum(one["rows"] for one in there.values()),
        "counted": len(counted),
        "services": [{"name": name, **one} for name, one in sorted(there.items())],
        "reasons": [{"reason": why, **one} for why, one in sorted(reasons.items())],
        "months": [one.as_json() for one in totals(counted, frame)],
    }
    kept.save(update_fields=["rules", "report", "design_id"])


@transaction.atomic
def save(kept: Actuals, user: Visitor) -> None:
    """From now on its months are compared. ValueError where none of its rows counts."""
    if not kept.report["months"]:
        raise ValueError("No row of the file counts: nothing to save")
    now = timezone.now()
    if Actuals.unscoped.filter(pk=kept.pk, saved_at=None).update(saved_at=now):
        _record(user, "saved", kept, audit.made({**_told(kept), "saved_at": now}))


@transaction.atomic
def delete(kept: Actuals, user: User) -> None:
    """A draft is gone; of one that was saved the history is kept."""
    if kept.saved_at is None:
        _record(user, "discarded", kept, audit.gone(_told(kept)))
        kept.delete()
        return
    now = timezone.now()
    if Actuals.unscoped.filter(pk=kept.pk, deleted_at=None).update(deleted_at=now, deleted_by=user):
        _record(user, "took back", kept, {"deleted_at": (None, now)})


def _record(user: Visitor, action: str, kept: Actuals, told: audit.Told) -> None:
    audit.record(kept.team, user, action, kept, told, name=f"{kept.file_name}, billed for {kept.study}")


def _told(kept: Actuals) -> Json:
    """What the history says of a file: which, and what of it counts."""
    report = kept.report
    months = {f"months.{one['month']}.cost": one["cost"] for one in report.get("months", [])}
    named = audit.values(kept, ("file_name", "format", "content_hash", "design_id"))
    return {**named, **kept.rules, "rows": report.get("rows"), "counted": report.get("counted"), **months}


def in_force(every: Iterable[Actuals]) -> dict[str, tuple[Actuals, MonthTotal]]:
    """Month → what counts of it: of the one saved last that has it."""
    found: dict[str, tuple[Actuals, MonthTotal]] = {}
    saved = [one for one in every if one.saved_at is not None and one.deleted_at is None]
    for kept in sorted(saved, key=lambda one: (one.saved_at, one.pk)):
        found |= {told["month"]: (kept, MonthTotal.from_json(told)) for told in kept.report["months"]}
    return dict(sorted(found.items()))


def charge_of(row: ActualRow) -> Charge:
    """As it was read."""
    return Charge(
        row.line, row.period_start, row.period_end, Decimal(row.cost), row.service, row.pool, row.design, row.currency,
        row.category, row.description, {name: Decimal(text) for name, text in row.quantities.items()}, row.uncounted,
        row.refused,
    )  # fmt: skip


def cost_choices(format: str) -> Sequence[str]:
    return COSTS if format == FOCUS else ()


def _row(kept: Actuals, charge: Charge) -> ActualRow:
    return ActualRow(
        actuals=kept, line=charge.line, period_start=charge.start, period_end=charge.end, service=charge.service,
        pool=charge.pool, design=charge.design, currency=charge.currency, category=charge.category,
        description=charge.description, cost=f"{charge.cost:f}"[:60], uncounted=charge.uncounted,
        quantities={name: f"{amount:f}" for name, amount in charge.quantities.items()}, refused=charge.refused,
    )  # fmt: skip


def _add(into: dict[str, Json], name: str, charge: Charge) -> None:
    """Rows and their cost, by currency."""
    one = into.setdefault(name, {"rows": 0, "costs": {}, "first": charge.line, "last": charge.line})
    one["rows"] += 1
    one["last"] = charge.line
    before = Decimal(one["costs"].get(charge.currency, "0"))
    one["costs"][charge.currency] = f"{before + charge.cost:f}"


def _forget_drafts(kept: Actuals) -> None:
    """What was looked at and not saved is kept for a while, not for ever."""
    drafts = Actuals.unscoped.filter(study=kept.study, saved_at=None).order_by("-created_at", "-pk")
    for old in list(drafts[MOST_DRAFTS:]):
        old.delete()


def counted_rows(kept: Actuals) -> Iterator[ActualRow]:
    yield from kept.rows.filter(reason="")
