"""Power logs as nvidia-smi writes them."""

from __future__ import annotations

from pathlib import Path

from simcore.measurements.power_logs.read import read_power_logs
from simcore.measurements.power_logs.samples import PowerLog

SMI = "timestamp, index, name, power.draw [W], utilization.gpu [%]"


def stamp(second: float, day: str = "2026/03/02", start: int = 36900) -> str:
    at = start + second
    return f"{day} {int(at // 3600):02}:{int(at % 3600 // 60):02}:{at % 60:06.3f}"


def smi(rows: list[tuple[float, int, str, str]], header: str = SMI) -> str:
    lines = [f"{stamp(at)}, {gpu}, NVIDIA H100 80GB HBM3, {watts}, {use}" for at, gpu, watts, use in rows]
    return "\n".join([header, *lines]) + "\n"


def steady(watts: float = 400.0, seconds_long: int = 20, gpus: int = 2) -> str:
    return smi([(s, gpu, f"{watts:.2f} W", "97 %") for s in range(seconds_long + 1) for gpu in range(gpus)])


def read(tmp_path: Path, text: str, **more: float) -> PowerLog:
    path = tmp_path / "power.log"
    path.write_text(text)
    return read_power_logs([str(path)], **more)


DCGMI = "#Entity   POWER        TOTEC             GPUTL\nID        W            mJ\n"
