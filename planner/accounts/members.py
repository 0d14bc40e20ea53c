"""Teams and who is in them: made, joined, left. Each change is kept (audit.py); no team is left without an owner."""

from django.core.exceptions import PermissionDenied
from django.db import transaction

from planner.accounts import audit
from planner.accounts.models import Membership, Role, Team, User
from planner.accounts.owned import EDITING_ROLES, token_of


class LastOwnerError(ValueError):
    """The team would be left without an owner."""

    def __init__(self, team: Team) -> None:
        super().__init__(f"Team {team.name} would have no owner; expected another owner first.")


@transaction.atomic
def make_team(user: User, name: str) -> Team:
    """A team of the user's own, which they work for from now on."""
    team = Team.objects.create(name=name)
    Membership.objects.create(team=team, user=user, role=Role.OWNER)
    audit.record(team, user, "made the team", team)
    work_for(user, team)
    return team


@transaction.atomic
def work_for(user: User, team: Team) -> None:
    """From now on what the user saves is this team's. PermissionDenied where they may not write."""
    if not Membership.objects.filter(user=user, team=team, role__in=EDITING_ROLES).exists():
        raise PermissionDenied("You may read in this team, but not write.")
    if user.chosen_team_id != team.pk:
        told = {"team": (user.chosen_team.name if user.chosen_team else None, team.name)}
        User.objects.filter(pk=user.pk).update(chosen_team=team)
        audit.record(None, user, "works for", user, told, name=team.name)
    user.chosen_team = team


@transaction.atomic
def add(team: Team, by: User, user: User, role: str, how: str = "added") -> Membership:
    """A member with this role; who is one already keeps theirs."""
    member, joined = Membership.objects.get_or_create(team=team, user=user, defaults={"role": role})
    if joined:
        audit.record(team, by, how, member, {"role": (None, role)}, name=str(user))
    return member


@transaction.atomic
def change_role(member: Membership, by: User, role: str) -> None:
    _locked(member.team)
    before = Membership.objects.get(pk=member.pk).role
    if before == role:
        return
    if before == Role.OWNER:
        _keep_an_owner(member)
    Membership.objects.filter(pk=member.pk).update(role=role)
    audit.record(member.team, by, "changed the role of", member, {"role": (before, role)}, name=str(member.user))


@transaction.atomic
def remove(member: Membership, by: User) -> None:
    """Also: leave. What they made stays the team's; their API tokens of the team open nothing more."""
    _locked(member.team)
    if Membership.objects.get(pk=member.pk).role == Role.OWNER:
        _keep_an_owner(member)
    Membership.objects.filter(pk=member.pk).delete()
    User.objects.filter(pk=member.user_id, chosen_team=member.team_id).update(chosen_team=None)
    how = "left" if by == member.user else "removed"
    audit.record(member.team, by, how, member, {"role": (member.role, None)}, name=str(member.user))


def require_owner(user: User, team: Team) -> None:
    if token_of(user) or not Membership.objects.filter(user=user, team=team, role=Role.OWNER).exists():
        raise PermissionDenied("Only owners of a team change who is in it.")


def known_to(user: User, team: Team) -> list[User]:
    """Whom the user works with in other teams, and may add by name: nobody finds out here who else has an account."""
    mine = Team.objects.filter(membership__user=user)
    others = User.objects.filter(membership__team__in=mine, is_active=True).exclude(membership__team=team)
    return list(others.distinct().order_by("username"))


def _locked(team: Team) -> None:
    """Two owners who remove each other at once wait here for one another."""
    Team.objects.select_for_update().get(pk=team.pk)


def _keep_an_owner(member: Membership) -> None:
    others = Membership.objects.filter(team=member.team_id, role=Role.OWNER, user__is_active=True).exclude(pk=member.pk)
    if not others.exists():
        raise LastOwnerError(member.team)
