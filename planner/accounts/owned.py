"""Rows that belong to a team, and the one way to read them.

`Model.objects` reads through `visible_to(user)` or `editable_by(user)` alone; any other query through it raises,
so that a forgotten filter is an error and not a leak. The worker and the shipped commands, which act for no user,
say so in their code: `Model.unscoped`. What was deleted, and what is part of it, is in none of these reads but
`deleted_in_teams_of(user)`. A request with an API token is its maker's, narrowed to the token's team and
scope here and nowhere else.
"""

from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, TypeVar

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.utils import timezone

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from planner.accounts.models import ApiToken

EDITING_ROLES = ("owner", "editor")
Row = TypeVar("Row", bound=models.Model)
Visitor = AbstractBaseUser | AnonymousUser
NONE = models.Q(pk__in=[])
"""No row."""


class Guest(AnonymousUser):
    """Whoever opened a link to a study: sees the rows of that study, none else of any team's, and changes nothing."""

    is_guest = True

    def __init__(self, study_id: int, link: str, *, may_clone: bool = False, follows: bool = False) -> None:
        """``link``: the address that was opened."""
        super().__init__()
        self.study_id, self.link, self.may_clone, self.follows = study_id, link, may_clone, follows


def token_of(user: Visitor) -> "ApiToken | None":
    """The API token by which the request came, if it did."""
    return getattr(user, "api_token", None)


def may_write_by(token: "ApiToken | None") -> bool:
    """Whether how the request came lets it write; whether its user may is another matter."""
    return token is None or token.scope == token.Scope.WRITE


def in_teams_of(user: Visitor, **role: Any) -> models.Q:
    """Rows of the user's teams; by a token, of the token's team alone, and while its maker is a member."""
    token, membership = token_of(user), apps.get_model("accounts", "Membership")
    teams = membership.objects.filter(user=user.pk, **role, **({"team": token.team_id} if token else {}))
    return models.Q(team__in=teams.values("team"))


class UnscopedReadError(RuntimeError):
    """A team's rows were queried without saying for whom."""


class OwnedManager(models.Manager[Row], Generic[Row]):
    """Reads a team's rows for one user; every other query raises UnscopedReadError."""

    def visible_to(self, user: Visitor) -> models.QuerySet[Row]:
        """The rows of the user's teams and what was shared with them; none for a visitor who is not signed in, but of a
        guest's study."""
        if isinstance(user, Guest):
            return self._rows_of_study(user.study_id)
        lent: Collection[int] = getattr(user, "lent", {}).get(self.model._meta.label, ())
        return self._rows_of(user, self._shared_with(user) | models.Q(pk__in=lent))

    def editable_by(self, user: Visitor) -> models.QuerySet[Row]:
        """The rows of the teams where the user may write, and of questions shared with them to be changed."""
        if not may_write_by(token_of(user)):
            return self._unscoped().none()
        return self._rows_of(user, self._shared_with(user, may_write=True), role__in=EDITING_ROLES)

    def owned_by(self, user: Visitor) -> models.QuerySet[Row]:
        """Those of them that are of the user's own teams: who was given a row changes it, but does not pass it on."""
        if not may_write_by(token_of(user)):
            return self._unscoped().none()
        return self._rows_of(user, role__in=EDITING_ROLES)

    def deleted_in_teams_of(self, user: Visitor) -> models.QuerySet[Row]:
        """Rows of the user's teams that were deleted and can be put back, the last deleted first."""
        if not user.is_authenticated or isinstance(user, Guest):
            return self._unscoped().none()
        return self._unscoped().filter(in_teams_of(user), deleted_at__isnull=False).order_by("-deleted_at", "-pk")

    def _rows_of(self, user: Visitor, also: models.Q = NONE, **role: Any) -> models.QuerySet[Row]:
        rows = self._unscoped()
        if not user.is_authenticated:
            return rows.none()
        return rows.filter(in_teams_of(user, **role) | also, self._there())

    def _there(self) -> models.Q:
        """Neither deleted nor part of what is."""
        return models.Q(**{f"{path}deleted_at": None for path in self.model.deleted_through()})  # type: ignore[attr-defined]

    def _shared_with(self, user: Visitor, **rights: bool) -> models.Q:
        """Scenarios shared with the user, and what is part of them; by a token nothing: it is of one team."""
        of_study, of_scenario = self.model.of_study, self.model.of_scenario  # type: ignore[attr-defined]
        through = of_scenario or (f"{of_study}__revision__scenario" if of_study else "")
        if not through or not user.is_authenticated or token_of(user):
            return NONE
        grants = apps.get_model("scenarios", "Grant").unscoped.filter(person=user.pk, **rights)
        return models.Q(**{f"{through}__in": grants.values("scenario")})

    def _rows_of_study(self, study_id: int) -> models.QuerySet[Row]:
        through: str = self.model.of_study  # type: ignore[attr-defined]
        return self._unscoped().filter(self._there(), **{through: study_id}) if through else self._unscoped().none()

    def create(self, **values: Any) -> Row:
        return self._unscoped().create(**values)

    def bulk_create(self, objs: "Iterable[Row]", *args: Any, **options: Any) -> list[Row]:
        return self._unscoped().bulk_create(objs, *args, **options)

    def _unscoped(self) -> models.QuerySet[Row]:
        rows: models.QuerySet[Row] = models.QuerySet(self.model, using=self._db)
        return rows

    def get_queryset(self) -> NoReturn:
        raise UnscopedReadError(f"{self.model.__name__}.objects: use visible_to(user) or editable_by(user)")


class OwnedModel(models.Model):
    """A saved row of a team: workload, override, price book, scenario, study, token."""

    team = models.ForeignKey("accounts.Team", on_delete=models.CASCADE, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    of_study: ClassVar[str] = ""
    """The look-up from a row to the study that it is a part of, such as ``study``: who opens a link to the study sees
    it. Empty: a link shows none of these rows."""

    of_scenario: ClassVar[str] = ""
    """The look-up to the scenario that it is a part of, where that is not through a study: who a scenario is shared
    with sees its parts."""

    deleted_with: ClassVar[str] = ""
    """The look-up to the scenario with which it is deleted and put back, where neither of these says it."""

    unscoped = models.Manager()  # first, so that Django's own machinery (relations, dumps) works
    objects = OwnedManager()

    class Meta:
        abstract = True

    @classmethod
    def deleted_through(cls) -> "list[str]":
        """Look-ups to where it is said that the row is deleted: its own, and the scenario's that it is a part of."""
        own = [""] if issubclass(cls, DeletableModel) else []
        whole = cls.deleted_with or cls.of_scenario or (f"{cls.of_study}__revision__scenario" if cls.of_study else "")
        return [*own, *([f"{whole}__"] if whole and whole != "pk" else [])]


class DeletableModel(OwnedModel):
    """A row that its team may delete and put back (planner.accounts.deleting); ``manage.py purge`` removes it."""

    deleted_at = models.DateTimeField(null=True, db_index=True, editable=False)
    deleted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, editable=False, related_name="+"
    )

    class Meta:
        abstract = True
