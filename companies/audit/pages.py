"""Audit log page: who changed what and when, filtered by user, kind and date."""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.audit.action_labels import ACTION_PHRASES, COUNT_FIELDS, ENTITY_LABELS, format_action, get_object_name
from companies.audit.field_labels import get_code_label, get_field_label, to_plain_words
from companies.hooks import AUDIT_FACTS, AUDIT_LABELS, AUDITED_MODELS
from companies.models import ApiKey, AuditEntry, Membership, User, build_recent_condition, parse_id
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission

ENTRIES_PER_PAGE = 36  # entries take several lines on a small screen
MAX_SHOWN_FIELDS = 5  # changed fields per entry
MAX_VALUE_LENGTH = 40  # characters of a value
HIDDEN_FIELDS = {
    "adoption",  # of a scenario, as are its changes: described by AUDIT_FACTS
    "changes",
    "id", "owner", "storage_path", "content_type", "file_extension",
    "created_time", "created_user_id", "last_updated_time", "last_updated_user_id",
}  # fmt: skip
API_KEY_ACTOR_PREFIX = "apiKey:"
UNDO_ACTION = "transactions.runTakenBack"
CAMEL_CASE_PATTERN = re.compile(r"[a-z]+(?:[A-Z][a-z]+)+")  # transactionDate
SERVICE_ACTOR = "service"  # actor without a user or key
FILTER_FIELDS = ("person", "kind", "from", "to", "thing")
ID_PATTERN = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
INVALID_DATE_TEXT = gettext_lazy("Enter a date such as 2026-03-31.")


@company_page(reads=Permission.AUDIT_READ)
def show_audit_log(page: CompanyPage) -> HttpResponse:
    """Show the matching audit entries, newest first, each as a sentence."""
    form = BoundForm(values={name: page.request.GET.get(name, "").replace("\0", "").strip() for name in FILTER_FIELDS})
    recent = build_recent_condition(page.audit_context.time)
    rows, cursor = page.paginate(
        filter_audit_entries(page, form), order=("-time", "-id"), limit=ENTRIES_PER_PAGE, recent=recent
    )
    people = find_actor_names(page, {row.actor for row in rows if row.actor})
    things = find_entity_names(page, rows)
    described_facts = describe_audit_entries(page, rows)
    filter_query = page.request.GET.copy()
    filter_query.pop("cursor", None)
    return page.render(
        "companies/settings/audit_log.html",
        status=400 if form.errors else 200,
        section="activity",
        entries=[
            build_entry_line(
                row,
                people,
                things,
                hides=is_entity_hidden(page, row.entity_type),
                described_facts=described_facts.get(row.id, ()),
            )
            for row in rows
        ],
        cursor=cursor,
        form=form,
        narrowed=any(form.values.values()),
        query=filter_query.urlencode(),
        people=list_actor_choices(page),
        kinds=sorted(((value, str(label)) for value, label in ENTITY_LABELS.items()), key=lambda each: each[1]),
    )


def filter_audit_entries(page: CompanyPage, form: BoundForm) -> Any:
    """Filter the entries by the form; with errors the result is empty."""
    rows, filters = AuditEntry.objects.for_company(page.company.id), form.values
    if filters["person"]:
        rows = rows.filter(actor=None if filters["person"] == SERVICE_ACTOR else filters["person"])
    if filters["kind"]:
        rows = rows.filter(entity_type=filters["kind"])
    if filters["thing"]:
        rows = rows.filter(entity_id=filters["thing"])
    if first_day := parse_filter_date(form, "from"):
        rows = rows.filter(time__gte=to_midnight(first_day))
    if (last_day := parse_filter_date(form, "to")) and last_day < date.max:
        rows = rows.filter(time__lt=to_midnight(last_day) + timedelta(days=1))
    return rows.none() if form.errors else rows


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


