"""What is expected of a company from a day on: open occurrences, and what of earlier ones is overdue.

An occurrence is open while nothing has settled it and it is not skipped. One whose day has passed is overdue for sixty
days; older ones lapse. A planned total is open by what is not booked of it, and lapses when its month ends. Up to the
cutover, what is overdue or due today is expected on the day after it. Those on transit accounts are left out.
"""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

from companies.models import Company
from ledger.calc.fx import RateTable
from ledger.calc.money import WIDE
from planning.calc.recurrence import OVERDUE, Rule, is_overdue, occurrences
from planning.forecasting import Plans, expectations, transit_accounts

ONE_DAY = timedelta(days=1)
ZERO = Decimal(0)


@dataclass(slots=True)
class Expected:
    """Sums (in, out), both ≥ 0, by (day, currency); and how many of them are overdue, with their net by currency."""

    cutover: date
    today: date
    sums: dict[tuple[date, str], tuple[Decimal, Decimal]] = field(default_factory=dict)
    overdue_count: int = 0
    overdue: defaultdict[str, Decimal] = field(default_factory=lambda: defaultdict(lambda: ZERO))

    def add(self, day: date, currency: str, amount: Decimal, *, count: int) -> None:
        """So many occurrences of a day, all in or all out, and what they come to."""
        if day <= self.cutover:
            if is_overdue(day, today=self.today):
                self.overdue_count += count
                self.overdue[currency] = WIDE.add(self.overdue[currency], amount)
            elif day != self.today:
                return
            day = self.cutover + ONE_DAY
        inflow, outflow = self.sums.get((day, currency), (ZERO, ZERO))
        self.sums[day, currency] = (inflow, outflow - amount) if amount < 0 else (inflow + amount, outflow)


def plans(
    *,
    company: Company,
    cutover: date,
    end: date,
    today: date,
    rates: RateTable,
    left_out: Collection[UUID] | None = None,
) -> Plans:
    """Return all that can be expected up to `end`.

    Two statements, however many rules there are: one fewer where the transit accounts, which are `left_out`, are known,
    and one more where there are planned totals.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    start = first_day(cutover=cutover, today=today)
    left_out = transit_accounts(company) if left_out is None else left_out
    return expectations(company, start, end, today=today, rates=rates, left_out=left_out)


def group_by_account(found: Plans) -> dict[UUID | None, Plans]:
    """The same by the account that it is expected on; None where it is expected on none."""
    grouped: defaultdict[UUID | None, Plans] = defaultdict(lambda: ([], []))
    for planned in found[0]:
        grouped[planned.account_id][0].append(planned)
    for flow in found[1]:
        grouped[flow.account_id][1].append(flow)
    return dict(grouped)


def first_day(*, cutover: date, today: date) -> date:
    """The first of the days whose occurrences can be expected or overdue."""
    return min(cutover + ONE_DAY, today - OVERDUE)


def overdue(found: Plans, *, today: date) -> Expected:
    """What is overdue on all accounts and on none: what the cash plan lists, and every count of it says."""
    yesterday = today - ONE_DAY
    return expected(found, cutover=yesterday, end=yesterday, today=today)


def expected(
    found: Plans, *, cutover: date, end: date, today: date, accounts: Collection[UUID | None] | None = None
) -> Expected:
    """Up to ``end``, on some accounts or on all and on none.

    Rules of one schedule and currency are added up first, so that each schedule is expanded once.
    """
    plain, patched = found
    sums = Expected(cutover=cutover, today=today)
    start = first_day(cutover=cutover, today=today)
    schedules: dict[tuple[Rule, str, bool], tuple[Decimal, int]] = {}
    for planned in plain:
        if accounts is None or planned.account_id in accounts:
            key = (planned.rule(), planned.currency, planned.amount < 0)
            amount, count = schedules.get(key, (ZERO, 0))
            schedules[key] = (amount + planned.amount, count + 1)
    for (rule, currency, _), (amount, count) in schedules.items():
        for day in occurrences(rule, window_start=start, window_end=end):
            sums.add(day, currency, amount, count=count)
    for flow in patched:
        if accounts is None or flow.account_id in accounts:
            sums.add(flow.date, flow.currency, flow.amount, count=1)
    return sums
