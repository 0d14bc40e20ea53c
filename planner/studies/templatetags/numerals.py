"""planner.numerals in templates."""

from django import template

from planner import numerals

register = template.Library()
register.filter("short", numerals.short)
register.filter("exact", numerals.exact)
register.filter("usd", numerals.usd)
register.filter("share", numerals.share)
register.filter("duration", numerals.duration)
