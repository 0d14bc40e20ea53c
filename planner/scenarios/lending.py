"""What a question of another team rests on, for somebody with whom it was shared to be changed.

They may ask it again with the workload and the measured rows that it has, though these stay the team's: on this
question alone, and on no page of theirs.
"""

import copy

from planner.accounts.models import Membership, User
from planner.calibrations.services import PREFIX as CALIBRATION
from planner.power_logs.services import PREFIX as POWER_LOG
from planner.scenarios.models import Revision, Scenario

MODELS = {CALIBRATION: "calibrations.Calibration", POWER_LOG: "power_logs.PowerLog"}


def borrower(user: User, scenario: Scenario) -> User:
    """The user; where the scenario is another team's, a copy who also reads what its revisions rest on."""
    if is_member(user, scenario) or not Scenario.objects.editable_by(user).filter(pk=scenario.pk).exists():
        return user
    lent: dict[str, set[int]] = {"workloads.Workload": set(), **{label: set() for label in MODELS.values()}}
    for inputs in Revision.objects.filter(scenario=scenario).values_list("inputs", flat=True):
        lent["workloads.Workload"].add(int(inputs["workload"]))
        measured = [inputs.get("latency"), inputs.get("power"), *(inputs.get("latency_by_machine") or {}).values()]
        for prefix, label in MODELS.items():
            keys = [str(key).removeprefix(prefix) for key in measured if str(key).startswith(prefix)]
            lent[label] |= {int(key) for key in keys if key.isdecimal()}
    borrowing = copy.copy(user)
    borrowing.lent = lent
    return borrowing


def is_member(user: User, scenario: Scenario) -> bool:
    return Membership.objects.filter(user=user.pk, team=scenario.team_id).exists()


def is_lent(user: User, scenario: Scenario) -> bool:
    """Whether the scenario was shared with the user to be read only."""
    return not is_member(user, scenario) and not Scenario.objects.editable_by(user).filter(pk=scenario.pk).exists()
