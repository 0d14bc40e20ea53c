"""``python manage.py check --deploy`` also loads every view, each of which is else loaded by its first visitor."""

from typing import Any

from django.core.checks import Error, register
from django.urls import get_resolver

from planner.lazy import lazy_views


@register(deploy=True)
def every_view_loads(app_configs: Any, **_: Any) -> list[Error]:
    found = []
    for lazy in lazy_views(get_resolver()):
        try:
            lazy.view  # noqa: B018
        except Exception as error:
            found.append(Error(f"{lazy} does not load: {type(error).__name__}: {error}", id="planner.E001"))
    return found
