"""A study with nothing in it, for tests of what moves rows."""

from planner.accounts.models import Team
from planner.scenarios.models import Revision, Scenario
from planner.studies.models import Study
from planner.workloads.models import Workload


def bare_study(team: Team) -> Study:
    scenario = Scenario.objects.create(team=team, name="a question")
    revision = Revision.objects.create(scenario=scenario, number=1, inputs={})
    workload, _ = Workload.unscoped.get_or_create(
        team=team, name="nothing", defaults={"content_hash": "0", "requests": 0, "summary": {}}
    )
    return Study.objects.create(team=team, revision=revision, workload=workload, spec={}, prices={}, trace_hash="0")
