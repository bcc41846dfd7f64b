"""Categories that a company lacks for the payments that it has to review."""

from django.utils.translation import gettext, gettext_noop

from companies.models import AuditContext, Company
from ledger.categorization.actions.categories import create_category
from ledger.inbox.queries import filter_open_transactions
from ledger.models import Category
from ledger.rules.calc.payment_kinds import PaymentKind
from ledger.rules.queries.category_suggestions import find_kinds_without_category

MAX_READ = 100  # of the latest transactions to review
# The default categories have none for these kinds. People work for each of the lines.
ADDABLE_CATEGORIES = {
    PaymentKind.SALARY: gettext_noop("Salaries"),
    PaymentKind.SOCIAL_SECURITY: gettext_noop("Social security"),
}
ADDED_PL_TYPES = ["cogs", "cac", "pd", "ga"]


def list_missing_categories(company: Company) -> list[str]:
    """Return the names of categories that would be suggested for transactions to review, if the company had them."""
    rows = filter_open_transactions(company).order_by("-date", "-id")
    texts = rows.values_list("from_to", "description", "amount_value")[:MAX_READ]
    kinds = find_kinds_without_category(
        company, ((from_to, text, amount > 0) for from_to, text, amount in texts), ADDABLE_CATEGORIES
    )
    return [gettext(ADDABLE_CATEGORIES[kind]) for kind in kinds]


def add_missing_categories(*, company: Company, context: AuditContext) -> list[str]:
    """Create the missing categories after the others, in the language of the user, and return their names."""
    names = list_missing_categories(company)
    last = Category.objects.for_company(company.id).in_display_order().last()
    for order, name in enumerate(names, last.order + 1 if last else 0):
        values = {"name": name, "pl_types": list(ADDED_PL_TYPES), "order": order}
        create_category(company=company, context=context, values=values)
    return names
