"""Line E of the answer: what it rests on."""

from __future__ import annotations

from simcore.answer.result import StudyResult
from simcore.answer.spent import spent
from simcore.trust.sentences import evidence_words, power_words
from simcore.words import counted, listed, number

ARRIVALS = {
    "trace": "the workload's own arrivals, sped up or slowed down to each rate",
    "superpose": "copies of the workload's arrivals laid over each other to reach each rate",
    "poisson": "Poisson arrivals in place of the workload's own, so its bursts are not in these numbers",
}
"""How the workload was brought to a rate: part of what the numbers rest on."""


def grounds(result: StudyResult) -> str:
    """What the times rest on, what those of the answer were compared with, and how many simulations it took."""
    sources = dict.fromkeys(
        _source(pool.latency or design.case.latency) for design in result.designs.values() for pool in design.case.pools
    )
    used = spent(result.evaluations.values())
    each = "" if used.events_a_capacity is None else f" ({number(used.events_a_capacity)} events a capacity)"
    work = f"{used.simulations:,} simulations of {used.requests_simulated:,} requests in all{each}"
    text = f"Based on {listed(list(sources))}{_compared(result)}; {work}{_screened(result)}{_replicated(result)}"
    return f"{text}; {ARRIVALS[result.spec.arrivals]}."


def _compared(result: StudyResult) -> str:
    """With what the answer's times and watts were compared."""
    winner = result.winner
    unsure = result.margins.get(winner.design_id) if winner else None
    if winner is None or unsure is None:
        return ""
    case = result.designs[winner.design_id].case
    found = [evidence_words(unsure), power_words(case)]
    return "".join(f"; {words}" for words in found if words)


def _replicated(result: StudyResult) -> str:
    """How many designs were simulated with several seeds."""
    seeds = len(result.spec.seeds)
    close = sum(bool(evaluation.replications) for evaluation in result.evaluations.values())
    if seeds == 1:
        return ""
    are = "is" if close == 1 else "are"
    return f", {counted(close, 'design')} that {are} close to another by {seeds} seeds, the rest by one"


def _screened(result: StudyResult) -> str:
    """How many designs needed no simulation, or one only."""
    found = [evaluation for evaluation in result.evaluations.values() if evaluation.status == "screened"]
    asked, proven = sum(evaluation.rate_only for evaluation in found), sum(evaluation.by_bound for evaluation in found)
    tried = len(found) - asked - proven
    were = "was" if asked == 1 else "were"
    text = f", {counted(asked, 'more design')} {were} run at the required rate alone" if asked else ""
    ways = [(proven, "by proof")] * (proven > 0) + [(tried, "by one run at what another holds")] * (tried > 0)
    if not ways:
        return text
    how = ways[0][1] if len(ways) == 1 else listed([f"{count} {way}" for count, way in ways])
    are = "is" if proven + tried == 1 else "are"
    beaten = counted(proven + tried, "more design")
    return f"{text}; {beaten} {are} beaten whatever machines and power cost, {how}"


def _source(latency: object) -> str:
    source = getattr(latency, "source", "")
    if source == "measured":
        return "measured step times"
    if source == "roofline":
        return f"a roofline of {getattr(latency, 'engine', '')}"
    if source == "calibrated":
        return "a roofline calibrated to measured results"
    return f"the {source} latency source"
