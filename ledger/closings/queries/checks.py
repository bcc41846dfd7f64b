"""What is unfinished in months before they are closed."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Max, Min, Sum

from companies.models import Company
from ledger import hooks
from ledger.bank_statements.actions.reconciliation import compare_statement_balances
from ledger.calc.months import get_last_day_of_month, get_last_weekday_of_month
from ledger.models import Account, AccountType, MonthMovement, Statement, SubscriptionEvent, Transaction
from ledger.money.calc.fx import EURO, RateLookupError, RateTable

ZERO = Decimal(0)
STATEMENTLESS_TYPES = {AccountType.CASH, AccountType.LOAN, AccountType.TRANSIT}  # whose balances no bank reports
MAX_RATE_AGE = timedelta(days=7)  # of the rate at a month's end


class StatementAccount(NamedTuple):
    """An account and its bank statements that have a closing balance."""

    id: UUID
    name: str
    has_mismatch: bool
    last_day: date | None  # of its statements; None without one
    needed_day: date  # its statements must not end before
    type: str

    @property
    def is_unreconciled(self) -> bool:
        """Whether it differs from its bank's balance, or its statements end too early."""
        return self.has_mismatch or (self.last_day is not None and self.last_day < self.needed_day)

    @property
    def is_without_statement(self) -> bool:
        return self.last_day is None and not self.has_mismatch


@dataclass(frozen=True, slots=True)
class CloseChecks:
    """What is unfinished in the months to close: counts, accounts, codes of currencies.

    ``accounts_without_statement`` are no check: nothing says whether they agree with their bank. Those of
    ``statementless_accounts`` have a type without statements.
    """

    uncategorized: int = 0
    pending: int = 0
    unreconciled_accounts: list[StatementAccount] = field(default_factory=list)
    overdue: int = 0
    missing_rates: list[str] = field(default_factory=list)
    accounts_without_statement: list[StatementAccount] = field(default_factory=list)
    statementless_accounts: list[StatementAccount] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not (
            self.uncategorized or self.pending or self.unreconciled_accounts or self.overdue or self.missing_rates
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "uncategorized": self.uncategorized,
            "pending": self.pending,
            "unreconciledAccounts": [str(each.id) for each in self.unreconciled_accounts],
            "overdue": self.overdue,
            "missingRates": self.missing_rates,
        }


def check_months(company: Company, months: Sequence[date], *, today: date, rates: RateTable) -> CloseChecks:
    """Check what is unfinished up to the end of the last of the months; a constant number of statements."""
    if not months:
        return CloseChecks()
    end = get_last_day_of_month(months[-1])
    rows = Transaction.objects.for_company(company.id).filter(date__lte=end)
    if company.closed_through is not None:  # what lies in closed months was acknowledged
        rows = rows.filter(date__gt=company.closed_through)
    accounts = load_statement_accounts(company, month=months[-1])
    without_statement = [each for each in accounts if each.is_without_statement]
    overdue = hooks.count_overdue_occurrences.run(company=company, due_through=end, today=today)
    return CloseChecks(
        uncategorized=rows.booked().open().without_initial_balances().count(),
        pending=rows.filter(pending=True).count(),
        unreconciled_accounts=[each for each in accounts if each.is_unreconciled],
        overdue=sum(overdue),
        missing_rates=list_missing_rates(company, months, rates=rates),
        accounts_without_statement=[each for each in without_statement if each.type not in STATEMENTLESS_TYPES],
        statementless_accounts=[each for each in without_statement if each.type in STATEMENTLESS_TYPES],
    )


