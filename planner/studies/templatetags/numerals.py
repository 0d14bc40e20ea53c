"""planner.numerals in templates."""

from django import template

from planner import numerals

register = template.Library()
register.filter("short", numerals.short)
register.filter("exact", numerals.exact)
register.filter("usd", numerals.usd)
register.filter("cents", numerals.cents)
register.filter("change", numerals.change)
register.filter("share", numerals.share)
register.filter("duration", numerals.duration)


@register.filter
def opening(text: str) -> str:
    """The text with a capital first letter, but for names that are written without one (``vLLM``)."""
    return text if text[1:2].isupper() else text[:1].upper() + text[1:]
