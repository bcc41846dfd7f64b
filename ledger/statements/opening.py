"""The initial balance that statements give an account: what its earliest one opens with."""

from datetime import date, timedelta
from decimal import Decimal

from django.db.models import F

from companies.changing import Change
from ledger.accounts.opening import initial_balance, set_initial_balance
from ledger.models import Account, Statement, Transaction
from ledger.money.amounts import amount_out
from ledger.transactions.booking import remove

OPENED = {"openedBy": "statement"}  # marks an initial balance that nobody has set by hand


def is_empty(change: Change, account: Account) -> bool:
    """Whether nothing is booked in the account, an initial balance neither."""
    return not Transaction.objects.of(change.company.id).filter(account=account).booked().exists()


def open_with_earliest(change: Change, account: Account, *, first: bool, bare: bool = False) -> None:
    """Gives the account the balance before its earliest statement, on that one's eve. ``first``: nothing was booked
    before. What somebody set by hand stays; an earlier statement that comes later moves what a later one had set.
    ``bare``: nothing is left in the account, so statements that tell of movements have lost theirs and open nothing.
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
    row = set_initial_balance(
        company=company,
        stamp=change.stamp,
        account_id=account.id,
        day=earliest.start_date - timedelta(days=1),
        amount=amount_out(earliest.opening_balance or Decimal(0), earliest.currency),
    )
    Transaction.objects.of(company.id).filter(id=row.id).update(provider_data=OPENED)
