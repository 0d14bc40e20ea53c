"""The answer as sentences, lines A to E of SCREENS.md: the one place where a result is put into words.

The same text serves the page, print, the API's ``answer`` and exports. Imports result types only, never the engine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from simcore.catalogue import resolve_model
from simcore.counts import MOST_MACHINES
from simcore.economics.hourly import usd_per_month
from simcore.evaluation import Evaluation, LimitResult
from simcore.grounds import grounds
from simcore.measure import difference, measure_of, more
from simcore.purchase import purchase
from simcore.result import StudyResult, is_split
from simcore.rows import DesignRow
from simcore.shortfalls import POWER_WORDS, drawn_result, machines
from simcore.spec import AttainmentSlo, SlowdownSlo, StudySpec
from simcore.trust.sentences import confidence_words, interval_parts, interval_words, outside_words, tie_words
from simcore.words import counted, dollars, kilowatts, limit_name, limit_value, listed, number, percent, sentences

NEAR = 0.9
"""A limit used less than this at capacity cannot be said to bind: the search ended for want of requests."""
NEARLY = 0.99
"""Of the machines of the largest design tried."""


@dataclass(frozen=True)
class AnswerLine:
    """One line of the answer: its letter, the text, and the facts below it, if any."""

    key: str
    text: str
    detail: str = ""


@dataclass(frozen=True)
class Progress:
    """How far a study is, where it is not complete."""

    tried: int
    total: int
    ended: Literal["", "cancelled", "failed"] = ""
    """How it ended before its search was complete; empty while it runs."""


def answer(result: StudyResult, progress: Progress | None = None) -> tuple[AnswerLine, ...]:
    """A (what to buy), B (against what), C (how far it holds), E (what it rests on), ``outside`` (what of the question
    no measurement covers); or the closest misses."""
    if not result.rows:
        nothing = "No design has been evaluated yet." if progress else "No design could be formed from these machines."
        return (AnswerLine("A", _so_far(progress, nothing)),)
    if result.winner is None:
        return (_nothing(result, progress), *_misses(result), *_rests_on(result))
    lines = [_buy(result, result.winner, progress), _against(result, result.winner), _holds(result, result.winner)]
    return (*(line for line in lines if line is not None), *_rests_on(result))


def _rests_on(result: StudyResult) -> tuple[AnswerLine, ...]:
    """E, and what of the question no measurement covers, which a page shows first."""
    banner = outside_words(result.outside)
    return AnswerLine("E", grounds(result)), *([AnswerLine("outside", banner)] if banner else [])


def headline(result: StudyResult, progress: Progress | None = None) -> str:
    """The answer in one short line, for lists: ``11 DGX H100 prefill + 9 DGX A100 decode, $418,000 a month``."""
    if result.winner is None and not result.rows:
        return "no design has been tried" if progress and progress.ended else "no design has been tried yet"
    if result.winner is None:
        return "so far no design holds it" if progress and not progress.ended else "no design holds it"
    return f"{result.winner.label}, {dollars(usd_per_month(result.winner.usd_per_hour))} a month"


def _so_far(progress: Progress | None, sentence: str) -> str:
    """The sentence, said of what has been tried so far where the study is not complete."""
    if progress is None or not (progress.total or progress.ended):
        return sentence
    rest = sentence[0].lower() + sentence[1:]
    if progress.ended:
        return f"Partial answer, {progress.ended} after {progress.tried} of {progress.total} designs: {rest}"
    return f"So far, {progress.tried} of {progress.total} tried: {rest}"


def _buy(result: StudyResult, row: DesignRow, progress: Progress | None) -> AnswerLine:
    case = result.designs[row.design_id].case
    text = _so_far(progress, purchase(case, row))
    month = dollars(usd_per_month(row.usd_per_hour))
    facts = [f"{month} a month (730 h, {result.book.name})", f"{kilowatts(row.nameplate_w)} nameplate"]
    if row.provisioned_w != row.nameplate_w:
        facts.append(f"{kilowatts(row.provisioned_w)} provisioned")
    drawn = drawn_result(result.evaluations[row.design_id])
    if drawn is not None:
        facts.append(f"{kilowatts(drawn.mean_w)} drawn at {number(drawn.rate_req_per_s)} requests/s")
    if row.req_per_usd:
        facts.append(f"{number(row.req_per_usd)} requests a dollar at capacity")
    return AnswerLine("A", text, f"{', '.join(facts)}.{_larger(result, row)}")


def _larger(result: StudyResult, winner: DesignRow) -> str:
    """Where the most is asked for, and what was found is about as large as anything that was tried, though the limits
    on machines and power may allow more."""
    limits, largest = result.spec.limits, max(map(machines, result.rows))
    given = limits.machines is not None or limits.power_limit_kw is not None
    bounded = (given or all(choice.on_hand is not None for choice in result.spec.machines)) and largest < MOST_MACHINES
    if result.spec.goal != "throughput" or bounded or machines(winner) < NEARLY * largest:
        return ""
    return f" Designs of more than {largest:,} machines were not tried."


def _against(result: StudyResult, winner: DesignRow) -> AnswerLine | None:
    """B: the best design of the other kind of serving, then the next family, and what is tied with the answer."""
    others = [row for row in result.best_by_family if row.family != winner.family]
    other_kind = next((row for row in others if is_split(row) != is_split(winner)), None)
    rest = [row for row in others if row is not other_kind]
    said = {row.family for row in (winner, other_kind) if row is not None}
    found = [
        _other_kind(result, winner, other_kind),
        _next(result, winner, rest[0], said) if rest else "",
        tie_words(result.spec.goal, [row.label for row in others if row.tied_with_answer], len(others)),
    ]
    return AnswerLine("B", " ".join(filter(None, found))) if any(found) else None


def _other_kind(result: StudyResult, winner: DesignRow, best: DesignRow | None) -> str:
    """What is known of the best design that serves the other way; empty where none was tried."""
    kind = "co-located" if is_split(winner) else "phase-split"
    tried = [row for row in result.rows if is_split(row) != is_split(winner)]
    unasked = len(_unasked(result, tried, best))
    if best is not None:
        words = f"the best {kind} design" + (" run at that rate" if unasked else "")
        return f"{difference(measure_of(result.spec), winner, best)} {words}, {best.label}."
    if unasked:
        return (
            f"No {kind} design run at that rate holds it within the limits;"
            f" {counted(unasked, 'screened design')} that may {'was' if unasked == 1 else 'were'} not run at it."
        )
    return f"No {kind} design tried holds the rate within the limits." if tried else ""


def _next(result: StudyResult, winner: DesignRow, row: DesignRow, said: Collection[str]) -> str:
    """The best that was run at the rate of the families not yet ``said``, and what is known of those that may come
    before it and were not run."""
    words = f"{row.label}, {more(measure_of(result.spec), winner, row)}"
    unasked = _unasked(result, [one for one in result.rows if one.family not in said], row)
    if not unasked:
        return f"Next: {words}."
    most = max(one.capacity_high or 0.0 for one in unasked)
    holds = "holds" if len(unasked) == 1 else "hold"
    return (
        f"Next of those run at that rate: {words}; {counted(len(unasked), 'screened design')} that may come before it"
        f" {holds} at most {number(most)} requests/s."
    )


def _unasked(result: StudyResult, rows: Iterable[DesignRow], best: DesignRow | None) -> list[DesignRow]:
    """Those of ``rows`` that were not run at the rate, for a better one uses no more, and that may hold it for less
    than the best that was run."""
    figure, rate = measure_of(result.spec).figure, result.spec.rate_req_per_s
    return [
        row
        for row in rows
        if row.status == "screened"
        and not result.evaluations[row.design_id].rate_only
        and (row.capacity_high or 0.0) >= rate
        and (best is None or figure(row) < figure(best))
    ]


def _holds(result: StudyResult, row: DesignRow) -> AnswerLine:
    """C: how far it holds and what binds first."""
    evaluation, rate = result.evaluations[row.design_id], result.spec.rate_req_per_s
    # A capacity is found to 1 %: one just under the required rate may go with a run at the rate that holds.
    reached = max(evaluation.capacity_req_per_s, rate if evaluation.holds(rate) else 0.0)
    text = f"Holds to {number(reached)} requests/s"
    interval = interval_words(row, reached)
    unsure = result.margins.get(row.design_id)
    parts = interval_parts(result.designs[row.design_id].case, row, unsure) if unsure else ""
    sure = _sure(result, row) if interval else ""
    return AnswerLine("C", f"{text}{interval}: {_binding(evaluation)}.", sentences([sure, parts, *evaluation.warnings]))


def _sure(result: StudyResult, winner: DesignRow) -> str:
    """What it takes to hold the rate at the interval's low end too."""
    surest = result.surest
    extra = more(measure_of(result.spec), winner, surest) if surest else ""
    return confidence_words(result.spec.rate_req_per_s, winner, surest, extra)


