"""Revenue and expenses, and the profit and loss statement."""

from urllib.parse import urlencode

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics import serializers as shapes
from analytics.queries import results
from analytics.queries.open_transactions import open_transactions
from analytics.views.base import DataViewSet
from analytics.windows import MOST_BARS, Window, months, window
from companies.api.fields import number
from companies.models import Company
from companies.permissions import Permission
from ledger.calc.months import format_month, months_from
from ledger.money.rates import rate_table


class ResultViewSet(DataViewSet):
    permission_for = dict.fromkeys(("bars", "profit_and_loss", "missing"), Permission.FINANCIALS_READ)

    @extend_schema(
        operation_id="revenueExpensesBar",
        request=Window,
        responses=serializers.ListSerializer(child=shapes.BarShape(), max_length=MOST_BARS),
    )
    def bars(self, request: Request, company_id: str) -> Response:
        """Revenue by kind and expenses, one row for every month that the window touches; expenses are positive."""
        start, end = window(self.parsed(Window))
        asked = months_from(start, end)
        found = results.bars(company=self.company, months=asked)
        return Response(
            [
                {"month": format_month(month), **{bar: number(amount) for bar, amount in row.items()}}
                for month, row in zip(asked, found, strict=True)
            ]
        )

    @extend_schema(
        operation_id="profitAndLoss", request=shapes.ProfitAndLossQuery, responses=shapes.ResultShape(many=True)
    )
    def profit_and_loss(self, request: Request, company_id: str) -> Response:
        """Actual and planned amounts by period, line and category; expenses are positive.

        Pending transactions and initial balances are left out, transit accounts count. `planned` is what the plan items
        post in the period's months, the running one whole unless `toDate` is asked for. Each row leads to the
        transactions behind it.
        """
        values = self.parsed(shapes.ProfitAndLossQuery)
        every_category = values.get("show_all_categories")
        found = results.profit_and_loss(
            company=self.company,
            months=months(values["start_month"], values["end_month"]),
            today=self.today,
            every_category=self.company.pl_show_all_categories if every_category is None else every_category,
            rates=rate_table(),
            interval=values["interval"],
            comparison=values.get("comparison"),
            to_date=values["to_date"],
        )
        return Response([told(row, self.company) for row in found])

    @extend_schema(operation_id="openTransactions", request=Window, responses=shapes.OpenTransactionsShape)
    def missing(self, request: Request, company_id: str) -> Response:
        """What the profit and loss does not know of yet: transactions that are not categorized, or not in full.

        Pending transactions and initial balances are left out, as there.
        """
        start, end = window(self.parsed(Window))
        found = open_transactions(company=self.company, start=start, end=end, rates=rate_table())
        return Response({"count": found.count, "inflow": number(found.inflow), "outflow": number(found.outflow)})


def told(row: results.Result, company: Company) -> dict[str, object]:
    return {
        "month": format_month(row.month),
        "plType": row.pl_type,
        "categoryId": str(row.category_id),
        "categoryName": row.category_name,
        "actual": number(row.actual),
        "planned": number(row.planned),
        "percentage": None if row.percentage is None else number(row.percentage),
        "variance": None if row.variance is None else number(row.variance),
        "favourable": row.favourable,
        "comparisonActual": None if row.compared is None else number(row.compared),
        "transactionsUrl": behind(row, company),
    }


def behind(row: results.Result, company: Company) -> str:
    """The address of the transactions that a row is made of."""
    asked = {
        "recognizedFrom": format_month(row.first),
        **({"recognizedBy": str(row.up_to)} if row.up_to else {"recognizedTo": format_month(row.last)}),
        "plType": row.pl_type,
        "categoryId": str(row.category_id),
        "total": "true",
    }
    return f"{settings.BASE_URL}/companies/{company.id}/transactions?{urlencode(asked)}"
