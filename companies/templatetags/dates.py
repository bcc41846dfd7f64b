"""Days as the reader's place writes them, in every template: the framework's own filter knows of nobody."""

from typing import Any

from django import template
from django.template.defaultfilters import date as framework_date

from companies.locales import current

register = template.Library()
OURS = "j M Y"  # how templates name a day; what else a format asks for stays as it says


@register.filter(expects_localtime=True, is_safe=False)
def date(value: Any, form: str | None = None) -> str:
    """The framework's, but ``j M Y`` is a day as the reader writes it."""
    return framework_date(value, form.replace(OURS, current().day) if form else form)


@register.simple_tag
def locale() -> str:
    """The tag of the reader's locale, for scripts."""
    return current().spoken