def _binding(evaluation: Evaluation) -> str:
    name = evaluation.binding_limit
    pool = f" in the {evaluation.binding_pool} pool" if evaluation.binding_pool else ""
    if name == "kv":
        return f"KV memory{pool} binds first"
    if name == "unstable":
        return f"above that the queue{pool} grows without end"
    limit = _limit_named(evaluation, name)
    if limit is None:
        return f"{name or 'nothing tried'} binds first{pool}"
    used = f"{limit_value(limit.metric, limit.value)} of {limit_value(limit.metric, limit.limit)}"
    binds = "binds first" if _is_near(limit) else "comes nearest, though nothing tried broke it"
    return f"{limit_name(limit.metric, limit.percentile)} {binds}{pool} ({used} at capacity)"


def _is_near(limit: LimitResult) -> bool:
    """Whether the limit is within a tenth of being broken; an attainment (percentile 0) always counts."""
    return not limit.percentile or (limit.value or 0.0) >= NEAR * limit.limit


def _limit_named(evaluation: Evaluation, name: str) -> LimitResult | None:
    run = evaluation.at_capacity
    return next((limit for limit in run.limits if limit.name == name), None) if run else None


def _nothing(result: StudyResult, progress: Progress | None) -> AnswerLine:
    spec = result.spec
    if all(row.status in ("infeasible", "screened") for row in result.rows):
        return AnswerLine("A", _so_far(progress, f"No design can run {resolve_model(spec.model).name} as asked."))
    limits = []
    if spec.limits.power_limit_kw is not None:
        limits.append(f"{number(spec.limits.power_limit_kw)} kW {POWER_WORDS[spec.limits.power_kind]}")
    if spec.limits.usd_per_month is not None:
        limits.append(f"{dollars(spec.limits.usd_per_month)} a month")
    if spec.limits.machines is not None:
        limits.append(counted(spec.limits.machines, "machine"))
    if any(choice.on_hand is not None for choice in spec.machines):
        limits.append("the machines on hand")
    within = f" within {listed(limits)}" if limits else ""
    if any(getattr(spec.counts, role) is not None for role in ("mixed", "prefill", "decode")):
        within = f" of the counts given{within}"
    sentence = f"No design{within} holds {_slo_words(spec)} at {number(spec.rate_req_per_s)} requests/s."
    return AnswerLine("A", _so_far(progress, sentence), _too_large(result))


