"""``serving_points.csv``, all but MLPerf's open loops with an SLO (``open_loops.py``): mean TPOT, TTFT and throughput
of one replica by ``steady_state``, at the concurrency, rate or saturation that the row states.

TPOT is the mean of a request's gaps; a row that says "ITL not TPOT" states the median gap: that of all iterations, with
as many prompts in them as chance brings together. TTFT is compared in closed loops of tiers A and B. Rows with a
number of requests at once are simulated to the end of the last one and compared by throughput.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from simcore.steady_state.loops import SteadyState, closed_loop, offline, open_loop, static_batch
from simcore.validation.comparison import Comparison, Findings, NotCompared, Phase
from simcore.validation.designs import Design, Drained, drained
from simcore.validation.files import Row, read_rows
from simcore.validation.fit_split import is_fitted
from simcore.validation.names import Unknown
from simcore.validation.serving_row import SET, ServingRow, leading_number, understood

FILE = "serving_points.csv"
COLUMNS = (
    *("source", "model", "precision", "gpu", "tp", "pp", "engine", "scheduler_chunked", "isl", "osl", "load_kind"),
    *("load", "ttft_ms_p50", "ttft_ms_p99", "tpot_ms_p50", "tpot_ms_p99", "out_tok_s", "req_s", "notes"),
)
RUNNING = re.compile(r"avg running batch (\d+(?:\.\d+)?)")
GAPS = "ITL not TPOT"
MS_PER_S = 1e3
MOST_AT_ONCE = 100_000
TTFT_TIERS = ("A", "A-", "B")


def rows_of(path: Path) -> list[Row]:
    """The rows of the file."""
    return read_rows(path, FILE, COLUMNS)


def compare(rows: list[Row]) -> Findings:
    """Rows without an SLO."""
    findings = Findings()
    for row in rows:
        try:
            findings.compared += _compared(understood(row))
        except Unknown as reason:
            what = f"{row.text('model')} on {row.text('gpu')}, {row.text('load_kind')} {row.text('load')}"
            findings.left_out.append(NotCompared(SET, row.name, str(reason), what))
    return findings


def _compared(of: ServingRow) -> list[Comparison]:
    kind = _kind(of)
    state = LOADS[kind](of)
    found = [_throughput(of, state)]
    if kind in STEADY and isinstance(state, SteadyState):
        gap_s = state.median_gap_s if GAPS in of.row.text("notes") else state.tpot_s
        found.append(_figure(of, "tpot", "tpot_ms_p50", gap_s * MS_PER_S, "ms"))
    if kind == "concurrency" and isinstance(state, SteadyState) and of.tier in TTFT_TIERS:
        found.append(_figure(of, "ttft", "ttft_ms_p50", state.ttft_s * MS_PER_S, "ms"))
    kept = [one for one in found if one is not None]
    if not kept:
        raise Unknown("no figure that can be compared: TPOT, TTFT or output tokens/s above 0")
    return kept


def _kind(of: ServingRow) -> str:
    kind = next((kind for kind in LOADS if of.row.text("load_kind").startswith(kind)), None)
    if kind is None:
        raise Unknown(f"load '{of.row.text('load_kind')}' is not modelled")
    return kind


def steady(of: ServingRow) -> SteadyState:
    """What one replica does at the row's load; Unknown where that is no steady state."""
    found = LOADS[_kind(of)](of)
    if isinstance(found, Drained):
        raise Unknown("a number of requests at once is no steady state")
    return found


def _throughput(of: ServingRow, state: SteadyState | Drained) -> Comparison | None:
    """Output tokens/s of all replicas; by requests/s where the row has no tokens."""
    times = 1 if isinstance(state, Drained) else of.replicas
    if of.row.number("out_tok_s"):
        return _figure(of, "throughput", "out_tok_s", state.output_tokens_per_s * times, "tokens/s")
    return _figure(of, "throughput", "req_s", state.req_per_s * times, "requests/s")


def _figure(of: ServingRow, phase: Phase, column: str, predicted: float, unit: str) -> Comparison | None:
    measured = of.row.number(column)
    if measured is None or measured <= 0:
        return None
    load = of.row.text("load")
    what = f"{of.model.id} {of.place.variant} on {of.accelerators} {of.place.accelerator} TP{of.place.tensor_parallel}"
    what += f", {of.row.text('load_kind')} {load}, {of.row.text('isl')} + {of.row.text('osl')}"
    fitted = not is_poor(of) and is_fitted(SET, of.place, phase, of.origin)
    assumes = "; ".join(of.assumes)
    return Comparison(SET, of.row.name, phase, of.place, what, measured, predicted, unit, fitted, of.tier, assumes)


def is_poor(of: ServingRow) -> bool:
    """Of a tier that no fit uses."""
    return of.tier[:1] in ("C", "D")


def _clients(of: ServingRow) -> SteadyState:
    running = running_of(of)
    if running is not None:
        return at_concurrency(of, running)
    clients = leading_number(of.row.text("load"))
    if clients is None:
        raise Unknown(f"concurrency '{of.row.text('load')}' is not a number")
    return closed_loop(of.curve, of.lengths.classes(), of.serving(), max(clients / of.replicas, 1.0))


def running_of(of: ServingRow) -> float | None:
    """How many were served at once on average, where a row's notes say so."""
    running = RUNNING.search(of.row.text("notes"))
    return float(running[1]) if running else None


def at_concurrency(of: ServingRow, served: float) -> SteadyState:
    """With so many served at once over all replicas, as was measured: KV memory had room for them."""
    of.kv_tokens  # noqa: B018 - Unknown where not even the weights fit
    each = max(served / of.replicas, 1.0)
    return closed_loop(of.curve, of.lengths.classes(), replace(of.batching(), max_batch_size=each), each)


def _rate(of: ServingRow) -> SteadyState:
    rate = leading_number(of.row.text("load"))
    if rate is None:
        return _full(of)
    return open_loop(of.curve, of.lengths.classes(), of.serving(), rate / of.replicas)


def _full(of: ServingRow) -> SteadyState:
    return offline(of.curve, of.lengths.classes(), of.serving())


def _at_once(of: ServingRow) -> SteadyState | Drained:
    requests = leading_number(of.row.text("load"))
    if requests is None:
        return _full(of)
    if requests > MOST_AT_ONCE:
        raise Unknown(f"found {requests:g} requests at once, at most {MOST_AT_ONCE:,} are simulated")
    of.kv_tokens  # noqa: B018 - Unknown where the weights do not fit
    return drained(Design.of(of), of.lengths, round(requests))


def _fixed(of: ServingRow) -> SteadyState:
    requests = leading_number(of.row.text("load"))
    if requests is None:
        raise Unknown(f"batch '{of.row.text('load')}' is not a number")
    return static_batch(of.curve, of.lengths.classes(), of.serving(), max(round(requests), 1))


LOADS: dict[str, Callable[[ServingRow], SteadyState | Drained]] = {
    "max_num_seqs": _clients,
    "concurrency": _clients,
    "rate": _rate,
    "burst": _at_once,
    "infinite-rate": _full,
    "offline": _at_once,
    "saturation": _full,
    "fixed batch": _fixed,
}
STEADY = ("max_num_seqs", "concurrency", "rate")
"""Loads whose TPOT is of a steady state."""
