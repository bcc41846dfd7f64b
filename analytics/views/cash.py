"""Balances and cash flow."""

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from analytics import serializers as shapes
from analytics.queries import balances, cash_flow
from analytics.queries.balance_forecast import AccountForecast, balance_forecast
from analytics.queries.cash_bridge import build_part_queries, compute_cash_bridge
from analytics.queries.runway import compute_cash_change, compute_runway
from analytics.views.base import DataViewSet, check_known, point, points, series
from analytics.windows import Window, check_cutover, check_length, check_order, forecast_start, window
from companies.api.fields import number
from companies.permissions import Permission
from ledger.calc.months import format_month
from ledger.models import Account
from ledger.money.rates import rate_table


class BalanceViewSet(DataViewSet):
    permission_for = dict.fromkeys(("by_account", "by_cash_type", "runway"), Permission.BALANCES_READ)

    @extend_schema(
        operation_id="accountBalanceByAccount",
        request=shapes.AccountBalanceQuery,
        responses=shapes.AccountBalances,
    )
    def by_account(self, request: Request, company_id: str) -> Response:
        """Balances per account, keyed by account id, in the company's base currency."""
        values = self.parsed(shapes.AccountBalanceQuery)
        start, end = window(values)
        found = balances.by_account(
            company=self.company,
            start=start,
            end=end,
            today=self.today,
            types=values.get("account_types", balances.SHOWN_TYPES),
            rates=rate_table(),
        )
        return Response({str(row.account_id): answered(row) for row in found})

    @extend_schema(operation_id="balanceByCashType", request=Window, responses=shapes.CashTypeSeries)
    def by_cash_type(self, request: Request, company_id: str) -> Response:
        """Cash and other balances, one point a day, ending today at the latest."""
        start, end = window(self.parsed(Window))
        points = balances.by_cash_type(company=self.company, start=start, end=end, today=self.today, rates=rate_table())
        return Response(
            {
                "cash": [{"date": point.day, "value": number(point.cash)} for point in points],
                "nonCash": [{"date": point.day, "value": number(point.non_cash)} for point in points],
            }
        )

    @extend_schema(operation_id="runway", request=None, responses=shapes.RunwayShape)
    def runway(self, request: Request, company_id: str) -> Response:
        """How many months today's cash lasts at the pace of the last three whole months with bookings.

        Every change of the accounts that count as cash counts, including transfers to credit cards and loans. Exchange
        rates, initial balances and financing inflow do not: money from owners and lenders is no income. Financing
        inflow is money in a category with `financing: true`, and transfers from loan accounts.
        `monthlyNet` times the number of `months` is `changeOfCash` - `revaluation` - `financingInflow`, up to half a
        cent a month.
        """
        today, rates = self.today, rate_table()
        cash = balances.cash_on(company=self.company, day=today, rates=rates)
        found = compute_runway(company=self.company, cash=cash, today=today, rates=rates)
        cash_change = compute_cash_change(found, company=self.company, rates=rates)
        return Response(
            {
                "cash": number(found.cash),
                "monthlyNet": None if found.monthly_net is None else number(found.monthly_net),
                "months": [format_month(month) for month in found.months],
                "runwayMonths": None if found.runway_months is None else number(found.runway_months),
                "changeOfCash": number(cash_change.change),
                "revaluation": number(cash_change.revaluation),
                "financingInflow": number(found.financing_inflow),
            }
        )


def tell_account(found: AccountForecast) -> dict[str, object]:
    return {
        "accountId": str(found.account_id),
        "lowest": found.lowest and point(*found.lowest),
        "belowZero": found.below_zero,
    }


def answered(row: balances.AccountBalance) -> dict[str, object]:
    return {
        "accountId": str(row.account_id),
        "accountName": row.account_name,
        "value": number(row.value),
        "valuePreviousPeriod": number(row.previous),
        "valueChange": number(row.change),
    }


