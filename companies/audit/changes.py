"""Audit entries as changes: who did what and when, with the fields before and after. Pages show them as a table."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from companies.audit.action_labels import format_action
from companies.audit.field_labels import get_code_label, get_field_label, to_plain_words
from companies.audit.names import AuditNames, is_entity_hidden, load_audit_names
from companies.hooks import AUDIT_FIELDS, AUDIT_LABELS, AUDIT_LINKS
from companies.locales import get_current_locale
from companies.models import AuditEntry, parse_id
from companies.pages.amount_formats import MINUS, format_money
from companies.pages.context import CompanyPage
from companies.pages.table_csv import TABLE_PARAMETER

MAX_HISTORY_CHANGES = 50  # on the page of a record
MAX_RECORD_FIELDS = 4  # of a record that was created or deleted, among changes of others
MAX_VALUE_LENGTH = 120  # characters of a value
HIDDEN_COLUMNS = {
    "adoption", "changes", "legs", "merged_into",  # AUDIT_FIELDS shows what is in them
    "categorized_value", "transferred_value", "categorizations_auto_assigned",  # derived from categorizations
    "as_told", "company_id", "content_type", "file_extension", "first_id", "id", "ids", "import_batch_id", "import_id",
    "last_id", "other", "owner", "provider_data", "rule_ids", "storage_path", "told_time",
    "custom_logo_path", "due_time", "failures", "figures", "held_until", "last_number", "log_number", "matched_count",
    "old_salt_until", "rates_version", "selection", "site_logo_domain", "site_logo_path", "site_logo_time",
    "system_key", "created_time", "created_user_id", "last_updated_time", "last_updated_user_id",
}  # fmt: skip
HIDDEN_MEMBERS = {"answered", "isKept"}  # of import settings
FIRST_COLUMNS = (
    "name", "filename", "email", "amount_value", "date", "start_date", "account_id", "category_id", "from_to",
    "description",
)  # fmt: skip
AMOUNT_COLUMNS = {"amount", "amount_value", "max_amount", "min_amount", "pass_through_tax_amount", "settled_value"}
PERCENT_COLUMNS = {"pass_through_tax_percent", "percent", "standard_tax_percent"}
COUNT_COLUMNS = ("affected", "count", "deleted", "settled", "read_count", "deleted_count")
NAME_COLUMNS = ("name", "filename", "from_to", "description", "email", "url")
CAMEL_CASE_PATTERN = re.compile(r"[a-z]+(?:[A-Z][a-z]+)+")  # transactionDate
DIGEST_PATTERN = re.compile(r"[0-9a-f]{64}")
NUMBER_PATTERN = re.compile(r"-?\d+(\.\d+)?")
TIME_PATTERN = re.compile(r"\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?")


class FieldChange(NamedTuple):
    """A field with its texts before and after; an empty text is no value."""

    label: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditChange:
    """A change as pages show it."""

    time: datetime
    actor: str
    label: str  # what was done, such as "Transactions categorized (12)"
    name: str = ""  # of the record
    fields: Sequence[FieldChange] = field(default_factory=list)
    is_created: bool = False  # phones leave out the fields of a new record
    link: str = ""  # to the records of a change of many
    entity_type: str = ""
    entity_id: str = ""


def build_history_context(page: CompanyPage, changes: Sequence[AuditChange], record_id: UUID) -> dict[str, Any]:
    """Return what the template of a history shows: the latest changes, and a link to the others if there are more."""
    log_url = f"{reverse('activity', args=[page.company.id])}?thing={record_id}"
    return {
        "history": changes[:MAX_HISTORY_CHANGES],
        "history_url": log_url if len(changes) > MAX_HISTORY_CHANGES else "",
    }


def build_audit_changes(
    page: CompanyPage, rows: Sequence[AuditEntry], *, shows_all_fields: bool = False
) -> list[AuditChange]:
    """Return audit entries as changes, in the same order. The number of queries does not grow with the entries.

    Files have all fields of records that were created or deleted; pages have them with `shows_all_fields`.
    """
    shows_all_fields = shows_all_fields or TABLE_PARAMETER in page.request.GET
    max_fields = None if shows_all_fields else MAX_RECORD_FIELDS
    names = load_audit_names(page, rows)
    app_fields: dict[UUID, Sequence[FieldChange]] = {}
    for kind, read_fields in AUDIT_FIELDS.items():
        entries = [row for row in rows if row.entity_type == kind]
        if entries and not is_entity_hidden(page, kind):
            app_fields |= read_fields(entries, names)
    with timezone.override(page.company.time_zone):
        return [build_audit_change(row, names, app_fields.get(row.id, ()), max_fields=max_fields) for row in rows]


def build_audit_change(
    row: AuditEntry, names: AuditNames, app_fields: Sequence[FieldChange], *, max_fields: int | None
) -> AuditChange:
    """Return one entry as a change; without name and fields if the user may not see its record."""
    is_hidden = is_entity_hidden(names.page, row.entity_type)
    name = names.get_record_name(row.entity_type, row.entity_id)
    if not name and not is_hidden:
        name = get_stored_name(row.before or {}, row.after or {})
    count_column = find_count_column(row)
    fields = [] if is_hidden else list_changed_fields(row, names, shown_name=name, max_fields=max_fields)
    return AuditChange(
        time=row.time,
        actor=names.get_actor_name(row.actor),
        label=format_action(row.action, count=(row.after or {})[count_column] if count_column else None),
        name=name,
        fields=[*fields, *app_fields],
        is_created=row.action.endswith(".created"),
        link=AUDIT_LINKS[row.action](names.page, row) if row.action in AUDIT_LINKS else "",
        entity_type=row.entity_type,
        entity_id=row.entity_id,
    )


def get_stored_name(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the name of a record from its columns in the entry; "" if there is none."""
    candidates = (side.get(column) for column in NAME_COLUMNS for side in (after, before))
    return next((text for text in candidates if isinstance(text, str) and text), "")


