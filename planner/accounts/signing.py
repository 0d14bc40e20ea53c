"""What happens to an account alone, in no team: made, changed, signed in, locked out, given a new password. Its owner
sees this history; no address is kept in it, as in no log."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from planner.accounts import audit
from planner.accounts.models import User


@transaction.atomic
def change(user: User, form: Any) -> None:
    """Saves the form of somebody's own account."""
    names = list(form.changed_data)
    before = User.objects.filter(pk=user.pk).values(*names).get() if names else {}
    form.save()
    told = audit.changed(before, audit.values(form.instance, names))
    if told:
        audit.record(None, user, "changed the account", user, {name: _shown(name, pair) for name, pair in told.items()})


@transaction.atomic
def join(form: Any) -> User:
    """Saves the form of a new account."""
    user: User = form.save()
    audit.record(None, user, "made the account", user)
    return user


@transaction.atomic
def signed_in(user: AbstractBaseUser) -> None:
    audit.record(None, _user(user), "signed in", user)


@transaction.atomic
def locked_out(name: str) -> None:
    """After too many failed tries under somebody's name; of a name that is nobody's nothing is kept."""
    user = User.objects.filter(username__iexact=name).first()
    if user is not None:
        audit.record(None, None, "was locked out for a while", user)


def password_set(user: AbstractBaseUser, how: str) -> None:
    """Within the transaction that saves it."""
    audit.record(None, _user(user), how, user, {"password": ("", "")})


def _user(user: AbstractBaseUser) -> User:
    assert isinstance(user, User)  # noqa: S101 - settings.AUTH_USER_MODEL
    return user


def _shown(name: str, pair: tuple[Any, Any]) -> tuple[Any, Any]:
    """A mail address only as far as one recognises one's own: entries are never removed."""
    return (_masked(pair[0]), _masked(pair[1])) if name == "email" else pair


def _masked(address: str) -> str | None:
    name, _, host = (address or "").rpartition("@")
    return f"{name[:1]}…@{host}" if address else None
