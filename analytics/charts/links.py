"""URLs of the rows behind a figure. They hold our own ids, days and words: nothing needs quoting."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from uuid import UUID

from django.urls import reverse

from analytics.report_period import ReportPeriod
from ledger.calc.months import format_month, get_first_day_of_month


class FigureLinks:
    """URLs of transactions, empty without the permission to list them, and of upcoming movements."""

    def __init__(self, company_id: UUID, period: ReportPeriod, *, can_list_transactions: bool, can_write_plan: bool):
        self.until, self.today = period.until, period.today
        self.month = get_first_day_of_month(period.until)
        self.list_url = f"{reverse('transactions', args=[company_id])}?" if can_list_transactions else ""
        self.plan_url = reverse("plan", args=[company_id]) if can_write_plan else ""
        self.bridge_url = f"{reverse('cash-bridge', args=[company_id])}?"
        self.upcoming_url = f"{reverse('ahead', args=[company_id])}?"

    def get_balance_url(self, first: date, last: date) -> str:
        """Return the URL of what a balance consists of: bookings of these days, or what is booked and expected."""
        if first > self.until:
            return f"{self.upcoming_url}startDate={first}&endDate={last}"
        return self.list_url and f"{self.list_url}startDate={first}&endDate={min(last, self.until)}&pending=false"

    def get_flow_url(self, direction: str, first: date, last: date) -> str:
        """Return the URL of money in or out."""
        if first > self.until or not self.list_url:
            return ""
        return f"{self.list_url}startDate={first}&endDate={min(last, self.until)}&flow={direction}&total=true"

    def get_upcoming_url(self, first: date, last: date) -> str:
        """Return the URL of what is booked and expected after today, on all accounts."""
        if last <= self.today:
            return ""
        return f"{self.upcoming_url}startDate={max(first, self.today)}&endDate={last}&accounts=all"

    def get_results_url(self, month: date, *, line: str, categories: Iterable[UUID] = ()) -> str:
        """Return the URL of what counts in a month on a line, in the given or all categories."""
        return self.list_url and f"{self.list_url}{build_results_query(month, month, line=line, categories=categories)}"

    def get_line_url(self, line: str) -> str:
        """Return the URL of what counts on a line in the year so far."""
        first = self.month.replace(month=1)
        return self.list_url and f"{self.list_url}{build_results_query(first, self.month, line=line)}"


@dataclass
class MovementLinks:
    """URLs of the customers behind figures of recurring revenue, of one product if given."""

    company_id: UUID
    product: str = ""
    is_customer_page: bool = False  # which lists the events of its only customer itself

    @cached_property
    def path(self) -> str:
        return reverse("revenue-movements", args=[self.company_id])

    def get_url(self, mrr_type: str, figure: str, first: date, last: date) -> str:
        """Return the URL of the customers whose amounts add up to a figure of the months from `first` to `last`."""
        if self.is_customer_page:
            return "#events-title"
        months = f"startMonth={format_month(first)}&endMonth={format_month(last)}"
        product = f"&productId={self.product}" if self.product else ""
        return f"{self.path}?{months}&mrrType={mrr_type}&movement={figure}{product}"


def build_results_query(
    first: date, last: date, *, line: str, categories: Iterable[UUID] = (), up_to: date | None = None
) -> str:
    """Build the query of what counts in the months from `first` to `last`, in the last one up to a day if given."""
    category_parameters = "".join(f"&categoryId={each}" for each in categories)
    end = f"recognizedBy={up_to}" if up_to else f"recognizedTo={format_month(last)}"
    months = f"recognizedFrom={format_month(first)}&{end}"
    return f"{months}&plType={line}{category_parameters}&total=true"
