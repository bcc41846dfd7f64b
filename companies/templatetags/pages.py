"""Small words of the templates."""

import functools
from datetime import datetime
from typing import Any

from django import template
from django.conf import settings
from django.template import Context
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy

from companies.locales import current
from companies.models import new_id
from companies.pages.amounts import as_typed, money
from companies.pages.repeated import FIELD
from companies.pages.settings.roles import role_word
from companies.pages.switching import others
from companies.pages.typed import Typed
from companies.security.words_told import retold

register = template.Library()
register.filter("money", money)
register.filter("as_typed", as_typed)
register.filter("role", role_word)
register.filter("told", retold)
TONES = 6
STEPS = (
    (60, ngettext_lazy("{count} minute ago", "{count} minutes ago", "count"), 60),
    (24, ngettext_lazy("{count} hour ago", "{count} hours ago", "count"), 3600),
    (30, ngettext_lazy("{count} day ago", "{count} days ago", "count"), 86400),
    (12, ngettext_lazy("{count} month ago", "{count} months ago", "count"), 30 * 86400),
)


@register.simple_tag
def mark(size: int) -> SafeString:
    """Our mark, pixels wide and high, within the page: asked for by itself it would come after the first paint."""
    return format_html('<svg viewBox="0 0 32 32" width="{0}" height="{0}" aria-hidden="true">{1}</svg>', size, drawn())


@functools.cache
def drawn() -> SafeString:
    """What the file of the mark has within its root."""
    text = (settings.ROOT / "static" / "mark.svg").read_text()
    inside = text[text.index(">") + 1 : text.rindex("</svg>")]
    return mark_safe(inside.strip().replace("\n  ", ""))  # noqa: S308 - our own file


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
        return _("never")
    seconds = (timezone.now() - moment).total_seconds()
    if seconds < 60:
        return _("just now")
    for most, told, length in STEPS:
        count = int(seconds // length)
        if count < most:
            return told.format(count=count)
    return current().day_of(moment)


@register.filter
def day(moment: datetime | None) -> str:
    """31 Jan 2026, or as the reader's place has it"""
    return current().day_of(moment) if moment else _("never")


@register.filter
def size(count: int) -> str:
    """2.2 KB, or as the reader's place has it"""
    return filesizeformat(count).replace(".", current().decimal)


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
