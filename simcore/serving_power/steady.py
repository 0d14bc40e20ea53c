"""What one replica draws on average at a fixed concurrency, and the energy of a token: from its curve and the power
model alone, as the engine would add it up (``steady_state`` says how often a batch has prompts).

    W = (1 - e)*decode(D) + e*hybrid(D + x*p/h)        e: of the time, in iterations with prompts (a share h of them)

Watts are of one accelerator, idle included, as nvidia-smi shows them: without host, fans and what the site adds.
"""

from __future__ import annotations

from dataclasses import dataclass

from simcore.catalogue import resolve_accelerator
from simcore.latency.curve import BatchKind, IterationCurve
from simcore.power import idle_w, watts_at, working_w
from simcore.spec import Machine, Model
from simcore.steady_state.loops import SteadyState, closed_loop
from simcore.steady_state.mean_iteration import Lengths, Serving


@dataclass(frozen=True)
class ServingPower:
    """Of one replica in steady state."""

    accelerator_w: float
    """Mean of each."""
    accelerators: int
    machine_w: float
    """With the replica's part of its machine's host, and its fans."""
    output_tokens_per_s: float


def serving_power(
    model: Model,
    machine: Machine,
    tensor_parallel: int,
    curve: IterationCurve,
    lengths: Lengths,
    concurrency: float,
    serving: Serving | None = None,
) -> ServingPower:
    """A replica of ``tensor_parallel`` accelerators (times ``serving.stages``) with so many requests in flight."""
    serving = serving or Serving()
    state = closed_loop(curve, lengths, serving, concurrency)
    return steady_power(model, machine, tensor_parallel, curve, lengths, state, serving)


def steady_power(
    model: Model,
    machine: Machine,
    tensor_parallel: int,
    curve: IterationCurve,
    lengths: Lengths,
    state: SteadyState,
    serving: Serving | None = None,
) -> ServingPower:
    """A replica in a steady state that was worked out from the same curve and lengths; it is never idle in it."""
    serving = serving or Serving()
    watts = working_w(model, machine, tensor_parallel, serving.stages, curve)
    x = state.req_per_s * state.iteration_s / serving.stages
    decodes, share = max(x * lengths.steps, 1.0 if lengths.steps else 0.0), state.prompts_share
    new = x * lengths.prompt / share if share else 0.0
    apart = serving.prefill_apart or not lengths.steps
    with_w = watts_at(watts[BatchKind.PREFILL], new) if apart else watts_at(watts[BatchKind.HYBRID], decodes + new)
    without_s, with_s = state.gap_s * (1 - share), state.gap_with_prompts_s * share
    if serving.prefill_apart:
        without_s, with_s = state.gap_s, (state.gap_with_prompts_s - state.gap_s) * share
    joules = without_s * watts_at(watts[BatchKind.DECODE], max(decodes, 1.0)) + with_s * with_w
    mean_w, accelerators = joules / (without_s + with_s), tensor_parallel * serving.stages
    return ServingPower(mean_w, accelerators, _machine_w(machine, mean_w, accelerators), state.output_tokens_per_s)


def _machine_w(machine: Machine, accelerator_w: float, accelerators: int) -> float:
    """With host and fans, as if the rest of the machine did the same."""
    accelerator = resolve_accelerator(machine)
    above = accelerator_w - accelerator.idle_w
    fans = machine.fans_w * above / max(accelerator.tdp_w - accelerator.idle_w, 1.0)
    return (idle_w(machine) + machine.accelerators * above + fans) * accelerators / machine.accelerators
