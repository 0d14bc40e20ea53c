"""What every test may use."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
pytest_plugins = ["tests.people", "tests.require_all", "tests.services", "tests.side_by_side"]

# On shared cores how long an example takes says nothing; the same examples in each run, so that red is red again.
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.load_profile("shared")


@pytest.fixture(autouse=True, scope="session")
def _emptied_between_tests() -> None:
    """What a transaction does not take back Django empties, the history too."""
    from django.db import connection
    from django.test import TransactionTestCase

    from planner.accounts.append_only import lifted

    empty = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]

    def emptied(case: TransactionTestCase) -> None:
        with lifted(connection):
            empty(case)

    TransactionTestCase._fixture_teardown = emptied  # type: ignore[attr-defined]


CLIENTS = {"client", "admin_client", "async_client", "alice_client", "bob_client", "charlie_client"}


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of shared measurements and traces (PHASEPLAN_SHARED); the test is skipped where there is none."""
    folder = ROOT / os.environ.get("PHASEPLAN_SHARED", "../shared")
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
