"""The page of the profit and loss statement."""

from collections.abc import Sequence
from datetime import date
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.gzip import gzip_page

from analytics.calc import periods
from analytics.overview import notices
from analytics.overview.notices import Notice
from analytics.pages.statement import Statement, statement
from analytics.pages.workbook import write_workbook
from analytics.period import Period, period_of
from analytics.queries import results
from analytics.queries.open_transactions import open_transactions
from companies.locales import current
from companies.models import Company
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.fx import MissingRate, RateTable
from ledger.calc.months import add_months, first_of_month, last_of_month
from ledger.exporting import files
from ledger.money.rates import rate_table

INTERVALS: dict[periods.Period, str | Promise] = {
    "month": gettext_lazy("Months"),
    "quarter": gettext_lazy("Quarters"),
    "year": gettext_lazy("Years"),
}
TITLES = {
    "month": gettext_lazy("Profit and loss by month"),
    "quarter": gettext_lazy("Profit and loss by quarter"),
    "year": gettext_lazy("Profit and loss by year"),
}
TOO_MANY = {
    "month": gettext_lazy("So many months have no room beside each other."),
    "quarter": gettext_lazy("So many quarters have no room beside each other."),
    "year": gettext_lazy("So many years have no room beside each other."),
}
MOST_COLUMNS = 36


@gzip_page
@company_page(reads=Permission.FINANCIALS_READ)
def page(visit: Visit) -> HttpResponse:
    """By months, quarters or years. Months count whole, beside the plan of the whole month, and with ``toDate`` up to
    today on all sides."""
    period, to_date = period_of(visit.request.GET, today=visit.today), is_to_date(visit)
    interval, mended = interval_of(visit.request.GET.get("interval", ""), period)
    shown, told, rates = None, [], rate_table()
    try:
        told = missing(visit, period, rates, to_date=to_date)
        shown = told_statement(visit, period, interval, rates, to_date=to_date)
    except MissingRate as error:
        told.append(notices.rate_notice(visit.company, error, lists=visit.may(Permission.TRANSACTIONS_READ)))
    return visit.show(
        "analytics/profit_and_loss.html",
        tab="profit-and-loss",
        period=period,
        mended=mended,
        interval=interval,
        intervals=INTERVALS.items(),
        title=TITLES[interval],
        more=f"&{urlencode({'interval': interval} | ({'toDate': 'true'} if to_date else {}))}",
        until=get_last_day(period.until, visit.today, to_date=to_date),
        offers_to_date=True,
        to_date=to_date,
        plans=visit.may(Permission.PLANNING_READ),
        statement=shown,
        notices=told,
    )


def is_to_date(visit: Visit) -> bool:
    """Whether the month under way is to count up to today."""
    return visit.request.GET.get("toDate") == "true"


def interval_of(text: str, period: Period) -> tuple[periods.Period, str]:
    """(interval, what was wrong with the one that was asked for): the finest that leaves few enough columns."""
    months = len(period.calendar)
    fine = [each for each in INTERVALS if months <= MOST_COLUMNS * periods.LENGTHS[each]]
    asked = next((each for each in INTERVALS if each == (text or "month")), None)
    if asked is None:
        return fine[0], _("There is no such interval.")
    if asked in fine:
        return asked, ""
    return fine[0], str(TOO_MANY[asked]) if text else ""


@company_page(reads=Permission.FINANCIALS_READ)
def download(visit: Visit) -> Any:
    """The same as a workbook."""
    period = period_of(visit.request.GET, today=visit.today)
    interval, _ = interval_of(visit.request.GET.get("interval", ""), period)
    try:
        found = told_statement(visit, period, interval, rate_table(), to_date=is_to_date(visit))
    except MissingRate:
        return visit.to("profit-and-loss")  # which tells of it
    return files.download(lambda file: write_workbook(file, found), name="profitAndLoss.xlsx", kind=files.XLSX)


def told_statement(
    visit: Visit, period: Period, interval: periods.Period, rates: RateTable, *, to_date: bool
) -> Statement:
    """Of a page's address. Raises MissingRate."""
    return statement_of(
        visit.company,
        months=period.calendar,
        today=visit.today,
        interval=interval,
        comparison=period.comparison,
        rates=rates,
        to_date=to_date,
        listed=reverse("transactions", args=[visit.company.id]) if visit.may(Permission.TRANSACTIONS_READ) else "",
    )


