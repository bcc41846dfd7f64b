"""One search over a company: movements, counterparties, accounts and pages, each as far as the visitor may see it."""

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

from companies.pages.amounts import NotAnAmount, amount_typed, money
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from companies.templatetags.pages import day
from ledger.calc.money import parse_amount
from ledger.models import Account, Counterparty, CounterpartyType, Transaction
from ledger.transactions.pages.own_words import description_of
from ledger.transactions.pages.words import KINDS

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
PAGES: list[tuple[Any, Any, str, Permission | None]] = [
    (_("Overview"), _("dashboard cash flow chart"), "company", None),
    (_("Inbox"), _("open waiting categorize unmatched proposals"), "inbox", Permission.TRANSACTIONS_READ),
    (_("Rules"), _("automatic categorization"), "rules", Permission.TRANSACTIONS_READ),
    (_("Transactions"), _("movements bookings payments"), "transactions", Permission.TRANSACTIONS_READ),
    (_("New transaction"), _("book add"), "transaction-new", Permission.TRANSACTIONS_WRITE),
    (_("Imports"), _("history undo files"), "imports", Permission.TRANSACTIONS_READ),
    (_("Import a file"), _("statement csv bank upload camt mt940 ofx"), "import-new", Permission.TRANSACTIONS_WRITE),
    (_("Accounts"), _("banks balances cash"), "accounts", Permission.ACCOUNTS_READ),
    (_("Cash plan"), _("forecast recurring planned payments budget"), "planned", Permission.PLANNING_READ),
    (_("Profit and loss"), _("statement results income p&l"), "profit-and-loss", Permission.FINANCIALS_READ),
    (_("Recurring revenue"), _("mrr arr subscriptions churn"), "recurring-revenue", Permission.SUBSCRIPTIONS_READ),
    (_("Customers"), _("subscribers"), "customers", Permission.SUBSCRIPTIONS_READ),
    (_("Products"), _("plans prices"), "products", Permission.PRODUCTS_READ),
    (_("Notifications"), _("messages bell"), "notifications", Permission.NOTIFICATIONS_READ),
    (_("Settings"), _("company name currency logo"), "company-settings", Permission.COMPANY_READ),
    (_("Members"), _("people invite roles"), "members", Permission.MEMBERS_MANAGE),
    (_("API keys and apps"), _("tokens credentials connected"), "api-keys", None),
    (_("Activity"), _("audit log history changes"), "activity", Permission.AUDIT_READ),
]


@company_page(reads=Permission.COMPANY_READ)
def search(visit: Visit) -> HttpResponse:
    """What a few words or an amount find; without any, the pages there are."""
    text = visit.request.GET.get("q", "").replace("\0", "").strip()[:MOST_TEXT]
    kinds = [kind for kind in found_of(visit, text) if kind.found]
    return visit.show("ledger/transactions/search.html", tab="search", text=text, kinds=kinds)


def found_of(visit: Visit, text: str) -> Iterator[Kind]:
    """Kind by kind, one query for each that has rows."""
    if text:
        if visit.may(Permission.TRANSACTIONS_READ):
            yield transactions_with(visit, text)
        if visit.may(Permission.COUNTERPARTIES_READ):
            yield counterparties_with(visit, text)
        if visit.may(Permission.ACCOUNTS_READ):
            yield accounts_with(visit, text)
    yield Kind(gettext("Pages"), list(pages_with(visit, text)))


def transactions_with(visit: Visit, text: str) -> Kind:
    """Those with the text, or with the amount whatever its sign; the latest first."""
    with_text = Q(from_to__icontains=text) | Q(description__icontains=text) | Q(notes__icontains=text)
    amount = amount_of(text)
    if amount is not None:
        with_text |= Q(amount_value__in=[amount, -amount])
    rows = Transaction.objects.of(visit.company.id).filter(with_text).order_by("-date", "-id")
    found = list(rows[: A_KIND + 1])
    more = f"{reverse('transactions', args=[visit.company.id])}?{urlencode({'q': text})}"
    shown = [line_of(visit, row) for row in found[:A_KIND]]
    return Kind(gettext("Transactions"), shown, more if len(found) > A_KIND else "")


def line_of(visit: Visit, row: Transaction) -> Found:
    description = description_of(row)
    title = row.from_to or description or gettext("No text")
    detail = f"{day(row.date)} · {description}" if row.from_to and description else day(row.date)  # type: ignore[arg-type]
    address = reverse("transaction", args=[visit.company.id, row.id])
    return Found(title, detail, address, money(row.amount_value, row.amount_currency))


def amount_of(text: str) -> Decimal | None:
    """What was typed as an amount without its sign; None where it is none."""
    try:
        return abs(parse_amount(amount_typed(text, "")))
    except (NotAnAmount, ValueError):
        return None


def counterparties_with(visit: Visit, text: str) -> Kind:
    rows = Counterparty.objects.of(visit.company.id).filter(name__icontains=text).in_order()[:A_KIND]
    listed = reverse("transactions", args=[visit.company.id])
    seen = visit.may(Permission.TRANSACTIONS_READ)
    found = [
        Found(row.name, str(KINDS[CounterpartyType(row.type)]), f"{listed}?counterpartyId={row.id}" if seen else "")
        for row in rows
    ]
    return Kind(gettext("Counterparties"), found)


def accounts_with(visit: Visit, text: str) -> Kind:
    """By name, or by number however it is spaced."""
    number = Replace("account_number", Value(" "))
    rows = Account.objects.of(visit.company.id).annotate(number=number)
    rows = rows.filter(Q(name__icontains=text) | Q(number__icontains="".join(text.split())))
    return Kind(gettext("Accounts"), [account_line(visit, row) for row in rows.in_order()[:A_KIND]])


def account_line(visit: Visit, row: Account) -> Found:
    detail = " · ".join(filter(None, (row.account_number, gettext("archived") if row.archived else "")))
    return Found(row.name, detail, reverse("account", args=[visit.company.id, row.id]))


def pages_with(visit: Visit, text: str) -> Iterator[Found]:
    """Of the pages that the visitor may open those that all the words are said of."""
    words = text.lower().split()
    for title, others, name, permission in PAGES:
        if permission is not None and not visit.may(permission):
            continue
        if all(word in f"{title} {others}".lower() for word in words):
            yield Found(str(title), "", reverse(name, args=[visit.company.id]))
