"""What is said right after something was deleted: that it can be put back, and where."""

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse


def say_deleted(request: HttpRequest, words: str, kind: str, pk: int) -> None:
    """On the next page, with a button that undoes it: base.html posts to what a message has as its extra tags."""
    messages.success(request, words, extra_tags=reverse("deleted:restore", args=[kind, pk]))
