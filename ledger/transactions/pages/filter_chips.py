"""Filter chips of the transaction list: each active filter in words, with the address without it."""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companies.models import Membership, parse_id
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from companies.templatetags.pages import format_day, format_grouped_number
from ledger.calc.months import get_last_day_of_month
from ledger.models import Counterparty, ImportBatch
from ledger.transactions.pages.labels import (
    ASSIGNER_LABELS,
    CASH_PART_LABELS,
    LINE_LABELS,
    SOURCE_LABELS,
    LedgerNames,
    describe_assigners,
    to_choices,
)


def is_day_text(text: str) -> bool:
    """Return whether a month or day filter is a day."""
    return len(text) > len("2026-01")


DIRECTION_LABELS = {"in": _("Money in"), "out": _("Money out")}
FLAG_LABELS = {"true": _("yes"), "false": _("no")}
AMOUNT_FILTERS = {"minAmount", "maxAmount"}
DAY_PARSERS: Mapping[str, Callable[[str], datetime]] = {  # date and time filters -> the day that is shown
    "startDate": datetime.fromisoformat,
    "endDate": datetime.fromisoformat,
    "recognizedFrom": lambda text: datetime.fromisoformat(text if is_day_text(text) else f"{text}-01"),
    "recognizedTo": lambda text: datetime.combine(
        date.fromisoformat(text) if is_day_text(text) else get_last_day_of_month(date.fromisoformat(f"{text}-01")),
        time(),
    ),
    "recognizedBy": datetime.fromisoformat,
    "updatedSince": datetime.fromisoformat,
}
FILTER_LABELS = {
    "q": _("Text"),
    "startDate": _("From"),
    "endDate": _("To"),
    "accountId": _("Account"),
    "categoryId": _("Category"),
    "open": _("Uncategorized"),
    "plType": _("P&L line"),
    "counterpartyId": _("Counterparty"),
    "hasCounterparty": _("Has a counterparty"),
    "fromTo": _("From / to"),
    "direction": _("Direction"),
    "flow": _("Cash flow"),
    "cash": _("On cash accounts"),
    "cashPart": _("Cash bridge"),
    "recognizedFrom": _("Recognized from"),
    "recognizedTo": _("Recognized to"),
    "recognizedBy": _("Recognized as of"),
    "pending": _("Pending"),
    "transfer": _("Transfer"),
    "source": _("Source"),
    "currency": _("Currency"),
    "minAmount": _("Amount from"),
    "maxAmount": _("Amount to"),
    "assignedUserId": _("Assigned to"),
    "assignedBy": _("Categorized by"),
    "categorizationsAutoAssigned": _("Automatically categorized"),
    "importId": _("Import"),
    "updatedSince": _("Changed since"),
}


def build_filter_chips(
    page: CompanyPage,
    filters: list[tuple[str, str]],
    *,
    items: list[tuple[str, str]],
    counterparty: Counterparty | None,
    names: LedgerNames,
) -> list[dict[str, str]]:
    """Return a chip for each filter, with the address (its `items`) without that filter."""
    chips = []
    typed_items = {
        item for item in items if item[0] == "counterparty"
    }  # the address has the typed name, the filter its id
    for name, value in filters:
        removed_items = {(name, value)} | (typed_items if name == "counterpartyId" else set())
        chips.append(
            {
                "label": str(FILTER_LABELS.get(name, name)),
                "value": format_filter_value(page, name, value, counterparty=counterparty, names=names),
                "without": urlencode([item for item in items if item not in removed_items]),
            }
        )
    return chips


def format_filter_value(
    page: CompanyPage, name: str, value: str, *, counterparty: Counterparty | None, names: LedgerNames
) -> str:
    """Format the value of a filter; a value that cannot be parsed is returned unchanged."""
    try:
        if name in DAY_PARSERS:
            return format_day(DAY_PARSERS[name](value))
        if name in AMOUNT_FILTERS:
            return format_grouped_number(Decimal(value))  # type: ignore[arg-type] # of no currency: more than one may match
    except (ValueError, InvalidOperation):
        return value
    if name in VALUE_FORMATTERS:
        return VALUE_FORMATTERS[name](page, value)
    tables: Mapping[str, Mapping[str, Any]] = {
        "accountId": dict(names.list_account_choices()),
        "categoryId": dict(names.list_category_choices()),
        "plType": dict(to_choices(LINE_LABELS)),
        "source": dict(to_choices(SOURCE_LABELS)),
        "direction": DIRECTION_LABELS,
        "flow": DIRECTION_LABELS,
        "cashPart": dict(to_choices(CASH_PART_LABELS)),
        "counterpartyId": {str(counterparty.id): counterparty.name} if counterparty else {},
    }
    return str(tables.get(name, FLAG_LABELS).get(value, value))


def format_import_filter(page: CompanyPage, text: str) -> str:
    """Return the file name and day of an import."""
    import_id = parse_id(text)
    row = ImportBatch.objects.for_company(page.company.id).filter(id=import_id).first() if import_id else None
    if row is None:
        return gettext("deleted")
    when = format_day(row.created_time)
    return f"{row.filename}, {when}" if row.filename else gettext("from {day}").format(day=when)


def format_assignee_filter(page: CompanyPage, text: str) -> str:
    """Return the name of a member, for users who may see members."""
    user_id = parse_id(text)
    if user_id is not None and user_id == page.audit_context.user_id:
        return gettext("Me")
    rows = Membership.objects.for_company(page.company.id).active().select_related("user")
    row = rows.filter(user_id=user_id).first() if user_id and page.has_permission(Permission.MEMBERS_MANAGE) else None
    return row.display_name if row and row.is_known else gettext("another person")


def format_assigner_filter(page: CompanyPage, text: str) -> str:
    """Return the name of a rule or of another assigner."""
    return (dict(to_choices(ASSIGNER_LABELS)) | describe_assigners(page.company, [text])).get(text, text)


VALUE_FORMATTERS = {
    "importId": format_import_filter,
    "assignedUserId": format_assignee_filter,
    "assignedBy": format_assigner_filter,
}
