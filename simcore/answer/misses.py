"""Where nothing meets a question: what was asked, and the closest misses with what each would need."""

from __future__ import annotations

from collections.abc import Iterator

from simcore.answer.result import StudyResult
from simcore.catalogue import resolve_model
from simcore.search.counts import MOST_MACHINES
from simcore.shortfalls import POWER_WORDS, machines
from simcore.spec import AttainmentSlo, SlowdownSlo, StudySpec
from simcore.survival import any_lost_words
from simcore.words import counted, dollars, listed, number, percent


def nothing(result: StudyResult) -> str:
    """``No design within 408 kW nameplate holds these limits at 70 requests/s.``"""
    spec = result.spec
    if all(row.status in ("infeasible", "screened") for row in result.rows):
        return f"No design can run {resolve_model(spec.model).name} as asked."
    found = list(_limits(spec))
    within = f" within {listed(found)}" if found else ""
    if any(getattr(spec.counts, role) is not None for role in ("mixed", "prefill", "decode")):
        within = f" of the counts given{within}"
    at = f"{number(spec.rate_req_per_s)} requests/s{any_lost_words(spec.failures)}"
    text = f"No design{within} holds {_slo_words(spec)} at {at}"
    return f"{text}{_at_the_lower_bound(result)}."


def _at_the_lower_bound(result: StudyResult) -> str:
    """What the question is sized to may be missed by what holds the rate."""
    if result.spec.size_to != "lower_bound":
        return ""
    median = f"; for the median {result.median.label} would do" if result.median else ""
    return f" at its interval's lower bound{median}"


def too_large(result: StudyResult) -> str:
    """Where what would hold the rate is larger than any design that is searched: about how large, by what holds most a
    machine."""
    held = [row for row in result.rows if row.status == "evaluated" and row.capacity_req_per_s]
    if not held or all(row.status in ("infeasible", "screened") for row in result.rows):
        return ""
    best = max(held, key=lambda row: ((row.capacity_req_per_s or 0.0) / machines(row), machines(row)))
    needed = result.spec.rate_req_per_s * machines(best) / (best.capacity_req_per_s or 1.0)
    if needed <= MOST_MACHINES:
        return ""
    return (
        f"By what {best.label} {'hold' if machines(best) > 1 else 'holds'} the rate takes about {number(needed)} such"
        f" machines; designs of more than {MOST_MACHINES:,} are not searched, so none that would hold it is shown."
    )


def misses(result: StudyResult) -> list[str]:
    """The closest misses and what each would need; a reason that several share is said once."""
    said: dict[str, str] = {}
    for row in result.closest:
        said.setdefault(listed([shortfall.text for shortfall in result.shortfalls[row.design_id]]), row.label)
    return [f"{label}: {reason}." for reason, label in said.items()]


def _limits(spec: StudySpec) -> Iterator[str]:
    limits = spec.limits
    if limits.power_limit_kw is not None:
        yield f"{number(limits.power_limit_kw)} kW {POWER_WORDS[limits.power_kind]}"
    if limits.usd_per_month is not None:
        yield f"{dollars(limits.usd_per_month)} a month"
    if limits.machines is not None:
        yield counted(limits.machines, "machine")
    if limits.racks is not None:
        yield counted(limits.racks, "rack")
    if any(choice.on_hand is not None for choice in spec.machines):
        yield "the machines on hand"


def _slo_words(spec: StudySpec) -> str:
    if isinstance(spec.slo, SlowdownSlo):
        return "Splitwise's nine slowdown limits"
    if isinstance(spec.slo, AttainmentSlo):
        return f"TTFT and TPOT for {percent(spec.slo.share)} of requests"
    return "these limits"
