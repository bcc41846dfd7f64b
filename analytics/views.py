"""The data queries: read the question, ask one module, answer."""

from collections.abc import Callable, Iterable
from datetime import date
from decimal import Decimal

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics import balances, cash_flow, monthly_rows, recurring, results
from analytics import serializers as shapes
from analytics.windows import (
    MOST_BARS,
    MOST_MONTHS,
    Window,
    check_cutover,
    check_length,
    check_order,
    forecast_start,
    months,
    window,
    year_up_to,
)
from companies.api.fields import number
from companies.api.schema import MapOf
from companies.api.viewsets import CompanyViewSet
from companies.permissions import Permission
from ledger.calc.fx import MissingRate
from ledger.calc.months import first_of_month, format_month, months_from
from ledger.posting import RateMissing
from ledger.rates import rate_table


class DataViewSet(CompanyViewSet):
    """The data queries' ground: what cannot be converted is a refusal like any other."""

    schema_tags = ["Data"]

    def __init_subclass__(cls) -> None:
        """Every query converts."""
        cls.refuses = dict.fromkeys(cls.permission_for, (RateMissing,))

    def act(self, request: Request, handler: Callable[..., Response]) -> Response:
        try:
            return super().act(request, handler)
        except MissingRate as missing:
            raise RateMissing(f"There is no exchange rate for {missing.currency}.") from None


class BalanceViewSet(DataViewSet):
    permission_for = {"by_account": Permission.BALANCES_READ, "by_cash_type": Permission.BALANCES_READ}

    @extend_schema(
        operation_id="accountBalanceByAccount",
        request=shapes.AccountBalanceQuery,
        responses={200: MapOf(shapes.AccountBalanceShape)},
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

    @extend_schema(operation_id="balanceByCashType", request=Window, responses=shapes.CashTypeSeries)
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


class CashFlowViewSet(DataViewSet):
    permission_for = {"cash_flow": Permission.BALANCES_READ, "forecast": Permission.BALANCES_READ}

    @extend_schema(operation_id="cashFlowTimeSeries", request=shapes.CashFlowQuery, responses=shapes.CashFlowSeries)
    def cash_flow(self, request: Request, company_id: str) -> Response:
        """What came in and went out, in the base currency; transfers and transit accounts are left out."""
        values = self.parsed(shapes.CashFlowQuery)
        start, end = window(values)
        found = cash_flow.cash_flow(
            company=self.company, start=start, end=end, interval=values["interval"], rates=rate_table()
        )
        return Response({"inflow": points(found.points, found.inflow), "outflow": points(found.points, found.outflow)})

    @extend_schema(
        operation_id="forecastCashFlowTimeSeries", request=shapes.ForecastQuery, responses=shapes.ForecastSeries
    )
    def forecast(self, request: Request, company_id: str) -> Response:
        """Actual flows up to the cutover and planned ones after it, on one axis.

        Planned are the occurrences of planned transactions that nothing has settled yet, at the latest rates. In a
        window that ends in the past all planned values are 0, and all its actual flows are there, whatever the cutover.
        """
        values, today = self.parsed(shapes.ForecastQuery), self.now.date()
        end, cutover = values["end_date"], values.get("cutover_date") or today
        check_cutover(cutover=cutover, today=today)
        start = values.get("start_date") or forecast_start(end=end, cutover=cutover)
        check_order(start=start, end=end)
        check_length(start=start, end=end)
        found = cash_flow.forecast(
            company=self.company,
            start=start,
            end=end,
            cutover=cutover,
            today=today,
            interval=values["interval"],
            rates=rate_table(),
        )
        axis = found.actual.points
        return Response(
            {
                "inflow": points(axis, found.actual.inflow),
                "outflow": points(axis, found.actual.outflow),
                "plannedInflow": points(axis, found.planned.inflow),
                "plannedOutflow": points(axis, found.planned.outflow),
            }
        )


def points(days: Iterable[date], values: Iterable[Decimal]) -> list[dict[str, object]]:
    return [{"date": day, "value": number(value)} for day, value in zip(days, values, strict=True)]


class ResultViewSet(DataViewSet):
    permission_for = {"bars": Permission.FINANCIALS_READ, "profit_and_loss": Permission.FINANCIALS_READ}

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
        """Actual and planned amounts by month, line and category; expenses are positive.

        Pending transactions and initial balances are left out, transit accounts count. `planned` is what the plan items
        post in the month.
        """
        values = self.parsed(shapes.ProfitAndLossQuery)
        every_category = values.get("show_all_categories")
        found = results.profit_and_loss(
            company=self.company,
            months=months(values["start_month"], values["end_month"]),
            today=self.now.date(),
            every_category=self.company.pl_show_all_categories if every_category is None else every_category,
            rates=rate_table(),
        )
        return Response(
            [
                {
                    "month": format_month(row.month),
                    "plType": row.pl_type,
                    "categoryId": str(row.category_id),
                    "categoryName": row.category_name,
                    "actual": number(row.actual),
                    "planned": number(row.planned),
                    "percentage": None if row.percentage is None else number(row.percentage),
                }
                for row in found
            ]
        )


class RecurringViewSet(DataViewSet):
    only_reads = False  # months that an import made stale are added up here
    permission_for = {"monthly_data": Permission.SUBSCRIPTIONS_READ}

    @extend_schema(
        operation_id="monthlyData",
        request=shapes.MonthlyDataQuery,
        responses=serializers.ListSerializer(child=shapes.MonthlyRowShape(), max_length=MOST_MONTHS),
    )
    def monthly_data(self, request: Request, company_id: str) -> Response:
        """How monthly recurring revenue moved, one row a month; the last twelve months unless told otherwise.

        `mrr` counts events at their effective date, `cmrr` at their committed date. In every row
        start + new + reactivate + upgrade + downgrade + cancel + currency = end, exactly, and each start is the month
        before's end.
        """
        values = self.parsed(shapes.MonthlyDataQuery)
        last = values.get("end_month") or first_of_month(self.now.date())
        first = values.get("start_month") or year_up_to(last)
        months(first, last)
        question = {"company": self.company, "mrr_type": values["mrr_type"], "first": first, "last": last}
        if not values.get("product_ids"):
            return Response(recurring.monthly_json(**question))
        rows = recurring.monthly_data(**question, product_ids=values["product_ids"])
        return Response([monthly_rows.told(row) for row in rows])
