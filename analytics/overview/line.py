"""One line of a balance: what it was, and what is expected of it."""

from collections.abc import Callable, Collection
from datetime import date
from decimal import Decimal
from uuid import UUID

from django.db.models import Min
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.calc import charts
from analytics.calc.charts import HEIGHT
from analytics.overview import cash
from analytics.overview.shape import Key, Section, day_picture, smallest
from analytics.overview.tables import Column, Table, day_rows
from analytics.period import Period
from analytics.queries.balance_forecast import balance_forecast
from companies.locales import current
from companies.models import Company
from ledger.calc.fx import RateTable
from ledger.models import Account, DayMovement
from ledger.money.rates import rate_table

KEYS = (
    Key("cash", gettext_lazy("Balance"), line=True),
    Key("projected", gettext_lazy("Projected balance"), line=True),
)
EACH = {
    "day": gettext_lazy("In {currency}, at the end of each day."),
    "month": gettext_lazy("In {currency}, at the end of each month."),
}


def balance_line(
    *,
    company: Company,
    period: Period,
    accounts: Collection[UUID] | None,
    title: str,
    of: str,
    link: Callable[[date, date], str],
    writes_plan: bool,
    rates: RateTable | None = None,
) -> Section:
    """As ``data/forecastBalanceTimeSeries`` answers it for some accounts, or for those that count as cash, from the
    first day on which something is booked.

    ``link`` leads to what is behind the days from one to another; ``writes_plan`` says whether the viewer may plan
    something. Raises MissingRate.
    """
    base = company.base_currency
    ahead = balance_forecast(
        company=company,
        start=period.first,
        end=period.last,
        cutover=period.today,
        today=period.today,
        interval=period.interval,
        rates=rates or rate_table(),
        accounts=accounts,
    )
    values: dict[date, tuple[Decimal | None, Decimal | None]] = {day: (value, None) for day, value in ahead.actual}
    for day, value in ahead.projected:
        values[day] = (values.get(day, (None, None))[0], value)
    days = [*values]
    known, projected = (list(column) for column in zip(*values.values(), strict=True))
    here = cash.last_known(known)
    if (first := first_day(company, accounts)) and first <= period.today:
        known = cash.since(first, known, days)
    drawn = charts.lines([known, cash.begun(projected, known, here)], smallest=smallest(base))
    rows = day_rows if period.interval == "day" else cash.bucket_rows
    return Section(
        id="balance",
        title=title,
        lead=f"{EACH[period.interval].format(currency=base)} {cash.lowest_told(ahead, period, base)}",
        described=_("{name} from {first} to {last}.").format(
            name=of, first=current().long(period.first), last=current().long(period.last)
        ),
        keys=KEYS if ahead.projected else KEYS[:1],
        picture=day_picture(
            drawn,
            series=[key.series for key in KEYS],
            days=days,
            currency=base,
            height=HEIGHT,
            marks=cash.lowest_marks(ahead, days, drawn, base),
            cutover=round(here * 100 / max(len(days) - 1, 1), 3) if ahead.projected else None,
        ),
        action=cash.plan_action(company, ahead, writes=writes_plan),
        nothing=_("There was nothing in these days, and nothing is expected."),
        table=Table(
            first=_("Day") if period.interval == "day" else _("Month"),
            columns=[Column(key.label) for key in KEYS],
            rows=rows(days, values.values(), [link(*each) for each in cash.buckets(period, days)]),
            currency=base,
            newest_first=True,
        ),
        file=False,
    )


def first_day(company: Company, accounts: Collection[UUID] | None) -> date | None:
    """The first day on which something is booked on accounts, or on those that count as cash."""
    rows = DayMovement.objects.of(company.id)
    cash_ids = Account.objects.of(company.id).cash().values("id") if accounts is None else accounts
    found: date | None = rows.filter(account_id__in=cash_ids).aggregate(first=Min("date"))["first"]
    return found
