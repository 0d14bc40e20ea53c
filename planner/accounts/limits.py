"""How often something may be tried, counted in the database, so that all processes and servers count alike."""

import hashlib
import hmac
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from django.conf import settings
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from planner.accounts.models import Attempts

FORGOTTEN_S = 86_400


@dataclass(frozen=True)
class Limit:
    """At most so many tries within a time that begins with the first of them."""

    name: str
    most: int
    window_s: int

    def take(self, *of: str) -> int:
        """Counts one try before it is made, so that many at once gain nothing; the seconds to wait if it is one too
        many, else 0."""
        now, key = timezone.now(), self._key(of)
        window = timedelta(seconds=self.window_s)
        Attempts.objects.filter(key=key, since__lte=now - window).update(count=0, since=now)
        row, made = Attempts.objects.get_or_create(key=key, defaults={"since": now})
        if made:
            Attempts.objects.filter(since__lt=now - timedelta(seconds=FORGOTTEN_S)).delete()
        if Attempts.objects.filter(key=key, count__lt=self.most).update(count=F("count") + 1):
            return 0
        return max(1, ceil((row.since + window - now).total_seconds()))

    def is_spent(self, *of: str) -> bool:
        """Whether the next try would be one too many."""
        return Attempts.objects.filter(key=self._key(of), count__gte=self.most).exists()

    def give_back(self, *of: str) -> None:
        """One try that does not count after all."""
        Attempts.objects.filter(key=self._key(of), count__gt=0).update(count=F("count") - 1)

    def forget(self, *of: str) -> None:
        Attempts.objects.filter(key=self._key(of)).delete()

    def _key(self, of: tuple[str, ...]) -> str:
        text = "\n".join([self.name, *of])
        return hmac.new(settings.SECRET_KEY.encode(), text.encode(), hashlib.sha256).hexdigest()


def sign_in() -> Limit:
    """Failed sign-ins under one name from one address."""
    return Limit("sign-in", settings.SIGN_IN_FAILURES, settings.LOCK_OUT_S)


def sign_in_address() -> Limit:
    """Failed sign-ins from one address under any names: an office has one address, a guesser many names."""
    return Limit("sign-in-address", 10 * settings.SIGN_IN_FAILURES, settings.LOCK_OUT_S)


RESET_ADDRESS = Limit("reset-address", 10, 3600)
RESET_MAIL = Limit("reset-mail", 3, 3600)
"""Mails to one mailbox: beyond it none is sent, and the page says what it always says."""
JOIN_ADDRESS = Limit("join-address", 20, 3600)
"""Invitations opened to make an account, by address: names that are taken are not found out in bulk."""
LINKS_TRIED = Limit("links-tried", 100, 3600)
"""Links that open nothing, by address."""
FILES_FETCHED = Limit("files-fetched", 600, 3600)
"""A file by its link, by link: a spreadsheet asks once an hour for each of its cells that fetch."""


def address_of(request: HttpRequest) -> str:
    """Where a request is from; behind a proxy of ours what that saw, which is the last that the header lists."""
    if settings.BEHIND_PROXY:
        listed = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip()
        if listed:
            return str(listed)
    return str(request.META.get("REMOTE_ADDR", ""))


def too_many(response: HttpResponse, wait: int) -> HttpResponse:
    """The answer as a 429 that says when to come back."""
    response.status_code = 429
    response["Retry-After"] = str(wait)
    return response


def in_words(seconds: int) -> str:
    """``40 seconds``, ``15 minutes``."""
    if seconds < 90:
        return f"{seconds} second{'' if seconds == 1 else 's'}"
    return f"{ceil(seconds / 60)} minutes"
