"""Views that are named in an app's ``urls`` and loaded when one is first asked for.

They bring in forms, simcore, NumPy and the REST framework, most of what a process loads; none of it is wanted to check
or migrate, to find an address, or to answer /healthz. ``python manage.py check --deploy`` and the tests load them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, URLResolver
from django.utils.module_loading import import_string

READ_OF_A_VIEW = frozenset({"csrf_exempt", "login_required"})
"""What middleware asks of the view that it is about to call."""


class LazyView:
    """The view of a dotted path: a function, or a class that has ``as_view``."""

    def __init__(self, path: str) -> None:
        self.path = path

    @cached_property
    def view(self) -> Callable[..., HttpResponseBase]:
        found: Any = import_string(self.path)
        loaded: Callable[..., HttpResponseBase] = found.as_view() if hasattr(found, "as_view") else found
        return loaded

    def __call__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return self.view(request, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in READ_OF_A_VIEW:
            return getattr(self.view, name)
        raise AttributeError(name)

    def __repr__(self) -> str:
        return f"<view {self.path}>"


def views_of(module: str) -> Callable[[str], LazyView]:
    """``view = views_of("planner.studies.views")`` makes ``view("result")`` the view of that name there."""
    return lambda name: LazyView(f"{module}.{name}")


def lazy_views(resolver: URLResolver) -> Iterator[LazyView]:
    """All of them under an address."""
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            yield from lazy_views(entry)
        elif isinstance(entry, URLPattern) and isinstance(entry.callback, LazyView):
            yield entry.callback
