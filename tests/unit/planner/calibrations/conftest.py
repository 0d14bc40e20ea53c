"""The same files are fitted to the same target once for all tests here: a fit takes two seconds."""

from typing import Any

import pytest

from planner.calibrations import services

FIT = services.fit
FITTED: dict[str, services.Fit] = {}


def fitted_once(*given: Any, **target: Any) -> services.Fit:
    key = repr((given, target, services.MOST_RESULTS))
    if key not in FITTED:
        FITTED[key] = FIT(*given, **target)
    return FITTED[key]


@pytest.fixture(autouse=True)
def _fitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "fit", fitted_once)