def find_count_column(row: AuditEntry) -> str | None:
    """Return the column that counts the records of a change of many; None if there is none."""
    return next((each for each in COUNT_COLUMNS if type((row.after or {}).get(each)) is int), None)


def list_changed_fields(
    row: AuditEntry, names: AuditNames, *, shown_name: str, max_fields: int | None
) -> list[FieldChange]:
    """Return the fields that differ, the most important ones first. References that the user may not see are left out.

    Of a record that was created or deleted, only the first `max_fields` with a value.
    """
    before, after = row.before or {}, row.after or {}
    currency = names.get_currency(row.entity_type, row.entity_id)
    is_whole_record = not before or not after
    hidden = {*HIDDEN_COLUMNS, find_count_column(row), *({"amount_currency"} if is_whole_record else ())}
    formatters = [ValueFormatter(names, side.get("amount_currency") or currency) for side in (before, after)]
    fields = []
    for column in sort_columns({**before, **after}):
        values = before.get(column), after.get(column)
        if column in hidden or parse_id(column) or values[0] == values[1]:
            continue
        if is_whole_record and (not any(values) or shown_name in values):  # false, 0 and empty lists too
            continue
        texts = [formatter.format_short(column, value) for formatter, value in zip(formatters, values, strict=True)]
        if texts[0] != texts[1]:
            fields.append(FieldChange(get_column_label(column), *texts))
    return fields[:max_fields] if is_whole_record else fields


def sort_columns(columns: Iterable[str]) -> list[str]:
    """Sort columns: the important ones first, the others as they are."""
    names = list(columns)
    return sorted(names, key=lambda name: FIRST_COLUMNS.index(name) if name in FIRST_COLUMNS else len(FIRST_COLUMNS))


def get_column_label(column: str) -> str:
    """Return the label of a column; a date, as of a changed occurrence, is its own label."""
    time = parse_time(column)
    return format_time(time) if time else get_field_label(column)


def parse_time(text: str) -> datetime | None:
    """Parse a stored date or time; None if it is neither. Dates have no time zone."""
    try:
        return datetime.fromisoformat(text) if TIME_PATTERN.fullmatch(text) else None
    except ValueError:
        return None


def format_time(time: datetime) -> str:
    """Format a stored time, or the date if it is one."""
    if time.tzinfo is None:
        return get_current_locale().format_day(time)
    time = timezone.localtime(time)
    return f"{get_current_locale().format_day(time)} {time:%H:%M}"


@dataclass(frozen=True, slots=True)
class ValueFormatter:
    """Formats the values of one side of an entry."""

    names: AuditNames
    currency: str | None

    def format_short(self, column: str, value: Any) -> str:
        """Format a stored value, truncated."""
        text = self.format_value(column, value)
        return text if len(text) <= MAX_VALUE_LENGTH else f"{text[: MAX_VALUE_LENGTH - 1]}…"

    def format_value(self, column: str, value: Any) -> str:
        """Format a stored value: ["a", "b"] → a, b; {"countryCode": "DE"} → country code DE; true → yes; cac →
        Sales and marketing; an id → the name of its record.
        """
        match translate_code(column, value):
            case None:
                return ""
            case bool(value):
                return _("yes") if value else _("no")
            case int(value) if column == "order":
                return str(value + 1)
            case list(values):
                texts = [self.format_value(column, each) for each in values]
                return ", ".join(filter(None, texts)) or (str(len(values)) if values else "")
            case dict(values):
                return ", ".join(self.list_members(values))
            case str(text):
                return self.format_text(column, text)
            case other:
                return str(other)

    def format_text(self, column: str, text: str) -> str:
        if parse_id(text):
            return self.names.format_reference(column, text)
        if DIGEST_PATTERN.fullmatch(text):
            return ""
        if column in AMOUNT_COLUMNS and NUMBER_PATTERN.fullmatch(text):
            return self.format_amount(Decimal(text))
        if column in PERCENT_COLUMNS and NUMBER_PATTERN.fullmatch(text):
            return _("{percent}%").format(
                percent=get_current_locale().format_number(Decimal(f"{Decimal(text).normalize():f}"))
            )
        if CAMEL_CASE_PATTERN.fullmatch(text):
            return to_plain_words(text)
        time = parse_time(f"{text[:7]}-01" if column == "month" else text)
        if time and column == "month":
            return get_current_locale().format_month(time, full=True)
        return format_time(time) if time else text

    def format_amount(self, amount: Decimal | None) -> str:
        """Format an amount, with the currency if it is known; None is no text."""
        if amount is None:
            return ""
        if self.currency:
            return format_money(amount, self.currency)
        return get_current_locale().format_number(amount, max(2, count_decimals(amount))).replace("-", MINUS)

    def list_members(self, values: Mapping[str, Any]) -> Iterator[str]:
        """Yield the members of a stored object, such as: country code DE."""
        for name, value in values.items():
            if name not in HIDDEN_MEMBERS and (text := self.format_value(name, value)):
                yield f"{get_column_label(name)} {text}"


def count_decimals(number: Decimal) -> int:
    """Return how many decimals a number has, without zeros at the end."""
    return len(f"{number.normalize():f}".partition(".")[2])


def translate_code(column: str, value: Any) -> Any:
    """Translate a code with the label that pages use for it: cac → Sales and marketing."""
    if column not in AUDIT_LABELS:
        return get_code_label(column, value)
    labels_by_code = {str(code): str(label) for code, label in AUDIT_LABELS[column].items()}
    return labels_by_code.get(value, value) if isinstance(value, str) else value
