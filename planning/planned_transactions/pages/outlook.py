"""Upcoming, overdue and recent occurrences, with their account and the transaction that settles or matches
them.
"""

import datetime as dt
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from heapq import merge
from itertools import islice
from operator import itemgetter
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.locales import get_current_locale
from companies.models import Company
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.calc.months import add_months, get_last_day_of_month
from ledger.models import Account, Transaction
from planning.calc.recurrence import OVERDUE_PERIOD, Occurrence, list_expected_days
from planning.calc.settlement_matching import OpenOccurrence, SettlementMatch
from planning.calc.settlements import SettlementState
from planning.models import PlannedTransaction, WeekendShift
from planning.planned_transactions.queries.expected_dates import attach_expected_dates
from planning.planned_transactions.queries.occurrences import (
    OCCURRENCE_ORDER,
    DueOccurrence,
    PlannedOccurrence,
    build_planned_occurrence,
    get_planned_occurrence,
    iter_due_occurrences,
    iter_overdue_occurrences,
    list_planned_with_expected_dates,
    sort_due_occurrences,
)
from planning.planned_transactions.queries.settled_totals import SettledAmounts
from planning.planned_transactions.queries.settlements import find_settled_amounts
from planning.planned_transactions.queries.transaction_matches import (
    MAX_MATCH_DAYS,
    drop_contradictions,
    match_open_occurrences,
)

MONTHS_AHEAD = 3
MAX_OCCURRENCES_SHOWN = 50  # occurrences of one section; rendering them takes most of the page's time


@dataclass(frozen=True, slots=True)
class UpcomingOccurrence:
    """An occurrence with its planned transaction, account name, and settling or matching transaction."""

    planned: PlannedTransaction
    expected: PlannedOccurrence
    account: str
    match: Transaction | None
    evidence: tuple[str, ...] = ()  # of the match
    paid_together: tuple["UpcomingOccurrence", ...] = ()  # what the matching transaction pays, if several; itself first

    @property
    def state(self) -> SettlementState:
        return self.expected.state

    @property
    def amount(self) -> Decimal:
        return Decimal(self.expected.amount_value)

    @property
    def amount_to_come(self) -> Decimal:
        """The open amount; the whole amount of a settled or skipped occurrence."""
        return Decimal(self.expected.open_amount_value) if self.expected.is_open else self.amount

    @property
    def is_partly_booked(self) -> bool:
        return self.amount_to_come != self.amount

    def is_from(self, today: dt.date) -> bool:
        """Return whether it takes place from a day on, settled or not."""
        return self.expected.date >= today and self.state != "skipped"


def get_outlook_window(today: dt.date) -> tuple[dt.date, dt.date]:
    """Return the days from the first one that can be overdue to the end of the month three months ahead."""
    return today - OVERDUE_PERIOD, get_last_day_of_month(add_months(today, MONTHS_AHEAD))


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the cash plan shows: first overdue and upcoming occurrences, last settled or skipped ones."""

    late: list[UpcomingOccurrence] = field(default_factory=list)
    more_late: int = 0  # besides
    coming: list[UpcomingOccurrence] = field(default_factory=list)
    more: int = 0  # upcoming ones that are not shown
    done: list[UpcomingOccurrence] = field(default_factory=list)


def list_upcoming_occurrences(
    page: CompanyPage, planned: PlannedTransaction, *, end: dt.date, accounts: Mapping[UUID, str]
) -> list[UpcomingOccurrence]:
    """Return the occurrences of a planned transaction from sixty days ago on, by date, skipped ones included.

    `planned` has its overrides attached.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    start, _ = get_outlook_window(page.today)
    attach_expected_dates([planned])
    settled = find_settled_amounts([planned])
    dues = sort_due_occurrences(
        iter_due_occurrences(
            [planned], start=start, end=end, today=page.today, with_old_invoices=True, settled_amounts=settled
        )
    )
    matching_transactions = find_matching_transactions(page, [planned], settled=settled)
    return [to_upcoming_occurrence(due, accounts, matching_transactions) for due in dues]


