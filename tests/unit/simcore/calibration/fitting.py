"""Files of results fitted, as tests of what becomes of them need it."""

import datetime
import sys
from pathlib import Path
from unittest import mock

from simcore.calibration import Target, calibrate
from simcore.latency.calibrated import Calibration
from simcore.measurements import Measurements, read_measurements
from tests.unit.simcore.calibration import known

TODAY = datetime.date(2026, 11, 30)
TARGET = Target(known.MODEL, known.MACHINE)


def fitted(tmp_path: Path, *texts: str, target: Target = TARGET) -> tuple[Calibration, Measurements]:
    paths = []
    for i, text in enumerate(texts):
        paths.append(str(tmp_path / f"bench{i}.txt"))
        (tmp_path / f"bench{i}.txt").write_text(text)
    found = read_measurements(paths)
    return calibrate(found, target, TODAY), found


def fitted_once(tmp_path: Path, *texts: str, target: Target = TARGET) -> tuple[Calibration, Measurements]:
    """Without the up to ten further fits that say how far off it is at points that it has not seen."""
    with mock.patch.object(sys.modules[calibrate.__module__], "held_out", return_value=None):
        return fitted(tmp_path, *texts, target=target)
