"""The two ways a function of this package is compiled. Every kernel imports them from here, so that numba's cache
folder is set before the first one is made.

``step``: a small function, compiled into its callers. ``entry``: what Python calls, kept in the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numba.core.config

from simcore.engine.cache import cache_folder

Function = TypeVar("Function", bound=Callable[..., Any])

vars(numba.core.config)["CACHE_DIR"] = str(cache_folder())


def step(function: Function) -> Function:
    """A small function that is compiled into the entries that call it."""
    compiled: Function = numba.njit(function, nogil=True)
    return compiled


def entry(function: Function) -> Function:
    """A function that Python calls: cached on disk, and no other Python thread waits for it."""
    compiled: Function = numba.njit(function, nogil=True, cache=True)
    return compiled
