"""How far compiling is: said while numba compiles, function by function, and not at all where the cache has them."""

from types import SimpleNamespace

import numba

from simcore.engine.fast import jit
from simcore.engine.fast.warm import CompiledFunctions, compiling_watched, warm_up

Seen = list[tuple[int, int]]


def test_each_function_counts_once_when_it_is_done() -> None:
    seen: Seen = []
    watched = CompiledFunctions(lambda done, of: seen.append((done, of)))
    first, second = (SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=f)}) for f in jit.functions[:2])
    for happened in (first, first, second):
        watched.on_start(happened)
        watched.on_end(happened)
    every = len(jit.functions)
    assert seen == [(0, every), (1, every), (1, every), (1, every), (1, every), (2, every)]


def test_numba_tells_when_it_compiles_and_only_then() -> None:
    seen: Seen = []
    warm_up()
    with compiling_watched(lambda done, of: seen.append((done, of))):
        warm_up()
        assert seen == []
        numba.njit(lambda number: number + 1)(1)
    assert seen == [(0, len(jit.functions))] * 2
    numba.njit(lambda number: number + 2)(1)
    assert len(seen) == 2
