"""The filters in use, in words: each is a chip that takes it away."""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companies.models import Membership, id_from
from companies.pages.visits import Visit
from companies.permissions import Permission
from companies.templatetags.pages import day, grouped
from ledger.calc.months import last_of_month
from ledger.models import Counterparty, ImportBatch
from ledger.transactions.pages.words import ASSIGNERS, CASH_PARTS, LINES, SOURCES, Names, assigners, in_choices


def is_day(text: str) -> bool:
    """Whether a filter that is a month or a day is a day."""
    return len(text) > len("2026-01")


FLOWS = {"in": _("Money in"), "out": _("Money out")}
FLAGS = {"true": _("yes"), "false": _("no")}
AMOUNTS = {"minAmount", "maxAmount"}
DAYS: Mapping[str, Callable[[str], datetime]] = {  # filters that are days or moments → the day that people read
    "startDate": datetime.fromisoformat,
    "endDate": datetime.fromisoformat,
    "recognizedFrom": lambda text: datetime.fromisoformat(text if is_day(text) else f"{text}-01"),
    "recognizedTo": lambda text: datetime.combine(
        date.fromisoformat(text) if is_day(text) else last_of_month(date.fromisoformat(f"{text}-01")), time()
    ),
    "recognizedBy": datetime.fromisoformat,
    "updatedSince": datetime.fromisoformat,
}
LABELS = {
    "q": _("Text"),
    "startDate": _("From"),
    "endDate": _("To"),
    "accountId": _("Account"),
    "categoryId": _("Category"),
    "open": _("Open"),
    "plType": _("P&L line"),
    "counterpartyId": _("Counterparty"),
    "direction": _("Direction"),
    "flow": _("Cash flow"),
    "cash": _("On cash accounts"),
    "cashPart": _("Change of cash"),
    "recognizedFrom": _("Counts from"),
    "recognizedTo": _("Counts up to"),
    "recognizedBy": _("Counted by"),
    "pending": _("Pending"),
    "transfer": _("Transfer"),
    "source": _("Source"),
    "currency": _("Currency"),
    "minAmount": _("Amount from"),
    "maxAmount": _("Amount to"),
    "assignedUserId": _("Assigned to"),
    "assignedBy": _("Assigned by"),
    "categorizationsAutoAssigned": _("Categorized by itself"),
    "importId": _("Import"),
    "updatedSince": _("Changed since"),
}


def filter_chips(
    visit: Visit,
    filters: list[tuple[str, str]],
    *,
    items: list[tuple[str, str]],
    counterparty: Counterparty | None,
    names: Names,
) -> list[dict[str, str]]:
    """One for each of the filters, with the address of the list without it: ``items`` are what its address says."""
    found = []
    typed = {item for item in items if item[0] == "counterparty"}  # a name, of which the filter has the id
    for name, value in filters:
        gone = {(name, value)} | (typed if name == "counterpartyId" else set())
        found.append(
            {
                "label": str(LABELS.get(name, name)),
                "value": filter_value(visit, name, value, counterparty=counterparty, names=names),
                "without": urlencode([item for item in items if item not in gone]),
            }
        )
    return found


def filter_value(visit: Visit, name: str, value: str, *, counterparty: Counterparty | None, names: Names) -> str:
    """A filter's value for people; what cannot be read stays as it was typed."""
    try:
        if name in DAYS:
            return day(DAYS[name](value))
        if name in AMOUNTS:
            return grouped(Decimal(value))  # type: ignore[arg-type] # of no currency: more than one may match
    except (ValueError, InvalidOperation):
        return value
    if name in CALLED:
        return CALLED[name](visit, value)
    tables: Mapping[str, Mapping[str, Any]] = {
        "accountId": dict(names.account_choices()),
        "categoryId": dict(names.category_choices()),
        "plType": dict(in_choices(LINES)),
        "source": dict(in_choices(SOURCES)),
        "direction": FLOWS,
        "flow": FLOWS,
        "cashPart": dict(in_choices(CASH_PARTS)),
        "counterpartyId": {str(counterparty.id): counterparty.name} if counterparty else {},
    }
    return str(tables.get(name, FLAGS).get(value, value))


def import_called(visit: Visit, text: str) -> str:
    """By its file, and the day on which it came."""
    wanted = id_from(text)
    row = ImportBatch.objects.of(visit.company.id).filter(id=wanted).first() if wanted else None
    if row is None:
        return gettext("one that is gone")
    when = day(row.created_time)
    return f"{row.filename}, {when}" if row.filename else gettext("of {day}").format(day=when)


def person_called(visit: Visit, text: str) -> str:
    """A member, for those who may know them; nobody else is named."""
    wanted = id_from(text)
    if wanted is not None and wanted == visit.stamp.user_id:
        return gettext("Me")
    rows = Membership.objects.of(visit.company.id).active().select_related("user")
    row = rows.filter(user_id=wanted).first() if wanted and visit.may(Permission.MEMBERS_MANAGE) else None
    return row.called if row and row.is_known else gettext("somebody else")


def assigner_called(visit: Visit, text: str) -> str:
    """A rule by its name."""
    return (dict(in_choices(ASSIGNERS)) | assigners(visit.company, [text])).get(text, text)


CALLED = {"importId": import_called, "assignedUserId": person_called, "assignedBy": assigner_called}
