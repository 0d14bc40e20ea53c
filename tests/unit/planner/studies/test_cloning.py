"""What a team has measured goes along when somebody else asks its question again."""

from typing import Any

import pytest

from planner.accounts.models import Team, User
from planner.accounts.teams import writing_team
from planner.calibrations.models import Calibration
from planner.power_logs.models import PowerLog
from planner.sharing.cloning import _measured

pytestmark = pytest.mark.django_db


@pytest.fixture
def measured(team: Team, alice: User) -> tuple[Calibration, Calibration, PowerLog]:
    own: Any = {"team": team, "created_by": alice, "accelerator": "h100-sxm"}
    fits = [
        Calibration.objects.create(name=f"Run {n}", model="bloom-176b", content=f'{{"run": {n}}}', found={}, **own)
        for n in (1, 2)
    ]
    log = PowerLog.objects.create(name="Rack 3", machine="dgx-h100", report={"mean_w": 1}, content='{"w": 1}', **own)
    return fits[0], fits[1], log


def test_calibrations_of_single_machines_and_power_logs_are_copied_once(
    measured: tuple[Calibration, Calibration, PowerLog], charlie: User
) -> None:
    first, second, log = measured
    inputs = {
        "latency": f"calibration-{first.pk}",
        "latency_by_machine": {"dgx-h100": f"calibration-{second.pk}", "dgx-a100": "roofline"},
        "power": f"power-{log.pk}",
    }
    theirs = writing_team(charlie)
    found = _measured(theirs, charlie, inputs)
    assert _measured(theirs, charlie, inputs) == found
    copies = Calibration.unscoped.filter(team=theirs).order_by("name")
    assert [copy.content for copy in copies] == [first.content, second.content]
    own_log = PowerLog.unscoped.get(team=theirs)
    assert (own_log.content, own_log.report, own_log.machine) == (log.content, log.report, log.machine)
    assert found == {
        "latency": f"calibration-{copies[0].pk}",
        "latency_by_machine": {"dgx-h100": f"calibration-{copies[1].pk}", "dgx-a100": "roofline"},
        "power": f"power-{own_log.pk}",
    }


def test_what_names_no_row_stays(team: Team, alice: User, measured: tuple[Calibration, Calibration, PowerLog]) -> None:
    own = {"latency": f"calibration-{measured[0].pk}", "power": "catalogue"}
    assert _measured(team, alice, own) == own
    assert _measured(team, alice, {"latency": "measured", "power": None}) == {"latency": "measured", "power": None}
    assert _measured(team, alice, {"latency": "calibration-999"}) == {"latency": "calibration-999"}
