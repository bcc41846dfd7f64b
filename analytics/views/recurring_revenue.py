"""Endpoints of recurring revenue."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ListSerializer

from analytics import serializers
from analytics.queries import cohorts, monthly_rows, recurring_revenue, recurring_revenue_summary
from analytics.query_window import MAX_WINDOW_MONTHS, get_default_start, list_window_months
from analytics.views.base import DataViewSet
from companies.api.fields import to_json_number
from companies.permissions import Permission
from ledger.calc.months import format_month, get_first_day_of_month
from ledger.money.rates import get_rate_table


class RecurringViewSet(DataViewSet):
    permission_for = dict.fromkeys(("monthly_data", "summary", "cohorts"), Permission.SUBSCRIPTIONS_READ)

    @extend_schema(
        operation_id="monthlyData",
        request=serializers.MonthlyDataQuery,
        responses=ListSerializer(child=serializers.MonthlyRowSerializer(), max_length=MAX_WINDOW_MONTHS),
    )
    def monthly_data(self, request: Request, company_id: str) -> Response:
        """Get the movements of recurring revenue by month, by default for the last twelve months.

        `mrr` counts events from their effective date, `cmrr` from their committed date. In every row
        start + new + reactivate + upgrade + downgrade + cancel + currency = end, exactly. Each start is the end of the
        previous month. Each movement is rounded half up; the rounding difference goes to `currency`.
        """
        values = self.parse_body(serializers.MonthlyDataQuery)
        last = values.get("end_month") or get_first_day_of_month(self.today)
        first = values.get("start_month") or get_default_start(last)
        list_window_months(first, last)
        rows = recurring_revenue.compute_monthly_data(
            company=self.company,
            mrr_type=values["mrr_type"],
            first=first,
            last=last,
            product_ids=values.get("product_ids") or (),
        )
        return Response([monthly_rows.monthly_row_to_dict(row) for row in rows])

    @extend_schema(
        operation_id="recurringRevenueSummary",
        request=serializers.RecurringRevenueQuery,
        responses=serializers.RecurringRevenueSerializer,
    )
    def summary(self, request: Request, company_id: str) -> Response:
        """Get recurring revenue at the end of a month, with retention and churn over the twelve months up to it.

        Each customer counts once, with their MRR before and at the end of the twelve months. Retention and churn only
        cover customers with MRR before; new and reactivated customers are excluded. Customers who left and returned
        within the twelve months count with their MRR at the end.
        """
        values = self.parse_body(serializers.RecurringRevenueQuery)
        last = values.get("month") or get_first_day_of_month(self.today)
        span = recurring_revenue_summary.measure_span(
            company=self.company, first=get_default_start(last), last=last, rates=get_rate_table()
        )
        summary = recurring_revenue_summary.summarize_span(span, base=self.company.base_currency)
        return Response(serializers.RecurringRevenueSerializer(summary).data)

    @extend_schema(
        operation_id="cohorts",
        request=serializers.CohortsQuery,
        responses=ListSerializer(child=serializers.CohortSerializer(), max_length=MAX_WINDOW_MONTHS),
    )
    def cohorts(self, request: Request, company_id: str) -> Response:
        """Get cohorts: the revenue or number of customers by the month in which they started, month by month."""
        values = self.parse_body(serializers.CohortsQuery)
        cohorts_found = cohorts.compute_cohorts(
            company=self.company,
            months=list_window_months(values["start_month"], values["end_month"]),
            measure=values["measure"],
            rates=get_rate_table(),
        )
        return Response([cohort_to_dict(cohort) for cohort in cohorts_found])


def cohort_to_dict(cohort: cohorts.Cohort) -> dict[str, object]:
    return {
        "month": format_month(cohort.month),
        "start": to_json_number(cohort.start),
        "values": [
            {
                "month": format_month(mark.month),
                "value": to_json_number(mark.value),
                "percentage": None if mark.percentage is None else to_json_number(mark.percentage),
            }
            for mark in cohort.marks
        ],
    }
