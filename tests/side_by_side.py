"""With `-n`, as `make test` has it: files are shared out among processes, and what starts programs is kept together."""

import contextlib
import subprocess
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest

from tests.services import compiled_engine

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

PROGRAMS = ("tests/browser", "tests/faults")
"""Their tests share a launcher and servers, and wait for other processes: one after the other, in one process."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What starts programs comes first, as it takes longest; pytest-django puts what needs no database last."""
    items.sort(key=lambda item: item.nodeid.split("/")[:2])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Compiles the engine once, before every process would; a test that needs it says it if that fails."""
    with contextlib.suppress(subprocess.CalledProcessError):
        compiled_engine()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> "LoadScopeScheduling":
    """A file's tests stay together, for what they share; files come in the order of the folders, the longest first."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return work_unit(nodeid)

    config.option.loadscopereorder = False
    return ByFile(config, log)


def work_unit(nodeid: str) -> str:
    """What is done in one process: a file, or all that starts programs."""
    path = PurePosixPath(nodeid.partition("::")[0])
    return "programs" if any(path.is_relative_to(folder) for folder in PROGRAMS) else str(path)