def build_outlook(
    page: CompanyPage,
    *,
    end: dt.date,
    accounts: Mapping[UUID, str],
    overdue_through: dt.date | None = None,
) -> Outlook:
    """Build the outlook of all planned transactions.

    Only the occurrences that are shown are built: the days of rules without overrides are merged, and the first
    of them taken, since hundreds of daily rules have a hundred thousand occurrences.

    Args:
        overdue_through: show only overdue ones due up to this day, as `count_overdue_occurrences` counts them.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    today = page.today
    start, _ = get_outlook_window(today)
    rows = list_outlook_rules(page, end=end)
    settled = find_settled_amounts(rows)
    settled_ids = {planned_id for planned_id, _ in settled}
    unchanged_rules = [planned for planned in rows if is_unchanged_rule(planned, settled_ids)]
    other_rules = [planned for planned in rows if not is_unchanged_rule(planned, settled_ids)]
    dues = sort_due_occurrences(
        iter_due_occurrences(
            other_rules, start=start, end=end, today=today, with_old_invoices=True, settled_amounts=settled
        )
    )
    overdue = [due for due in dues if due.expected.date < today and due.expected.is_open]
    if overdue_through:
        overdue = sort_due_occurrences(
            iter_overdue_occurrences(other_rules, due_through=overdue_through, today=today, settled_amounts=settled)
        )
    due_ahead = [due for due in dues if due.expected.date >= today and due.state != "skipped"]
    done = [due for due in dues if due.expected.date < today and not due.expected.is_open]
    late: list[Iterable[DueOccurrence]] = [overdue]
    ahead: list[Iterable[DueOccurrence]] = [due_ahead]
    late_count, ahead_count = len(overdue), len(due_ahead)
    for planned in unchanged_rules:
        days = list_expected_days(planned.recurrence_rule(), window_start=start, window_end=end)
        today_at = bisect_left(days, today, key=itemgetter(0))
        late_days = [day for day in days[:today_at] if not overdue_through or day[0] <= overdue_through]
        late.append(iter_unchanged_occurrences(planned, late_days, today=today))
        ahead.append(iter_unchanged_occurrences(planned, days[today_at:], today=today))
        late_count += len(late_days)
        ahead_count += len(days) - today_at
    matching_transactions = find_matching_transactions(page, rows, settled=settled)
    shown_late, shown_ahead = (
        [
            to_upcoming_occurrence(due, accounts, matching_transactions)
            for due in islice(merge(*result, key=OCCURRENCE_ORDER), MAX_OCCURRENCES_SHOWN)
        ]
        for result in (late, ahead)
    )
    shown_done = [to_upcoming_occurrence(due, accounts, matching_transactions) for due in done[-MAX_OCCURRENCES_SHOWN:]]
    return Outlook(shown_late, late_count - len(shown_late), shown_ahead, ahead_count - len(shown_ahead), shown_done)


def is_unchanged_rule(planned: PlannedTransaction, settled_ids: Collection[UUID]) -> bool:
    """Whether the occurrences of a planned transaction follow from its recurrence alone."""
    return not (planned.overrides or planned.is_total or planned.is_invoice or planned.id in settled_ids)


def list_outlook_rules(page: CompanyPage, *, end: dt.date) -> list[PlannedTransaction]:
    """Return planned transactions that can have an occurrence from sixty days ago on, with overrides."""
    start, _ = get_outlook_window(page.today)
    return list_planned_with_expected_dates(page.company, window_start=start, window_end=end)


def iter_unchanged_occurrences(
    planned: PlannedTransaction, days: Iterable[tuple[dt.date, dt.date]], *, today: dt.date
) -> Iterator[DueOccurrence]:
    """Yield the occurrences of a planned transaction without overrides and settlements.

    Args:
        days: pairs of the expected day and the original date.
    """
    for day, original_date in days:
        yield DueOccurrence(planned, build_planned_occurrence(planned, Occurrence(original_date, day), today=today))


def to_upcoming_occurrence(
    due: DueOccurrence, accounts: Mapping[UUID, str], matching_transactions: Mapping[tuple[UUID, dt.date], Transaction]
) -> UpcomingOccurrence:
    expected = due.expected
    account = format_accounts(
        due.planned, account_id=expected.account_id, amount=Decimal(expected.amount_value), accounts=accounts
    )
    match = matching_transactions.get((due.planned.id, due.expected.original_date))
    return UpcomingOccurrence(due.planned, due.expected, account, match)


def list_matched_occurrences(page: CompanyPage) -> list[UpcomingOccurrence]:
    """Return the open occurrences that a transaction matches, by date."""
    rows = list_outlook_rules(page, end=page.today + dt.timedelta(days=MAX_MATCH_DAYS))
    by_id = {planned.id: planned for planned in rows}
    settled = find_settled_amounts(rows)

    def build_upcoming(occurrence: OpenOccurrence, transaction: Transaction) -> UpcomingOccurrence:
        planned = by_id[occurrence.planned_id]
        expected = get_planned_occurrence(planned, occurrence.original_date, today=page.today, settled=settled)
        return UpcomingOccurrence(planned, expected, "", transaction)

    upcoming = [
        replace(
            build_upcoming(match.occurrence, transaction),
            evidence=match.evidence,
            paid_together=tuple(build_upcoming(occurrence, transaction) for occurrence, _ in match.settlements),
        )
        for match, transaction in list_matching_transactions(page, rows, settled=settled, with_sums=True)
    ]
    return sorted(upcoming, key=lambda each: (each.expected.date, each.expected.original_date, each.planned.id))


def find_matching_transactions(
    page: CompanyPage, rows: Iterable[PlannedTransaction], *, settled: SettledAmounts
) -> dict[tuple[UUID, dt.date], Transaction]:
    """Return the one transaction that could settle each open occurrence up to ten days ahead.

    Keys are (planned transaction id, original date). An occurrence with equal candidates has none.
    """
    return {
        (match.occurrence.planned_id, match.occurrence.original_date): transaction
        for match, transaction in list_matching_transactions(page, rows, settled=settled)
        if not match.is_ambiguous
    }


def list_matching_transactions(
    page: CompanyPage, rows: Iterable[PlannedTransaction], *, settled: SettledAmounts, with_sums: bool = False
) -> list[tuple[SettlementMatch, Transaction]]:
    """Return the matches of open occurrences up to ten days ahead, each with its transaction.

    Those whose category or counterparty contradicts the transaction's are left out, and invoices of a counterparty
    where the bank names another: nobody should settle them with one press. Empty without the permissions. The rows
    have their overrides attached. At most fourteen statements.

    Args:
        with_sums: whether one transaction may pay several invoices.
    """
    if not (page.has_permission(Permission.TRANSACTIONS_READ) and page.has_permission(Permission.PLANNING_WRITE)):
        return []
    start, last = get_outlook_window(page.today)[0], page.today + dt.timedelta(days=MAX_MATCH_DAYS)
    open_occurrences = iter_open_occurrences(rows, start=start, end=last, today=page.today, settled=settled)
    pairs = match_open_occurrences(
        company=page.company,
        open_occurrences=open_occurrences,
        days=(start, last),
        with_sums=with_sums,
        amount_proves=False,
    )
    pairs = drop_contradictions(page.company, pairs)
    transactions = Transaction.objects.for_company(page.company.id).in_bulk([pair.transaction.id for pair in pairs])
    return [(pair, transactions[pair.transaction.id]) for pair in pairs]


def iter_open_occurrences(
    rows: Iterable[PlannedTransaction], *, start: dt.date, end: dt.date, today: dt.date, settled: SettledAmounts
) -> Iterator[OpenOccurrence]:
    """Yield the open occurrences of [start, end] that one transaction could settle, and all open invoices."""
    rows = [planned for planned in rows if not planned.is_total]
    settled_ids = {planned_id for planned_id, _ in settled}
    changed_rows = [planned for planned in rows if not is_unchanged_rule(planned, settled_ids)]
    invoices = [planned for planned in changed_rows if planned.is_invoice and not planned.is_closed]
    others = [planned for planned in changed_rows if not planned.is_invoice]
    for some, first, last in ((others, start, end), (invoices, dt.date.min, dt.date.max)):
        dues = iter_due_occurrences(some, start=first, end=last, today=today, settled_amounts=settled)
        yield from (to_matchable_occurrence(due) for due in dues if due.is_matchable)
    for planned in rows:
        if not is_unchanged_rule(planned, settled_ids):
            continue
        amount, currency, account_id = planned.amount_value, planned.amount_currency, planned.account_id
        for day, original_date in list_expected_days(planned.recurrence_rule(), window_start=start, window_end=end):
            yield OpenOccurrence(planned.id, original_date, day, amount, currency, account_id)


def to_matchable_occurrence(due: DueOccurrence) -> OpenOccurrence:
    expected = due.expected
    amount = Decimal(expected.open_amount_value)
    return OpenOccurrence(
        due.planned.id, expected.original_date, expected.date, amount, expected.amount_currency, expected.account_id
    )


def list_account_names(company: Company) -> dict[UUID, str]:
    return dict(Account.objects.for_company(company.id).in_display_order().values_list("id", "name"))


def format_planned_accounts(planned: PlannedTransaction, *, accounts: Mapping[UUID, str]) -> str:
    """Return the account's name; of a transfer "Main → Reserve", in the direction of the money."""
    return format_accounts(planned, account_id=planned.account_id, amount=planned.amount_value, accounts=accounts)


