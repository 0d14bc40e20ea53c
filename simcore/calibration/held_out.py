"""The error that a fit has at points that it has not seen: each is predicted by a fit to the others.

A fold holds out everything measured at one load (a result's TPOT and TTFT together, a step's repetitions), or a tenth
of the loads where there are many. The fits begin where the whole fit
ends and take the knobs that it freed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from simcore.calibration.fit import Fit, Model, refit
from simcore.calibration.observations import Observation
from simcore.calibration.target import Target

FOLDS = 10
FEWEST = 3
"""Observations; with fewer nothing can be held out."""


def held_out(target: Target, every: Sequence[Observation], fitted: Fit) -> npt.NDArray[np.float64] | None:
    """Each figure by a fit without its observation, in the order of the figures; None where there are too few."""
    if len(every) < FEWEST:
        return None
    predicted: dict[int, tuple[float, ...]] = {}
    for fold in range(min(FOLDS, len(every))):
        out = [i for i in range(len(every)) if i % min(FOLDS, len(every)) == fold]
        rest = Model(target, [one for i, one in enumerate(every) if i not in out])
        seen = refit(rest, fitted.turns)
        times = iter(Model(target, [every[i] for i in out]).predicted(seen.coefficients, seen.client_s))
        predicted |= {i: tuple(float(next(times)) for _ in every[i].figures) for i in out}
    return np.array([seconds for i in range(len(every)) for seconds in predicted[i]])
