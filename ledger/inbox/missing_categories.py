"""Categories that a company lacks for the payments that it has to review."""

from collections.abc import Collection
from typing import NamedTuple

from django.utils.translation import gettext, gettext_noop

from companies.models import AuditContext, Company
from ledger.categorization.actions.categories import append_categories
from ledger.inbox.queries import filter_open_transactions
from ledger.rules.calc.payment_kinds import PaymentKind
from ledger.rules.queries.category_suggestions import count_kinds_without_category

MAX_READ = 100  # of the latest transactions to review
STAFF_PL_TYPES = ("cogs", "cac", "pd", "ga")  # people work for each of the lines
OFFICE_PL_TYPES = ("ga",)
# The default categories have none for these kinds, or only "Office and administration".
ADDABLE_CATEGORIES: dict[PaymentKind, tuple[str, tuple[str, ...]]] = {
    PaymentKind.SALARY: (gettext_noop("Salaries"), STAFF_PL_TYPES),
    PaymentKind.WAGE_TAX: (gettext_noop("Wage tax"), STAFF_PL_TYPES),
    PaymentKind.SOCIAL_SECURITY: (gettext_noop("Social security"), STAFF_PL_TYPES),
    PaymentKind.RENT: (gettext_noop("Rent"), OFFICE_PL_TYPES),
    PaymentKind.ENERGY: (gettext_noop("Energy"), OFFICE_PL_TYPES),
    PaymentKind.INSURANCE: (gettext_noop("Insurance"), OFFICE_PL_TYPES),
    PaymentKind.TELECOM: (gettext_noop("Phone and internet"), OFFICE_PL_TYPES),
    PaymentKind.OFFICE_SOFTWARE: (gettext_noop("Software"), OFFICE_PL_TYPES),
    PaymentKind.OFFICE_SUPPLIES: (gettext_noop("Office supplies"), OFFICE_PL_TYPES),
    PaymentKind.TRAVEL: (gettext_noop("Travel expenses"), OFFICE_PL_TYPES),
    PaymentKind.ENTERTAINMENT: (gettext_noop("Meals and entertainment"), OFFICE_PL_TYPES),
    PaymentKind.VEHICLE: (gettext_noop("Vehicle costs"), OFFICE_PL_TYPES),
    PaymentKind.MEMBERSHIP: (gettext_noop("Membership fees"), OFFICE_PL_TYPES),
    PaymentKind.RECRUITING: (gettext_noop("Recruiting"), OFFICE_PL_TYPES),
    PaymentKind.FREELANCERS: (gettext_noop("Freelancers"), STAFF_PL_TYPES),
    PaymentKind.BANK_FEES: (gettext_noop("Bank fees"), OFFICE_PL_TYPES),
}


class MissingCategory(NamedTuple):
    """A category that would be suggested for transactions to review, if the company had it."""

    kind: PaymentKind
    name: str
    transaction_count: int


def list_missing_categories(company: Company) -> list[MissingCategory]:
    """Return the categories that the company lacks, in the language of the user."""
    rows = filter_open_transactions(company).order_by("-date", "-id")
    texts = rows.values_list("from_to", "description", "amount_value")[:MAX_READ]
    counts = count_kinds_without_category(
        company, ((from_to, text, amount > 0) for from_to, text, amount in texts), ADDABLE_CATEGORIES
    )
    return [MissingCategory(kind, gettext(ADDABLE_CATEGORIES[kind][0]), count) for kind, count in counts.items()]


def add_missing_categories(*, company: Company, context: AuditContext, kinds: Collection[str]) -> list[str]:
    """Create the missing categories of some kinds after the others, and return their names."""
    chosen = [category for category in list_missing_categories(company) if category.kind in kinds]
    rows = [{"name": category.name, "pl_types": list(ADDABLE_CATEGORIES[category.kind][1])} for category in chosen]
    append_categories(company=company, context=context, rows=rows)
    return [category.name for category in chosen]
