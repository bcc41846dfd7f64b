"""Filters of the notices above a report."""

from collections.abc import Iterable

from django import template

from analytics.reports.notices import Notice, sort_notices

register = template.Library()


@register.filter(name="worst_first")
def sort_worst_first(notices: Iterable[Notice] | None) -> list[Notice]:
    """Return the notices with the most severe first."""
    return sort_notices(notices or ())
