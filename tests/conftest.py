"""What every test may use, and the rule that with REQUIRE_ALL=1 a skipped test is a failed one."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

pytest_plugins = ["tests.people", "tests.services"]

CLIENTS = {"client", "admin_client", "async_client", "alice_client", "bob_client", "charlie_client"}


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of shared measurements and traces (PHASEPLAN_SHARED); the test is skipped where there is none."""
    folder = Path(os.environ.get("PHASEPLAN_SHARED", "../shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"no shared data at {folder}: set PHASEPLAN_SHARED")
    return folder / "data"


@pytest.fixture(scope="session")
def collected_static() -> None:
    """The hashed static files: pages do not render without them."""
    from django.core.management import call_command

    call_command("collectstatic", interactive=False, verbosity=0)


@pytest.fixture(autouse=True)
def _static_for_pages(request: pytest.FixtureRequest) -> None:
    if CLIENTS & set(request.fixturenames):
        request.getfixturevalue("collected_static")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("REQUIRE_ALL") == "1":
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"REQUIRE_ALL=1, and this test was skipped: {reason}"
    return report
