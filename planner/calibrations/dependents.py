"""Which questions name a calibration or a power log: said on its page, and when it is deleted."""

from django.db.models import Q
from django.urls import reverse

from planner.accounts.owned import Visitor
from planner.scenarios.models import Revision, Scenario
from planner.studies.models import Study
from planner.workloads.dependents import Dependent


def dependents(user: Visitor, key: str) -> list[Dependent]:
    """The questions that the user may see of which a revision names a key of its iteration times or its drawn power,
    the last asked first."""
    named = _naming(user, key)
    studies = list(Study.objects.visible_to(user).filter(revision__in=named).values_list("revision__scenario"))
    scenarios = Scenario.objects.visible_to(user).filter(pk__in=set(named.values())).order_by("-pk")
    return [
        Dependent(
            scenario.latest.title,
            reverse("scenarios:scenario", args=[scenario.pk]),
            list(named.values()).count(scenario.pk),
            studies.count((scenario.pk,)),
        )
        for scenario in scenarios
    ]


def deleted_words(name: str, used: list[Dependent]) -> str:
    """What became of a row that is deleted, and who has to choose another."""
    asked = "; ".join(f"{one.name} ({one.counted})" for one in used)
    said = f"{name} is deleted. Studies that used it keep their copy"
    return f"{said}; to be asked again, these questions need another choice: {asked}." if asked else f"{said}."


def _naming(user: Visitor, key: str) -> dict[int, int]:
    """Revision → scenario. A source of one machine alone is a value of an object, which no database looks up by value
    as the others do."""
    seen = Revision.objects.filter(scenario__in=Scenario.objects.visible_to(user))
    whole = seen.filter(Q(inputs__latency=key) | Q(inputs__power=key)).values_list("pk", "scenario")
    by_machine = seen.exclude(inputs__latency_by_machine=None).values_list("pk", "scenario", "inputs")
    own = {
        pk: scenario for pk, scenario, inputs in by_machine if key in (inputs.get("latency_by_machine") or {}).values()
    }
    return dict(whole) | own
