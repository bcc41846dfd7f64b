"""Committed recurring revenue: where it stands at each month's end, and what moved it."""

from collections.abc import Sequence
from datetime import date

from analytics import recurring
from analytics.calc import charts
from analytics.calc.amounts import compact, rounded, whole
from analytics.calc.mrr import MonthlyRow
from analytics.overview.shape import Key, Section, Table, month_picture, said, smallest
from companies.models import Company
from ledger.calc.months import add_months, first_of_month

KEYS = (
    Key("new", "New"),
    Key("reactivate", "Reactivated"),
    Key("upgrade", "Upgraded"),
    Key("downgrade", "Downgraded"),
    Key("cancel", "Cancelled"),
    Key("currency", "Exchange rates"),
)
LEVEL = Key("mrr", "Committed MRR")


def rows_of(company: Company, *, months: int, today: date) -> list[MonthlyRow]:
    """One for each month up to the one under way. Raises MissingRate."""
    last = first_of_month(today)
    return recurring.monthly_data(company=company, mrr_type="cmrr", first=add_months(last, 1 - months), last=last)


def level_section(company: Company, rows: Sequence[MonthlyRow], *, today: date) -> Section:
    """Where committed recurring revenue stood at the end of each month."""
    currency = company.base_currency
    drawn = charts.columns([[[(LEVEL.series, row.end)]] for row in rows], smallest=smallest(currency))
    sayings = [
        said(
            f"{row.month:%B %Y}",
            [(LEVEL.label, rounded(row.end, currency)), ("Customers", f"{row.end_count:,}")],
        )
        for row in rows
    ]
    return Section(
        id="mrr",
        title="Committed MRR",
        lead="Monthly recurring revenue at the end of each month, from the day it was agreed.",
        described=(
            f"From {compact(rows[0].end, currency)} in {rows[0].month:%B %Y} to {compact(rows[-1].end, currency)} in "
            f"{rows[-1].month:%B %Y}, with {rows[-1].end_count:,} customers."
        ),
        picture=month_picture(
            drawn, months=[row.month for row in rows], sayings=sayings, currency=currency, today=today
        ),
        table=Table(
            head=("Month", LEVEL.label, "Customers"),
            rows=[(f"{row.month:%b %Y}", (whole(row.end, currency), f"{row.end_count:,}")) for row in rows],
        ),
    )


def movement_section(company: Company, rows: Sequence[MonthlyRow], *, today: date) -> Section:
    """What customers added and took away, month by month."""
    currency = company.base_currency
    drawn = charts.columns(
        [[[(key.series, getattr(row, key.series)) for key in KEYS]] for row in rows], smallest=smallest(currency)
    )
    sayings = [
        said(
            f"{row.month:%B %Y}",
            [
                *((key.label, counted(row, key, currency)) for key in KEYS if getattr(row, key.series)),
                ("Net", rounded(row.end - row.start, currency, plus=True)),
            ],
        )
        for row in rows
    ]
    return Section(
        id="movements",
        title="MRR movements",
        lead="What moved committed recurring revenue each month.",
        described=(
            f"{rows[0].month:%B %Y} to {rows[-1].month:%B %Y}: "
            f"{compact(rows[-1].end - rows[0].start, currency)} net over the period."
        ),
        keys=KEYS,
        picture=month_picture(
            drawn, months=[row.month for row in rows], sayings=sayings, currency=currency, today=today
        ),
        table=Table(
            head=("Month", "Start", *(key.label for key in KEYS), "End", "Customers"),
            rows=[
                (
                    f"{row.month:%b %Y}",
                    [
                        whole(row.start, currency),
                        *(whole(getattr(row, key.series), currency) for key in KEYS),
                        whole(row.end, currency),
                        f"{row.end_count:,}",
                    ],
                )
                for row in rows
            ],
        ),
    )


def counted(row: MonthlyRow, key: Key, currency: str) -> str:
    customers = getattr(row, f"{key.series}_count")
    return f"{rounded(getattr(row, key.series), currency, plus=True)} ({customers:,})"
