"""The vocabulary of DESIGN.md section 1 as frozen dataclasses, validated, JSON in and out."""

from simcore.spec.case import (
    AUTO,
    MOST_AUTO_BUDGET,
    SCHEDULER_KINDS,
    AvailabilitySpec,
    AvailabilityState,
    Case,
    KvTransferSpec,
    LatencySpec,
    MemorySpec,
    PoolSpec,
    Role,
    SchedulerSpec,
    decode_case,
)
from simcore.spec.decode import SpecError, decode, encode, nearest
from simcore.spec.hardware import PRECISION_BYTES, Accelerator, Machine, Model
from simcore.spec.prices import Price, PriceBook
from simcore.spec.slo import AbsoluteSlo, AttainmentSlo, Limit, Slo, SlowdownSlo, decode_slo
from simcore.spec.study import (
    CountGrid,
    MachineChoice,
    SchedulerOptions,
    StudyLimits,
    StudySpec,
    WorkloadSpec,
    decode_study,
)

__all__ = [
    "AUTO",
    "MOST_AUTO_BUDGET",
    "PRECISION_BYTES",
    "SCHEDULER_KINDS",
    "AbsoluteSlo",
    "Accelerator",
    "AttainmentSlo",
    "AvailabilitySpec",
    "AvailabilityState",
    "Case",
    "CountGrid",
    "KvTransferSpec",
    "LatencySpec",
    "Limit",
    "Machine",
    "MachineChoice",
    "MemorySpec",
    "Model",
    "PoolSpec",
    "Price",
    "PriceBook",
    "Role",
    "SchedulerOptions",
    "SchedulerSpec",
    "Slo",
    "SlowdownSlo",
    "SpecError",
    "StudyLimits",
    "StudySpec",
    "WorkloadSpec",
    "decode",
    "decode_case",
    "decode_slo",
    "decode_study",
    "encode",
    "nearest",
]
