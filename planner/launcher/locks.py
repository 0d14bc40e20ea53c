"""Locks in the data folder. The kernel lets go of them when their last holder ends, however it ends."""

import fcntl
import os
import time
from pathlib import Path


class FileLock:
    """An exclusive flock on a file that says who holds it. Forked children hold it too."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    @property
    def handle(self) -> int:
        if self._handle is None:
            raise RuntimeError(f"{self.path.name} is not held")
        return self._handle

    def take(self, wait_s: float = 0) -> bool:
        """Takes the lock, waiting up to wait_s; False if another still holds it."""
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        end = time.monotonic() + wait_s
        while not _flock(handle):
            if time.monotonic() >= end:
                os.close(handle)
                return False
            time.sleep(0.1)
        self._handle = handle
        return True

    def write(self, text: str) -> None:
        os.ftruncate(self.handle, 0)
        os.pwrite(self.handle, text.encode(), 0)

    def read(self) -> str:
        """What the holder, or the last one, wrote."""
        return self.path.read_text(encoding="utf-8") if self.path.exists() else ""

    def release(self) -> None:
        os.close(self.handle)
        self._handle = None


def _flock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
