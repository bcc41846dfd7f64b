"""Journals for plain-text accounting: entries, prices, and the account balances at the end of each month."""

from collections import defaultdict
from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Context, Decimal
from itertools import starmap
from typing import IO, Protocol
from uuid import UUID

from django.db.models import Max, Min, Sum
from django.db.models.functions import TruncMonth

from companies.errors import InvalidInputError
from companies.models import Company
from companies.permissions import Permission, Permissions
from ledger.accounts.queries import sum_account_balances
from ledger.bulk.spool import open_snapshot, read_rows, spool_rows
from ledger.calc.months import add_months, get_first_day_of_month, get_last_day_of_month
from ledger.exports.calc import beancount
from ledger.exports.calc.chart_of_accounts import (
    OPENING_BALANCES_ACCOUNT,
    PREFIX_BY_LINE,
    ChartOfAccounts,
    build_chart_of_accounts,
)
from ledger.exports.calc.journal_entries import (
    JournalEntry,
    JournalPosting,
    JournalRow,
    build_journal_entries,
    reverse_sign,
)
from ledger.exports.file_responses import encode_chunks
from ledger.exports.sql_decimals import build_decimals_sql
from ledger.models import Account, Category, DayMovement, PlType, Source
from ledger.money.calc.fx import RateLookupError, RateTable
from ledger.money.calc.money import format_amount
from ledger.money.rates import get_rate_table
from ledger.recognition.actions.postings import MissingRateError

TAX_PAYMENTS = "taxPayments"  # system key of the category for tax paid to the tax office
ONE_DAY = timedelta(days=1)
ZERO = Decimal(0)
RATE_CONTEXT = Context(prec=12)

AccountCurrency = tuple[UUID, str]
"""An account and a currency that it holds."""
Balances = dict[AccountCurrency, Decimal]


class JournalDaysOutOfRange(InvalidInputError):
    """Journals support dates from 1700 to 2099. Choose a shorter period or correct the transaction dates."""

    code = "journal_days_out_of_range"


class JournalSyntax(Protocol):
    """A module that formats one kind of journal."""

    def format_header(self, *, title: str, base: str) -> str: ...
    def format_commodities(self, currencies: Iterable[str]) -> str: ...
    def format_account_opening(self, account: str, *, day: date) -> str: ...
    def format_price(self, day: str, *, currency: str, rate: str, base: str) -> str: ...
    def format_entry(self, entry: JournalEntry) -> str: ...
    def format_balance_assertions(self, day: date, balances: Iterable[JournalPosting]) -> str: ...


# ---------------------------------------------------------------------------------------------- window and accounts


@dataclass(frozen=True, slots=True)
class JournalWindow:
    """The days from `first` to `last`. Earlier transactions become opening balances on the day before."""

    first: date
    last: date

    @property
    def day_before(self) -> date:
        return self.first - ONE_DAY

    @property
    def closing_days(self) -> list[date]:
        """The month ends from the day before the window on, and the last day."""
        days, month = [], get_first_day_of_month(self.day_before)
        while (end := get_last_day_of_month(month)) < self.last:
            days.append(end)
            month = add_months(month, 1)
        return [*days, self.last]


def find_journal_window(company: Company, *, start: date | None, end: date | None, today: date) -> JournalWindow | None:
    """Return the days of a journal, without empty years before the first or after the last transaction and today.

    None if nothing was ever booked.

    Raises:
        JournalDaysOutOfRange.
    """
    movements = DayMovement.objects.for_company(company.id).filter(count__gt=0)
    lowest, highest = movements.aggregate(first=Min("date"), last=Max("date")).values()
    if lowest is None:
        return None
    first = max(start or lowest, lowest)
    if first <= beancount.FIRST_DAY:
        raise JournalDaysOutOfRange
    last = max(min(end or date.max, max(highest, today)), first - ONE_DAY)
    if last > beancount.LAST_DAY:
        raise JournalDaysOutOfRange
    return JournalWindow(first, last)


def list_journal_accounts(company: Company, *, permissions: Permissions) -> ChartOfAccounts:
    """Return the chart of accounts; an id replaces a name that the user may not see.

    Payments in the system category `taxPayments` settle the pass-through tax account.
    """
    sees_accounts, sees_categories = Permission.ACCOUNTS_READ in permissions, Permission.CATEGORIES_READ in permissions
    accounts = Account.objects.for_company(company.id).order_by("id").values_list("id", "type", "name")
    categories = list(Category.objects.for_company(company.id).order_by("id").values_list("id", "name", "system_key"))
    return build_chart_of_accounts(
        accounts=[(str(row_id), kind, name if sees_accounts else "") for row_id, kind, name in accounts],
        categories=[(str(row_id), name if sees_categories else "") for row_id, name, _ in categories],
        tax_payments=[str(row_id) for row_id, _, key in categories if key == TAX_PAYMENTS],
    )


# ---------------------------------------------------------------------------------------------- writing


