"""Teams: which one a user works for, and the local team of an embedded installation."""

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db import transaction

from planner.accounts import audit
from planner.accounts.models import Membership, Role, Team, User
from planner.accounts.owned import EDITING_ROLES, may_write_by, token_of

LOCAL = "local"


def working_team(user: User | AnonymousUser) -> Team | None:
    """The team that owns what the user saves now: the one chosen, else the first joined, of those where the user may
    write; by a token, its team."""
    token = token_of(user)
    if not user.is_authenticated or not may_write_by(token):
        return None
    member = Membership.objects.filter(user=user, role__in=EDITING_ROLES).select_related("team")
    if token:
        member = member.filter(team=token.team_id)
    found = list(member.order_by("pk"))
    chosen = [one for one in found if one.team_id == user.chosen_team_id]
    return next((one.team for one in [*chosen, *found]), None)


def writing_team(user: User | AnonymousUser) -> Team:
    """The same; PermissionDenied where the user may write in none."""
    team = working_team(user)
    if team is None:
        raise PermissionDenied("You may read in your teams, but write in none.")
    return team


def local_user() -> User:
    """The user who is signed in on loopback, owner of team "local"; made on first use, without a password."""
    of_local = Membership.objects.filter(team__name=LOCAL, user__username=LOCAL).select_related("user").first()
    return of_local.user if of_local else _new_local_user()  # a page that is only read must not wait for a writer


@transaction.atomic
def _new_local_user() -> User:
    user, made = User.objects.get_or_create(username=LOCAL, defaults={"first_name": "Local user"})
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    team, _ = Team.objects.get_or_create(name=LOCAL)
    member, joined = Membership.objects.get_or_create(team=team, user=user, defaults={"role": Role.OWNER})
    if joined:
        audit.record(team, user, "first owner", member, {"role": (None, member.role)}, name=str(user))
    return user
