"""A design simulated at a rate once more, for all that a study does not keep of such a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from simcore.capacity.probes import Probe, Prober
from simcore.catalogue import resolve_model
from simcore.detail.busiest import RULE, busiest_ps
from simcore.detail.cdf import cdfs
from simcore.detail.stalls import Stall, Threshold, stalls, threshold
from simcore.detail.timeline import Presence, timeline
from simcore.engine.outputs import FINISHED
from simcore.latency.curve import PS_PER_S
from simcore.memory import kv_bytes_per_token
from simcore.metrics.summary import pools_json
from simcore.simulation import EngineName, engine
from simcore.spec import Case
from simcore.traces import Trace

MOST_STALLS = 20
"""So many of the longest are told one by one."""


def run_detail(
    case: Case,
    trace: Trace,
    rate_req_per_s: float,
    longer_than_s: float | None = None,
    name: EngineName = "fast",
) -> dict[str, Any]:
    """The run of a study at the rate, with the same requests: distributions over the measured ones, the busiest minute,
    generation stalls in it (``longer_than_s``: another threshold), pools, KV sent. SpecError where it cannot run."""
    probe = Prober.of(case, trace, case.seed, name).probe(rate_req_per_s)
    inputs = probe.inputs
    arrivals = inputs.arrival_ps[slice(*inputs.window)]
    span = busiest_ps(Presence(inputs, probe.run).present, (int(arrivals[0]), int(arrivals[-1])))
    run = engine(name)(replace(inputs, log_ps=span))
    limit = threshold(case, probe.goal)
    if longer_than_s is not None:
        limit = Threshold(longer_than_s, "as asked for")
    assert run.log is not None  # noqa: S101 - it was asked for
    stalled = stalls(inputs, run.requests, run.log, limit.seconds)
    return {
        **_run(probe),
        "cdfs": [cdf.as_json() for cdf in cdfs(probe.goal, probe.latencies, probe.judged.slo.limits)],
        "window_rule": RULE.format(seconds=(span[1] - span[0]) / PS_PER_S),
        "timeline": timeline(case, inputs, run, span, stalled),
        "stalls": _stalls(stalled, limit),
    }


def _run(probe: Probe) -> dict[str, Any]:
    summary = probe.summary
    first, last = probe.inputs.window
    return {
        "rate_req_per_s": probe.rate_req_per_s,
        "requests": len(probe.load),
        "measured": last - first,
        "met": probe.feasible,
        "stable": summary.stability.stable,
        "preemptions": summary.preemptions,
        "token_budget": summary.token_budget,
        "pools": pools_json(summary.pools),
        "kv_sent": _kv_sent(probe),
    }


def _kv_sent(probe: Probe) -> dict[str, float]:
    """KV moved between replicas over the whole run: that of each prompt whose decode was elsewhere."""
    run, inputs, memory = probe.run, probe.inputs, probe.case.memory
    moved = (run.requests.prefill_replica != run.requests.decode_replica) & (run.requests.status == FINISHED)
    moved &= inputs.output_tokens > 1
    per_token = memory.kv_bytes_per_token or float(kv_bytes_per_token(resolve_model(probe.case.model)))
    sent = float(inputs.prompt_tokens[moved].sum()) * per_token
    return {
        "prompts": int(np.count_nonzero(moved)),
        "bytes": sent,
        "bytes_per_s": sent / probe.summary.duration_s if probe.summary.duration_s else 0.0,
    }


def _stalls(found: list[Stall], limit: Threshold) -> dict[str, Any]:
    """Of the timeline's minute."""
    longest = sorted(found, key=lambda stall: (-stall.seconds, stall.start_ps, stall.replica))
    return {
        "threshold_s": limit.seconds,
        "threshold_words": limit.words,
        "count": len(found),
        "replicas": len({stall.replica for stall in found}),
        "total_s": sum(stall.seconds for stall in found),
        "longest": [stall.as_json() for stall in longest[:MOST_STALLS]],
    }
