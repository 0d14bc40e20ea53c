"""Who uses Phaseplan, in which team, and what a team owns."""

from collections.abc import Collection, Mapping
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone

from planner.accounts.entries import AuditEntry as AuditEntry
from planner.accounts.owned import OwnedModel


class User(AbstractUser):
    """A person who signs in."""

    chosen_team = models.ForeignKey(
        "Team", null=True, blank=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    """The team that they chose to work for; teams.working_team says which that is."""

    api_token: "ApiToken | None" = None
    """Set on the user of a request that came with a token (see owned.py); not kept."""

    lent: "Mapping[str, Collection[int]]" = {}
    """Rows of another team that this copy of the user may read, by model, for a question shared with them
    (scenarios.lending); not kept."""


class Role(models.TextChoices):
    OWNER = "owner", "Owner"
    EDITOR = "editor", "Editor"
    VIEWER = "viewer", "Viewer"


class Team(models.Model):
    """The owner of every saved row; its members see what it owns."""

    name = models.CharField(max_length=100, unique=True)
    members = models.ManyToManyField(User, through="Membership", related_name="teams")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A user's role in a team: viewers read, editors write, owners also manage the members."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE)
    user = models.ForeignKey(User, on_delete=models.CASCADE)
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.VIEWER)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="one_role_in_a_team")]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}: {self.role}"


class ApiToken(OwnedModel):
    """A key to the REST interface. The secret is shown once; its keyed hash is kept (see tokens.py)."""

    class Scope(models.TextChoices):
        READ = "read", "Read"
        WRITE = "write", "Read and write"

    name = models.CharField(max_length=100)
    key = models.CharField(max_length=16, unique=True, editable=False)
    secret_hash = models.CharField(max_length=64, editable=False)
    scope = models.CharField(max_length=5, choices=Scope.choices, default=Scope.READ)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    def __str__(self) -> str:
        return f"{self.name} ({self.key})"

    def is_valid(self, now: Any = None) -> bool:
        """Neither revoked nor expired, and made by somebody who may still sign in and is still of the team."""
        now = now or timezone.now()
        stands = self.revoked_at is None and (self.expires_at is None or now < self.expires_at)
        return stands and self._maker_is_a_member()

    def _maker_is_a_member(self) -> bool:
        maker = self.created_by
        return bool(maker and maker.is_active and Membership.objects.filter(team=self.team_id, user=maker).exists())


class Invitation(OwnedModel):
    """A one-time link by which somebody joins a team, with an account or without one yet (see invitations.py)."""

    role = models.CharField(max_length=10, choices=Role.choices, default=Role.VIEWER, editable=False)
    label = models.CharField(max_length=100, blank=True, editable=False)
    """For whom it is, in the words of who made it."""
    token_hash = models.CharField(max_length=64, unique=True, editable=False)
    expires_at = models.DateTimeField(editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)
    used_at = models.DateTimeField(null=True, editable=False)
    used_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, editable=False, related_name="+")

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"invitation {self.pk} to {self.team} as {self.role}"

    @property
    def title(self) -> str:
        return self.label or f"Invitation {self.pk}"


class Attempts(models.Model):
    """How often something was tried of late (see limits.py). Rows, not a cache: every process counts alike."""

    key = models.CharField(max_length=64, unique=True, editable=False)
    """A keyed hash of what is limited and of whom: the table names nobody."""
    count = models.PositiveIntegerField(default=0, editable=False)
    since = models.DateTimeField(db_index=True, editable=False)

    class Meta:
        verbose_name_plural = "attempts"

    def __str__(self) -> str:
        return f"{self.count} attempts since {self.since:%Y-%m-%d %H:%M}"
