"""Audit log page: who changed what and when, filtered by user, kind and date."""

from collections.abc import Collection, Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.http import HttpResponse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.audit.action_labels import ENTITY_LABELS
from companies.audit.changes import build_audit_changes
from companies.audit.names import API_KEY_ACTOR_PREFIX, find_actor_names, format_key_name
from companies.models import ApiKey, AuditEntry, Membership
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission

ENTRIES_PER_PAGE = 36  # entries take several lines on a small screen
SERVICE_ACTOR = "service"  # actor without a user or key
FILTER_FIELDS = ("person", "kind", "from", "to", "thing")
INVALID_DATE_TEXT = gettext_lazy("Enter a date such as 2026-03-31.")


@company_page(reads=Permission.AUDIT_READ)
def show_audit_log(page: CompanyPage) -> HttpResponse:
    """Show the matching audit entries, newest first, with the changed fields."""
    form = BoundForm(values={name: page.request.GET.get(name, "").strip() for name in FILTER_FIELDS})
    actor_choices = list_actor_choices(page)
    rows, cursor = page.paginate(
        filter_audit_entries(page, form, actor_choices), order=("-time", "-id"), limit=ENTRIES_PER_PAGE
    )
    filter_query = page.request.GET.copy()
    filter_query.pop("cursor", None)
    return page.render(
        "companies/settings/audit_log.html",
        status=400 if form.errors else 200,
        section="activity",
        changes=build_audit_changes(page, rows, shows_all_fields=bool(form.values["thing"])),
        cursor=cursor,
        form=form,
        narrowed=any(form.values.values()),
        query=filter_query.urlencode(),
        people=actor_choices,
        kinds=sorted(((value, str(label)) for value, label in ENTITY_LABELS.items()), key=lambda each: each[1]),
    )


def filter_audit_entries(page: CompanyPage, form: BoundForm, actor_choices: Iterable[tuple[str, str]]) -> Any:
    """Filter the entries by the form; with errors the result is empty."""
    rows, filters = AuditEntry.objects.for_company(page.company.id), form.values
    check_filters(form, actor_choices)
    if filters["person"]:
        rows = rows.filter(actor=None if filters["person"] == SERVICE_ACTOR else filters["person"])
    if filters["kind"]:
        rows = rows.filter(entity_type=filters["kind"])
    if filters["thing"]:
        rows = rows.filter(entity_id=filters["thing"]) if "\0" not in filters["thing"] else rows.none()
    first_day, last_day = parse_filter_date(form, "from"), parse_filter_date(form, "to")
    if first_day and last_day and last_day < first_day:
        form.errors["to"] = _("Must not be before the first day.")
    if first_day:
        rows = rows.filter(time__gte=to_midnight(first_day))
    if last_day and last_day < date.max:
        rows = rows.filter(time__lt=to_midnight(last_day) + timedelta(days=1))
    return rows.none() if form.errors else rows


def check_filters(form: BoundForm, actor_choices: Iterable[tuple[str, str]]) -> None:
    """Add what is not known of the filters to the form's errors."""
    filters = form.values
    if filters["person"] and filters["person"] not in dict(actor_choices):
        form.errors["person"] = _("Choose one of the options.")
    if filters["kind"] and filters["kind"] not in ENTITY_LABELS:
        form.errors["kind"] = _("Choose one of the options.")


def parse_filter_date(form: BoundForm, name: str) -> date | None:
    """Parse a date of the form; None if empty or invalid, which is added to the form's errors."""
    text = form.values[name]
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        form.errors[name] = str(INVALID_DATE_TEXT)
        return None


def to_midnight(day: date) -> datetime:
    """Return the start of a day as a time in UTC."""
    return datetime.combine(day, time(), UTC)


def list_former_members(page: CompanyPage, *, known_ids: Collection[str]) -> dict[str, str]:
    """Return actor -> name of the people in the log who are no members any more, by name."""
    entries = AuditEntry.objects.for_company(page.company.id).exclude(actor=None)
    actors = entries.exclude(actor__startswith=API_KEY_ACTOR_PREFIX).order_by().values_list("actor", flat=True)
    former_ids = {actor for actor in actors.distinct() if actor} - set(known_ids)
    names = find_actor_names(page, former_ids).items()
    unknown_name = _("a former member")  # of those whose account was deleted
    labels = {
        actor: capfirst(name) if name == unknown_name else _("{name} (former member)").format(name=name)
        for actor, name in names
    }
    return dict(sorted(labels.items(), key=lambda each: each[1]))


def list_actor_choices(page: CompanyPage) -> list[tuple[str, str]]:
    """Return the members, former members and keys to filter by, as far as the user may see them."""
    own_id = page.audit_context.user_id
    choices_by_actor = {str(own_id): _("Me")}
    if page.has_permission(Permission.MEMBERS_MANAGE):
        rows = Membership.objects.for_company(page.company.id).active().with_users()
        choices_by_actor |= {
            str(row.user_id): row.display_name for row in rows if row.is_known and row.user_id != own_id
        }
        choices_by_actor |= list_former_members(page, known_ids=choices_by_actor.keys())
    if page.has_permission(Permission.API_KEYS_MANAGE):
        keys = ApiKey.objects.for_company(page.company.id).order_by("name")
        choices_by_actor |= {f"{API_KEY_ACTOR_PREFIX}{key.id}": format_key_name(key) for key in keys}
    return [*choices_by_actor.items(), (SERVICE_ACTOR, _("System"))]
