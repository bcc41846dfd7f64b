"""The data of the recurring revenue pages: results of the queries, each computed once."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property
from uuid import UUID

from analytics.calc.mrr import MonthlyRow, to_annual_row
from analytics.charts.links import MovementLinks
from analytics.queries import monthly_rows, recurring_revenue
from analytics.queries.cohorts import Cohort, compute_cohorts
from analytics.queries.recurring_revenue_summary import RecurringRevenueSummary, Span, measure_span, summarize_span
from analytics.query_window import get_default_start
from analytics.recurring_revenue_params import RecurringRevenueParams
from companies.models import Company
from ledger.money.calc.fx import RateTable
from ledger.money.rates import get_rate_table

MAX_COHORTS = 24  # months across a page


@dataclass
class RecurringRevenueBase:
    """A company and the parameters of the page."""

    company: Company
    params: RecurringRevenueParams
    today: date

    @property
    def currency(self) -> str:
        return self.company.base_currency

    @property
    def calendar(self) -> list[date]:
        return self.params.calendar

    @cached_property
    def movement_links(self) -> MovementLinks:
        return MovementLinks(self.company.id, product=self.params.product)


@dataclass
class RecurringRevenueData(RecurringRevenueBase):
    """The data of all customers. Every property raises MissingRate if a currency has no exchange rate."""

    @property
    def chosen_product_ids(self) -> list[UUID]:
        return [UUID(self.params.product)] if self.params.product else []

    @cached_property
    def rates(self) -> RateTable:
        return get_rate_table()

    @cached_property
    def recurring(self) -> list[MonthlyRow]:
        """A row for each month."""
        return recurring_revenue.compute_monthly_data(
            company=self.company,
            mrr_type=self.params.measure,
            first=self.params.first,
            last=self.params.last,
            product_ids=self.chosen_product_ids,
        )

    @cached_property
    def bridge(self) -> MonthlyRow:
        """The months as one row, in which each customer counts once."""
        basis, yearly = monthly_rows.TYPES[self.params.measure]
        row = self.measure_span(self.params.first, self.params.last, basis, products=tuple(self.chosen_product_ids)).row
        return to_annual_row(row) if yearly else row

    @cached_property
    def summary(self) -> RecurringRevenueSummary:
        """The summary of all products at the end of the last month."""
        return self.compute_summary(self.params.last)

    @cached_property
    def compared(self) -> RecurringRevenueSummary | None:
        """The summary at the end of the compared month."""
        return self.compute_summary(self.params.compared) if self.params.compared else None

    @cached_property
    def committed(self) -> Decimal:
        """Committed MRR of all products at the end of the last month."""
        return self.compute_committed(self.params.last)

    @cached_property
    def committed_before(self) -> Decimal | None:
        """Committed MRR at the end of the compared month."""
        return self.compute_committed(self.params.compared) if self.params.compared else None

    def compute_committed(self, month: date) -> Decimal:
        rows = recurring_revenue.compute_monthly_data(company=self.company, mrr_type="cmrr", first=month, last=month)
        return rows[-1].end

    def compute_summary(self, last: date) -> RecurringRevenueSummary:
        return summarize_span(
            self.measure_span(get_default_start(last), last, recurring_revenue.MRR), base=self.currency
        )

    def measure_span(self, first: date, last: date, basis: str, *, products: tuple[UUID, ...] = ()) -> Span:
        """Measure each span once, since summary and bridge have the same months by default."""
        key = (first, last, basis, products)
        if key not in self.spans:
            self.spans[key] = measure_span(
                company=self.company, first=first, last=last, rates=self.rates, basis=basis, products=products
            )
        return self.spans[key]

    @cached_property
    def spans(self) -> dict[tuple[date, date, str, tuple[UUID, ...]], Span]:
        return {}

    @cached_property
    def cohorts(self) -> list[Cohort]:
        """The cohorts of all products in the last months."""
        return compute_cohorts(
            company=self.company,
            months=self.calendar[-MAX_COHORTS:],
            measure="customers" if self.params.cohorts == "customers" else "revenue",
            rates=self.rates,
        )


@dataclass
class CustomerRevenueData(RecurringRevenueBase):
    """The data of one customer."""

    customer_id: UUID

    @cached_property
    def movement_links(self) -> MovementLinks:
        return MovementLinks(self.company.id, is_customer_page=True)

    @cached_property
    def recurring(self) -> list[MonthlyRow]:
        """A row for each month, as if there were only this customer."""
        return recurring_revenue.compute_customer_months(
            company=self.company, customer_id=self.customer_id, first=self.params.first, last=self.params.last
        )
