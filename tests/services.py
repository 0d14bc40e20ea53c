"""The real programs that some tests need: started on a free port with a folder of their own, or skipped by name."""

import shutil
import socket

import pytest


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of an installed Chromium."""
    return program("chromium", "chromium-browser", "google-chrome")


def program(*names: str) -> str:
    """The first of these programs that is installed; the test is skipped where none is."""
    for name in names:
        if path := shutil.which(name):
            return path
    pytest.skip(f"{names[0]} is not installed")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
