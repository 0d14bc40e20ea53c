"""A page knows its person, or refuses."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.test import RequestFactory
from django.utils.functional import SimpleLazyObject

from planner.accounts.models import User
from planner.accounts.visitor import person


def test_the_signed_in_user_is_given_lazy_or_not(alice: User, rf: RequestFactory) -> None:
    request = rf.get("/")
    request.user = SimpleLazyObject(lambda: alice)  # type: ignore[assignment]
    assert person(request) == alice


def test_a_visitor_is_refused(rf: RequestFactory) -> None:
    request = rf.get("/")
    request.user = AnonymousUser()
    with pytest.raises(PermissionDenied):
        person(request)
