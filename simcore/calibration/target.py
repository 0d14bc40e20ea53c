"""What is calibrated: a model on a machine, and what the user says of the engine that was measured."""

from __future__ import annotations

from dataclasses import dataclass

from simcore.catalogue import resolve_accelerator
from simcore.latency.calibrated import Engine
from simcore.spec import Accelerator, Machine, Model


@dataclass(frozen=True)
class Target:
    """A model on a machine under an engine generation."""

    model: Model
    machine: Machine
    engine: Engine = "vllm-2026"
    """The generation whose coefficients the fit begins from."""
    tensor_parallel: int | None = None
    """Taken where a file does not say; of files that do, only results at it."""
    replicas: int | None = None
    """That served the load together; taken where a file does not say, else one."""
    token_budget: int = 2048
    max_batch_size: int = 256
    engine_version: str | None = None
    precision_given: bool = False
    """Whether the user says that the model's weight precision is the one measured."""

    @property
    def accelerator(self) -> Accelerator:
        """Of the machine."""
        return resolve_accelerator(self.machine)


def precision_of(model: Model) -> str:
    """Of most of its weights: the experts' where it has experts of their own."""
    return model.expert_precision or model.weight_precision
