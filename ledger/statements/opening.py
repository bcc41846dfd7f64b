"""The initial balance that statements give an account: what its earliest one opens with."""

from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple

from django.db.models import F, Min, Sum

from companies.changing import Change
from ledger.accounts.opening import initial_balance, set_initial_balance
from ledger.models import Account, Source, Statement, Transaction
from ledger.money.amounts import amount_out
from ledger.transactions.booking import remove

ONE = timedelta(days=1)
EARLIEST = date.min + ONE  # that has an eve
OPENED = {"openedBy": "statement"}  # marks an initial balance that nobody has set by hand


def opens_first(change: Change, account: Account) -> bool:
    """Whether the next statement that tells an opening balance is the account's first, and nobody but banks has booked
    anything: notifications may have come before it."""
    company = change.company
    booked = Transaction.objects.of(company.id).filter(account=account).booked()
    told = Statement.objects.of(company.id).of_account(account.id).filter(opening_balance__isnull=False)
    return not told.exists() and not booked.exclude(source=Source.BANK).exists()


def open_with_earliest(change: Change, account: Account, *, first: bool, bare: bool = False) -> None:
    """Gives the account the balance before its earliest statement, on that one's eve; what notifications told of days
    before that is taken out, and the balance stands before them. ``first``: ``opens_first`` said so. What somebody set
    by hand stays; an earlier statement that comes later moves what a later one had set. ``bare``: nothing is left in
    the account, so statements that tell of movements have lost theirs and open nothing.
    """
    company = change.company
    stored = initial_balance(account=account)
    if (stored is None and not first) or (stored is not None and stored.provider_data != OPENED):
        return
    statements = Statement.objects.of(company.id).of_account(account.id).filter(currency=account.default_currency)
    known = statements.filter(opening_balance__isnull=False, start_date__gt=date.min)
    if bare:
        known = known.filter(closing_balance=F("opening_balance"))
    earliest = known.order_by("start_date", F("final").desc(), "created_time", "id").first()
    if earliest is None or earliest.start_date is None:
        if stored is not None:
            remove(change, [stored.id])
        return
    start, before = earliest.start_date, told_before(change, account, earliest.start_date)
    row = set_initial_balance(
        company=company,
        stamp=change.stamp,
        account_id=account.id,
        day=min(start, before.first or start) - ONE,
        amount=amount_out((earliest.opening_balance or Decimal(0)) - before.total, earliest.currency),
    )
    Transaction.objects.of(company.id).filter(id=row.id).update(provider_data=OPENED)


class Before(NamedTuple):
    """What banks told of the days before a statement."""

    first: date | None
    total: Decimal


def told_before(change: Change, account: Account, start: date) -> Before:
    rows = Transaction.objects.of(change.company.id).booked().without_initial().filter(source=Source.BANK)
    rows = rows.filter(account=account, amount_currency=account.default_currency, date__range=(EARLIEST, start - ONE))
    found = rows.aggregate(first=Min("date"), total=Sum("amount_value"))
    return Before(found["first"], found["total"] or Decimal(0))
