"""A minute of a run: requests that wait, batches, KV and watts over time, and where generation stalled.

Rebuilt from the requests' times, but for what is in a batch, which the engine logs for that minute:

- **queue**: requests that have arrived and of whose prompt nothing was computed yet;
- **prefilling, decoding**: from then to the first token, and from there to the last (KV on its way, or put out of the
  batch for a while, counts as decoding);
- **batch**: decodes in the micro-batches under way, a replica of the pool; **prefill**: the share of the pool's
  replicas that compute prompt tokens;
- **KV**: tokens whose KV the pool's requests hold, over what its replicas can hold. A prompt's come evenly from its
  first iteration to its first token, generated ones evenly from the first to the last; what is only reserved does not
  count;
- **watts**: all machines, each second's mean.

All are means over steps of a quarter of a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.catalogue import resolve_machine
from simcore.detail.piecewise import Lasting
from simcore.detail.stalls import Stall
from simcore.engine.inputs import ClusterInputs
from simcore.engine.outputs import REFUSED, IterationLog, RunResult
from simcore.fleet import pool_machines
from simcore.latency.curve import PS_PER_S, BatchKind
from simcore.metrics.drawn_power import NJ_PER_J, idle_w
from simcore.spec import Case

STEPS = 240
DIGITS = 6
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class Presence:
    """When each request that was not refused waited, prefilled and decoded; what had not happened by the run's end,
    ends there."""

    inputs: ClusterInputs
    run: RunResult

    @cached_property
    def served(self) -> NDArray[np.bool_]:
        """Those that were not refused."""
        served: NDArray[np.bool_] = self.run.requests.status != REFUSED
        return served

    @property
    def end_ps(self) -> int:
        """Of the run."""
        return max(self.run.busy_until_ps, int(self.inputs.arrival_ps[-1]))

    def column(self, name: str) -> Int64:
        """One of ``ClusterInputs``' or of ``RequestResults``', of those served; a time that never came is the end."""
        source = self.inputs if hasattr(self.inputs, name) else self.run.requests
        values = getattr(source, name)[self.served]
        return np.where(values < 0, self.end_ps, values) if name.endswith("_ps") else values

    @property
    def present(self) -> Lasting:
        """From arrival to the last token."""
        return Lasting.level(self.column("arrival_ps"), self.column("finish_ps"))

    @property
    def queue(self) -> Lasting:
        """Of whose prompt nothing was computed yet."""
        return Lasting.level(self.column("arrival_ps"), self.column("first_scheduled_ps"))

    @property
    def prefilling(self) -> Lasting:
        """With the tokens whose KV they hold."""
        cached, prompt = self.column("cached_prompt_tokens"), self.column("prompt_tokens")
        times = self.column("first_scheduled_ps"), self.column("first_token_ps")
        return Lasting(*times, cached.astype(np.float64), prompt.astype(np.float64))

    @property
    def decoding(self) -> Lasting:
        """With the tokens whose KV they hold: the last one's is never computed."""
        prompt = self.column("prompt_tokens")
        last = prompt + self.column("output_tokens") - 1
        times = self.column("first_token_ps"), self.column("finish_ps")
        return Lasting(*times, prompt.astype(np.float64), last.astype(np.float64))


def timeline(
    case: Case, inputs: ClusterInputs, run: RunResult, span_ps: tuple[int, int], stalled: list[Stall]
) -> dict[str, Any]:
    """The span's series, of steps of equal length; times in seconds from the run's beginning (its time 0)."""
    edges = np.linspace(*span_ps, STEPS + 1).round().astype(np.int64)
    presence = Presence(inputs, run)
    seconds, watts = _watts(case, run, span_ps)
    return {
        "from_s": span_ps[0] / PS_PER_S,
        "until_s": span_ps[1] / PS_PER_S,
        "step_s": (span_ps[1] - span_ps[0]) / STEPS / PS_PER_S,
        "queue": _plain(presence.queue.means(edges)),
        "prefilling": _plain(_counted(presence.prefilling).means(edges)),
        "decoding": _plain(_counted(presence.decoding).means(edges)),
        "pools": [_pool(case, inputs, run, index, edges) for index in range(len(case.pools))],
        "watts": {"second": seconds, "watts": watts, "idle": round(idle_w(case), DIGITS)},
        "stalled": _plain(_stalled_share(inputs, stalled, edges)),
    }


