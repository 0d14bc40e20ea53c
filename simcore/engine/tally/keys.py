"""Floating numbers that are not negative as whole numbers of the same order: their bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _key_of(typing_context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


def _value_of(typing_context: Any, key: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


_keyed: Any = intrinsic(_key_of)
key_of: Callable[[float], int] = _keyed
"""For compiled code: the key of a number."""
_valued: Any = intrinsic(_value_of)
value_of: Callable[[int], float] = _valued
"""For compiled code: the number of a key."""


def key(value: float) -> int:
    """``key_of`` for Python."""
    return int(np.float64(value).view(np.int64))
