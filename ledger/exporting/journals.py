"""The books as a journal: entries, prices, and what the accounts hold at the end of every month."""

from collections import defaultdict
from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Context, Decimal
from itertools import starmap
from typing import IO, Protocol
from uuid import UUID

from django.db import connection

from companies.api import replica
from companies.errors import Invalid
from companies.models import Company
from companies.permissions import Permission, Permissions
from ledger.accounts.balances import balances_on
from ledger.bulk.reading import one_moment, read_rows, spool_rows
from ledger.calc.fx import MissingRate, RateTable
from ledger.calc.money import format_amount
from ledger.calc.months import add_months, first_of_month, last_of_month
from ledger.exporting.calc import beancount
from ledger.exporting.calc.chart import LINES, OPENING, Chart, build_chart
from ledger.exporting.calc.entries import Entry, Posting, Row, entries, turned
from ledger.exporting.decimals import decimals_of
from ledger.exporting.files import in_pieces
from ledger.models import Account, Category, PlType, Source
from ledger.money.rates import rate_table
from ledger.recognition.posting import NoRate

TAX_PAYMENTS = "taxPayments"  # system key of the category in which passed-through tax is paid to the tax office
ONE_DAY = timedelta(days=1)
ZERO = Decimal(0)
RATE = Context(prec=12)

Place = tuple[UUID, str]
"""An account and a currency that it holds."""
Held = dict[Place, Decimal]


class DaysOutOfRange(Invalid):
    """A journal has days from 1700 to 2099: narrow the window, or date the transactions anew."""

    code = "journal_days_out_of_range"


class Syntax(Protocol):
    """A module that knows how a kind of journal is written."""

    def head(self, *, title: str, base: str) -> str: ...
    def commodities(self, currencies: Iterable[str]) -> str: ...
    def opened(self, account: str, *, day: date) -> str: ...
    def price(self, day: str, *, currency: str, rate: str, base: str) -> str: ...
    def entry(self, each: Entry) -> str: ...
    def balances(self, day: date, held: Iterable[Posting]) -> str: ...


# ---------------------------------------------------------------------------------------------- what is asked for


@dataclass(frozen=True, slots=True)
class Window:
    """The days from ``first`` to ``last``. What was there before is told on the day before; there may be nothing."""

    first: date
    last: date

    @property
    def before(self) -> date:
        return self.first - ONE_DAY

    @property
    def closings(self) -> list[date]:
        """The ends of months from the day before on, and the last day."""
        found, month = [], first_of_month(self.before)
        while (end := last_of_month(month)) < self.last:
            found.append(end)
            month = add_months(month, 1)
        return [*found, self.last]


