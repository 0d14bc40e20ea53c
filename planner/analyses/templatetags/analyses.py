"""The sections of a result in its page."""

from typing import Any

from django import template

register = template.Library()


@register.inclusion_tag("analyses/_one.html", takes_context=True)
def analysis(context: template.Context, name: str, **given: Any) -> dict[str, Any]:
    """One kind with these parameters, in the place where it belongs. Whoever has only a link to the study sees it once
    it says something."""
    from planner.accounts.owned import Guest
    from planner.analyses.page import section

    found = section(context["study"], name, given)
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
        "sections": sections(study, user),
        "can_edit": context["can_edit"],
        "csrf_token": context.get("csrf_token"),
    }
