"""Recurring revenue."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics import serializers as shapes
from analytics.queries import cohorts, monthly_rows, recurring, retention
from analytics.views.base import DataViewSet
from analytics.windows import MOST_MONTHS, months, year_up_to
from companies.api.fields import number
from companies.permissions import Permission
from ledger.calc.months import first_of_month, format_month
from ledger.money.rates import rate_table


class RecurringViewSet(DataViewSet):
    only_reads = False  # months that an import made stale are added up here
    permission_for = dict.fromkeys(("monthly_data", "summary", "cohorts"), Permission.SUBSCRIPTIONS_READ)

    @extend_schema(
        operation_id="monthlyData",
        request=shapes.MonthlyDataQuery,
        responses=serializers.ListSerializer(child=shapes.MonthlyRowShape(), max_length=MOST_MONTHS),
    )
    def monthly_data(self, request: Request, company_id: str) -> Response:
        """How monthly recurring revenue moved, one row a month; the last twelve months unless told otherwise.

        `mrr` counts events at their effective date, `cmrr` at their committed date. In every row
        start + new + reactivate + upgrade + downgrade + cancel + currency = end, exactly, and each start is the end of
        the month before. Each movement is rounded half up by itself; the cents that this leaves over go to `currency`.
        """
        values = self.parsed(shapes.MonthlyDataQuery)
        last = values.get("end_month") or first_of_month(self.today)
        first = values.get("start_month") or year_up_to(last)
        months(first, last)
        rows = recurring.monthly_data(
            company=self.company,
            mrr_type=values["mrr_type"],
            first=first,
            last=last,
            product_ids=values.get("product_ids") or (),
        )
        return Response([monthly_rows.told(row) for row in rows])

    @extend_schema(
        operation_id="recurringRevenueSummary",
        request=shapes.RecurringRevenueQuery,
        responses=shapes.RecurringRevenueShape,
    )
    def summary(self, request: Request, company_id: str) -> Response:
        """Recurring revenue at the end of a month, with retention and churn over the twelve months up to it.

        Each customer counts once, by what they paid before the twelve months and what they pay at their end. Retention
        and churn are of the customers who paid before: new and reactivated customers never count in them. Who left
        and returned within the twelve months counts with what they pay at the end.
        """
        values = self.parsed(shapes.RecurringRevenueQuery)
        last = values.get("month") or first_of_month(self.today)
        span = retention.measure_span(company=self.company, first=year_up_to(last), last=last, rates=rate_table())
        summary = retention.summarize_span(span, base=self.company.base_currency)
        return Response(shapes.RecurringRevenueShape(summary).data)

    @extend_schema(
        operation_id="cohorts",
        request=shapes.CohortsQuery,
        responses=serializers.ListSerializer(child=shapes.CohortShape(), max_length=MOST_MONTHS),
    )
    def cohorts(self, request: Request, company_id: str) -> Response:
        """What became of customers who came in the same month, by that month: their revenue, or how many are left."""
        values = self.parsed(shapes.CohortsQuery)
        found = cohorts.cohorts(
            company=self.company,
            months=months(values["start_month"], values["end_month"]),
            measure=values["measure"],
            rates=rate_table(),
        )
        return Response([told(cohort) for cohort in found])


def told(cohort: cohorts.Cohort) -> dict[str, object]:
    return {
        "month": format_month(cohort.month),
        "start": number(cohort.start),
        "values": [
            {
                "month": format_month(mark.month),
                "value": number(mark.value),
                "percentage": None if mark.percentage is None else number(mark.percentage),
            }
            for mark in cohort.marks
        ],
    }