def load_statement_accounts(company: Company, *, month: date) -> list[StatementAccount]:
    """Return the accounts that are not archived, in display order; three statements, five if one is out of balance.

    An account that is out of balance is compared as of the end of the month: what differs later can wait. Statements
    must reach the end of the month. Banks book nothing on Saturdays and Sundays: those at its end are needed only for
    accounts with booked transactions on them.
    """
    accounts = Account.objects.for_company(company.id).filter(archived=False).in_display_order()
    statements = Statement.objects.for_company(company.id).with_closing_balance().order_by()
    last_days = dict(statements.values_list("account_id").annotate(last=Max("day")))
    last_weekday, end = get_last_weekday_of_month(month), get_last_day_of_month(month)
    weekend_rows = Transaction.objects.for_company(company.id).booked().without_initial_balances().order_by()
    weekend_rows = weekend_rows.filter(date__gt=last_weekday, date__lte=end)
    weekend_days = dict(weekend_rows.values_list("account_id").annotate(last=Max("date")))
    rows = list(accounts.values_list("id", "name", "type", "bank_connection"))
    mismatched_ids = {row_id for row_id, *_, connection in rows if (connection or {}).get("balanceMismatchSince")}
    mismatched_ids -= find_agreeing_ids(company, mismatched_ids, end=end)
    return [
        StatementAccount(
            account_id,
            name,
            account_id in mismatched_ids,
            last_days.get(account_id),
            weekend_days.get(account_id, last_weekday),
            type_,
        )
        for account_id, name, type_, _ in rows
    ]


def find_agreeing_ids(company: Company, account_ids: Collection[UUID], *, end: date) -> set[UUID]:
    """Return the accounts whose last statements up to a day agree with the ledger in each currency."""
    if not account_ids:
        return set()
    statements = Statement.objects.for_company(company.id).filter(account__in=account_ids, day__lte=end)
    last_first = ("account_id", "currency", "-day", "-created_time", "-id")
    last_statements = statements.with_closing_balance().order_by(*last_first).distinct("account_id", "currency")
    comparisons = compare_statement_balances(company, list(last_statements))
    differing_ids = {each.statement.account_id for each in comparisons if each.difference}
    return {each.statement.account_id for each in comparisons} - differing_ids


def list_missing_rates(company: Company, months: Sequence[date], *, rates: RateTable) -> list[str]:
    """Return currencies without a rate published within seven days before the end of one of the months.

    Used in a month are the currencies that accounts hold or that moved, and those of subscriptions that had begun.
    """
    currencies_by_month: dict[date, set[str]] = {month: set() for month in months}
    movements = (
        MonthMovement.objects.for_company(company.id)
        .filter(month__lte=months[-1], count__gt=0)
        .order_by("month")
        .values_list("currency", "month")
        .annotate(Sum("amount"))
    )
    balances: dict[str, Decimal] = defaultdict(lambda: ZERO)
    remaining_rows = iter([*movements, None])
    row = next(remaining_rows)
    for month in months:
        while row is not None and row[1] <= month:
            balances[row[0]] += row[2]
            if row[1] == month:
                currencies_by_month[month].add(row[0])
            row = next(remaining_rows)
        currencies_by_month[month] |= {currency for currency, amount in balances.items() if amount}
    events = (
        SubscriptionEvent.objects.for_company(company.id)
        .not_retracted()
        .filter(effective_date__lte=get_last_day_of_month(months[-1]))
    )
    first_days = dict(events.order_by().values_list("amount_currency").annotate(first=Min("effective_date")))
    missing = set()
    for month, currencies in currencies_by_month.items():
        end = get_last_day_of_month(month)
        currencies |= {currency for currency, first in first_days.items() if first <= end}
        foreign_currencies = currencies - {company.base_currency}
        needed_currencies = foreign_currencies | {company.base_currency} if foreign_currencies else set()
        missing |= {currency for currency in needed_currencies if not has_rate(currency, end, rates=rates)}
    return sorted(missing)


def has_rate(currency: str, day: date, *, rates: RateTable) -> bool:
    """Whether a rate was published on the day or within the seven days before."""
    if currency == EURO:
        return True
    try:
        published = rates.get_rate_date(currency, day)
    except RateLookupError:
        return False
    return timedelta(0) <= day - published <= MAX_RATE_AGE
