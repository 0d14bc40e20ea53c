"""The ways in which a function of this package is compiled. Every kernel imports them from here, so that numba's cache
folder is set before the first one is made.

``step``: a small function, which LLVM compiles into its callers where it finds that worthwhile. ``inlined``: a step of
the inner loop, compiled into each. ``entry``: what Python calls, kept in the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numba.core.config

from simcore.engine.cache import cache_folder
from simcore.engine.fast.linked import EntryCompiler, StepCompiler, without_literals

Function = TypeVar("Function", bound=Callable[..., Any])

vars(numba.core.config)["CACHE_DIR"] = str(cache_folder())

# Wrappers for Python double the time it takes to compile; nobody but compiled code calls a step.
_STEP: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": StepCompiler,
}
_ENTRY: dict[str, Any] = {"nogil": True, "error_model": "numpy", "cache": True, "pipeline_class": EntryCompiler}


functions: list[Callable[..., Any]] = []
"""All that are compiled, as written."""


def step(function: Function) -> Function:
    """A small function that is compiled into the entries that call it. Python cannot call it."""
    functions.append(function)
    compiled: Any = numba.njit(**_STEP)(function)
    without_literals(compiled)
    made: Function = compiled
    return made


def inlined(function: Function) -> Function:
    """A step that is compiled into whoever calls it, however many they are: its call would cost more than its work."""
    functions.append(function)
    compiled: Any = numba.njit(forceinline=True, **_STEP)(function)
    without_literals(compiled)
    made: Function = compiled
    return made


def entry(function: Function) -> Function:
    """A function that Python calls: cached on disk, and no other Python thread waits for it."""
    functions.append(function)
    compiled: Any = numba.njit(**_ENTRY)(function)
    made: Function = compiled
    return made