def window_of(company: Company, *, start: date | None, end: date | None, today: date) -> Window | None:
    """The days that a journal tells of: no empty years before the first transaction or behind the last and today.

    None where nothing was ever booked. Raises DaysOutOfRange.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT min(date), max(date) FROM ledger_daymovement WHERE company_id = %s AND count > 0", [company.id]
        )
        lowest, highest = cursor.fetchone()
    if lowest is None:
        return None
    first = max(start or lowest, lowest)
    if first <= beancount.EARLIEST:
        raise DaysOutOfRange
    last = max(min(end or date.max, max(highest, today)), first - ONE_DAY)
    if last > beancount.LATEST:
        raise DaysOutOfRange
    return Window(first, last)


def list_journal_accounts(company: Company, *, permissions: Permissions) -> Chart:
    """Return the chart of accounts; an id stands in for a name that the caller may not see.

    Payments in the system category ``taxPayments`` settle what was put on the pass-through tax account.
    """
    sees_accounts, sees_categories = Permission.ACCOUNTS_READ in permissions, Permission.CATEGORIES_READ in permissions
    accounts = Account.objects.of(company.id).order_by("id").values_list("id", "type", "name")
    categories = list(Category.objects.of(company.id).order_by("id").values_list("id", "name", "system_key"))
    return build_chart(
        accounts=[(str(row_id), kind, name if sees_accounts else "") for row_id, kind, name in accounts],
        categories=[(str(row_id), name if sees_categories else "") for row_id, name, _key in categories],
        tax_payments=[str(row_id) for row_id, _name, key in categories if key == TAX_PAYMENTS],
    )


# ---------------------------------------------------------------------------------------------- writing


def stream_journal(
    *,
    company: Company,
    syntax: Syntax,
    start: date | None,
    end: date | None,
    today: date,
    permissions: Permissions,
) -> Generator[bytes]:
    """Return the pieces of a journal of what was booked from ``start`` to ``end``, both included.

    Left out they mean the first day with a transaction and today. Pending transactions are not booked. What can be
    refused is checked here, before the first piece is asked for.

    Raises:
        DaysOutOfRange: the window has days that Beancount does not read.
        NoRate: a currency has no exchange rate.
    """
    window = window_of(company, start=start, end=end, today=today)
    rates = rate_table()
    if window:
        check_rates(company, window, rates)
    return journal_pieces(company, syntax, window, rates, permissions)


def check_rates(company: Company, window: Window, rates: RateTable) -> None:
    """Raise NoRate where a currency that moved up to the end of the window has no exchange rate at all."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT currency FROM ledger_daymovement WHERE company_id = %s AND date <= %s AND count > 0",
            [company.id, window.last],
        )
        currencies = [currency for (currency,) in cursor.fetchall()]
    try:
        for currency in currencies:
            rates.cross(currency, company.base_currency, window.before)
    except MissingRate as missing:
        raise NoRate.of(missing) from None


def journal_pieces(
    company: Company, syntax: Syntax, window: Window | None, rates: RateTable, permissions: Permissions
) -> Generator[bytes]:
    """Yield the title at once, then the rest."""
    yield syntax.head(title=company.name, base=company.base_currency).encode()
    if window is None:
        yield syntax.commodities([]).encode()
        return
    facts = replica.answered(lambda: load_facts(company, window, permissions))
    with closing(facts.rows):
        yield from in_pieces(Books(company, syntax, window, facts.chart, rates).told(facts))


@dataclass(frozen=True, slots=True)
class Facts:
    """What a journal is written from, all as of one moment.

    ``changes`` are those of each month of the window, ``before`` what there was on the day before it, ``rows`` a file
    with the values of a Row a line.
    """

    chart: Chart
    changes: dict[date, Held]
    before: Held
    rows: IO[bytes]


def load_facts(company: Company, window: Window, permissions: Permissions) -> Facts:
    """Read what a journal is written from. Close its ``rows`` afterwards."""
    with one_moment():
        before = {
            (account, currency): amount
            for account, held in balances_on(company_id=company.id, day=window.before).items()
            for currency, amount in held.items()
        }
        return Facts(
            chart=list_journal_accounts(company, permissions=permissions),
            changes=changes_in(company, window),
            before=before,
            rows=spool_journal_rows(company, window),
        )


