"""What asks about a workload: it is kept as long as anything does."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.http import HttpRequest
from django.urls import reverse

from planner.accounts.owned import Visitor
from planner.scenarios.models import Revision, Scenario
from planner.studies.models import Study
from planner.workloads.models import Workload


@dataclass(frozen=True)
class Dependent:
    """A question, and how many of its revisions and answers name the workload."""

    name: str
    address: str
    revisions: int
    studies: int

    @property
    def counted(self) -> str:
        """How many of each, in words."""
        said = [(self.revisions, "revision", "revisions"), (self.studies, "answer", "answers")]
        return ", ".join(f"{number} {one if number == 1 else many}" for number, one, many in said if number)

    def as_json(self, request: HttpRequest) -> dict[str, Any]:
        """For REST, with the page's whole address."""
        page = request.build_absolute_uri(self.address)
        return {"name": self.name, "revisions": self.revisions, "studies": self.studies, "page": page}


def dependents(user: Visitor, workload: Workload) -> list[Dependent]:
    """The questions that the user may see, the last asked first."""
    revisions, studies = _naming(workload)
    scenarios = Scenario.objects.visible_to(user).filter(pk__in={*revisions, *studies}).order_by("-pk")
    return [
        Dependent(
            scenario.latest.title,
            reverse("scenarios:scenario", args=[scenario.pk]),
            revisions.count(scenario.pk),
            studies.count(scenario.pk),
        )
        for scenario in scenarios
    ]


def is_used(workload: Workload) -> bool:
    """Whether anything, of whomever, names it."""
    return any(_naming(workload))


def _naming(workload: Workload) -> tuple[list[int], list[int]]:
    """The scenarios of the revisions and of the studies that name it, each as often as there are some."""
    asked = Q(inputs__workload=str(workload.pk)) | Q(inputs__workload=workload.pk)
    revisions = Revision.objects.filter(asked).values_list("scenario", flat=True)
    studies = Study.unscoped.filter(workload=workload).values_list("revision__scenario", flat=True)
    return list(revisions), list(studies)
