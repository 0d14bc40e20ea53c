"""A server process loads its pages beside its first requests."""

import subprocess
import sys

import pytest
from django.conf import settings

from planner import warm

SCRIPT = """
import sys, runpy, django
django.setup()
before = "planner.studies.views" in sys.modules
runpy.run_path("gunicorn.conf.py")["post_worker_init"](None)
import threading
[thread.join() for thread in threading.enumerate() if thread.name == "warm-up"]
print(before, "planner.studies.views" in sys.modules, "rest_framework.views" in sys.modules)
"""


def test_gunicorns_worker_loads_the_views() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True", "True"]


@pytest.fixture
def kept_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's own connection."""
    monkeypatch.setattr(warm.connections, "close_all", lambda: None)


@pytest.mark.usefixtures("kept_open")
def test_what_fails_is_logged_and_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise OSError("disk full")

    monkeypatch.setattr(warm, "_read_the_latest_answer", fail)
    warm.warm_up()
    assert "disk full" in caplog.text