@dataclass
class Books:
    """A journal in the making; what it remembers does not grow with its entries."""

    company: Company
    syntax: Syntax
    window: Window
    chart: Chart
    rates: RateTable
    held: Held = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)
    priced: dict[str, str] = field(default_factory=dict)  # currency → the last day

    def told(self, facts: Facts) -> Generator[str]:
        changes, before = facts.changes, facts.before
        places = sorted({place for month in changes.values() for place in month} | set(before), key=self.name)
        self.held = {place: before.get(place, ZERO) for place in places}
        yield self.syntax.commodities({self.company.base_currency, *(currency for _, currency in places)})
        for account, _ in places:
            yield self.opened_by(self.chart.accounts[str(account)])
        if any(before.values()):
            yield self.shown(self.opening())
        days = self.window.closings[::-1]
        closed_on = days[-1].isoformat()
        for entry in entries(starmap(Row, read_rows(facts.rows)), chart=self.chart):
            while entry.day > closed_on:
                yield self.closed(days.pop(), changes)
                closed_on = days[-1].isoformat()
            yield self.shown(entry)
        while days:
            yield self.closed(days.pop(), changes)

    def name(self, place: Place) -> tuple[str, str]:
        account, currency = place
        return self.chart.accounts[str(account)], currency

    def opened_by(self, account: str) -> str:
        """Opens an account before it is used for the first time."""
        if account in self.opened:
            return ""
        self.opened.add(account)
        return self.syntax.opened(account, day=self.window.before)

    def shown(self, entry: Entry) -> str:
        needed, base = "", self.company.base_currency
        for account, _, currency in entry.postings:
            if account not in self.opened:
                needed += self.opened_by(account)
            if currency != base:
                needed += self.priced_on(entry.day, currency)
        return needed + self.syntax.entry(entry)

    def opening(self) -> Entry:
        """What was there before, as an entry of the day before."""
        own = [(*self.name(place), amount) for place, amount in self.held.items() if amount]
        postings: list[Posting] = []
        for account, currency, amount in own:
            shown = format_amount(amount, currency)
            postings += [(account, shown, currency), (OPENING, turned(shown), currency)]
        return Entry(self.window.before.isoformat(), False, "", "", "Opening balances", postings)

    def closed(self, day: date, changes: dict[date, Held]) -> str:
        """What every account holds at the end of a month, or of the last day, and what foreign money is worth then."""
        for place, change in changes.pop(first_of_month(day), {}).items():
            self.held[place] += change
        foreign = sorted({currency for _, currency in self.held} - {self.company.base_currency})
        said = "".join([self.priced_on(day.isoformat(), currency) for currency in foreign])
        shown = [(*self.name(place), format_amount(amount, place[1])) for place, amount in self.held.items()]
        if shown:
            said += self.syntax.balances(day, [(account, amount, currency) for account, currency, amount in shown])
        return said

    def priced_on(self, day: str, currency: str) -> str:
        """Once a day."""
        if self.priced.get(currency) == day:
            return ""
        self.priced[currency] = day
        base = self.company.base_currency
        rate = RATE.plus(self.rates.cross(currency, base, date.fromisoformat(day)))
        return self.syntax.price(day, currency=currency, rate=f"{rate:f}", base=base)


# ---------------------------------------------------------------------------------------------- reading

_CHANGES = """
    SELECT account_id, currency, date_trunc('month', date)::date, sum(amount)
      FROM ledger_daymovement
     WHERE company_id = %s AND date BETWEEN %s AND %s AND count > 0
     GROUP BY 1, 2, 3
"""


def changes_in(company: Company, window: Window) -> dict[date, Held]:
    """By month, what its days within the window changed on each account."""
    found: dict[date, Held] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(_CHANGES, [company.id, window.first, window.last])
        for account, currency, month, amount in cursor.fetchall():
            found[month][account, currency] = amount
    return dict(found)


UNITS, OTHER_UNITS = decimals_of("t.amount_currency"), decimals_of("o.amount_currency")
# Both legs of a transfer have a counter; without asking for it every part would be a leg to look at.
_ROWS = f"""
    SELECT t.id, t.date, t.account_id, t.from_to, t.description, t.amount_currency, round(t.amount_value, {UNITS}),
           round(nullif(t.amount_value - t.categorized_value, 0), {UNITS}), nullif(t.source = %s, false),
           c.category_id, {", ".join(f"round(-nullif(c.{line}, 0), {UNITS})" for line in LINES)},
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
assert list(LINES) == PlType.values  # noqa: S101 - the columns and the accounts of a chart have one order


def spool_journal_rows(company: Company, window: Window) -> IO[bytes]:
    """Copy the values of a Row each into a temporary file."""
    days = (window.first, window.last)
    return spool_rows(
        _ROWS, [Source.INITIAL_BALANCE.value, company.id, company.id, company.id, *days, company.id, *days]
    )
