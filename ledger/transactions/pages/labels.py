"""Labels of the ledger on pages: P&L lines, date rules, sources, and a company's account and category names."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companies.models import Company, parse_id
from companies.pages.amount_formats import format_money, format_percent_for_input
from companies.pages.context import CompanyPage
from companies.permissions import Permission, Permissions
from ledger.calc.recognition import DateRule
from ledger.models import (
    RULE_NOTE_PREFIX,
    Account,
    CategorizationRule,
    Category,
    Counterparty,
    CounterpartyType,
    PlType,
    Source,
)
from ledger.money.calc.money import find_shortest_tax_percentage, is_single_rate
from ledger.transactions.fields import TRANSACTION_TEXTS
from ledger.transactions.queries.cash_parts import CashPart

LINE_LABELS: dict[PlType, Any] = {
    PlType.REVENUE: _("Revenue"),
    PlType.COGS: _("Cost of revenue"),
    PlType.CAC: _("Sales and marketing"),
    PlType.PD: _("Product development"),
    PlType.GA: _("General and administration"),
    PlType.NO: _("Non-operating"),  # interest, income tax, grants
    PlType.NEUTRAL: _("Neutral"),
}
SUBTOTAL_LABELS: dict[PlType, Any] = {  # line → label of the sum of all lines down to it
    PlType.COGS: _("Gross profit"),
    PlType.GA: _("Operating result"),
    PlType.NO: _("Result"),
}
CASH_PART_LABELS: dict[CashPart, Any] = {
    CashPart.OPENING_BALANCES: _("Opening balances"),
    CashPart.OPERATING_INFLOW: _("Operating inflow"),
    CashPart.OPERATING_OUTFLOW: _("Operating outflow"),
    CashPart.CARDS: _("Card settlements"),
    CashPart.FINANCING: _("Financing"),
    CashPart.EXCHANGE_RESULT: _("Exchange result"),
    CashPart.OTHER_TRANSFERS: _("Other transfers"),
}
DATE_RULE_LABELS: dict[DateRule, Any] = {
    DateRule.TRANSACTION_DATE: _("Transaction date"),
    DateRule.INVOICE_DATE: _("Invoice date"),
    DateRule.SERVICE_PERIOD: _("Service period"),
    DateRule.CUSTOM: _("Custom period"),
    DateRule.MONTH: _("Whole month"),
    DateRule.QUARTER: _("Whole quarter"),
    DateRule.YEAR: _("Whole year"),
    DateRule.PREVIOUS_MONTH: _("Previous month"),
    DateRule.NEXT_MONTH: _("Next month"),
}
SOURCE_LABELS: dict[Source, Any] = {
    Source.MANUAL: _("Manual"),
    Source.IMPORT: _("Import"),
    Source.CSV: _("CSV file"),
    Source.BANK: _("Bank"),
    Source.API: _("API"),
    Source.INITIAL_BALANCE: _("Opening balance"),
    Source.TRANSFER: _("Transfer"),
}
ASSIGNER_LABELS = {  # values of the filter assignedBy and of sourceNote
    "person": _("A person"),
    "rule": _("Any rule"),
    "history": _("Categorization history"),
    "account": _("Default category of the account"),
    "plan": _("A planned transaction"),
}
AUTOMATIC_NOTES = ("history", "account", "plan")  # source notes of automatic categorizations, besides those of rules
COUNTERPARTY_TYPE_LABELS: dict[CounterpartyType, Any] = {
    CounterpartyType.CUSTOMER: _("customer"),
    CounterpartyType.VENDOR: _("vendor"),
    CounterpartyType.EMPLOYEE: _("employee"),
    CounterpartyType.OWNER: _("owner"),
    CounterpartyType.AUTHORITY: _("authority"),
    CounterpartyType.OTHER: _("other"),
}
COLUMN_HEADINGS: dict[str, Any] = {  # of the table that exports write and imports recognize
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
    "tax": _("Tax"),
    "pending": _("Pending"),
    "transfer": _("Transfer"),
    "source": _("Source"),
    **{text.column: _(text.label) for text in TRANSACTION_TEXTS},
    "external_id": _("External id"),
    "id": _("Id"),
}
Choices = list[tuple[str, str]]
HIDDEN_NAME: Any = _("(no access)")


def format_included_tax(parts: Iterable[tuple[Decimal | None, Decimal | None]], currency: str) -> str:
    """Return the tax rate of a transaction's categorizations, or the amount if they have several or some have none.

    Empty without tax.

    Args:
        parts: (amount with tax, tax) of each.
    """
    rows = [(value or Decimal(0), tax or Decimal(0)) for value, tax in parts]
    percents = {find_shortest_tax_percentage(value, tax, currency) if tax else None for value, tax in rows}
    if len(percents) == 1 and (percent := percents.pop()) and is_single_rate(percent):
        return gettext("{percent} %").format(percent=format_percent_for_input(percent))
    return format_money(sum((tax for _, tax in rows), Decimal(0)), currency) if any(tax for _, tax in rows) else ""


def to_choices(labels: Mapping[Any, Any]) -> Choices:
    """Return labels as (value, label) choices."""
    return [(str(value), str(label)) for value, label in labels.items()]


@dataclass(frozen=True, slots=True)
class LedgerNames:
    """A company's accounts and categories in display order, as far as the user may see them."""

    accounts: dict[UUID, Account]
    categories: dict[UUID, Category]
    can_read_counterparties: bool

    def get_counterparty_name(self, row: Counterparty) -> str:
        """Return a counterparty's name, or a placeholder if the user may not see it."""
        return row.name if self.can_read_counterparties else str(HIDDEN_NAME)

    def get_account_name(self, account_id: UUID) -> str:
        """Return an account's name, or a placeholder if the user may not see it."""
        account = self.accounts.get(account_id)
        return account.name if account else str(HIDDEN_NAME)

    def get_category_name(self, category_id: UUID) -> str:
        """Return a category's name, or a placeholder if the user may not see it."""
        category = self.categories.get(category_id)
        return category.display_name if category else str(HIDDEN_NAME)

    def get_choice_name(self, category_id: UUID, line: str) -> str:
        """Return a category's name, with the P&L line where the category has several."""
        category = self.categories.get(category_id)
        name = self.get_category_name(category_id)
        return f"{name} · {LINE_LABELS[PlType(line)]}" if category and len(category.pl_types) > 1 else name

    def list_account_choices(self, *, archived: bool = True) -> Choices:
        rows = (row for row in self.accounts.values() if archived or not row.archived)
        return [(str(row.id), row.name) for row in rows]

    def get_only_account_id(self) -> str:
        """Return the id of the only active account; empty if there are several or none."""
        choices = self.list_account_choices(archived=False)
        return choices[0][0] if len(choices) == 1 else ""

    def list_category_choices(self) -> Choices:
        return [(str(row.id), row.display_name) for row in self.categories.values()]

    def list_line_choices(self) -> list[tuple[str, Choices]]:
        """Return each P&L line with the categories that post to it, as choices of `format_line_choice`."""
        groups = [
            (
                label,
                [
                    (format_line_choice(row.id, line), row.display_name)
                    for row in self.categories.values()
                    if line in row.pl_types
                ],
            )
            for line, label in LINE_LABELS.items()
        ]
        return [(str(label), choices) for label, choices in groups if choices]