def list_actor_choices(page: CompanyPage) -> list[tuple[str, str]]:
    """Return the members and keys to filter by, as far as the user may see them."""
    own_id = page.audit_context.user_id
    choices_by_actor = {str(own_id): _("Me")}
    if page.has_permission(Permission.MEMBERS_MANAGE):
        rows = Membership.objects.for_company(page.company.id).active().with_users()
        choices_by_actor |= {
            str(row.user_id): row.display_name for row in rows if row.is_known and row.user_id != own_id
        }
    if page.has_permission(Permission.API_KEYS_MANAGE):
        keys = ApiKey.objects.for_company(page.company.id).order_by("name")
        choices_by_actor |= {f"{API_KEY_ACTOR_PREFIX}{key.id}": format_key_name(key) for key in keys}
    return [*choices_by_actor.items(), (SERVICE_ACTOR, _("System"))]


def format_key_name(key: ApiKey) -> str:
    """Format the name of a key."""
    return _("API key “{name}”").format(name=key.name)


def is_entity_hidden(page: CompanyPage, kind: str) -> bool:
    """Return whether the user may not see entities of this kind, nor the name of a deleted one."""
    audited = AUDITED_MODELS.get(kind)
    return audited is not None and not page.has_permission(audited.permission)


def build_entry_line(
    row: AuditEntry,
    people: dict[str, str],
    things: dict[tuple[str, str], str],
    *,
    hides: bool = False,
    described_facts: Iterable[tuple[str, str, str]] = (),
) -> dict[str, Any]:
    """Build one line: actor, action and changed fields."""
    before, after = row.before or {}, row.after or {}
    name = things.get((row.entity_type, row.entity_id)) or ("" if hides else get_object_name(before, after))
    return {
        "row": row,
        "actor": people.get(row.actor or "", _("System")),
        "did": format_action(row.action, name=name, before=before, after=after),
        "facts": [
            *(fact for fact in list_changed_fields(row) if {*fact[1:]} != {"", name}),  # the sentence has the name
            *described_facts,
        ],
        "new": not before,
    }


def describe_audit_entries(page: CompanyPage, rows: Iterable[AuditEntry]) -> dict[UUID, list[tuple[str, str, str]]]:
    """Return what apps describe of entries that the user may see, by id of the entry."""
    entries_by_type: dict[str, list[AuditEntry]] = {}
    for row in rows:
        if row.entity_type in AUDIT_FACTS and not is_entity_hidden(page, row.entity_type):
            entries_by_type.setdefault(row.entity_type, []).append(row)
    facts_by_entry: dict[UUID, list[tuple[str, str, str]]] = {}
    for kind, entries in entries_by_type.items():
        facts_by_entry |= AUDIT_FACTS[kind](page, entries)
    return facts_by_entry


def find_entity_names(page: CompanyPage, rows: Iterable[AuditEntry]) -> dict[tuple[str, str], str]:
    """Return the names of entities that still exist and the user may see, by type and id; one query per type."""
    ids_by_type: dict[str, set[str]] = {}
    for row in rows:
        audited = AUDITED_MODELS.get(row.entity_type)
        if audited and page.has_permission(audited.permission) and parse_id(row.entity_id):
            ids_by_type.setdefault(row.entity_type, set()).add(row.entity_id)
    names_by_entity = {}
    for kind, ids in ids_by_type.items():
        model: Any = AUDITED_MODELS[kind].model
        entities = model.objects.for_company(page.company.id).filter(id__in=ids)
        for entity in entities.with_users() if kind == "member" else entities:
            names_by_entity[kind, str(entity.id)] = getattr(entity, "display_name", None) or str(entity)
    return names_by_entity


