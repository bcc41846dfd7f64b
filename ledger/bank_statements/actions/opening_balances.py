"""The initial balance of an account from the opening balance of its earliest statement."""

from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple

from django.db.models import F, Min, Sum

from companies.change import CompanyChange
from companies.closed_periods import PeriodClosed, is_day_closed
from ledger.accounts.actions.initial_balances import find_initial_balance, set_initial_balance
from ledger.models import Account, Source, Statement, Transaction
from ledger.money.amounts import format_plain_amount
from ledger.transactions.actions.transactions import delete_transaction_rows

ONE_DAY = timedelta(days=1)
EARLIEST_DAY = date.min + ONE_DAY  # that has an eve
OPENED_BY_STATEMENT = {"openedBy": "statement"}  # marks an initial balance that nobody has set by hand


def is_first_opening_statement(change: CompanyChange, account: Account) -> bool:
    """Whether the next statement with an opening balance is the account's first, and only banks have booked
    transactions: notifications may have come before it.
    """
    company = change.company
    booked_transactions = Transaction.objects.for_company(company.id).filter(account=account).booked()
    statements_with_opening = (
        Statement.objects.for_company(company.id).for_account(account.id).filter(opening_balance__isnull=False)
    )
    return not statements_with_opening.exists() and not booked_transactions.exclude(source=Source.BANK).exists()


def update_opening_balance(
    change: CompanyChange, account: Account, *, is_first: bool, is_empty: bool = False, skips_closed: bool = False
) -> None:
    """Set the account's initial balance to the opening balance of its earliest statement, on the day before it.

    Transactions from notifications before that day are subtracted, and the balance is dated before them. An
    initial balance set by hand stays; a statement of an earlier period moves one set by a later statement. What
    falls in closed months is set on the first open day.

    Args:
        is_first: result of ``is_first_opening_statement``.
        is_empty: the account is empty, so statements whose balance changed have lost their transactions and do
            not count.
        skips_closed: set a new balance after the closed months, and leave a stored one, instead of refusing the
            change of a closed month.

    Raises: PeriodClosed.
    """
    company = change.company
    initial = find_initial_balance(account=account)
    if (initial is None and not is_first) or (initial is not None and initial.provider_data != OPENED_BY_STATEMENT):
        return
    statements = (
        Statement.objects.for_company(company.id).for_account(account.id).filter(currency=account.default_currency)
    )
    opening_statements = statements.filter(opening_balance__isnull=False, start_date__gt=date.min)
    if is_empty:
        opening_statements = opening_statements.filter(closing_balance=F("opening_balance"))
    earliest = opening_statements.order_by("start_date", F("final").desc(), "created_time", "id").first()
    if earliest is None or earliest.start_date is None:
        if initial is not None:
            delete_transaction_rows(change, [initial.id])
        return
    start, earlier_bookings = earliest.start_date, sum_earlier_bookings(change, account, earliest.start_date)
    day = min(start, earlier_bookings.first or start) - ONE_DAY
    amount = (earliest.opening_balance or Decimal(0)) - earlier_bookings.total
    if company.closed_through is not None and is_day_closed(company, day):
        is_current = initial is not None and initial.amount_value == amount and day <= initial.date <= start
        if not is_current and not skips_closed:
            raise PeriodClosed.for_company(company, "#/file")
        if initial is not None:
            return
        day = company.closed_through + ONE_DAY
    row = set_initial_balance(
        company=company,
        context=change.context,
        account_id=account.id,
        day=day,
        amount=format_plain_amount(amount, earliest.currency),
    )
    Transaction.objects.for_company(company.id).filter(id=row.id).update(provider_data=OPENED_BY_STATEMENT)


class EarlierBookings(NamedTuple):
    """What banks reported before a statement's period."""

    first: date | None
    total: Decimal


def sum_earlier_bookings(change: CompanyChange, account: Account, start: date) -> EarlierBookings:
    """Return the first day and the sum of what banks reported before a day."""
    rows = (
        Transaction.objects.for_company(change.company.id)
        .booked()
        .without_initial_balances()
        .filter(source=Source.BANK)
    )
    rows = rows.filter(
        account=account, amount_currency=account.default_currency, date__range=(EARLIEST_DAY, start - ONE_DAY)
    )
    sums = rows.aggregate(first=Min("date"), total=Sum("amount_value"))
    return EarlierBookings(sums["first"], sums["total"] or Decimal(0))
