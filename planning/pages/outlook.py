"""What comes next and what is late: occurrences with their accounts, and the transactions that settle them or could."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
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
from planning.calc.recurrence import OVERDUE, State
from planning.matching import MOST_DAYS, matched
from planning.models import PlannedTransaction, SettledBy, with_overrides
from planning.occurring import Due, Expected, by_date, due_of

MONTHS_AHEAD = 3
MOST_SHOWN = 200  # occurrences on one page


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

    def is_behind(self, today: dt.date) -> bool:
        """Whether its day has passed, and it was settled or skipped."""
        return self.expected.date < today and self.state in ("settled", "skipped")


def window(today: dt.date) -> tuple[dt.date, dt.date]:
    """From the first day on which something can be overdue to the end of the month three months on."""
    return today - OVERDUE, last_of_month(add_months(today, MONTHS_AHEAD))


def coming_of(
    visit: Visit, rows: Sequence[PlannedTransaction], *, end: dt.date, accounts: Mapping[UUID, str]
) -> list[Coming]:
    """The occurrences from sixty days ago on, by date; skipped ones too. The rows have their overrides.

    Raises:
        MissingRate: a currency has no exchange rate.
    """
    start, _ = window(visit.today)
    dues = by_date(due_of(rows, start=start, end=end, today=visit.today))
    found = proposals(visit, dues)
    return [
        Coming(
            due.planned,
            due.expected,
            due.state,
            accounts.get(due.expected.account_id, "") if due.expected.account_id else "",
            found.get((due.planned.id, due.expected.original_date)),
        )
        for due in dues
    ]


def coming_of_company(
    visit: Visit, *, end: dt.date, accounts: Mapping[UUID, str], with_totals: bool = True
) -> list[Coming]:
    """The same for all rules of a company; planned totals may be left out. Raises MissingRate."""
    start, _ = window(visit.today)
    rows = PlannedTransaction.objects.of(visit.company.id).touching(visit.company.id, start, end)
    if not with_totals:
        rows = rows.filter(settled_by=SettledBy.TRANSACTION)
    return coming_of(visit, with_overrides(list(rows)), end=end, accounts=accounts)


def proposals(visit: Visit, dues: Iterable[Due]) -> dict[tuple[UUID, dt.date], Transaction]:
    """What could settle the open occurrences up to ten days ahead, by rule and original date, for those who may see it.
    Four statements."""
    if not (visit.may(Permission.TRANSACTIONS_READ) and visit.may(Permission.PLANNING_WRITE)):
        return {}
    last = visit.today + dt.timedelta(days=MOST_DAYS)
    awaited = [awaiting_of(due) for due in dues if due.is_matchable and due.expected.date <= last]
    pairs = matched(company=visit.company, awaited=awaited)
    rows = Transaction.objects.of(visit.company.id).in_bulk([pair.booked.id for pair in pairs])
    return {(pair.awaited.planned_id, pair.awaited.original_date): rows[pair.booked.id] for pair in pairs}


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