def find_actor_names(page: CompanyPage, actors: Iterable[str]) -> dict[str, str]:
    """Return the names of actors, in two queries; unknown ones get a placeholder.

    Keys and other users are named only to those who manage them, as in the API.
    """
    keys = {actor for actor in actors if actor.startswith(API_KEY_ACTOR_PREFIX)}
    people = {actor for actor in actors if not actor.startswith(API_KEY_ACTOR_PREFIX)}
    names_by_actor = dict.fromkeys(keys, _("a deleted API key")) | dict.fromkeys(people, _("a former member"))
    if page.has_permission(Permission.API_KEYS_MANAGE):
        rows = ApiKey.objects.for_company(page.company.id).filter(
            id__in=[key.removeprefix(API_KEY_ACTOR_PREFIX) for key in keys]
        )
        names_by_actor |= {f"{API_KEY_ACTOR_PREFIX}{key.id}": format_key_name(key) for key in rows}
    else:
        names_by_actor |= dict.fromkeys(keys, _("an API key"))
    if not page.has_permission(Permission.MEMBERS_MANAGE):
        names_by_actor |= dict.fromkeys(people, _("another person"))
        people &= {str(page.audit_context.user_id)}
    return names_by_actor | {str(user.pk): user.display_name for user in User.objects.filter(pk__in=people)}


def list_changed_fields(row: AuditEntry) -> list[tuple[str, str, str]]:
    """Return (field, before, after) of the changed fields, at most MAX_SHOWN_FIELDS; ids are left out."""
    before, after = row.before or {}, row.after or {}
    names = [name for name in {**before, **after} if name not in HIDDEN_FIELDS and not is_id_field(name)]
    changes = [
        (
            get_field_label(name),
            format_short_value(translate_code(name, before.get(name))),
            format_short_value(translate_code(name, after.get(name))),
        )
        for name in names
        if before.get(name) != after.get(name) and not is_field_in_sentence(name, row)
    ]
    return [each for each in changes if each[1] != each[2]][:MAX_SHOWN_FIELDS]


def is_field_in_sentence(name: str, row: AuditEntry) -> bool:
    """Return whether the sentence already contains the field, or it has nothing to show."""
    if row.action == UNDO_ACTION and (name == "act" or not (row.after or {}).get(name)):
        return True
    alone = {**(row.before or {}), **(row.after or {})}.keys() == {"order"}
    return (name in COUNT_FIELDS and row.action in ACTION_PHRASES) or alone


def translate_code(name: str, value: Any) -> Any:
    """Translate a code with the labels that pages use for it: cac → Sales and marketing."""
    if name not in AUDIT_LABELS:
        return get_code_label(name, value)
    labels_by_code = {str(code): str(word) for code, word in AUDIT_LABELS[name].items()}
    if isinstance(value, list):
        return [labels_by_code.get(each, each) for each in value]
    return labels_by_code.get(value, value)


def is_id_field(name: str) -> bool:
    """Return whether a field contains an id, or is named by one, as the categorizations of a transaction are."""
    return name.endswith("_id") or bool(ID_PATTERN.fullmatch(name))


def format_short_value(value: Any) -> str:
    """Format a stored JSON value, truncated."""
    text = format_value(value)
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[: MAX_VALUE_LENGTH - 1]}…"


def format_value(value: Any) -> str:
    """Format a stored JSON value: ["a", "b"] → a, b; {"countryCode": "DE"} → country code DE; true → yes; for
    ids their count.
    """
    match value:
        case None:
            return ""
        case bool():
            return _("yes") if value else _("no")
        case list() if value and all(isinstance(each, str) and ID_PATTERN.fullmatch(each) for each in value):
            return str(len(value))
        case list():
            return ", ".join(map(format_value, value))
        case dict():
            texts_by_field = {
                name: format_value(get_code_label(name, each)) for name, each in value.items() if not is_id_field(name)
            }
            return ", ".join(f"{get_field_label(name)} {text}" for name, text in texts_by_field.items() if text)
        case str() if ID_PATTERN.fullmatch(value):
            return ""
        case str() if CAMEL_CASE_PATTERN.fullmatch(value):
            return to_plain_words(value)
        case _:
            return str(value)