def stream_journal(
    *,
    company: Company,
    syntax: JournalSyntax,
    start: date | None,
    end: date | None,
    today: date,
    permissions: Permissions,
) -> Generator[bytes]:
    """Return the pieces of a journal of what was booked from `start` to `end`, both included.

    The default is the first day with a transaction and today. Pending transactions are left out. Errors are
    raised here, before the first piece is written.

    Raises:
        JournalDaysOutOfRange: the window has days that Beancount cannot read.
        MissingRateError: a currency has no exchange rate.
    """
    window = find_journal_window(company, start=start, end=end, today=today)
    rates = get_rate_table()
    if window:
        check_journal_rates(company, window, rates)
    return generate_journal(company, syntax, window, rates, permissions)


def check_journal_rates(company: Company, window: JournalWindow, rates: RateTable) -> None:
    """Check that each currency used up to the end of the window has an exchange rate. Raises MissingRateError."""
    movements = DayMovement.objects.for_company(company.id).filter(date__lte=window.last, count__gt=0)
    currencies = movements.values_list("currency", flat=True).distinct()
    try:
        for currency in currencies:
            rates.get_cross_rate(currency, company.base_currency, window.day_before)
    except RateLookupError as error:
        raise MissingRateError.from_missing_rate(error) from None


def generate_journal(
    company: Company, syntax: JournalSyntax, window: JournalWindow | None, rates: RateTable, permissions: Permissions
) -> Generator[bytes]:
    """Yield the header at once, then the rest."""
    yield syntax.format_header(title=company.name, base=company.base_currency).encode()
    if window is None:
        yield syntax.format_commodities([]).encode()
        return
    data = load_journal_data(company, window, permissions)
    with closing(data.rows):
        yield from encode_chunks(JournalWriter(company, syntax, window, data.chart, rates).write_journal(data))


@dataclass(frozen=True, slots=True)
class JournalData:
    """The data of a journal, all from one snapshot.

    `changes_by_month` has the changes within the window, `opening_balances` those of the day before it, `rows`
    a file with one JournalRow a line.
    """

    chart: ChartOfAccounts
    changes_by_month: dict[date, Balances]
    opening_balances: Balances
    rows: IO[bytes]


def load_journal_data(company: Company, window: JournalWindow, permissions: Permissions) -> JournalData:
    """Load the data of a journal. Close its `rows` afterwards."""
    with open_snapshot():
        opening_balances = {
            (account, currency): amount
            for account, amounts in sum_account_balances(company_id=company.id, day=window.day_before).items()
            for currency, amount in amounts.items()
        }
        return JournalData(
            chart=list_journal_accounts(company, permissions=permissions),
            changes_by_month=sum_monthly_changes(company, window),
            opening_balances=opening_balances,
            rows=spool_journal_rows(company, window),
        )


@dataclass
class JournalWriter:
    """Writes a journal piece by piece; its memory does not grow with the number of entries."""

    company: Company
    syntax: JournalSyntax
    window: JournalWindow
    chart: ChartOfAccounts
    rates: RateTable
    balances: Balances = field(default_factory=dict)
    opened_accounts: set[str] = field(default_factory=set)
    priced_days: dict[str, str] = field(default_factory=dict)  # currency -> last day with a price

    def write_journal(self, data: JournalData) -> Generator[str]:
        """Yield the journal: commodities, account openings, entries, prices and balance assertions."""
        changes_by_month, opening_balances = data.changes_by_month, data.opening_balances
        account_currencies = sorted(
            {place for month in changes_by_month.values() for place in month} | set(opening_balances),
            key=self.get_sort_key,
        )
        self.balances = {place: opening_balances.get(place, ZERO) for place in account_currencies}
        yield self.syntax.format_commodities(
            {self.company.base_currency, *(currency for _, currency in account_currencies)}
        )
        for account, _ in account_currencies:
            yield self.format_opening_once(self.chart.accounts[str(account)])
        if any(opening_balances.values()):
            yield self.format_entry_with_prerequisites(self.build_opening_entry())
        days = self.window.closing_days[::-1]
        closed_on = days[-1].isoformat()
        for entry in build_journal_entries(starmap(JournalRow, read_rows(data.rows)), chart=self.chart):
            while entry.day > closed_on:
                yield self.format_closing_balances(days.pop(), changes_by_month)
                closed_on = days[-1].isoformat()
            yield self.format_entry_with_prerequisites(entry)
        while days:
            yield self.format_closing_balances(days.pop(), changes_by_month)

    def get_sort_key(self, account_currency: AccountCurrency) -> tuple[str, str]:
        """Return (account name, currency), by which balances are sorted."""
        account, currency = account_currency
        return self.chart.accounts[str(account)], currency

    def format_opening_once(self, account: str) -> str:
        """Format the opening of an account before its first use, else an empty text."""
        if account in self.opened_accounts:
            return ""
        self.opened_accounts.add(account)
        return self.syntax.format_account_opening(account, day=self.window.day_before)

    def format_entry_with_prerequisites(self, entry: JournalEntry) -> str:
        """Format an entry, preceded by the account openings and prices that it needs."""
        prefix, base = "", self.company.base_currency
        for account, _, currency in entry.postings:
            if account not in self.opened_accounts:
                prefix += self.format_opening_once(account)
            if currency != base:
                prefix += self.format_price_once(entry.day, currency)
        return prefix + self.syntax.format_entry(entry)

    def build_opening_entry(self) -> JournalEntry:
        """Return the opening balances as an entry on the day before the window."""
        amounts = [(*self.get_sort_key(place), amount) for place, amount in self.balances.items() if amount]
        postings: list[JournalPosting] = []
        for account, currency, amount in amounts:
            text = format_amount(amount, currency)
            postings += [(account, text, currency), (OPENING_BALANCES_ACCOUNT, reverse_sign(text), currency)]
        return JournalEntry(self.window.day_before.isoformat(), False, "", "", "Opening balances", postings)

    def format_closing_balances(self, day: date, changes_by_month: dict[date, Balances]) -> str:
        """Format the balances at the end of a month or of the last day, and the prices of foreign currencies."""
        for account_currency, change in changes_by_month.pop(get_first_day_of_month(day), {}).items():
            self.balances[account_currency] += change
        foreign_currencies = sorted({currency for _, currency in self.balances} - {self.company.base_currency})
        text = "".join([self.format_price_once(day.isoformat(), currency) for currency in foreign_currencies])
        amounts = [
            (*self.get_sort_key(account_currency), format_amount(amount, account_currency[1]))
            for account_currency, amount in self.balances.items()
        ]
        if amounts:
            text += self.syntax.format_balance_assertions(
                day, [(account, amount, currency) for account, currency, amount in amounts]
            )
        return text

    def format_price_once(self, day: str, currency: str) -> str:
        """Format the price of a currency, at most once a day."""
        if self.priced_days.get(currency) == day:
            return ""
        self.priced_days[currency] = day
        base = self.company.base_currency
        rate = RATE_CONTEXT.plus(self.rates.get_cross_rate(currency, base, date.fromisoformat(day)))
        return self.syntax.format_price(day, currency=currency, rate=f"{rate:f}", base=base)


