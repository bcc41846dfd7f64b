"""What pages call things of the ledger: lines, rules, sources, and a company's own accounts and categories."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from companies.models import Company
from companies.pages.visits import Visit
from companies.permissions import Permission, Permissions
from ledger.calc.recognition import DateRule
from ledger.models import Account, Category, Counterparty, PlType, Source

LINES = {
    PlType.REVENUE: "Revenue",
    PlType.COGS: "Cost of revenue",
    PlType.CAC: "Sales and marketing",
    PlType.PD: "Product development",
    PlType.GA: "General and administration",
    PlType.NO: "Non-operating",  # interest, income tax, grants
    PlType.NEUTRAL: "Neutral",
}
RULES = {
    DateRule.TRANSACTION_DATE: "Day of the transaction",
    DateRule.INVOICE_DATE: "Day of the invoice",
    DateRule.SERVICE_PERIOD: "Service period",
    DateRule.CUSTOM: "Other period",
    DateRule.MONTH: "Whole month",
    DateRule.QUARTER: "Whole quarter",
    DateRule.YEAR: "Whole year",
    DateRule.PREVIOUS_MONTH: "Month before",
    DateRule.NEXT_MONTH: "Month after",
}
SOURCES = {
    Source.MANUAL: "By hand",
    Source.IMPORT: "Import",
    Source.CSV: "CSV file",
    Source.BANK: "Bank",
    Source.API: "API",
    Source.INITIAL_BALANCE: "Initial balance",
    Source.TRANSFER: "Transfer",
}
Choices = list[tuple[str, str]]
NOT_SHOWN = "not shown to your role"


def in_choices(words: dict[Any, str]) -> Choices:
    return [(str(value), label) for value, label in words.items()]


@dataclass(frozen=True, slots=True)
class Names:
    """A company's accounts and categories in their order, as far as the viewer may see them."""

    accounts: dict[UUID, Account]
    categories: dict[UUID, Category]
    sees_counterparties: bool

    def counterparty(self, row: Counterparty) -> str:
        return row.name if self.sees_counterparties else NOT_SHOWN

    def account(self, account_id: UUID) -> str:
        found = self.accounts.get(account_id)
        return found.name if found else NOT_SHOWN

    def category(self, category_id: UUID) -> str:
        found = self.categories.get(category_id)
        return called(found) if found else NOT_SHOWN

    def account_choices(self, *, archived: bool = True) -> Choices:
        rows = (row for row in self.accounts.values() if archived or not row.archived)
        return [(str(row.id), row.name) for row in rows]

    def category_choices(self) -> Choices:
        return [(str(row.id), called(row)) for row in self.categories.values()]

    def lines(self) -> list[tuple[str, Choices]]:
        """Each line with the categories that post to it: a choice names both, as ``as_line`` writes it."""
        found = [
            (label, [(as_line(row.id, line), called(row)) for row in self.categories.values() if line in row.pl_types])
            for line, label in LINES.items()
        ]
        return [(label, choices) for label, choices in found if choices]


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


def called(category: Category) -> str:
    return f"{category.emoji} {category.name}" if category.emoji else category.name


def as_line(category_id: UUID, line: str) -> str:
    """A category and the P&L line that an amount of it goes to, in one word."""
    return f"{category_id}:{line}"


def of_line(text: str) -> tuple[str, str | None]:
    """(category id, line); no line where only a category was named."""
    category_id, _, line = text.partition(":")
    return category_id, line or None
