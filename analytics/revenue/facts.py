"""What the pages of recurring revenue are drawn from: the answers of the data queries, each asked once."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property
from uuid import UUID

from analytics.calc.mrr import MonthlyRow, annual
from analytics.queries import monthly_rows, recurring
from analytics.queries.cohorts import Cohort, cohorts
from analytics.queries.retention import Span, Summary, measure_span, summarize_span
from analytics.revenue.asking import Asked
from analytics.windows import year_up_to
from companies.models import Company
from ledger.calc.fx import RateTable
from ledger.money.rates import rate_table

MOST_COHORTS = 24  # months across a page


@dataclass
class Ground:
    """One company, and what was asked for."""

    company: Company
    asked: Asked
    today: date

    @property
    def currency(self) -> str:
        return self.company.base_currency

    @property
    def calendar(self) -> list[date]:
        return self.asked.calendar


@dataclass
class Revenue(Ground):
    """Of all customers. Every fact raises MissingRate where a currency has none."""

    @property
    def products(self) -> list[UUID]:
        return [UUID(self.asked.product)] if self.asked.product else []

    @cached_property
    def rates(self) -> RateTable:
        return rate_table()

    @cached_property
    def recurring(self) -> list[MonthlyRow]:
        """A row a month."""
        return recurring.monthly_data(
            company=self.company,
            mrr_type=self.asked.measure,
            first=self.asked.first,
            last=self.asked.last,
            product_ids=self.products,
        )

    @cached_property
    def bridge(self) -> MonthlyRow:
        """The same months as one, in which each customer counts once."""
        basis, yearly = monthly_rows.TYPES[self.asked.measure]
        row = self.measure_span(self.asked.first, self.asked.last, basis, products=tuple(self.products)).row
        return annual(row) if yearly else row

    @cached_property
    def summary(self) -> Summary:
        """Of all products, at the end of the last month."""
        return self.summary_at(self.asked.last)

    @cached_property
    def compared(self) -> Summary | None:
        """The same at the end of the month that it is compared with."""
        return self.summary_at(self.asked.compared) if self.asked.compared else None

    @cached_property
    def committed(self) -> Decimal:
        """Committed MRR of all products at the end of the last month."""
        return self.compute_committed(self.asked.last)

    @cached_property
    def committed_before(self) -> Decimal | None:
        """The same at the end of the month that it is compared with."""
        return self.compute_committed(self.asked.compared) if self.asked.compared else None

    def compute_committed(self, month: date) -> Decimal:
        rows = recurring.monthly_data(company=self.company, mrr_type="cmrr", first=month, last=month)
        return rows[-1].end

    def summary_at(self, last: date) -> Summary:
        return summarize_span(self.measure_span(year_up_to(last), last, recurring.MRR), base=self.currency)

    def measure_span(self, first: date, last: date, basis: str, *, products: tuple[UUID, ...] = ()) -> Span:
        """Measure each span once: summary and bridge are of the same months at first."""
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
        """Of all products, in the last of the months."""
        return cohorts(
            company=self.company,
            months=self.calendar[-MOST_COHORTS:],
            measure="customers" if self.asked.cohorts == "customers" else "revenue",
            rates=self.rates,
        )


@dataclass
class OneCustomer(Ground):
    """Of one customer, for the charts."""

    customer_id: UUID

    @cached_property
    def recurring(self) -> list[MonthlyRow]:
        """A row a month, as if there were only this customer."""
        return recurring.of_one_customer(
            company=self.company, customer_id=self.customer_id, first=self.asked.first, last=self.asked.last
        )
