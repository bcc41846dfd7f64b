"""Expected cash of a company: sums of open occurrences after a cutover, and of overdue ones.

An occurrence is open while it is neither settled nor skipped. An open one of a past day is overdue for
sixty days, then it lapses; an invoice stays overdue until it is paid. A planned total is open by the part
that is not booked, and lapses when its month ends; what a card owes of it is an expected transfer. Up to
the cutover, overdue and due amounts are expected on the day after it. Occurrences on transit accounts are
left out. Both legs of a planned transfer are transfers, on their accounts.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

from companies.models import Company
from ledger.money.calc.fx import RateTable
from ledger.money.calc.money import MONEY_CONTEXT
from planning.calc.recurrence import OVERDUE_PERIOD, RecurrenceRule, is_overdue, list_expected_days
from planning.forecast.queries import (
    Expectations,
    PlannedFlow,
    find_expectations_in_window,
    find_transit_account_ids,
)
from planning.scenarios.queries import LoadedScenario

ONE_DAY = timedelta(days=1)
ZERO = Decimal(0)


@dataclass(slots=True)
class ExpectedCash:
    """Sums (in, out), both ≥ 0, by (day, currency), and the number and net amounts of overdue occurrences.

    `transfers` are net amounts of expected transfers by (day, currency), which are in no other sum.
    """

    cutover: date
    today: date
    sums: dict[tuple[date, str], tuple[Decimal, Decimal]] = field(default_factory=dict)
    transfers: defaultdict[tuple[date, str], Decimal] = field(default_factory=lambda: defaultdict(lambda: ZERO))
    overdue_count: int = 0
    overdue_transfers: set[tuple[UUID, date]] = field(default_factory=set)
    overdue: defaultdict[str, Decimal] = field(default_factory=lambda: defaultdict(lambda: ZERO))

    def add_occurrences(
        self, day: date, currency: str, amount: Decimal, *, count: int, is_invoice: bool = False
    ) -> None:
        """Add occurrences of one day, all in or all out, with their sum; those of invoices never lapse.

        What a scenario scales to zero is neither expected nor overdue, like a skipped occurrence.
        """
        if not amount:
            return
        if day <= self.cutover:
            if is_overdue(day, today=self.today) or (is_invoice and day < self.today):
                self.overdue_count += count
                self.overdue[currency] = MONEY_CONTEXT.add(self.overdue[currency], amount)
            elif day != self.today:
                return
            day = self.cutover + ONE_DAY
        inflow, outflow = self.sums.get((day, currency), (ZERO, ZERO))
        self.sums[day, currency] = (inflow, outflow - amount) if amount < 0 else (inflow + amount, outflow)

    def add_transfer(self, leg: PlannedFlow) -> None:
        """Add one leg of a transfer; an overdue one counts once, however many of its legs are added."""
        if not leg.amount:
            return
        if leg.date <= self.cutover and leg.date < self.today:
            if not is_overdue(leg.date, today=self.today):
                return
            occurrence = (leg.planned_id, leg.original_date)
            self.overdue_count += occurrence not in self.overdue_transfers
            self.overdue_transfers.add(occurrence)
            self.overdue[leg.currency] = MONEY_CONTEXT.add(self.overdue[leg.currency], leg.amount)
        self.transfers[max(leg.date, self.cutover + ONE_DAY), leg.currency] += leg.amount

    def iter_changes(self, *, end: date) -> Iterator[tuple[date, str, Decimal]]:
        """Yield (day, currency, amount) up to `end`, transfers included."""
        for (day, currency), (inflow, outflow) in self.sums.items():
            if day <= end:
                yield day, currency, inflow - outflow
        for (day, currency), amount in self.transfers.items():
            if day <= end:
                yield day, currency, amount


def find_expectations_after_cutover(
    *,
    company: Company,
    cutover: date,
    end: date,
    today: date,
    rates: RateTable,
    excluded_account_ids: Collection[UUID] | None = None,
    scenario: LoadedScenario | None = None,
) -> Expectations:
    """Return everything that can be expected up to `end`, with the changes of a scenario.

    Two statements, however many planned transactions there are; one fewer where `excluded_account_ids`, the
    transit accounts, are given, and one more where there are planned totals.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    start = get_first_expected_day(cutover=cutover, today=today)
    excluded_account_ids = find_transit_account_ids(company) if excluded_account_ids is None else excluded_account_ids
    return find_expectations_in_window(
        company,
        start,
        end,
        today=today,
        rates=rates,
        excluded_account_ids=excluded_account_ids,
        scenario=scenario,
    )


def group_expectations_by_account(expectations: Expectations) -> dict[UUID | None, Expectations]:
    """Group expectations by account; None is the key of those without one."""
    grouped: defaultdict[UUID | None, Expectations] = defaultdict(lambda: ([], []))
    for planned in expectations[0]:
        grouped[planned.account_id][0].append(planned)
    for flow in expectations[1]:
        grouped[flow.account_id][1].append(flow)
    return dict(grouped)


def add_expected_cash(first: ExpectedCash, second: ExpectedCash) -> ExpectedCash:
    """Return the sums of both, which have one cutover."""
    total = ExpectedCash(cutover=first.cutover, today=first.today)
    total.sums = dict(first.sums)
    for key, (inflow, outflow) in second.sums.items():
        before = total.sums.get(key, (ZERO, ZERO))
        total.sums[key] = (before[0] + inflow, before[1] + outflow)
    total.overdue_count = first.overdue_count + second.overdue_count
    for part in (first, second):
        for key, amount in part.transfers.items():
            total.transfers[key] += amount
        for currency, amount in part.overdue.items():
            total.overdue[currency] += amount
    return total


def get_first_expected_day(*, cutover: date, today: date) -> date:
    """Return the first day whose occurrences can be expected or overdue."""
    return min(cutover + ONE_DAY, today - OVERDUE_PERIOD)


def sum_overdue_cash(expectations: Expectations, *, today: date) -> ExpectedCash:
    """Return the overdue amounts on all accounts and without one, as the cash plan lists them."""
    yesterday = today - ONE_DAY
    return sum_expected_cash(expectations, cutover=yesterday, end=yesterday, today=today)


def sum_expected_cash(
    expectations: Expectations,
    *,
    cutover: date,
    end: date,
    today: date,
    accounts: Collection[UUID | None] | None = None,
) -> ExpectedCash:
    """Sum what is expected up to `end` on the given accounts; None means all accounts and none.

    Rules of one schedule and currency are added up first, so that each schedule is expanded once.
    """
    unchanged_rules, flows = expectations
    expected_cash = ExpectedCash(cutover=cutover, today=today)
    start = get_first_expected_day(cutover=cutover, today=today)
    schedules: dict[tuple[RecurrenceRule, str, bool], tuple[Decimal, int]] = {}
    for planned in unchanged_rules:
        if accounts is None or planned.account_id in accounts:
            key = (planned.recurrence_rule(), planned.currency, planned.amount < 0)
            amount, count = schedules.get(key, (ZERO, 0))
            schedules[key] = (amount + planned.amount, count + 1)
    for (rule, currency, _), (amount, count) in schedules.items():
        for day, _ in list_expected_days(rule, window_start=start, window_end=end):
            expected_cash.add_occurrences(day, currency, amount, count=count)
    for flow in flows:
        if accounts is not None and flow.account_id not in accounts:
            continue
        if flow.is_transfer:
            expected_cash.add_transfer(flow)
        else:
            expected_cash.add_occurrences(flow.date, flow.currency, flow.amount, count=1, is_invoice=flow.is_invoice)
    return expected_cash
