"""What comes next: the dated occurrences of all rules, and what they add up to by month."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from companies.models import Company
from ledger.calc.fx import MissingRate, RateTable, convert
from ledger.calc.money import round_half_up
from ledger.calc.months import add_months, first_of_month, last_of_month, months_from
from ledger.models import Account
from planning.forecasting import planned_sums
from planning.models import PlannedTransaction, with_overrides
from planning.occurring import Expected, occurrences_of

MONTHS_AHEAD = 3
ONE_DAY = dt.timedelta(days=1)
ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Coming:
    """One occurrence with its rule and the name of its account."""

    planned: PlannedTransaction
    expected: Expected
    account: str

    @property
    def amount(self) -> Decimal:
        return Decimal(self.expected.amount_value)


@dataclass(frozen=True, slots=True)
class Month:
    """What a month brings and takes in the base currency, both ≥ 0."""

    month: dt.date
    inflow: Decimal
    outflow: Decimal

    @property
    def net(self) -> Decimal:
        return self.inflow - self.outflow


def window(today: dt.date) -> tuple[dt.date, dt.date]:
    """From today to the end of the month three months on."""
    return today, last_of_month(add_months(today, MONTHS_AHEAD))


def coming_of(
    rows: Iterable[PlannedTransaction], *, start: dt.date, end: dt.date, accounts: dict[UUID, str]
) -> list[Coming]:
    """What takes place in the window, by date. The rows have their overrides."""
    found = [
        Coming(row, each, accounts.get(each.account_id, "") if each.account_id else "")
        for row in rows
        for each in occurrences_of(row, window_start=start, window_end=end)
    ]
    return sorted(found, key=lambda each: (each.expected.date, each.expected.name))


def coming_of_company(company: Company, *, start: dt.date, end: dt.date, accounts: dict[UUID, str]) -> list[Coming]:
    """The same for all rules of a company. Two queries."""
    rows = with_overrides(list(PlannedTransaction.objects.of(company.id).touching(company.id, start, end)))
    return coming_of(rows, start=start, end=end, accounts=accounts)


def months_of(company: Company, *, today: dt.date, end: dt.date, rates: RateTable) -> list[Month]:
    """What the months add up to, as the forecast counts it: what is dated today is past, settled ones and transit
    accounts are left out, amounts are worth what they are today. Raises MissingRate."""
    start = today + ONE_DAY
    sums: dict[dt.date, list[Decimal]] = defaultdict(lambda: [ZERO, ZERO])
    for (day, currency), flows in planned_sums(company, start, end).items():
        for place, amount in enumerate(flows):
            worth = convert(amount, source=currency, target=company.base_currency, day=today, rates=rates)
            sums[first_of_month(day)][place] += worth
    return [
        Month(month, *(round_half_up(amount, company.base_currency) for amount in sums[month]))
        for month in months_from(start, end)
    ]


def account_names(company: Company) -> dict[UUID, str]:
    return dict(Account.objects.of(company.id).in_order().values_list("id", "name"))


def in_words(planned: PlannedTransaction) -> str:
    """How often it recurs, and until when: "every 3 months on the last day, 12 times"."""
    if planned.frequency is None:
        return "once"
    every = planned.frequency if planned.interval == 1 else f"{planned.interval} {planned.frequency}s"
    text = f"every {every}{' on the last day' if planned.last_day_of_month else ''}"
    if planned.end_date:
        return f"{text}, until {planned.end_date:%-d %b %Y}"
    return f"{text}, {planned.end_count} times" if planned.end_count else text


def told_months(company: Company, *, today: dt.date, end: dt.date, rates: Any) -> tuple[list[Month], str]:
    """The months, or the currency without a rate."""
    try:
        return months_of(company, today=today, end=end, rates=rates), ""
    except MissingRate as missing:
        return [], missing.currency
