"""The answer as sentences, lines A to E of SCREENS.md: the one place where a result is put into words.

The same text serves the page, print, the API's ``answer`` and exports. Imports result types only, never the engine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from simcore.answer.against import against
from simcore.answer.grounds import grounds
from simcore.answer.measure import measure_of
from simcore.answer.misses import misses, nothing, too_large
from simcore.answer.purchase import added, purchase
from simcore.answer.result import StudyResult
from simcore.economics.hourly import usd_per_month
from simcore.economics.tokens import OUTPUT_IN_INPUTS, usd_per_million_tokens
from simcore.evaluation import Evaluation, LimitResult
from simcore.flips import answer_flips
from simcore.flips import sentences as flip_words
from simcore.rows import DesignRow
from simcore.search.counts import MOST_MACHINES
from simcore.shortfalls import drawn_result, machines, value_and_limit
from simcore.survival import any_lost_words
from simcore.trust.sentences import confidence_words, interval_parts, interval_words, outside_words
from simcore.words import dollars, kilowatts, limit_name, listed, number, percent, sentences

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


def answer(result: StudyResult, progress: Progress | None = None, rate_was_run: bool = True) -> tuple[AnswerLine, ...]:
    """A (what to buy), B (against what), C (how far it holds), D (when another is best, once all is tried), E (what it
    rests on), ``outside`` (what of the question no measurement covers); or the closest misses.
    ``rate_was_run``: designs were simulated at the rate in question, and not at another one (``what_if``)."""
    if not result.rows:
        none = "No design has been evaluated yet." if progress else "No design could be formed from these machines."
        return (AnswerLine("A", _so_far(progress, none)),)
    if result.winner is None:
        return (*_nothing(result, progress), *_rests_on(result))
    beside = against(result, result.winner, rate_was_run)
    return (
        _buy(result, result.winner, progress),
        *([AnswerLine("B", beside)] if beside else []),
        _holds(result, result.winner),
        *([] if progress else _stops_being_best(result)),
        *_rests_on(result),
    )


def _nothing(result: StudyResult, progress: Progress | None) -> Iterator[AnswerLine]:
    yield AnswerLine("A", _so_far(progress, nothing(result)), too_large(result))
    yield from (AnswerLine(f"miss-{place}", words) for place, words in enumerate(misses(result), 1))


def _stops_being_best(result: StudyResult) -> Iterator[AnswerLine]:
    """D: the nearest flip points of what was tried; a study that is not complete has none yet."""
    text = flip_words.line(answer_flips(result), result)
    if text:
        yield AnswerLine("D", text)


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
    rest = sentence[0].lower() + sentence[1:].removesuffix(".")
    if progress.ended:
        return f"Partial answer, {progress.ended} after {progress.tried} of {progress.total} designs: {rest}."
    return f"So far: {rest}, {progress.tried} of {progress.total} tried."


def _buy(result: StudyResult, row: DesignRow, progress: Progress | None) -> AnswerLine:
    case = result.designs[row.design_id].case
    text = _so_far(progress, f"{purchase(case, row).removesuffix('.')}{_goes_on(result)}.")
    facts = [f"{dollars(usd_per_month(row.usd_per_hour))} a month ({_priced(result)})"]
    facts.append(f"{kilowatts(row.nameplate_w)} nameplate")
    if row.provisioned_w != row.nameplate_w:
        facts.append(f"{kilowatts(row.provisioned_w)} provisioned")
    drawn = drawn_result(result.evaluations[row.design_id], result.spec.goal)
    if drawn is not None:
        p99 = f" ({kilowatts(drawn.p99_w)} P99)" if result.spec.limits.power_kind == "drawn_p99" else ""
        facts.append(f"{kilowatts(drawn.mean_w)} drawn{p99} at {number(drawn.rate_req_per_s)} requests/s")
    return AnswerLine("A", text, f"{', '.join(facts)}. {_tokens(result, row)}{_larger(result, row)}".rstrip())


def _goes_on(result: StudyResult) -> str:
    """What must be survived."""
    failures, rate = result.spec.failures, result.spec.rate_req_per_s
    return f": it holds {number(rate)} requests/s and goes on holding it{any_lost_words(failures)}" if failures else ""


def _priced(result: StudyResult) -> str:
    tariff = result.book.usd_per_kwh
    energy = f", electricity at ${tariff}/kWh × PUE {result.spec.pue:g} within" if tariff else ""
    return f"730 h, {result.book.name}{energy}"


def _tokens(result: StudyResult, row: DesignRow) -> str:
    """What tokens cost at the required rate, whatever the machines could do beyond it; where the most is asked for, at
    what is held."""
    run = drawn_result(result.evaluations[row.design_id], result.spec.goal)
    if run is None or run.tokens_a_request is None:
        return ""
    most = result.spec.goal == "throughput"
    rate = run.rate_req_per_s if most else result.spec.rate_req_per_s
    served_input, served_output = (tokens * rate for tokens in run.tokens_a_request)
    of_input, of_output = usd_per_million_tokens(row.usd_per_hour, served_input, served_output)
    return (
        f"{_cents(of_input)} / {_cents(of_output)} per 1M input / output tokens at {number(rate)}"
        f" requests/s, an output token taken as {OUTPUT_IN_INPUTS} input tokens."
    )


def _cents(usd: float) -> str:
    """Cents, or three digits where there are fewer."""
    return f"${usd:,.2f}" if usd >= 0.1 else f"${number(usd)}"


def _larger(result: StudyResult, winner: DesignRow) -> str:
    """Where the most is asked for, and what was found is about as large as anything that was tried, though the limits
    on machines and power may allow more."""
    limits, largest = result.spec.limits, max(map(machines, result.rows))
    given = limits.machines is not None or limits.power_limit_kw is not None
    bounded = (given or all(choice.on_hand is not None for choice in result.spec.machines)) and largest < MOST_MACHINES
    if result.spec.goal != "throughput" or bounded or machines(winner) < NEARLY * largest:
        return ""
    return f" Designs of more than {largest:,} machines were not tried."


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
    return AnswerLine(
        "C",
        f"{text}{interval}{_lost(row)}: {binding_words(evaluation)}.",
        sentences([sure, parts, *_warnings(evaluation)]),
    )


def _lost(row: DesignRow) -> str:
    """`` with 1 decode machine lost, to 120 with all``."""
    if row.capacity_all_machines_req_per_s is None:
        return ""
    lost = f"with {row.worst_loss}" if row.worst_loss else "whichever machines are lost"
    return f" {lost}, to {number(row.capacity_all_machines_req_per_s)} with all machines"


def _warnings(evaluation: Evaluation) -> list[str]:
    """Each once, though every seed has its own numbers in it."""
    first: dict[str, str] = {}
    for warning in evaluation.warnings:
        first.setdefault(re.sub(r"[\d.,]+", "", warning), warning)
    return list(first.values())


def _sure(result: StudyResult, winner: DesignRow) -> str:
    """What it takes to hold the rate at the interval's low end too."""
    surest = result.surest
    if surest is None or surest.design_id == winner.design_id:
        told = confidence_words(result.spec.rate_req_per_s, winner, surest)
        return f"{told}{_saved(result, winner)}"
    more = [f"+{dollars(usd_per_month(surest.usd_per_hour - winner.usd_per_hour))} a month"]
    if surest.usd_per_hour <= winner.usd_per_hour:
        more = []
    share = measure_of(result).figure(surest) / measure_of(result).figure(winner) - 1
    if result.spec.goal in ("power", "machines") and share > 0:
        more.insert(0, f"+{percent(share)} {measure_of(result).unit}")
    cases = (result.designs[row.design_id].case for row in (winner, surest))
    what = added(winner, surest, *cases)
    does = f"add {what}" if what else f"the first of those tried is {surest.label}"
    return confidence_words(result.spec.rate_req_per_s, winner, surest, does, listed(more))


