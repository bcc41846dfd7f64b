"""Template tags and filters of all pages."""

import functools
from datetime import datetime
from decimal import Decimal
from typing import Any

from django import template
from django.conf import settings
from django.http import QueryDict
from django.template import Context
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy

from companies.auth.access import Access
from companies.auth.log_translations import translate_log_entry
from companies.locales import get_current_locale
from companies.models import generate_id
from companies.pages.amount_formats import format_amount_for_input, format_money
from companies.pages.company_switcher import list_other_companies
from companies.pages.double_submit import SUBMISSION_FIELD
from companies.pages.forms import BoundForm
from companies.pages.navigation import NavigationLink, SettingsLink, list_navigation_links, list_settings_links
from companies.pages.settings.role_labels import get_role_label
from companies.pages.table_csv import CURSOR_PARAMETER, TABLE_PARAMETER

register = template.Library()
register.filter("money", format_money)
register.filter("as_typed", format_amount_for_input)
register.filter("role", get_role_label)
register.filter("log_text", translate_log_entry)
TILE_TONES = 6
AGO_STEPS = (
    (60, ngettext_lazy("{count} minute ago", "{count} minutes ago", "count"), 60),
    (24, ngettext_lazy("{count} hour ago", "{count} hours ago", "count"), 3600),
    (30, ngettext_lazy("{count} day ago", "{count} days ago", "count"), 86400),
    (12, ngettext_lazy("{count} month ago", "{count} months ago", "count"), 30 * 86400),
)


@register.simple_tag(name="mark")
def render_logo_mark(size: int) -> SafeString:
    """Render our logo mark inline: as a separate file it would load after the first paint."""
    return format_html(
        '<svg viewBox="0 0 32 32" width="{0}" height="{0}" aria-hidden="true">{1}</svg>', size, load_logo_mark_svg()
    )


@functools.cache
def load_logo_mark_svg() -> SafeString:
    """Return the content of the logo mark's SVG file."""
    text = (settings.ROOT / "static" / "mark.svg").read_text()
    inside = text[text.index(">") + 1 : text.rindex("</svg>")]
    return mark_safe(inside.strip().replace("\n  ", ""))  # noqa: S308 - our own file


@register.inclusion_tag("companies/tile.html", name="tile")
def build_company_logo_context(name: str, path: str | None = None, size: str = "") -> dict[str, Any]:
    """Context of a company's logo, or the first letter of its name on a stable colour."""
    letter = next((sign for sign in name if sign.isalnum()), "·").upper()
    url = f"{settings.ASSETS_URL}/{path}" if path else None
    return {"url": url, "letter": letter, "tone": sum(name.encode()) % TILE_TONES, "size": size}


@register.inclusion_tag("companies/company_switcher.html", takes_context=True, name="switcher")
def build_switcher_context(context: Context) -> dict[str, Any]:
    """Context of the company switcher."""
    company = context["company"]
    part = context.get("tab") or ""
    return {"company": company, "others": list_other_companies(context["request"], company, part=part)}


@register.inclusion_tag("table_csv.html", takes_context=True, name="table_csv")
def build_table_link_context(context: Context, name: str, title: str) -> dict[str, Any]:
    """Context of the link that downloads the table of the page with this ``data-table``."""
    query = context["request"].GET.copy() if "request" in context else QueryDict(mutable=True)
    query.pop(CURSOR_PARAMETER, None)
    query[TABLE_PARAMETER] = name
    return {"query": query.urlencode(), "title": title}


@register.filter(name="navigation_links")
def list_access_navigation_links(access: Access) -> list[NavigationLink]:
    """Return the parts of a company that the member may see."""
    return list_navigation_links(access.permissions)


@register.filter(name="settings_links")
def list_access_settings_links(access: Access, section: str) -> list[SettingsLink]:
    """Return the sections of the settings that a membership may see."""
    return list_settings_links(access.permissions, current_section=section)


@register.simple_tag(takes_context=True, name="sheet_amount")
def format_sheet_amount(context: Context, amount: Decimal) -> str:
    """Format an amount of a sheet in the style of the page."""
    return str(context["style"].format_amount(amount, context["company"].base_currency))


@register.filter(name="ago")
def format_time_ago(moment: datetime | None) -> str:
    """Format a time as an age: 3 hours ago."""
    if moment is None:
        return _("never")
    seconds = (timezone.now() - moment).total_seconds()
    if seconds < 60:
        return _("just now")
    for max_count, phrase, unit_seconds in AGO_STEPS:
        count = int(seconds // unit_seconds)
        if count < max_count:
            return phrase.format(count=count)
    return get_current_locale().format_day(moment)


@register.filter(name="day")
def format_day(moment: datetime | None) -> str:
    """Format a date in the user's locale: 31 Jan 2026."""
    return get_current_locale().format_day(moment) if moment else _("never")


@register.filter(name="size")
def format_file_size(count: int) -> str:
    """Format a file size in the user's locale: 2.2 KB."""
    return filesizeformat(count).replace(".", get_current_locale().decimal)


@register.filter(name="of")
def get_label_for_key(names: dict[Any, str], key: Any) -> str | None:
    """Return the label of a key."""
    return names.get(key)


@register.filter(name="grouped")
def format_grouped_number(count: int) -> str:
    """Format a count: 20,000."""
    return get_current_locale().format_number(count)


@register.simple_tag(name="once")
def render_submission_field() -> str:
    """Render the hidden field of double-submit protection."""
    return format_html('<input type="hidden" name="{}" value="{}">', SUBMISSION_FIELD, generate_id())


@register.simple_tag(name="invalid")
def render_invalid_attributes(form: BoundForm, name: str) -> str:
    """Render the attributes of a field with an error."""
    if name not in form.errors:
        return ""
    return format_html(' aria-invalid="true" aria-describedby="{}-error"', name)


@register.simple_tag(name="field_error")
def render_field_error(form: BoundForm, name: str) -> str:
    """Render the error of a field below it."""
    if name not in form.errors:
        return ""
    return format_html('<p class="field-error" id="{}-error">{}</p>', name, form.errors[name])