def statement_of(
    company: Company,
    *,
    months: Sequence[date],
    today: date,
    interval: periods.Period,
    comparison: results.Comparison | None,
    rates: RateTable,
    to_date: bool,
    listed: str = "",
) -> Statement:
    """As ``data/profitAndLoss`` answers it; ``listed`` is the address of the list of transactions.

    Months after the running one are left out. Raises MissingRate.
    """
    months = [month for month in months if month <= today]
    found = results.profit_and_loss(
        company=company,
        months=months,
        today=today,
        every_category=company.pl_show_all_categories,
        rates=rates,
        interval=interval,
        comparison=comparison,
        to_date=to_date,
    )
    running = first_of_month(today)
    lasts = {periods.period_of(month, interval): month for month in months}  # each with its last month
    days = {"first": months[0], "last": get_last_day(months[-1], today, to_date=to_date)} if months else {}
    in_progress = first_of_month(today) if not to_date and today < last_of_month(today) else None
    return statement(
        found,
        heads={
            first: mark_in_progress(heading(first, interval, **days), is_marked=last == in_progress)
            for first, last in lasts.items()
        },
        before=headings_before(months, today=today, interval=interval, comparison=comparison, to_date=to_date),
        shares={first for first, last in lasts.items() if results.tells_share(company, last, running=running)},
        currency=company.base_currency,
        listed=listed,
        compares=comparison is not None,
    )


def headings_before(
    months: Sequence[date],
    *,
    today: date,
    interval: periods.Period,
    comparison: results.Comparison | None,
    to_date: bool,
) -> list[str]:
    """The names of the periods that those of the months are compared with, "" where the calendar has none."""
    earlier = results.before(months, interval, comparison)
    if comparison is None or not earlier:
        return []
    back = results.distance(interval, comparison)
    last = periods.same_end(get_last_day(months[-1], today, to_date=to_date), -back)
    found = dict.fromkeys((periods.period_of(month, interval) for month in months), "")
    for month in earlier:
        period = periods.period_of(month, interval)
        found[add_months(period, back)] = heading(period, interval, first=earlier[0], last=last)
    return [*found.values()]


def heading(period: date, interval: periods.Period, *, first: date, last: date) -> str:
    """A period's name, with the days that are shown of it where those from ``first`` to ``last`` are not all.

    >>> days = {"first": date(2024, 2, 1), "last": date(2024, 11, 22)}
    >>> heading(date(2024, 11, 1), "month", **days), heading(date(2024, 7, 1), "quarter", **days)
    ('Nov 2024, to 22 Nov', 'Q3 2024')
    >>> heading(date(2024, 1, 1), "quarter", **days), heading(date(2024, 1, 1), "year", **days)
    ('Q1 2024, from 1 Feb', '2024, 1 Feb to 22 Nov')
    """
    name = named(period, interval)
    start, end = (day and current().short(day) for day in periods.cut(period, interval, first=first, last=last))
    if start and end:
        return _("{period}, {first} to {last}").format(period=name, first=start, last=end)
    if start:
        return _("{period}, from {first}").format(period=name, first=start)
    return _("{period}, to {last}").format(period=name, last=end) if end else name


def named(period: date, interval: periods.Period) -> str:
    if interval == "quarter":
        return _("Q{quarter} {year}").format(quarter=(period.month + 2) // 3, year=f"{period:%Y}")
    return current().month(period) if interval == "month" else f"{period:%Y}"


def mark_in_progress(name: str, *, is_marked: bool) -> str:
    """The name of a period whose last month is not over."""
    return _("{period} (in progress)").format(period=name) if is_marked else name


def get_last_day(month: date, today: date, *, to_date: bool) -> date:
    """The last day that counts of a month: its last, and with `to_date` today where that is earlier."""
    last = last_of_month(month)
    return min(last, today) if to_date else last


def missing(visit: Visit, period: Period, rates: RateTable, *, to_date: bool) -> list[Notice]:
    """What the statement does not know of. Raises MissingRate."""
    first, last = period.calendar[0], get_last_day(period.until, visit.today, to_date=to_date)
    found = open_transactions(company=visit.company, start=first, end=last, rates=rates)
    lists = visit.may(Permission.TRANSACTIONS_READ)
    return notices.open_notice(visit.company, found, first=first, last=last, lists=lists)
