"""Page: search a company's transactions, counterparties, accounts, invoices and pages."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db.models import Q, Value
from django.db.models.functions import Replace
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companies.pages.amount_formats import AmountParseError, format_money, parse_typed_amount
from companies.pages.context import CompanyPage, company_page
from companies.permissions import Permission
from companies.templatetags.pages import format_day
from ledger import hooks
from ledger.models import Account, Counterparty, CounterpartyType, Transaction
from ledger.money.calc.money import parse_amount
from ledger.transactions.pages.imported_text import translate_description
from ledger.transactions.pages.labels import COUNTERPARTY_TYPE_LABELS

RESULTS_PER_GROUP = 10  # results shown per group
MAX_TEXT_LENGTH = 200


class SearchResult(NamedTuple):
    """A line of the search results."""

    title: str
    detail: str
    address: str
    amount: str = ""


class SearchGroup(NamedTuple):
    """The results of one kind, and the address with more of them."""

    name: str
    results: list[SearchResult]
    more_url: str = ""


# (title, synonyms, URL name, required permission)
SEARCHABLE_PAGES: list[tuple[Any, Any, str, Permission | None]] = [
    (_("Overview"), _("dashboard cash flow chart"), "company", None),
    (_("Inbox"), _("uncategorized categorize review suggestions open"), "inbox", Permission.TRANSACTIONS_READ),
    (_("Rules"), _("automatic categorization"), "rules", Permission.TRANSACTIONS_READ),
    (_("Transactions"), _("movements bookings payments"), "transactions", Permission.TRANSACTIONS_READ),
    (_("New transaction"), _("create add book"), "transaction-new", Permission.TRANSACTIONS_WRITE),
    (_("Imports"), _("history undo files"), "imports", Permission.TRANSACTIONS_READ),
    (_("Import a file"), _("statement csv bank upload camt mt940 ofx"), "import-new", Permission.TRANSACTIONS_WRITE),
    (_("Accounts"), _("banks balances cash"), "accounts", Permission.ACCOUNTS_READ),
    (_("Cash plan"), _("forecast recurring planned transactions"), "planned", Permission.PLANNING_READ),
    (_("Profit and loss"), _("statement results income p&l"), "profit-and-loss", Permission.FINANCIALS_READ),
    (_("Recurring revenue"), _("mrr arr subscriptions churn"), "recurring-revenue", Permission.SUBSCRIPTIONS_READ),
    (_("Customers"), _("subscribers"), "customers", Permission.SUBSCRIPTIONS_READ),
    (_("Products"), _("plans prices"), "products", Permission.PRODUCTS_READ),
    (_("Notifications"), _("messages bell"), "notifications", Permission.NOTIFICATIONS_READ),
    (_("Settings"), _("company name currency logo"), "company-settings", Permission.COMPANY_READ),
    (_("Members"), _("people invite roles"), "members", Permission.MEMBERS_MANAGE),
    (_("API keys and apps"), _("tokens credentials connected"), "api-keys", None),
    (_("Audit log"), _("audit log activity history changes"), "activity", Permission.AUDIT_READ),
]


@company_page(reads=Permission.COMPANY_READ)
def show_search_results(page: CompanyPage) -> HttpResponse:
    """Show the results for words or an amount; without any, the pages."""
    text = page.request.GET.get("q", "").replace("\0", "").strip()[:MAX_TEXT_LENGTH]
    groups = [kind for kind in search_company(page, text) if kind.results]
    return page.render("ledger/transactions/search.html", tab="search", text=text, kinds=groups)


def search_company(page: CompanyPage, text: str) -> Iterator[SearchGroup]:
    """Yield the results group by group, as far as the user may see them; one query each."""
    if text:
        if page.has_permission(Permission.TRANSACTIONS_READ):
            yield search_transactions(page, text)
        if page.has_permission(Permission.COUNTERPARTIES_READ):
            yield search_counterparties(page, text)
        if page.has_permission(Permission.ACCOUNTS_READ):
            yield search_accounts(page, text)
        for groups in hooks.list_search_groups.run(page, text):
            yield from groups
    yield SearchGroup(gettext("Pages"), list(search_pages(page, text)))


def search_transactions(page: CompanyPage, text: str) -> SearchGroup:
    """Find transactions with the text, or with the amount whatever its sign; latest first."""
    conditions = Q(from_to__icontains=text) | Q(description__icontains=text) | Q(notes__icontains=text)
    amount = parse_search_amount(text)
    if amount is not None:
        conditions |= Q(amount_value__in=[amount, -amount])
    rows = Transaction.objects.for_company(page.company.id).filter(conditions).order_by("-date", "-id")
    transactions = list(rows[: RESULTS_PER_GROUP + 1])
    more_url = f"{reverse('transactions', args=[page.company.id])}?{urlencode({'q': text})}"
    results = [build_transaction_result(page, row) for row in transactions[:RESULTS_PER_GROUP]]
    return SearchGroup(gettext("Transactions"), results, more_url if len(transactions) > RESULTS_PER_GROUP else "")


def build_transaction_result(page: CompanyPage, row: Transaction) -> SearchResult:
    """Return a transaction as a search result."""
    description = translate_description(row)
    title = row.from_to or description or gettext("No text")
    detail = f"{format_day(row.date)} · {description}" if row.from_to and description else format_day(row.date)  # type: ignore[arg-type]
    address = reverse("transaction", args=[page.company.id, row.id])
    return SearchResult(title, detail, address, format_money(row.amount_value, row.amount_currency))


def parse_search_amount(text: str) -> Decimal | None:
    """Parse an amount without its sign; None if the text is none."""
    try:
        return abs(parse_amount(parse_typed_amount(text, "")))
    except (AmountParseError, ValueError):
        return None


def search_counterparties(page: CompanyPage, text: str) -> SearchGroup:
    """Find counterparties by name."""
    rows = (
        Counterparty.objects.for_company(page.company.id)
        .filter(name__icontains=text)
        .in_display_order()[:RESULTS_PER_GROUP]
    )
    list_path = reverse("transactions", args=[page.company.id])
    sees_transactions = page.has_permission(Permission.TRANSACTIONS_READ)
    results = [
        SearchResult(
            row.name,
            str(COUNTERPARTY_TYPE_LABELS[CounterpartyType(row.type)]),
            f"{list_path}?counterpartyId={row.id}" if sees_transactions else "",
        )
        for row in rows
    ]
    return SearchGroup(gettext("Counterparties"), results)


def search_accounts(page: CompanyPage, text: str) -> SearchGroup:
    """Find accounts by name, or by number however it is spaced."""
    number = Replace("account_number", Value(" "))
    rows = Account.objects.for_company(page.company.id).annotate(number=number)
    rows = rows.filter(Q(name__icontains=text) | Q(number__icontains="".join(text.split())))
    return SearchGroup(
        gettext("Accounts"), [build_account_result(page, row) for row in rows.in_display_order()[:RESULTS_PER_GROUP]]
    )


def build_account_result(page: CompanyPage, row: Account) -> SearchResult:
    """Return an account as a search result."""
    detail = " · ".join(filter(None, (row.account_number, gettext("archived") if row.archived else "")))
    return SearchResult(row.name, detail, reverse("account", args=[page.company.id, row.id]))


def search_pages(page: CompanyPage, text: str) -> Iterator[SearchResult]:
    """Yield the pages that the user may open and whose title or synonyms contain all the words."""
    words = text.lower().split()
    for title, synonyms, name, permission in SEARCHABLE_PAGES:
        if permission is not None and not page.has_permission(permission):
            continue
        if all(word in f"{title} {synonyms}".lower() for word in words):
            yield SearchResult(str(title), "", reverse(name, args=[page.company.id]))
