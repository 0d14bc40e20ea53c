"""Iteration times fitted to a team's own measurements."""

from typing import TYPE_CHECKING, Any, ClassVar

from django.db import models

from planner.accounts.models import OwnedModel

if TYPE_CHECKING:
    from simcore.latency.calibrated import Calibration as Fitted


class Calibration(OwnedModel):
    """A LATENCY.json with what was found on the way to it. It never changes once it is made."""

    name = models.CharField(max_length=100)
    model = models.CharField(max_length=100, editable=False)
    """A catalogue id, as ``accelerator``."""
    accelerator = models.CharField(max_length=100, editable=False)
    content = models.TextField(editable=False)
    """The LATENCY.json."""
    found: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(editable=False)
    """Files and flags of the fit; no flags where a LATENCY.json was uploaded."""

    class Meta:
        ordering: ClassVar = ["-created_at", "-pk"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["team", "name"], name="one_calibration_a_name")]

    def __str__(self) -> str:
        return self.name

    def fitted(self) -> "Fitted":
        """The calibration itself."""
        from simcore.latency.calibrated import parse_calibration

        return parse_calibration(self.content.encode())
