"""Endpoints of revenue, expenses and the profit and loss statement."""

from urllib.parse import urlencode

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ListSerializer

from analytics import serializers
from analytics.queries import profit_and_loss
from analytics.queries.open_transactions import sum_open_transactions
from analytics.query_window import MAX_BAR_COUNT, Window, list_window_months, parse_window
from analytics.views.base import DataViewSet
from companies.api.fields import to_json_number
from companies.models import Company
from companies.permissions import Permission
from ledger.calc.months import format_month, list_months
from ledger.money.rates import get_rate_table
from planning.scenarios.queries import build_broken_header


class ResultViewSet(DataViewSet):
    permission_for = dict.fromkeys(("bars", "profit_and_loss", "missing"), Permission.FINANCIALS_READ)
    scenario_lists = frozenset({"profit_and_loss"})

    @extend_schema(
        operation_id="revenueExpensesBar",
        request=Window,
        responses=ListSerializer(child=serializers.BarSerializer(), max_length=MAX_BAR_COUNT),
    )
    def bars(self, request: Request, company_id: str) -> Response:
        """Get revenue by type and expenses by P&L line for each month in the window. Expenses are positive."""
        start, end = parse_window(self.parse_body(Window))
        months_requested = list_months(start, end)
        bars_found = profit_and_loss.list_bar_amounts(company=self.company, months=months_requested)
        return Response(
            [
                {"month": format_month(month), **{bar: to_json_number(amount) for bar, amount in row.items()}}
                for month, row in zip(months_requested, bars_found, strict=True)
            ]
        )

    @extend_schema(
        operation_id="profitAndLoss",
        request=serializers.ProfitAndLossQuery,
        responses=serializers.ResultSerializer(many=True),
    )
    def profit_and_loss(self, request: Request, company_id: str) -> Response:
        """Get actual and planned amounts by period, P&L line and category. Expenses are positive.

        Pending transactions and opening balances are excluded, transit accounts included. `planned` is the sum of plan
        items in the period; the current month counts in full unless you set `toDate`. Each row has a URL of its
        transactions.
        """
        values = self.parse_body(serializers.ProfitAndLossQuery)
        scenario = self.find_scenario(values)
        every_category = values.get("show_all_categories")
        result_rows = profit_and_loss.compute_profit_and_loss(
            company=self.company,
            months=list_window_months(values["start_month"], values["end_month"]),
            today=self.today,
            every_category=self.company.pl_show_all_categories if every_category is None else every_category,
            rates=get_rate_table(),
            interval=values["interval"],
            comparison=values.get("comparison"),
            to_date=values["to_date"],
            as_reported=values["as_reported"],
            scenario=scenario,
        )
        rows = [result_row_to_dict(row, self.company) for row in result_rows]
        return Response(rows, headers=build_broken_header(scenario))

    @extend_schema(operation_id="openTransactions", request=Window, responses=serializers.OpenTransactionsSerializer)
    def missing(self, request: Request, company_id: str) -> Response:
        """Get transactions that are not or only partly categorized and therefore missing from the profit and loss.

        Pending transactions and opening balances are excluded.
        """
        start, end = parse_window(self.parse_body(Window))
        open_found = sum_open_transactions(company=self.company, start=start, end=end, rates=get_rate_table())
        return Response(
            {
                "count": open_found.count,
                "inflow": to_json_number(open_found.inflow),
                "outflow": to_json_number(open_found.outflow),
            }
        )


def result_row_to_dict(row: profit_and_loss.ResultRow, company: Company) -> dict[str, object]:
    return {
        "month": format_month(row.month),
        "plType": row.pl_type,
        "categoryId": str(row.category_id),
        "categoryName": row.category_name,
        "actual": to_json_number(row.actual),
        "planned": to_json_number(row.planned),
        "percentage": None if row.percentage is None else to_json_number(row.percentage),
        "variance": None if row.variance is None else to_json_number(row.variance),
        "favourable": row.favourable,
        "comparisonActual": None if row.compared is None else to_json_number(row.compared),
        "transactionsUrl": build_transactions_url(row, company),
    }


def build_transactions_url(row: profit_and_loss.ResultRow, company: Company) -> str:
    """Build the URL of the transactions behind a row."""
    parameters = {
        "recognizedFrom": format_month(row.first),
        **({"recognizedBy": str(row.up_to)} if row.up_to else {"recognizedTo": format_month(row.last)}),
        "plType": row.pl_type,
        "categoryId": str(row.category_id),
        "total": "true",
    }
    return f"{settings.BASE_URL}/companies/{company.id}/transactions?{urlencode(parameters)}"
