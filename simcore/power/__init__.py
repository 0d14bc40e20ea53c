"""Watts: what accelerators draw by kind of batch and load, what a machine draws idle, what a cap costs in speed.

An accelerator that works draws idle + u * (TDP - idle), never above its cap, with

    u = base + by_mbu * MBU + by_mfu * MFU^(3/4), at most 1

for every kind of batch (docs/power.md): MBU and MFU are the shares of peak bandwidth and FLOP/s that the batch's own
work uses over the time that its curve says it takes (``activity.py``), so decodes follow memory traffic and prefills
come near the TDP where their FLOPs do. Weights of 4 bits count ``unpacking`` times in MBU where an accelerator has no
FLOPs of 4 bits: its cores unpack them. The coefficients of each accelerator are fitted to published watts
(``coefficients.py``). A machine draws its host, its fans and its accelerators (``stage.py``). What a cap costs is in
``cap.py``.
"""

from simcore.power.activity import Load, Work, least_work
from simcore.power.cap import cap_note, checked_cap_w, fixed_w, speed_under_cap
from simcore.power.coefficients import PowerCoefficients, power_coefficients
from simcore.power.stage import POWER_TOKENS, StagePower, StepTime, idle_w, stage_power, watts_at, working_w

__all__ = [
    "POWER_TOKENS",
    "Load",
    "PowerCoefficients",
    "StagePower",
    "StepTime",
    "Work",
    "cap_note",
    "checked_cap_w",
    "fixed_w",
    "idle_w",
    "least_work",
    "power_coefficients",
    "speed_under_cap",
    "stage_power",
    "watts_at",
    "working_w",
]