def _counted(lasting: Lasting) -> Lasting:
    return Lasting.level(lasting.start_ps, lasting.end_ps)


def _pool(case: Case, inputs: ClusterInputs, run: RunResult, index: int, edges: Int64) -> dict[str, Any]:
    members = np.array([replica.pool == index for replica in inputs.replicas])
    count, pool = int(members.sum()), case.pools[index]
    kv = _kv_tokens(inputs, run, members, edges)
    assert run.log is not None  # noqa: S101 - it was asked for
    batch, prompts = _batches(run.log, members, edges)
    return {
        "role": pool.role,
        "machine": resolve_machine(pool.machine).id,
        "machines": pool_machines(pool),
        "replicas": count,
        "batch": _plain(batch / count),
        "prefill": _plain(np.minimum(prompts / count, 1.0)),
        "kv_tokens": _plain(kv),
        "kv_capacity_tokens": _kv_capacity_tokens(inputs, index),
    }


def _kv_capacity_tokens(inputs: ClusterInputs, index: int) -> int | None:
    """Of all the pool's replicas; None where windowed layers keep some tokens only, so that there is no such number."""
    if inputs.scheduler.windowed_layers:
        return None
    return sum(it.kv_blocks for it in inputs.replicas if it.pool == index) * inputs.scheduler.block_tokens


def _kv_tokens(inputs: ClusterInputs, run: RunResult, members: NDArray[np.bool_], edges: Int64) -> Float64:
    presence = Presence(inputs, run)
    prefills, decodes = (_on(presence.column(name), members) for name in ("prefill_replica", "decode_replica"))
    held: Float64 = presence.prefilling.chosen(prefills).means(edges) + presence.decoding.chosen(decodes).means(edges)
    return held


def _on(replicas: Int64, members: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return (replicas >= 0) & members[np.maximum(replicas, 0)]


def _batches(log: IterationLog, members: NDArray[np.bool_], edges: Int64) -> tuple[Float64, Float64]:
    """Decodes in micro-batches under way, and micro-batches with prompt tokens."""
    here = members[log.replica]
    start, end = log.start_ps[here], log.end_ps[here]
    prompts = (log.kind[here] != int(BatchKind.DECODE)).astype(np.float64)
    decodes = Lasting.level(start, end, log.decodes[here])
    return decodes.means(edges), Lasting.level(start, end, prompts).means(edges)


def _watts(case: Case, run: RunResult, span_ps: tuple[int, int]) -> tuple[list[int], list[float]]:
    """Of each second that the span touches."""
    first, last = span_ps[0] // PS_PER_S, -(-span_ps[1] // PS_PER_S)
    known = run.energy_by_second_nj[first:last]
    above = np.concatenate([known, np.zeros(last - first - len(known), np.int64)]) / NJ_PER_J
    return list(range(first, last)), _plain(above + idle_w(case))


def _stalled_share(inputs: ClusterInputs, stalled: list[Stall], edges: Int64) -> Float64:
    """The share of the replicas that decode on which generation stalls."""
    able = sum(replica.role != "prefill" for replica in inputs.replicas)
    times = np.array([(stall.start_ps, stall.end_ps) for stall in stalled], np.int64).reshape(-1, 2)
    share: Float64 = Lasting.level(times[:, 0], times[:, 1]).means(edges) / max(able, 1)
    return np.minimum(share, 1.0)


def _plain(values: Float64) -> list[float]:
    rounded: list[float] = values.round(DIGITS).tolist()
    return rounded
