"""What comes next and what is late: occurrences with their accounts, and the transactions that settle them or could."""

import datetime as dt
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from heapq import merge
from itertools import islice
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.locales import current
from companies.models import Company
from companies.pages.visits import Visit
from companies.permissions import Permission
from ledger.calc.months import add_months, last_of_month
from ledger.models import Account, Transaction
from planning.calc.matching import Awaited
from planning.calc.recurrence import OVERDUE, Occurrence, State, occurrences
from planning.matching import MOST_DAYS, matched
from planning.models import PlannedTransaction, with_overrides
from planning.occurring import BY_DATE, Due, Expected, by_date, due_of, expected, occurrence_of

MONTHS_AHEAD = 3
MOST_SHOWN = 50  # occurrences of one section; drawing them takes most of the page's time


@dataclass(frozen=True, slots=True)
class Coming:
    """One occurrence with its rule, the name of its account, and the transaction that settles it, or could."""

    planned: PlannedTransaction
    expected: Expected
    state: State
    account: str
    match: Transaction | None

    @property
    def amount(self) -> Decimal:
        return Decimal(self.expected.amount_value)

    @property
    def amount_to_come(self) -> Decimal:
        """What is open; all of what is settled or skipped."""
        return Decimal(self.expected.open_amount_value) if self.state in ("due", "overdue") else self.amount

    @property
    def is_partly_booked(self) -> bool:
        return self.amount_to_come != self.amount

    def is_ahead(self, today: dt.date) -> bool:
        """Whether it takes place from today on, settled or not."""
        return self.expected.date >= today and self.state != "skipped"


def window(today: dt.date) -> tuple[dt.date, dt.date]:
    """From the first day on which something can be overdue to the end of the month three months on."""
    return today - OVERDUE, last_of_month(add_months(today, MONTHS_AHEAD))


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the page of a company shows: the first of what is late and of what comes, the last of what is done."""

    late: list[Coming] = field(default_factory=list)
    more_late: int = 0  # besides
    coming: list[Coming] = field(default_factory=list)
    more: int = 0  # that come besides
    done: list[Coming] = field(default_factory=list)


def coming_of(visit: Visit, planned: PlannedTransaction, *, end: dt.date, accounts: Mapping[UUID, str]) -> list[Coming]:
    """Return the occurrences of one rule from sixty days ago on, by date; skipped ones too. It has its overrides.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    start, _ = window(visit.today)
    dues = by_date(due_of([planned], start=start, end=end, today=visit.today))
    matches = find_matches(visit, [planned])
    return [to_coming(due, accounts, matches) for due in dues]


