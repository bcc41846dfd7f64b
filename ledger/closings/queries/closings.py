"""Closings with their reopenings, and the months that can be closed."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from django.db.models import Min

from companies.errors import NotFoundError
from companies.models import Company
from ledger.calc.months import get_first_day_of_month, list_months
from ledger.closings.calc.figures import Figure
from ledger.models import CONTENT_COLUMNS, Closing, MonthMovement, Reopening, Transaction


def list_closings(company: Company) -> list[Closing]:
    """Return the latest version of each month, latest month first."""
    return attach_reopenings(company, Closing.objects.for_company(company.id).defer(*CONTENT_COLUMNS).latest_versions())


def get_closing(company: Company, month: date, version: int | None = None) -> Closing:
    """Return a closing of a month: the latest version if none is given. Raises NotFoundError."""
    rows = Closing.objects.for_company(company.id).filter(month=month)
    if version is not None:
        rows = rows.filter(version=version)
    closings = attach_reopenings(company, rows.order_by("-version")[:1])
    if not closings:
        raise NotFoundError
    return closings[0]


def list_closing_versions(company: Company, month: date) -> list[Closing]:
    """Return all versions of a month, latest first."""
    rows = Closing.objects.for_company(company.id).filter(month=month)
    return attach_reopenings(company, rows.defer(*CONTENT_COLUMNS).order_by("-version"))


def attach_reopenings(company: Company, rows: Iterable[Closing]) -> list[Closing]:
    """Return the closings, each with its reopening; two statements."""
    closings = list(rows)
    reopenings = Reopening.objects.for_company(company.id).filter(closing_id__in=[closing.id for closing in closings])
    reopening_by_closing = {reopening.closing_id: reopening for reopening in reopenings}
    for closing in closings:
        closing.reopening = reopening_by_closing.get(closing.id)
    return closings


def find_reported_results(company: Company, months: Sequence[date]) -> dict[date, list[Figure]]:
    """Return the frozen profit and loss of the closed ones among the months, by month."""
    rows = Closing.objects.not_reopened(company.id).filter(month__in=months).values_list("month", "figures")
    return {
        month: [Figure.from_json(each) for each in figures if each["figure"] == "profitAndLoss"]
        for month, figures in rows
    }


def find_first_booked_month(company: Company) -> date | None:
    """Return the first month with a booked transaction, None if there is none."""
    booked_months = MonthMovement.objects.for_company(company.id).filter(count__gt=0)
    first: date | None = booked_months.aggregate(first=Min("month"))["first"]
    return first


def find_first_month_with_transactions(company: Company, months: Sequence[date]) -> date | None:
    """Return the first of consecutive months with a transaction other than an opening balance."""
    transactions = Transaction.objects.for_company(company.id).without_initial_balances()
    in_months = transactions.filter(date__gte=min(months, default=date.max))
    day: date | None = in_months.aggregate(first=Min("date"))["first"]
    month = get_first_day_of_month(day) if day else None
    return month if month in months else None


def list_months_without_transactions(company: Company, months: Sequence[date]) -> list[date]:
    """Return the first of consecutive months that have no transaction but opening balances."""
    first = find_first_month_with_transactions(company, months)
    return [month for month in months if first is None or month < first]


def list_months_to_close(company: Company, through: date) -> list[date]:
    """Return the open months up to `through`, oldest first: from the first booked or after the last closed month."""
    first = find_first_booked_month(company)
    if first is None:
        return []
    if company.closed_through is not None:
        first = company.closed_through + timedelta(days=1)
    return list_months(first, through) if first <= through else []
