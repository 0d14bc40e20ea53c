"""The roofline's curve at a measured place, made once."""

from __future__ import annotations

from functools import cache

from simcore.latency.compile import compile_curve
from simcore.latency.curve import IterationCurve
from simcore.spec import LatencySpec, Model, SpecError
from simcore.validation.names import Unknown, machine_with


@cache
def curve_at(
    model: Model, accelerator_id: str, tensor_parallel: int, pipeline_parallel: int, engine: str
) -> IterationCurve:
    """As the product predicts it; Unknown where the parallelism does not suit the model or no machine has it."""
    try:
        latency = LatencySpec(engine=engine)  # type: ignore[arg-type]
        return compile_curve(model, machine_with(accelerator_id), tensor_parallel, pipeline_parallel, latency)
    except SpecError as error:
        raise Unknown(str(error)) from None
