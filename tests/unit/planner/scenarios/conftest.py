from typing import Any

import pytest

from planner.accounts.models import Team, User
from planner.workloads.models import Workload
from planner.workloads.services import save_mix
from simcore.traces import SyntheticSpec

Inputs = dict[str, Any]


@pytest.fixture
def workload(alice: User, team: Team) -> Workload:
    return save_mix(team, alice, "A little chat", SyntheticSpec("conversation", 10.0, 50))


@pytest.fixture
def typed(workload: Workload) -> Inputs:
    """The least that a question needs, as a browser sends it."""
    return {
        "model": "bloom-176b",
        "workload": str(workload.pk),
        "rate_req_per_s": "70",
        "machines": ["dgx-h100", "dgx-a100"],
        "price_book": "list",
    }
