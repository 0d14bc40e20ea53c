from tests.unit.planner.studies.conftest import *  # noqa: F403 - its fixtures
