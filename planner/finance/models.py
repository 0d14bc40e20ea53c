"""What a study's money rests on, as it was entered."""

from typing import Any

from django.db import models

from planner.accounts.models import OwnedModel
from planner.studies.models import Study


class AssumptionSet(OwnedModel):
    """One save of the assumptions of a study's costs, never changed: a change is another row.

    ``values``: what was entered, as ``simcore.economics.assumptions.Assumptions`` reads it; prices that were left empty
    are the study's own.
    """

    of_study = "study"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="assumption_sets", editable=False)
    values: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(editable=False)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"assumptions {self.pk} of {self.study}"