def _saved(result: StudyResult, winner: DesignRow) -> str:
    """Sized to the lower bound: what the design for the median would save."""
    median = result.median
    if result.spec.size_to != "lower_bound" or median is None or median.design_id == winner.design_id:
        return ""
    saved = usd_per_month(winner.usd_per_hour - median.usd_per_hour)
    less = f": {dollars(saved)} a month less" if saved > 0 else ""
    return f", as it is sized to; for the median {median.label} would do{less}"


def binding_words(evaluation: Evaluation) -> str:
    """What binds at a design's capacity, with how much of it is used."""
    name = evaluation.binding_limit
    pool = f" in the {evaluation.binding_pool} pool" if evaluation.binding_pool else ""
    if name == "kv":
        return f"KV memory{pool} binds first{_fullest(evaluation)}{_then(evaluation, None)}"
    if name == "unstable":
        return f"above that the queue{pool} grows without end{_then(evaluation, None)}"
    limit = _limit_named(evaluation, name)
    if limit is None:
        return f"{name or 'nothing tried'} binds first{pool}"
    binds = "binds first" if _is_near(limit) else "comes nearest, though nothing tried broke it"
    name = limit_name(limit.metric, limit.percentile)
    return f"{name} {binds}{pool} ({_used(limit)} at capacity){_then(evaluation, limit)}"


def _used(limit: LimitResult) -> str:
    value, most = value_and_limit(limit)
    return f"{value} of {most}"


def _then(evaluation: Evaluation, first: LimitResult | None) -> str:
    """The limit that would bind next: the one that is used up most, but for the first."""
    run = evaluation.at_capacity
    others = [limit for limit in run.limits if limit is not first and limit.value and limit.percentile] if run else []
    if not others:
        return ""
    limit = max(others, key=lambda one: (one.value or 0.0) / one.limit)
    return f", then {limit_name(limit.metric, limit.percentile)} ({_used(limit)})"


def _fullest(evaluation: Evaluation) -> str:
    """How full the KV memory of the pool that binds is at capacity."""
    run = evaluation.at_capacity
    shares = [pool.kv_peak_share for pool in run.pools if pool.role == evaluation.binding_pool] if run else []
    return f" ({percent(shares[0])} at its fullest)" if shares else ""


def _is_near(limit: LimitResult) -> bool:
    """Whether the limit is within a tenth of being broken; an attainment (percentile 0) always counts."""
    return not limit.percentile or (limit.value or 0.0) >= NEAR * limit.limit


def _limit_named(evaluation: Evaluation, name: str) -> LimitResult | None:
    run = evaluation.at_capacity
    return next((limit for limit in run.limits if limit.name == name), None) if run else None
