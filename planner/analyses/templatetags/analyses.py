"""The sections of a result in its page."""

from collections.abc import Mapping
from typing import Any

from django import template

register = template.Library()


@register.inclusion_tag("analyses/_one.html", takes_context=True)
def analysis(context: template.Context, name: str, **given: Any) -> dict[str, Any]:
    """One kind with these parameters, in the place where it belongs. Whoever has only a link to the study sees it once
    it says something."""
    from planner.accounts.owned import Guest
    from planner.analyses.page import section

    found = section(context["study"], name, given, _query(context)).opened
    hidden = isinstance(context["user"], Guest) and found.said is None
    taken = {name: context.get(name) for name in ("study", "user", "can_edit", "csrf_token")}
    return taken | {"section": None if hidden else found}


@register.inclusion_tag("analyses/_all.html", takes_context=True)
def analyses(context: template.Context) -> dict[str, Any]:
    """All of a study's sections. Whoever may not edit it sees what has been found, and asks for nothing."""
    from planner.analyses.page import sections  # not to load simcore where tags are only listed

    study, user = context["study"], context["user"]
    return {
        "study": study,
        "user": user,
        "sections": sections(study, user, _query(context)),
        "can_edit": context["can_edit"],
        "csrf_token": context.get("csrf_token"),
        "moves_query": context["result_page"].own_query,
    }


def _query(context: template.Context) -> Mapping[str, Any]:
    """Of the page's address: what is supposed there, and what is open."""
    page = context.get("result_page")
    return page.query or {} if page else {}