def format_accounts(
    planned: PlannedTransaction, *, account_id: UUID | None, amount: Decimal, accounts: Mapping[UUID, str]
) -> str:
    """Return the account names of an occurrence.

    Args:
        accounts: names by id; empty without the permission to read them.
    """
    name = accounts.get(account_id, "") if account_id else ""
    other_name = accounts.get(planned.transfer_account_id, "") if planned.transfer_account_id else ""
    if not other_name:
        return name
    payer, payee = (name, other_name) if amount < 0 else (other_name, name)
    return f"{payer} → {payee}"


def describe_recurrence(planned: PlannedTransaction) -> str:
    """Describe how often a planned transaction recurs: "every 3 months on the last day, 12 times"."""
    text = describe_frequency(planned)
    weekend_text = {
        WeekendShift.BEFORE: _("{often}, on weekends the Friday before"),
        WeekendShift.AFTER: _("{often}, on weekends the Monday after"),
    }.get(WeekendShift(planned.weekend_shift))
    return weekend_text.format(often=text) if weekend_text else text


def describe_frequency(planned: PlannedTransaction) -> str:
    """Describe the frequency and the end of a planned transaction."""
    if planned.frequency is None:
        return _("once")
    interval_text = format_recurrence_interval(planned.frequency, planned.interval, last_day=planned.last_day_of_month)
    if planned.end_date:
        return _("{often}, until {day}").format(
            often=interval_text, day=get_current_locale().format_day(planned.end_date)
        )
    return (
        _("{often}, {count} times").format(often=interval_text, count=planned.end_count)
        if planned.end_count
        else interval_text
    )


def format_recurrence_interval(frequency: str, count: int, *, last_day: bool) -> str:
    """Format an interval: "every day", "every 3 months on the last day"."""
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
