"""The data queries: read the question, ask one module, answer."""

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics import balances
from analytics import serializers as shapes
from analytics.windows import Window, window
from companies.api.fields import number
from companies.api.viewsets import CompanyViewSet
from companies.permissions import Permission
from ledger.rates import rate_table


class BalanceViewSet(CompanyViewSet):
    schema_tags = ["Data"]
    permission_for = {"by_account": Permission.BALANCES_READ, "by_cash_type": Permission.BALANCES_READ}

    @extend_schema(
        request=shapes.AccountBalanceQuery,
        responses=OpenApiResponse(serializers.DictField(child=shapes.AccountBalanceShape())),
    )
    def by_account(self, request: Request, company_id: str) -> Response:
        """Balances per account, keyed by account id, in the company's base currency."""
        values = self.parsed(shapes.AccountBalanceQuery)
        start, end = window(values)
        found = balances.by_account(
            company=self.company,
            start=start,
            end=end,
            today=self.now.date(),
            types=values.get("account_types", balances.SHOWN_TYPES),
            rates=rate_table(),
        )
        return Response({str(row.account_id): answered(row) for row in found})

    @extend_schema(request=Window, responses=shapes.CashTypeSeries)
    def by_cash_type(self, request: Request, company_id: str) -> Response:
        """Cash and other balances, one point a day, ending today at the latest."""
        start, end = window(self.parsed(Window))
        points = balances.by_cash_type(
            company=self.company, start=start, end=end, today=self.now.date(), rates=rate_table()
        )
        return Response(
            {
                "cash": [{"date": point.day, "value": number(point.cash)} for point in points],
                "nonCash": [{"date": point.day, "value": number(point.non_cash)} for point in points],
            }
        )


def answered(row: balances.AccountBalance) -> dict[str, object]:
    return {
        "accountId": str(row.account_id),
        "accountName": row.account_name,
        "value": number(row.value),
        "valuePreviousPeriod": number(row.previous),
        "valueChange": number(row.change),
    }
