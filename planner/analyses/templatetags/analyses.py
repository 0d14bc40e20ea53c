"""The sections of a result in its page."""

from typing import Any

from django import template

register = template.Library()


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
