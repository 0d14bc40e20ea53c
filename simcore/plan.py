"""A whole study on this machine's processes: designs.csv and frontier.json of ``python -m simcore plan``."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from simcore.answer.hold_equal import comparison_json
from simcore.answer.result import StudyResult, study_result
from simcore.answer.spent import spent
from simcore.catalogue import resolve_prices
from simcore.evaluate import evaluate
from simcore.evaluation import Design, Evaluation
from simcore.explain import answer
from simcore.rows import COLUMNS, as_json, as_text
from simcore.search.parts import Outcome
from simcore.spec import SlowdownSlo, SpecError, StudySpec
from simcore.study import Context, context, load_trace, next_designs, screened
from simcore.traces import Trace
from simcore.trust.outside import Asked

_context: Context | None = None
_known: dict[str, Outcome] | None = None


def plan(spec: StudySpec, jobs: int = 1, trace: Trace | None = None) -> StudyResult:
    """Every wave of the study, ``jobs`` designs at a time; SpecError and TraceError as their messages say.

    ``trace``: the workload, where it has been read already.
    """
    _check_reference(spec)
    asked = context(spec, load_trace(spec) if trace is None else trace)
    book = resolve_prices(spec.prices)
    designs: dict[str, Design] = {}
    done: dict[str, Evaluation] = {}
    with _evaluator(asked, jobs) as run:
        while wave := next_designs(asked, done):
            designs |= {design.design_id: design for design in wave}
            done |= {evaluation.design_id: evaluation for evaluation in run(wave)}
    for design, reason in screened(asked, done):
        designs[design.design_id], done[design.design_id] = design, reason
    return study_result(spec, list(designs.values()), done, book, Asked.of(asked.trace))


def _check_reference(spec: StudySpec) -> None:
    """What would leave every design without an answer is said at once."""
    sources = [spec.latency, *(choice.latency for choice in spec.machines if choice.latency is not None)]
    lacking = isinstance(spec.slo, SlowdownSlo) and spec.slo.reference_latency is None
    if lacking and any(latency.source == "curve" for latency in sources):
        raise SpecError(
            "slo.reference_latency: missing, expected a latency source for the reference machine,"
            " as latency.source curve describes the design's replicas only"
        )


def designs_csv(result: StudyResult) -> str:
    """designs.csv: the columns of CONTRACT.md, a row a design, CRLF as RFC 4180 says."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    writer.writerows(as_text(row) for row in result.rows)
    return text.getvalue()


def frontier_json(result: StudyResult, warnings: Sequence[str] = ()) -> str:
    """frontier.json: the answer's lines, the winner, what it took to simulate, and the designs of both frontiers from
    left to right; the families compared, where the question says what is held equal; warnings about the workload as it
    was read."""
    by_cost = sorted((row for row in result.rows if row.on_cost_frontier), key=lambda row: row.usd_per_hour)
    by_power = sorted((row for row in result.rows if row.on_power_frontier), key=lambda row: row.provisioned_w)
    content: dict[str, Any] = {
        "answer": [{"key": line.key, "text": line.text, "detail": line.detail} for line in answer(result)],
        "winner": result.winner.design_id if result.winner else None,
        "spent": asdict(spent(result.evaluations.values())),
        "hold_equal": comparison_json(result),
        "cost_frontier": [as_json(row) for row in by_cost],
        "power_frontier": [as_json(row) for row in by_power],
        "warnings": list(warnings),
    }
    return json.dumps(content, indent=1) + "\n"


@contextmanager
def _evaluator(asked: Context, jobs: int) -> Iterator[Any]:
    if jobs <= 1:
        known = _kept(asked)
        yield lambda wave: [evaluate(design, asked, known) for design in wave]
        return
    with ProcessPoolExecutor(jobs, initializer=_start, initargs=(asked,)) as pool:
        yield lambda wave: pool.map(_evaluate, wave)


def _start(asked: Context) -> None:
    global _context, _known
    _context, _known = asked, _kept(asked)


def _kept(asked: Context) -> dict[str, Outcome] | None:
    """For what a process has simulated: no design is asked twice but as what is left of another."""
    return {} if asked.spec.failures else None


def _evaluate(design: Design) -> Evaluation:
    if _context is None:
        raise RuntimeError("a worker process was started without a study")
    return evaluate(design, _context, _known)
