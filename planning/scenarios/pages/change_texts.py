"""Changes of scenarios in sentences, and the choices of their targets."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from companies.locales import get_current_locale
from companies.pages.amount_formats import format_money
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.calc.months import add_months
from ledger.models import Category, Counterparty, PlType
from ledger.transactions.pages.labels import LINE_LABELS, Choices, LedgerNames, load_visible_names
from planning.models import PlannedTransaction, Scenario

MAX_CHOICES = 500  # of one kind of target


@dataclass(frozen=True, slots=True)
class ChangeText:
    """A change as the page shows it."""

    position: int
    text: str
    period: str
    is_broken: bool


@dataclass(frozen=True, slots=True)
class TargetNames:
    """The names of everything that changes refer to, as far as the user may see them."""

    ledger: LedgerNames
    planned: Mapping[str, str]
    counterparties: Mapping[str, str]

    def get_target_name(self, stored: Mapping[str, Any]) -> str:
        """Return the name of the target of a change."""
        if planned_id := stored.get("plannedTransactionId"):
            return self.planned.get(planned_id, _("Deleted"))
        if counterparty_id := stored.get("counterpartyId"):
            return self.counterparties.get(counterparty_id, _("Deleted"))
        if line := stored.get("plType"):
            return str(LINE_LABELS[PlType(line)])
        return self.ledger.get_category_name(UUID(stored["categoryId"]))


def describe_scenario_changes(page: CompanyPage, scenario: Scenario) -> list[ChangeText]:
    """Describe the changes of a scenario, which has its broken positions attached."""
    names = load_target_names(page, scenario.changes)
    return [
        ChangeText(
            position,
            describe_change(stored, names),
            describe_period(stored.get("from"), stored.get("to")),
            position in scenario.broken_positions,
        )
        for position, stored in enumerate(scenario.changes)
    ]


def load_target_names(page: CompanyPage, changes: Iterable[Mapping[str, Any]]) -> TargetNames:
    """Load the names of what changes of scenarios refer to."""
    references = [(stored.get("plannedTransactionId"), stored.get("counterpartyId")) for stored in changes]
    planned_ids, counterparty_ids = ({ids[place] for ids in references} - {None} for place in (0, 1))
    ledger = load_visible_names(page)
    planned = PlannedTransaction.objects.for_company(page.company.id).filter(id__in=planned_ids)
    counterparties = Counterparty.objects.for_company(page.company.id).filter(id__in=counterparty_ids)
    return TargetNames(
        ledger,
        {str(row.id): row.name for row in planned},
        {str(row.id): ledger.get_counterparty_name(row) for row in counterparties},
    )


def describe_change(stored: Mapping[str, Any], names: TargetNames) -> str:
    """Describe one stored change, without its period."""
    if planned := stored.get("plannedTransaction"):
        return describe_added_payment(planned, format_stored_amount(stored))
    if item := stored.get("planItem"):
        return describe_added_item(item, format_stored_amount(stored), names)
    target = names.get_target_name(stored)
    if stored["kind"] == "stop":
        return _("Stop {name}").format(name=target)
    if stored["kind"] == "shift":
        return _("Move {name} by {days} days").format(name=target, days=format_signed(Decimal(stored["days"])))
    return _("Change {name} by {percent}%").format(name=target, percent=format_signed(Decimal(stored["percent"])))


def format_stored_amount(stored: Mapping[str, Any]) -> str:
    """Format the amount of an added row."""
    return format_money(Decimal(stored["columns"]["amount_value"]), stored["columns"]["amount_currency"])


def describe_added_payment(planned: Mapping[str, Any], amount: str) -> str:
    """Describe an added planned transaction, with its days."""
    start, last = planned["startDate"], ((planned.get("recurrence") or {}).get("end") or {}).get("date")
    text = _("Add {name}: {amount} on {day}")
    if planned.get("recurrence"):
        text = _("Add {name}: {amount}, recurring from {day} to {last}")
        if not last:
            text = _("Add {name}: {amount}, recurring from {day}")
    day, last_day = (get_current_locale().format_day(date.fromisoformat(each)) for each in (start, last or start))
    return text.format(name=planned["name"], amount=amount, day=day, last=last_day)


def describe_added_item(item: Mapping[str, Any], amount: str, names: TargetNames) -> str:
    """Describe an added plan item, with its months."""
    first = last = date.fromisoformat(f"{item['month']}-01")
    text = _("Plan {amount} for {name} from {month}")
    if item.get("frequency") == 0:
        text = _("Plan {amount} for {name} in {month}")
    elif duration := item.get("duration"):
        text, last = _("Plan {amount} for {name} from {month} to {last}"), add_months(first, duration - 1)
    format_month = get_current_locale().format_month
    category = names.ledger.get_category_name(UUID(item["categoryId"]))
    return text.format(amount=amount, name=category, month=format_month(first), last=format_month(last))


def format_signed(number: Decimal) -> str:
    """Format a number with its sign."""
    return f"{'+' if number > 0 else '−' if number < 0 else ''}{get_current_locale().format_number(abs(number))}"


def describe_period(start: str | None, end: str | None) -> str:
    """Describe the days of a change; empty for all days."""
    first, last = (get_current_locale().format_day(date.fromisoformat(text)) if text else "" for text in (start, end))
    if first and last:
        return _("from {first} to {last}").format(first=first, last=last)
    if first:
        return _("from {day} on").format(day=first)
    return _("until {day}").format(day=last) if last else ""


def list_target_choices(page: CompanyPage, *, has_income: bool = False) -> dict[str, tuple[str, Choices]]:
    """Return the heading and the choices of each kind of target; values are `name:id`.

    Of counterparties, those with planned payments: a change of another one would change nothing.

    Args:
        has_income: only planned income, customers with it, and categories of revenue.
    """
    names = load_visible_names(page)
    planned = PlannedTransaction.objects.for_company(page.company.id).order_by("name", "id")
    if has_income:
        planned = planned.filter(amount_value__gt=0)
    counterparties = Counterparty.objects.none()
    if page.has_permission(Permission.COUNTERPARTIES_READ):
        counterparties = (
            Counterparty.objects.for_company(page.company.id)
            .filter(id__in=planned.order_by().values("counterparty"))
            .order_by("name", "id")[:MAX_CHOICES]
        )
    choices: dict[str, tuple[str, Choices]] = {
        "counterpartyId": (
            _("Customers") if has_income else _("Counterparties"),
            [(str(row.id), row.name) for row in counterparties],
        ),
        "categoryId": (_("Categories"), list_category_choices(page, names, has_income=has_income)),
        "plType": (_("P&L lines"), [(line.value, str(label)) for line, label in LINE_LABELS.items()]),
        "plannedTransactionId": (_("Planned transactions"), [(str(row.id), row.name) for row in planned[:MAX_CHOICES]]),
    }
    return {
        name: (heading, [(f"{name}:{value}", label) for value, label in options])
        for name, (heading, options) in choices.items()
    }


def list_category_choices(page: CompanyPage, names: LedgerNames, *, has_income: bool) -> Choices:
    """Return the categories; with `has_income` those that post to revenue."""
    choices = names.list_category_choices()
    if not has_income or not choices:
        return choices
    rows = Category.objects.for_company(page.company.id).values_list("id", "pl_types")
    revenue_ids = {str(row_id) for row_id, lines in rows if PlType.REVENUE in lines}
    return [(value, label) for value, label in choices if value in revenue_ids]
