"""Small words of the templates."""

from datetime import datetime
from typing import Any

from django import template
from django.conf import settings
from django.template import Context
from django.utils import timezone
from django.utils.html import format_html

from companies.locales import current
from companies.models import new_id
from companies.pages.amounts import as_typed, money
from companies.pages.repeated import FIELD
from companies.pages.switching import others
from companies.pages.typed import Typed

register = template.Library()
register.filter("money", money)
register.filter("as_typed", as_typed)
TONES = 6
STEPS = ((60, "minute", 60), (24, "hour", 3600), (30, "day", 86400), (12, "month", 30 * 86400))


@register.inclusion_tag("companies/tile.html")
def tile(name: str, path: str | None = None, size: str = "") -> dict[str, Any]:
    """A logo, or the first letter of the name on a colour that stays the same."""
    letter = next((sign for sign in name if sign.isalnum()), "·").upper()
    url = f"{settings.ASSETS_URL}/{path}" if path else None
    return {"url": url, "letter": letter, "tone": sum(name.encode()) % TONES, "size": size}


@register.inclusion_tag("companies/switcher.html", takes_context=True)
def switcher(context: Context) -> dict[str, Any]:
    """The company's name, and the way to the visitor's other ones."""
    company = context["company"]
    part = context.get("tab") or ""
    return {"company": company, "others": others(context["request"], company, part=part)}


@register.filter
def ago(moment: datetime | None) -> str:
    """3 hours ago"""
    if moment is None:
        return "never"
    seconds = (timezone.now() - moment).total_seconds()
    if seconds < 60:
        return "just now"
    for most, unit, length in STEPS:
        count = int(seconds // length)
        if count < most:
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return current().day_of(moment)


@register.filter
def day(moment: datetime | None) -> str:
    """31 Jan 2026, or as the reader's place has it"""
    return current().day_of(moment) if moment else "never"


@register.filter
def of(names: dict[Any, str], key: Any) -> str | None:
    """What a table of names says of a key."""
    return names.get(key)


@register.filter
def grouped(count: int) -> str:
    """20,000"""
    return current().number(count)


@register.simple_tag
def once() -> str:
    """For forms that make something new: sent twice, they make it once."""
    return format_html('<input type="hidden" name="{}" value="{}">', FIELD, new_id())


@register.simple_tag
def invalid(form: Typed, name: str) -> str:
    """The attributes of a field whose value was refused."""
    if name not in form.errors:
        return ""
    return format_html(' aria-invalid="true" aria-describedby="{}-error"', name)


@register.simple_tag
def field_error(form: Typed, name: str) -> str:
    """What is wrong with a field, below it."""
    if name not in form.errors:
        return ""
    return format_html('<p class="field-error" id="{}-error">{}</p>', name, form.errors[name])