def _too_large(result: StudyResult) -> str:
    """Where what would hold the rate is larger than any design that is searched: about how large, by what holds most a
    machine."""
    held = [row for row in result.rows if row.status == "evaluated" and row.capacity_req_per_s]
    if not held:
        return ""
    best = max(held, key=lambda row: (row.capacity_req_per_s or 0.0) / machines(row))
    needed = result.spec.rate_req_per_s * machines(best) / (best.capacity_req_per_s or 1.0)
    if needed <= MOST_MACHINES:
        return ""
    return (
        f"By what {best.label} {'hold' if machines(best) > 1 else 'holds'} the rate takes about {number(needed)} such"
        f" machines; designs of more than {MOST_MACHINES:,} are not searched, so none that would hold it is shown."
    )


def _slo_words(spec: StudySpec) -> str:
    if isinstance(spec.slo, SlowdownSlo):
        return "Splitwise's nine slowdown limits"
    if isinstance(spec.slo, AttainmentSlo):
        return f"TTFT and TPOT for {percent(spec.slo.share)} of requests"
    return "these limits"


def _misses(result: StudyResult) -> tuple[AnswerLine, ...]:
    """The closest misses and what each would need; a reason that several share is said once."""
    said: dict[str, str] = {}
    for row in result.closest:
        said.setdefault(listed([shortfall.text for shortfall in result.shortfalls[row.design_id]]), row.label)
    return tuple(
        AnswerLine(f"miss-{place}", f"{label}: {reason}.") for place, (reason, label) in enumerate(said.items(), 1)
    )