def outlook_of_company(visit: Visit, *, end: dt.date, accounts: Mapping[UUID, str]) -> Outlook:
    """Return what of all rules is shown. Hundreds of daily rules have a hundred thousand occurrences, of which those
    that are shown alone are built: the rules' days are merged, and the first of them taken.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    start, _ = window(visit.today)
    rows = list_rules(visit, end=end)
    plain = [planned for planned in rows if not (planned.overrides or planned.is_total)]
    others = [planned for planned in rows if planned.overrides or planned.is_total]
    dues = by_date(due_of(others, start=start, end=end, today=visit.today))
    overdue = [due for due in dues if due.state == "overdue"]
    due_ahead = [due for due in dues if due.expected.date >= visit.today and due.state != "skipped"]
    done = [due for due in dues if due.expected.date < visit.today and due.state in ("settled", "skipped")]
    late: list[Iterable[Due]] = [overdue]
    ahead: list[Iterable[Due]] = [due_ahead]
    late_count, ahead_count = len(overdue), len(due_ahead)
    for planned in plain:
        days = occurrences(planned.recurrence_rule(), window_start=start, window_end=end)
        today_at = bisect_left(days, visit.today)
        late.append(build_dues(planned, days[:today_at], "overdue"))
        ahead.append(build_dues(planned, days[today_at:], "due"))
        late_count += today_at
        ahead_count += len(days) - today_at
    matches = find_matches(visit, rows)
    shown_late, shown_ahead = (
        [to_coming(due, accounts, matches) for due in islice(merge(*found, key=BY_DATE), MOST_SHOWN)]
        for found in (late, ahead)
    )
    shown_done = [to_coming(due, accounts, matches) for due in done[-MOST_SHOWN:]]
    return Outlook(shown_late, late_count - len(shown_late), shown_ahead, ahead_count - len(shown_ahead), shown_done)


def list_rules(visit: Visit, *, end: dt.date) -> list[PlannedTransaction]:
    """Return the rules that can have an occurrence from sixty days ago on, with their overrides."""
    start, _ = window(visit.today)
    rows = PlannedTransaction.objects.of(visit.company.id).touching(visit.company.id, start, end)
    return with_overrides(list(rows))


def build_dues(planned: PlannedTransaction, days: Iterable[dt.date], state: State) -> Iterator[Due]:
    """Yield the occurrences of a rule that nothing overrides, one at a time."""
    for day in days:
        yield Due(planned, expected(planned, Occurrence(day, day)), state)


def to_coming(due: Due, accounts: Mapping[UUID, str], matches: Mapping[tuple[UUID, dt.date], Transaction]) -> Coming:
    account = accounts.get(due.expected.account_id, "") if due.expected.account_id else ""
    match = matches.get((due.planned.id, due.expected.original_date))
    return Coming(due.planned, due.expected, due.state, account, match)


def list_matched(visit: Visit) -> list[Coming]:
    """Return the open occurrences of a company that a transaction fits, by date."""
    rows = list_rules(visit, end=visit.today + dt.timedelta(days=MOST_DAYS))
    by_id = {planned.id: planned for planned in rows}
    matches = find_matches(visit, rows)
    dues = []
    for planned_id, original_date in matches:
        occurrence = occurrence_of(by_id[planned_id], original_date)
        state: State = "overdue" if occurrence.date < visit.today else "due"
        dues.append(Due(by_id[planned_id], occurrence, state))
    return [to_coming(due, {}, matches) for due in by_date(dues)]


def find_matches(visit: Visit, rows: Iterable[PlannedTransaction]) -> dict[tuple[UUID, dt.date], Transaction]:
    """Return what could settle the open occurrences up to ten days ahead, by rule and original date, for those who may
    see it. The rows have their overrides. Four statements."""
    if not (visit.may(Permission.TRANSACTIONS_READ) and visit.may(Permission.PLANNING_WRITE)):
        return {}
    start, last = window(visit.today)[0], visit.today + dt.timedelta(days=MOST_DAYS)
    awaited = list_awaited(rows, start=start, end=last, today=visit.today)
    pairs = matched(company=visit.company, awaited=awaited, days=(start, last))
    found = Transaction.objects.of(visit.company.id).in_bulk([pair.booked.id for pair in pairs])
    return {(pair.awaited.planned_id, pair.awaited.original_date): found[pair.booked.id] for pair in pairs}


def list_awaited(
    rows: Iterable[PlannedTransaction], *, start: dt.date, end: dt.date, today: dt.date
) -> Iterator[Awaited]:
    """Yield the open occurrences of the window that one transaction could settle."""
    for planned in rows:
        if planned.is_total:
            continue
        if planned.overrides:
            dues = due_of([planned], start=start, end=end, today=today)
            yield from (awaiting_of(due) for due in dues if due.is_matchable)
            continue
        amount, currency, account_id = planned.amount_value, planned.amount_currency, planned.account_id
        for day in occurrences(planned.recurrence_rule(), window_start=start, window_end=end):
            yield Awaited(planned.id, day, day, amount, currency, account_id)


def awaiting_of(due: Due) -> Awaited:
    expected = due.expected
    amount = Decimal(expected.amount_value)
    return Awaited(
        due.planned.id, expected.original_date, expected.date, amount, expected.amount_currency, expected.account_id
    )


def account_names(company: Company) -> dict[UUID, str]:
    return dict(Account.objects.of(company.id).in_order().values_list("id", "name"))


def in_words(planned: PlannedTransaction) -> str:
    """How often it recurs, and until when: "every 3 months on the last day, 12 times"."""
    if planned.frequency is None:
        return _("once")
    often = every(planned.frequency, planned.interval, last_day=planned.last_day_of_month)
    if planned.end_date:
        return _("{often}, until {day}").format(often=often, day=current().day_of(planned.end_date))
    return _("{often}, {count} times").format(often=often, count=planned.end_count) if planned.end_count else often


def every(frequency: str, count: int, *, last_day: bool) -> str:
    """every day, every 3 months on the last day"""
    if last_day:
        texts = {
            "month": ngettext("every month on the last day", "every {count} months on the last day", count),
            "year": ngettext("every year on the last day", "every {count} years on the last day", count),
        }
    else:
        texts = {
            "day": ngettext("every day", "every {count} days", count),
            "week": ngettext("every week", "every {count} weeks", count),
            "month": ngettext("every month", "every {count} months", count),
            "year": ngettext("every year", "every {count} years", count),
        }
    return texts[frequency].format(count=count)
