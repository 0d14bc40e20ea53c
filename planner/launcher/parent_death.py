"""Asks the kernel (Linux) for a signal when the parent ends, so that no child outlives a killed parent."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def signal_on_parent_death(number: signal.Signals, parent: int | None = None) -> Callable[[], None]:
    """A function for the child to call. It loads nothing itself: it may run between fork and exec."""
    if sys.platform != "linux":
        return lambda: None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    expected = os.getpid() if parent is None else parent

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != expected:  # it ended before we asked
            os.kill(os.getpid(), number)

    return ask
