"""Measures of a monthly report, over the last three whole months up to it."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from analytics.calc.board_measures import Measure, compute_burn_multiple, compute_cac_payback, compute_share
from analytics.queries.customers import (
    ORDER_BY,
    CustomerLine,
    CustomerSelection,
    list_customer_ids,
    list_customer_lines,
)
from analytics.queries.monthly_report import ReportMonth, compute_results, sum_actual_by_line
from analytics.queries.recurring_revenue import MRR, compute_monthly_data
from analytics.queries.recurring_revenue_summary import RecurringRevenueSummary, measure_span, summarize_span
from analytics.queries.reported_figures import read_stored_runway
from analytics.queries.runway import Runway, compute_runway
from analytics.query_window import get_default_start
from ledger.calc.months import MONTHS_PER_YEAR, add_months, list_months
from ledger.models import PlType

ZERO = Decimal(0)
MEASURED_MONTHS = 3
TOP_CUSTOMERS = 10
GROWTH_MOVEMENTS = ("new", "reactivate", "upgrade", "downgrade", "cancel")  # exchange rates are no growth


def list_measured_months(report: ReportMonth) -> list[date]:
    """Return the last three whole months up to the report's."""
    last = report.month if report.is_over else add_months(report.month, -1)
    return list_months(add_months(last, 1 - MEASURED_MONTHS), last)


def compute_report_runway(report: ReportMonth, cash: Decimal) -> Runway:
    """Return how long cash lasts at the pace of the measured months; of a closed month as its closing stores it.

    Raises:
        RateLookupError: a currency has no exchange rate.
    """
    if report.is_closed and report.stored_figures:
        return read_stored_runway(report.stored_figures)
    following = add_months(list_measured_months(report)[-1], 1)
    return compute_runway(company=report.company, cash=cash, today=following, rates=report.rates)


def measure_burn_multiple(report: ReportMonth, runway: Runway) -> Measure:
    """Return cash burned, without new financing, for each unit of net new ARR."""
    months = list_measured_months(report)
    if runway.months != months:
        return Measure(None, "no_months")
    rows = compute_monthly_data(company=report.company, mrr_type=MRR, first=months[0], last=months[-1])
    growth = sum((getattr(row, name) for row in rows for name in GROWTH_MOVEMENTS), start=ZERO)
    burn = runway.financing_inflow - runway.movements
    return compute_burn_multiple(burn=burn, net_new_arr=growth * MONTHS_PER_YEAR)


def measure_cac_payback(report: ReportMonth) -> Measure:
    """Return after how many months new customers have paid for sales and marketing."""
    months = list_measured_months(report)
    if months[0] < report.first_month:
        return Measure(None, "no_months")
    lines = sum_actual_by_line(compute_results(report, months))
    sums = {line: sum((lines.get((month, line), ZERO) for month in months), start=ZERO) for line in PlType.values}
    rows = compute_monthly_data(company=report.company, mrr_type=MRR, first=months[0], last=months[-1])
    return compute_cac_payback(
        marketing=sums[PlType.CAC],
        new_mrr=sum((row.new for row in rows), start=ZERO),
        revenue=sums[PlType.REVENUE],
        cost_of_revenue=sums[PlType.COGS],
    )


@dataclass(frozen=True, slots=True)
class TopCustomers:
    """The customers with the highest MRR at the end of the month, at most ten, and their share of all of it."""

    lines: list[CustomerLine]
    total: Decimal
    share: Measure


def list_top_customers(report: ReportMonth, mrr: Decimal) -> TopCustomers:
    """Return the largest customers; `mrr` is that of all customers."""
    company, today, rates = report.company, report.last_day, report.rates
    selection = CustomerSelection(text="", status="active", order=ORDER_BY["-mrr"])
    ids = list_customer_ids(company=company, today=today, selection=selection, rates=rates)
    lines = list_customer_lines(company=company, ids=ids, start=0, count=TOP_CUSTOMERS, today=today, rates=rates)
    paying = [line for line in lines if line.mrr > 0]
    return TopCustomers(paying, mrr, compute_share([line.mrr for line in paying], mrr))


def summarize_recurring_revenue(report: ReportMonth) -> RecurringRevenueSummary:
    """Return what `data/recurringRevenueSummary` answers for the month."""
    span = measure_span(
        company=report.company, first=get_default_start(report.month), last=report.month, rates=report.rates
    )
    return summarize_span(span, base=report.company.base_currency)
