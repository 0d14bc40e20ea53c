"""The entries of the history: written once, by ``audit.record``, and neither changed nor removed afterwards.

Model and querysets refuse; so does the database (append_only.py), whoever asks it.
"""

from typing import Any, ClassVar, NoReturn

from django.conf import settings
from django.db import models

from planner.accounts.owned import OwnedManager, OwnedModel

Changes = dict[str, list[Any]]
"""Field → [before, after]; null: there was, or is, none."""


class AppendOnlyError(RuntimeError):
    """An entry of the history was to be changed or removed."""

    def __init__(self) -> None:
        super().__init__("Entries of the history are neither changed nor removed")


class Entries(models.QuerySet["AuditEntry"]):
    """Reads and appends."""

    def update(self, **values: Any) -> NoReturn:
        raise AppendOnlyError

    def delete(self) -> NoReturn:
        raise AppendOnlyError

    def bulk_update(self, *arguments: Any, **options: Any) -> NoReturn:
        raise AppendOnlyError


class EntryManager(OwnedManager["AuditEntry"]):
    def _unscoped(self) -> Entries:
        return Entries(self.model, using=self._db)


class AuditEntry(OwnedModel):
    """Something that somebody did: who, by which token, in which request, to what, before and after."""

    team = models.ForeignKey(  # type: ignore[assignment]
        "accounts.Team", null=True, on_delete=models.PROTECT, editable=False
    )
    """Whose history it is a part of. None: what was done to an account alone, which its owner sees."""
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        editable=False,
        related_name="+",
    )
    """Who did it. Stays when the account is gone; None: nobody who was signed in, or a command of the operator."""
    by_name = models.CharField(max_length=150, editable=False)
    """The same, under the name of then."""
    token_key = models.CharField(max_length=16, blank=True, editable=False)
    """The API token by which it was done, if by one: its public part."""
    token_name = models.CharField(max_length=100, blank=True, default="", editable=False)
    request_id = models.CharField(max_length=64, blank=True, default="", editable=False)
    """As in the log and in the answer's X-Request-ID; empty: no request."""
    action = models.CharField(max_length=50, editable=False)
    """In the past tense: ``saved``, ``deleted``."""
    model = models.CharField(max_length=60, blank=True, default="", editable=False)
    """What kind of row it was done to, as ``scenarios.scenario``; empty of entries of before 2026-12."""
    row = models.CharField(max_length=150, blank=True, default="", editable=False)
    """Its primary key; of rows of the catalogue ``table/id``, of price books the id."""
    subject = models.CharField(max_length=300, editable=False)
    """Its name, in words that stand when the row is gone."""
    scenario_id = models.PositiveBigIntegerField(null=True, editable=False)
    """The question that the row is a part of, if of one."""
    changes: "models.JSONField[Changes, Changes]" = models.JSONField(default=dict, editable=False)
    """Field → [before, after], bounded (audit.py)."""

    unscoped: "ClassVar[models.Manager[AuditEntry]]" = models.Manager.from_queryset(Entries)()
    objects: "ClassVar[EntryManager]" = EntryManager()

    class Meta:
        app_label = "accounts"
        ordering = ["-created_at", "-pk"]
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["team", "-created_at", "-id"], name="history_of_a_team"),
            models.Index(fields=["team", "model", "row", "-created_at", "-id"], name="history_of_a_row"),
            models.Index(fields=["scenario_id", "-created_at", "-id"], name="history_of_a_question"),
        ]

    def __str__(self) -> str:
        return f"{self.by_name}: {self.action} {self.subject}"

    def save(self, *arguments: Any, **options: Any) -> None:
        if not self._state.adding:
            raise AppendOnlyError
        super().save(*arguments, **{**options, "force_insert": True})

    def delete(self, *arguments: Any, **options: Any) -> NoReturn:
        raise AppendOnlyError
