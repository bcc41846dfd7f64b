"""Template filters for dates in the user's locale."""

from typing import Any

from django import template
from django.template.defaultfilters import date as framework_date

from companies.locales import get_current_locale

register = template.Library()
DAY_FORMAT = "j M Y"  # the format that is localized; others stay


@register.filter(expects_localtime=True, is_safe=False, name="date")
def format_date(value: Any, form: str | None = None) -> str:
    """Django's date filter, with ``j M Y`` formatted in the user's locale."""
    return framework_date(value, form.replace(DAY_FORMAT, get_current_locale().day_format) if form else form)


@register.simple_tag(name="locale")
def get_locale_tag() -> str:
    """Return the tag of the user's locale, for scripts."""
    return get_current_locale().language_tag