class CashFlowViewSet(DataViewSet):
    permission_for = dict.fromkeys(("cash_flow", "forecast", "balance_forecast", "bridge"), Permission.BALANCES_READ)

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

        Planned are the open amounts of planned transactions at the latest rates, and what is booked after the cutover.
        Overdue ones, of the last sixty days, count on the day after the cutover. In a window that ends in the past all
        planned values are 0, and all its actual flows are there, whatever the cutover.
        """
        found = cash_flow.forecast(**self.forecast_window(self.parsed(shapes.ForecastQuery)))
        axis = found.actual.points
        return Response(
            {
                "inflow": points(axis, found.actual.inflow),
                "outflow": points(axis, found.actual.outflow),
                "plannedInflow": points(axis, found.planned.inflow),
                "plannedOutflow": points(axis, found.planned.outflow),
            }
        )

    def forecast_window(self, values: dict[str, Any]) -> dict[str, Any]:
        """What every forecast is asked, from its query. Raises FieldErrors."""
        today = self.today
        end, cutover = values["end_date"], values.get("cutover_date") or today
        check_cutover(cutover=cutover, today=today)
        start = values.get("start_date") or forecast_start(end=end, cutover=cutover)
        check_order(start=start, end=end)
        check_length(start=start, end=end)
        return {
            "company": self.company,
            "start": start,
            "end": end,
            "cutover": cutover,
            "today": today,
            "interval": values["interval"],
            "rates": rate_table(),
        }

    @extend_schema(
        operation_id="forecastBalanceTimeSeries",
        request=shapes.ForecastBalanceQuery,
        responses=shapes.ForecastBalanceSeries,
    )
    def balance_forecast(self, request: Request, company_id: str) -> Response:
        """Where the cash goes: the balance at the end of each bucket, actual up to the cutover and projected after it.

        Projected is the balance at the cutover with what is booked after it, open occurrences of planned transactions
        after it, and overdue ones on the day after it. Up to the last projected balance it changes by plannedInflow -
        plannedOutflow - transfersOut + revaluation, to the cent.
        """
        values = self.parsed(shapes.ForecastBalanceQuery)
        accounts = values.get("account_ids")
        if accounts:
            check_known(Account.objects.of(self.company.id), accounts, name="accountIds")
        found = balance_forecast(**self.forecast_window(values), accounts=accounts, by_account=values["by_account"])
        return Response(
            {
                "actual": series(found.actual),
                "projected": series(found.projected),
                "lowest": found.lowest and point(*found.lowest),
                "belowZero": found.below_zero and found.below_zero[0],
                "overdue": {"count": found.overdue_count, "value": number(found.overdue_value)},
                "plannedInflow": number(found.planned_inflow),
                "plannedOutflow": number(found.planned_outflow),
                "transfersOut": number(found.transfers_out),
                "revaluation": number(found.revaluation),
                "accounts": None if found.accounts is None else [tell_account(each) for each in found.accounts],
            }
        )

    @extend_schema(operation_id="cashBridge", request=Window, responses=shapes.CashBridgeShape)
    def bridge(self, request: Request, company_id: str) -> Response:
        """Why the cash changed from `startDate` to `endDate`, part by part; the window ends today at the latest.

        opening + openingBalances + operatingInflow + operatingOutflow + cards + financing + exchangeResult +
        revaluation + otherTransfers = closing, to the cent: each part has the sign with which it changes the cash.
        Each `…Url` lists the transactions behind its part; its `X-Total-Amount` is the part, up to rounding.
        """
        start, end = window(self.parsed(Window))
        found = compute_cash_bridge(company=self.company, start=start, end=end, today=self.today, rates=rate_table())
        amounts = {"opening": found.opening, **found.parts, "closing": found.closing}
        address = f"{settings.BASE_URL}/companies/{self.company.id}/transactions"
        queries = build_part_queries(start=start, end=found.last)
        urls = {f"{part}Url": query and f"{address}?{query}" for part, query in queries.items()}
        return Response({part: number(amount) for part, amount in amounts.items()} | urls)
