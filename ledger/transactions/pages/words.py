"""What pages call things of the ledger: lines, rules, sources, and a company's own accounts and categories."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companies.models import Company, id_from
from companies.pages.visits import Visit
from companies.permissions import Permission, Permissions
from ledger.calc.recognition import DateRule
from ledger.models import (
    RULE_NOTE,
    Account,
    CategorizationRule,
    Category,
    Counterparty,
    CounterpartyType,
    PlType,
    Source,
)
from ledger.transactions.cash_parts import CashPart

LINES: dict[PlType, Any] = {
    PlType.REVENUE: _("Revenue"),
    PlType.COGS: _("Cost of revenue"),
    PlType.CAC: _("Sales and marketing"),
    PlType.PD: _("Product development"),
    PlType.GA: _("General and administration"),
    PlType.NO: _("Non-operating"),  # interest, income tax, grants
    PlType.NEUTRAL: _("Neutral"),
}
CASH_PARTS: dict[CashPart, Any] = {
    CashPart.OPENING_BALANCES: _("Opening balances"),
    CashPart.OPERATING_INFLOW: _("Operating inflow"),
    CashPart.OPERATING_OUTFLOW: _("Operating outflow"),
    CashPart.CARDS: _("Card settlements"),
    CashPart.FINANCING: _("Financing"),
    CashPart.EXCHANGE_RESULT: _("Exchange result"),
    CashPart.OTHER_TRANSFERS: _("Other transfers"),
}
RULES: dict[DateRule, Any] = {
    DateRule.TRANSACTION_DATE: _("Day of the transaction"),
    DateRule.INVOICE_DATE: _("Day of the invoice"),
    DateRule.SERVICE_PERIOD: _("Service period"),
    DateRule.CUSTOM: _("Other period"),
    DateRule.MONTH: _("Whole month"),
    DateRule.QUARTER: _("Whole quarter"),
    DateRule.YEAR: _("Whole year"),
    DateRule.PREVIOUS_MONTH: _("Month before"),
    DateRule.NEXT_MONTH: _("Month after"),
}
SOURCES: dict[Source, Any] = {
    Source.MANUAL: _("By hand"),
    Source.IMPORT: _("Import"),
    Source.CSV: _("CSV file"),
    Source.BANK: _("Bank"),
    Source.API: _("API"),
    Source.INITIAL_BALANCE: _("Initial balance"),
    Source.TRANSFER: _("Transfer"),
}
ASSIGNERS = {  # the filter assignedBy, and what sourceNote says of a part
    "person": _("A person"),
    "rule": _("Any rule"),
    "history": _("The company's history"),
    "account": _("The account's usual category"),
}
KINDS: dict[CounterpartyType, Any] = {
    CounterpartyType.CUSTOMER: _("customer"),
    CounterpartyType.VENDOR: _("vendor"),
    CounterpartyType.EMPLOYEE: _("employee"),
    CounterpartyType.OWNER: _("owner"),
    CounterpartyType.AUTHORITY: _("authority"),
    CounterpartyType.OTHER: _("other"),
}
COLUMNS: dict[str, Any] = {  # of the table that exports write and imports know again
    "date": _("Date"),
    "account": _("Account"),
    "from_to": _("From/to"),
    "description": _("Description"),
    "amount": _("Amount"),
    "currency": _("Currency"),
    "status": _("Status"),
    "categories": _("Categories"),
    "lines": _("P&L lines"),
    "counterparties": _("Counterparties"),
    "pending": _("Pending"),
    "transfer": _("Transfer"),
    "source": _("Source"),
    "notes": _("Notes"),
    "external_id": _("External id"),
    "id": _("Id"),
}
Choices = list[tuple[str, str]]
NOT_SHOWN: Any = _("not shown to your role")


def in_choices(words: Mapping[Any, Any]) -> Choices:
    return [(str(value), str(label)) for value, label in words.items()]


@dataclass(frozen=True, slots=True)
class Names:
    """A company's accounts and categories in their order, as far as the viewer may see them."""

    accounts: dict[UUID, Account]
    categories: dict[UUID, Category]
    sees_counterparties: bool

    def counterparty(self, row: Counterparty) -> str:
        return row.name if self.sees_counterparties else str(NOT_SHOWN)

    def account(self, account_id: UUID) -> str:
        found = self.accounts.get(account_id)
        return found.name if found else str(NOT_SHOWN)

    def category(self, category_id: UUID) -> str:
        found = self.categories.get(category_id)
        return found.called if found else str(NOT_SHOWN)

    def account_choices(self, *, archived: bool = True) -> Choices:
        rows = (row for row in self.accounts.values() if archived or not row.archived)
        return [(str(row.id), row.name) for row in rows]

    def only_account(self) -> str:
        """The id of the one account that can be booked into; empty where there are several, or none."""
        choices = self.account_choices(archived=False)
        return choices[0][0] if len(choices) == 1 else ""

    def category_choices(self) -> Choices:
        return [(str(row.id), row.called) for row in self.categories.values()]

    def lines(self) -> list[tuple[str, Choices]]:
        """Each line with the categories that post to it: a choice names both, as ``as_line`` writes it."""
        found = [
            (label, [(as_line(row.id, line), row.called) for row in self.categories.values() if line in row.pl_types])
            for line, label in LINES.items()
        ]
        return [(str(label), choices) for label, choices in found if choices]


def listed(parts: list[str]) -> str:
    """a, b and c"""
    if len(parts) < 2:
        return "".join(parts)
    return gettext("{others} and {last}").format(others=", ".join(parts[:-1]), last=parts[-1])


def names_for(visit: Visit) -> Names:
    return names_in(visit.company, permissions=visit.access.permissions)


def names_in(company: Company, *, permissions: Permissions) -> Names:
    """At most two queries."""
    accounts = Account.objects.of(company.id).in_order() if Permission.ACCOUNTS_READ in permissions else ()
    categories = Category.objects.of(company.id).in_order() if Permission.CATEGORIES_READ in permissions else ()
    return Names(
        {row.id: row for row in accounts},
        {row.id: row for row in categories},
        sees_counterparties=Permission.COUNTERPARTIES_READ in permissions,
    )


def assigners(company: Company, notes: Iterable[str | None]) -> dict[str, str]:
    """In words, whoever assigned by itself, by what the notes say; the rules among them are asked for together."""
    rules = {note: note.removeprefix(RULE_NOTE) for note in notes if note and note.startswith(RULE_NOTE)}
    ids = filter(None, map(id_from, rules.values()))
    found = CategorizationRule.objects.of(company.id).filter(id__in=ids) if rules else ()
    named = {str(rule.id): gettext("Rule “{name}”").format(name=rule.name) for rule in found}
    told = {note: named.get(rule_id, gettext("A rule that is gone")) for note, rule_id in rules.items()}
    return {key: str(ASSIGNERS[key]) for key in ("history", "account")} | told


def as_line(category_id: UUID, line: str) -> str:
    """A category and the P&L line that an amount of it goes to, in one word."""
    return f"{category_id}:{line}"


def of_line(text: str) -> tuple[str, str | None]:
    """(category id, line); no line where only a category was named."""
    category_id, _, line = text.partition(":")
    return category_id, line or None
