"""Every latency source compiles to one ``IterationCurve``; which one, ``LatencySpec.source`` says."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from simcore.latency.calibrated import calibrated_curve
from simcore.latency.capped import under_cap
from simcore.latency.curve import IterationCurve, batch_kind
from simcore.latency.given import given_curve
from simcore.latency.measured import measured_curve
from simcore.latency.roofline import roofline_curve
from simcore.spec import LatencySpec, Machine, Model, SpecError
from simcore.stages import check_parallelism

PS_PER_S = 1e12


def compile_curve(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, latency: LatencySpec
) -> IterationCurve:
    """The curve of one pipeline stage of ``model`` on ``machine``, in whole ps (DESIGN.md section 3).

    Of a capped machine ``roofline`` and the shipped measured table are brought under its cap (``capped.py``: a given
    ``prefill_slowdown``, else the law); ``curve`` is taken as given. SpecError names what the source lacks.
    """
    check_parallelism(model, tensor_parallel, pipeline_parallel)
    if latency.source == "curve":
        return given_curve(latency)
    if latency.source == "measured" and latency.path is None:
        return _measured(model, machine, tensor_parallel, pipeline_parallel, latency)
    if latency.source == "measured":
        return measured_curve(model, machine, tensor_parallel, pipeline_parallel, latency)
    if latency.source == "roofline":
        return _roofline(model, machine, tensor_parallel, pipeline_parallel, latency.engine)
    return calibrated_curve(model, machine, tensor_parallel, pipeline_parallel, latency)


def iteration_parts(
    curve: IterationCurve, prefill: Sequence[tuple[int, int]], decode_contexts: Sequence[int]
) -> dict[str, object]:
    """One batch's time and what it is made of, in seconds: the ``iteration`` command's JSON.

    ``prefill``: (new, cached) tokens a chunk; ``decode_contexts``: cached tokens a decode. The parts add up to the
    whole.
    """
    if not prefill and not decode_contexts:
        raise SpecError("batch: found nothing, expected prefill chunks or decode contexts")
    kind = batch_kind(len(prefill), len(decode_contexts))
    tokens = sum(new for new, _ in prefill) + len(decode_contexts)
    parts = {
        "base_s": curve.base_ps(kind, tokens),
        "prefill_attention_s": sum(curve.chunk_ps(*c) for c in prefill),
        "decode_context_s": curve.context_ps * sum(decode_contexts),
        "decode_seq_s": curve.decode_seq_ps * len(decode_contexts),
    }
    whole = curve.iteration_ps(prefill, decode_contexts)
    return {
        "iteration_s": whole / PS_PER_S,
        "kind": kind.name.lower(),
        "parts": {name: ps / PS_PER_S for name, ps in parts.items()},
        "source": curve.source,
    }


@lru_cache(maxsize=256)
def _roofline(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, engine: str
) -> IterationCurve:
    curve = roofline_curve(model, machine, tensor_parallel, pipeline_parallel, engine)
    return under_cap(curve, model, machine, tensor_parallel, pipeline_parallel)


@lru_cache(maxsize=256)
def _measured(
    model: Model, machine: Machine, tensor_parallel: int, pipeline_parallel: int, latency: LatencySpec
) -> IterationCurve:
    """Of the shipped table, which does not change while a program runs."""
    return measured_curve(model, machine, tensor_parallel, pipeline_parallel, latency)