def join_texts(texts: list[str]) -> str:
    """Join texts, such as: a, b and c."""
    if len(texts) < 2:
        return "".join(texts)
    return gettext("{others} and {last}").format(others=", ".join(texts[:-1]), last=texts[-1])


def load_visible_names(page: CompanyPage) -> LedgerNames:
    """Load the names that the user of a page may see."""
    return load_ledger_names(page.company, permissions=page.access.permissions)


def load_ledger_names(company: Company, *, permissions: Permissions) -> LedgerNames:
    """Load the names that the permissions allow; at most two queries."""
    accounts = (
        Account.objects.for_company(company.id).in_display_order() if Permission.ACCOUNTS_READ in permissions else ()
    )
    categories = (
        Category.objects.for_company(company.id).in_display_order() if Permission.CATEGORIES_READ in permissions else ()
    )
    return LedgerNames(
        {row.id: row for row in accounts},
        {row.id: row for row in categories},
        can_read_counterparties=Permission.COUNTERPARTIES_READ in permissions,
    )


def is_assigner_note(note: str | None) -> bool:
    """Whether a source note is the code of what assigned a categorization automatically, not a text."""
    return note in AUTOMATIC_NOTES or (note or "").startswith(RULE_NOTE_PREFIX)


def describe_assigners(company: Company, notes: Iterable[str | None]) -> dict[str, str]:
    """Return source note -> words for what assigned automatically; one query for all rules."""
    rules = {note: note.removeprefix(RULE_NOTE_PREFIX) for note in notes if note and note.startswith(RULE_NOTE_PREFIX)}
    ids = filter(None, map(parse_id, rules.values()))
    matching_rules = CategorizationRule.objects.for_company(company.id).filter(id__in=ids) if rules else ()
    rule_names = {str(rule.id): gettext("Rule “{name}”").format(name=rule.name) for rule in matching_rules}
    labels = {note: rule_names.get(rule_id, gettext("Deleted rule")) for note, rule_id in rules.items()}
    return {key: str(ASSIGNER_LABELS[key]) for key in AUTOMATIC_NOTES} | labels


def format_line_choice(category_id: UUID, line: str) -> str:
    """Return a category and a P&L line as one form value."""
    return f"{category_id}:{line}"


def parse_category_choice(text: str) -> tuple[str, str | None]:
    """Parse a form value into (category id, line); the line is None if only a category was chosen."""
    category_id, _, line = text.partition(":")
    return category_id, line or None
