"""One search over a company: movements, counterparties, accounts and pages, each as far as the visitor may see it."""

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple
from urllib.parse import urlencode

from django.db.models import Q, Value
from django.db.models.functions import Replace
from django.http import HttpResponse
from django.urls import reverse

from companies.pages.amounts import NotAnAmount, amount_typed, money
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from companies.templatetags.pages import day
from ledger.calc.money import parse_amount
from ledger.models import Account, Counterparty, Transaction

A_KIND = 10  # results of each kind
MOST_TEXT = 200


class Found(NamedTuple):
    """A line of what was found."""

    title: str
    detail: str
    address: str
    amount: str = ""


class Kind(NamedTuple):
    """What was found of one kind, and where there is more of it."""

    name: str
    found: list[Found]
    more: str = ""


# (title, other words for it, name of its address, who may see it)
PAGES: list[tuple[str, str, str, Permission | None]] = [
    ("Overview", "dashboard cash flow chart", "company", None),
    ("Inbox", "open waiting categorize unmatched proposals", "inbox", Permission.TRANSACTIONS_READ),
    ("Rules", "automatic categorization", "rules", Permission.TRANSACTIONS_READ),
    ("Transactions", "movements bookings payments", "transactions", Permission.TRANSACTIONS_READ),
    ("New transaction", "book add", "transaction-new", Permission.TRANSACTIONS_WRITE),
    ("Imports", "history undo files", "imports", Permission.TRANSACTIONS_READ),
    ("Import a file", "statement csv bank upload camt mt940 ofx", "import-new", Permission.TRANSACTIONS_WRITE),
    ("Accounts", "banks balances cash", "accounts", Permission.ACCOUNTS_READ),
    ("Cash plan", "forecast recurring planned payments budget", "planned", Permission.PLANNING_READ),
    ("Profit and loss", "statement results income p&l", "profit-and-loss", Permission.FINANCIALS_READ),
    ("Recurring revenue", "mrr arr subscriptions churn", "recurring-revenue", Permission.SUBSCRIPTIONS_READ),
    ("Customers", "subscribers", "customers", Permission.SUBSCRIPTIONS_READ),
    ("Products", "plans prices", "products", Permission.PRODUCTS_READ),
    ("Notifications", "messages bell", "notifications", Permission.NOTIFICATIONS_READ),
    ("Settings", "company name currency logo", "company-settings", Permission.COMPANY_READ),
    ("Members", "people invite roles", "members", Permission.MEMBERS_MANAGE),
    ("API keys and apps", "tokens credentials connected", "api-keys", None),
    ("Activity", "audit log history changes", "activity", Permission.AUDIT_READ),
]


@company_page(reads=Permission.COMPANY_READ)
def search(visit: Visit) -> HttpResponse:
    """What a few words or an amount find; without any, the pages there are."""
    text = visit.request.GET.get("q", "").replace("\0", "").strip()[:MOST_TEXT]
    kinds = [kind for kind in found_of(visit, text) if kind.found]
    return visit.show("ledger/search.html", tab="search", text=text, kinds=kinds)


def found_of(visit: Visit, text: str) -> Iterator[Kind]:
    """Kind by kind, one query for each that has rows."""
    if text:
        if visit.may(Permission.TRANSACTIONS_READ):
            yield transactions_with(visit, text)
        if visit.may(Permission.COUNTERPARTIES_READ):
            yield counterparties_with(visit, text)
        if visit.may(Permission.ACCOUNTS_READ):
            yield accounts_with(visit, text)
    yield Kind("Pages", list(pages_with(visit, text)))


def transactions_with(visit: Visit, text: str) -> Kind:
    """Those with the text, or with the amount whatever its sign; the latest first."""
    with_text = Q(from_to__icontains=text) | Q(description__icontains=text) | Q(notes__icontains=text)
    amount = amount_of(text)
    if amount is not None:
        with_text |= Q(amount_value__in=[amount, -amount])
    rows = Transaction.objects.of(visit.company.id).filter(with_text).order_by("-date", "-id")
    found = list(rows[: A_KIND + 1])
    more = f"{reverse('transactions', args=[visit.company.id])}?{urlencode({'q': text})}"
    return Kind("Transactions", [line_of(visit, row) for row in found[:A_KIND]], more if len(found) > A_KIND else "")


def line_of(visit: Visit, row: Transaction) -> Found:
    title = row.from_to or row.description or "No text"
    detail = f"{day(row.date)} · {row.description}" if row.from_to and row.description else day(row.date)  # type: ignore[arg-type]
    address = reverse("transaction", args=[visit.company.id, row.id])
    return Found(title, detail, address, money(row.amount_value, row.amount_currency))


def amount_of(text: str) -> Decimal | None:
    """What was typed as an amount without its sign; None where it is none."""
    try:
        return abs(parse_amount(amount_typed(text)))
    except (NotAnAmount, ValueError):
        return None


def counterparties_with(visit: Visit, text: str) -> Kind:
    rows = Counterparty.objects.of(visit.company.id).filter(name__icontains=text).in_order()[:A_KIND]
    listed = reverse("transactions", args=[visit.company.id])
    seen = visit.may(Permission.TRANSACTIONS_READ)
    found = [Found(row.name, row.type, f"{listed}?counterpartyId={row.id}" if seen else "") for row in rows]
    return Kind("Counterparties", found)


def accounts_with(visit: Visit, text: str) -> Kind:
    """By name, or by number however it is spaced."""
    number = Replace("account_number", Value(" "))
    rows = Account.objects.of(visit.company.id).annotate(number=number)
    rows = rows.filter(Q(name__icontains=text) | Q(number__icontains="".join(text.split())))
    return Kind("Accounts", [account_line(visit, row) for row in rows.in_order()[:A_KIND]])


def account_line(visit: Visit, row: Account) -> Found:
    detail = " · ".join(filter(None, (row.account_number, "archived" if row.archived else "")))
    return Found(row.name, detail, reverse("account", args=[visit.company.id, row.id]))


def pages_with(visit: Visit, text: str) -> Iterator[Found]:
    """Of the pages that the visitor may open those that all the words are said of."""
    words = text.lower().split()
    for title, others, name, permission in PAGES:
        if permission is not None and not visit.may(permission):
            continue
        if all(word in f"{title} {others}".lower() for word in words):
            yield Found(title, "", reverse(name, args=[visit.company.id]))
