"""What a team's machines were seen to draw."""

from typing import TYPE_CHECKING, Any, ClassVar

from django.db import models

from planner.accounts.models import OwnedModel

if TYPE_CHECKING:
    from simcore.spec import Machine


class PowerLog(OwnedModel):
    """Power logs as they were read, and the machine with the power that they show. It never changes once it is made."""

    name = models.CharField(max_length=100)
    machine = models.CharField(max_length=100, editable=False)
    """A catalogue id, as ``accelerator``."""
    accelerator = models.CharField(max_length=100, editable=False)
    report: "models.JSONField[dict[str, Any], dict[str, Any]]" = models.JSONField(editable=False)
    """What ``python -m simcore power`` prints, with watts over time."""
    content = models.TextField(blank=True, editable=False)
    """The MACHINE.json; empty where nothing was said of the run, so that the log says no more than what was drawn."""

    class Meta:
        ordering: ClassVar = ["-created_at", "-pk"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["team", "name"], name="one_power_log_a_name")]

    def __str__(self) -> str:
        return self.name

    def fitted(self) -> "Machine":
        """The machine with what was measured."""
        import json

        from simcore.spec import Machine, decode

        return decode(Machine, json.loads(self.content))