# ---------------------------------------------------------------------------------------------- reading


def sum_monthly_changes(company: Company, window: JournalWindow) -> dict[date, Balances]:
    """Return the changes on each account by month, for the days within the window."""
    changes_by_month: dict[date, Balances] = defaultdict(dict)
    movements = DayMovement.objects.for_company(company.id).filter(date__range=(window.first, window.last), count__gt=0)
    monthly_sums = movements.values_list("account_id", "currency", TruncMonth("date")).annotate(Sum("amount"))
    for account, currency, month, amount in monthly_sums:
        changes_by_month[month][account, currency] = amount
    return dict(changes_by_month)


UNITS, OTHER_UNITS = build_decimals_sql("t.amount_currency"), build_decimals_sql("o.amount_currency")
# Only legs of transfers have a counter; the condition keeps other categorizations out of the join.
_SELECT_ROWS = f"""
    SELECT t.id, t.date, t.account_id, t.from_to, t.description, t.amount_currency, round(t.amount_value, {UNITS}),
           round(nullif(t.amount_value - t.categorized_value, 0), {UNITS}), nullif(t.source = %s, false),
           c.category_id, {", ".join(f"round(-nullif(c.{line}, 0), {UNITS})" for line in PREFIX_BY_LINE)},
           round(-nullif(c.pass_through_tax, 0), {UNITS}),
           CASE WHEN c.counter_id IS NOT NULL THEN round(c.value, {UNITS}) END,
           o.account_id, o.amount_currency, CASE WHEN o.id IS NOT NULL THEN round(k.value, {OTHER_UNITS}) END
      FROM ledger_transaction AS t
      LEFT JOIN ledger_categorization AS c ON c.company_id = %s AND c.transaction_id = t.id
      LEFT JOIN (ledger_categorization AS k JOIN ledger_transaction AS o
                    ON k.company_id = %s AND k.counter_id IS NOT NULL
                       AND o.company_id = %s AND o.id = k.transaction_id AND NOT o.pending AND o.date BETWEEN %s AND %s)
             ON k.id = c.counter_id AND date_trunc('month', o.date) = date_trunc('month', t.date)
     WHERE t.company_id = %s AND NOT t.pending AND t.date BETWEEN %s AND %s
     ORDER BY t.date, t.id, c.position, c.id
"""  # noqa: S608 - the lines are ours
assert list(PREFIX_BY_LINE) == PlType.values  # noqa: S101 - the columns and the accounts of a chart have one order


def spool_journal_rows(company: Company, window: JournalWindow) -> IO[bytes]:
    """Copy one JournalRow a line into a temporary file."""
    days = (window.first, window.last)
    return spool_rows(
        _SELECT_ROWS, [Source.INITIAL_BALANCE.value, company.id, company.id, company.id, *days, company.id, *days]
    )
