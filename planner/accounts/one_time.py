"""Links by which somebody sets their own password, once: mailed by the reset page, or printed by manage.py."""

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from planner.accounts import audit
from planner.accounts.models import Membership, Role, Team, User


def password_path(user: User) -> str:
    """It holds until it is used, the password is set otherwise, or PASSWORD_RESET_TIMEOUT is over."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return reverse("accounts:reset", args=[uid, default_token_generator.make_token(user)])


def site_address() -> str:
    """Where people reach the server, as far as the settings say."""
    return str(next(iter([*filter(None, [settings.SITE]), *settings.CSRF_TRUSTED_ORIGINS]), "")).rstrip("/")


def somebody_can_sign_in() -> bool:
    """Whether anybody has a password; the local user of one machine never has."""
    return any(user.has_usable_password() for user in User.objects.filter(is_active=True).only("password"))


@transaction.atomic
def make_first_admin(name: str, email: str = "", team_name: str = "planners") -> User:
    """Somebody without a password yet, who owns a team; asked for again, the same person. ValueError where others can
    sign in already: they invite."""
    if somebody_can_sign_in():
        raise ValueError("somebody can sign in already; expected to be the first: an owner of a team invites others")
    user, made = User.objects.get_or_create(username=name, defaults={"email": email, "is_superuser": True})
    if made:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    team, _ = Team.objects.get_or_create(name=team_name)
    member, joined = Membership.objects.get_or_create(team=team, user=user, defaults={"role": Role.OWNER})
    if joined:
        audit.record(team, user, "first owner", member, {"role": (None, member.role)}, name=str(user))
    return user
