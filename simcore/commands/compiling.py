"""The engine is compiled where somebody sees it: on a terminal, once for each version, with how far it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

CLEAR_LINE = "\r\x1b[K"


@contextmanager
def compiling_shown() -> Iterator[None]:
    """While the block runs, say on a terminal how far the engine's compiling is, where it is not in the cache."""
    if not sys.stderr.isatty():
        yield
        return
    from simcore.engine.fast.warm import compiling_watched

    with compiling_watched(_show):
        yield
    print(CLEAR_LINE, end="", file=sys.stderr, flush=True)


def _show(done: int, of: int) -> None:
    text = f"compiling the engine, once: {done} of {of} functions"
    print(f"{CLEAR_LINE}{text}", end="", file=sys.stderr, flush=True)
