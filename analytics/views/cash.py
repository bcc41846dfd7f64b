"""Endpoints of balances and cash flow."""

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from analytics import serializers
from analytics.queries import balances, cash_flow
from analytics.queries.balance_forecast import AccountForecast, compute_balance_forecast
from analytics.queries.cash_bridge import build_part_queries, compute_cash_bridge
from analytics.queries.low_cash import find_day_below_zero
from analytics.queries.runway import compute_cash_change, compute_runway
from analytics.query_window import (
    Window,
    check_cutover,
    check_window_length,
    check_window_order,
    get_default_forecast_start,
    parse_window,
)
from analytics.views.base import DataViewSet, build_point_dicts, check_known_ids, point_to_dict, series_to_dicts
from companies.api.fields import to_json_number
from companies.permissions import Permission
from ledger.calc.months import format_month
from ledger.models import Account
from ledger.money.rates import get_rate_table
from planning.scenarios.queries import LoadedScenario, get_broken_positions


class BalanceViewSet(DataViewSet):
    permission_for = dict.fromkeys(("by_account", "by_cash_type", "runway"), Permission.BALANCES_READ)

    @extend_schema(
        operation_id="accountBalanceByAccount",
        request=serializers.AccountBalanceQuery,
        responses=serializers.AccountBalances,
    )
    def by_account(self, request: Request, company_id: str) -> Response:
        """Get balances by account ID, in the base currency."""
        values = self.parse_body(serializers.AccountBalanceQuery)
        start, end = parse_window(values)
        account_balances = balances.list_account_balances(
            company=self.company,
            start=start,
            end=end,
            today=self.today,
            types=values.get("account_types", balances.DEFAULT_ACCOUNT_TYPES),
            rates=get_rate_table(),
        )
        return Response({str(row.account_id): account_balance_to_dict(row) for row in account_balances})

    @extend_schema(operation_id="balanceByCashType", request=Window, responses=serializers.CashTypeSeries)
    def by_cash_type(self, request: Request, company_id: str) -> Response:
        """Get daily balances of cash and other accounts, up to today, in the base currency."""
        start, end = parse_window(self.parse_body(Window))
        points = balances.list_balances_by_cash_type(
            company=self.company, start=start, end=end, today=self.today, rates=get_rate_table()
        )
        return Response(
            {
                "cash": [{"date": point.day, "value": to_json_number(point.cash)} for point in points],
                "nonCash": [{"date": point.day, "value": to_json_number(point.non_cash)} for point in points],
            }
        )

    @extend_schema(operation_id="runway", request=serializers.ScenarioQuery, responses=serializers.RunwaySerializer)
    def runway(self, request: Request, company_id: str) -> Response:
        """Get the runway: how long today's cash lasts at the average of the last three full months with transactions.

        All changes of cash accounts count, including transfers to credit cards and loans. Exchange rate effects,
        opening balances and financing inflow do not. Financing inflow is money in categories with `financing: true` and
        transfers from loan accounts. `monthlyNet` times the number of `months` is `changeOfCash` - `revaluation` -
        `financingInflow`, up to half a cent per month. With `scenarioId`, `belowZero`
        follows the plan and the scenario's changes.
        """
        scenario = self.find_scenario(self.parse_body(serializers.ScenarioQuery))
        today, rates = self.today, get_rate_table()
        cash = balances.compute_cash_at_day(company=self.company, day=today, rates=rates)
        runway_found = compute_runway(company=self.company, cash=cash, today=today, rates=rates)
        cash_change = compute_cash_change(runway_found, company=self.company, rates=rates)
        return Response(
            {
                "cash": to_json_number(runway_found.cash),
                "monthlyNet": None if runway_found.monthly_net is None else to_json_number(runway_found.monthly_net),
                "months": [format_month(month) for month in runway_found.months],
                "runwayMonths": None
                if runway_found.runway_months is None
                else to_json_number(runway_found.runway_months),
                "changeOfCash": to_json_number(cash_change.change),
                "revaluation": to_json_number(cash_change.revaluation),
                "financingInflow": to_json_number(runway_found.financing_inflow),
            }
            | (
                {}
                if scenario is None
                else {
                    "belowZero": find_day_below_zero(company=self.company, today=today, rates=rates, scenario=scenario),
                    **build_broken_changes(scenario),
                }
            )
        )


def build_broken_changes(scenario: LoadedScenario | None) -> dict[str, object]:
    """Return the broken changes of a query's scenario as a member of its answer; nothing without a scenario."""
    return {} if scenario is None else {"brokenChanges": get_broken_positions(scenario)}


def account_forecast_to_dict(forecast: AccountForecast) -> dict[str, object]:
    return {
        "accountId": str(forecast.account_id),
        "lowest": forecast.lowest and point_to_dict(*forecast.lowest),
        "belowZero": forecast.below_zero,
    }


def account_balance_to_dict(row: balances.AccountBalance) -> dict[str, object]:
    return {
        "accountId": str(row.account_id),
        "accountName": row.account_name,
        "value": to_json_number(row.value),
        "valuePreviousPeriod": to_json_number(row.previous),
        "valueChange": to_json_number(row.change),
    }


class CashFlowViewSet(DataViewSet):
    permission_for = dict.fromkeys(("cash_flow", "forecast", "balance_forecast", "bridge"), Permission.BALANCES_READ)

    @extend_schema(
        operation_id="cashFlowTimeSeries", request=serializers.CashFlowQuery, responses=serializers.CashFlowSeries
    )
    def cash_flow(self, request: Request, company_id: str) -> Response:
        """Get money in and money out in the base currency, without transfers and transit accounts."""
        values = self.parse_body(serializers.CashFlowQuery)
        start, end = parse_window(values)
        flows = cash_flow.compute_cash_flow(
            company=self.company, start=start, end=end, interval=values["interval"], rates=get_rate_table()
        )
        return Response(
            {
                "inflow": build_point_dicts(flows.points, flows.inflow),
                "outflow": build_point_dicts(flows.points, flows.outflow),
            }
        )

    @extend_schema(
        operation_id="forecastCashFlowTimeSeries",
        request=serializers.ForecastQuery,
        responses=serializers.ForecastSeries,
    )
    def forecast(self, request: Request, company_id: str) -> Response:
        """Get actual cash flow up to the cutover and planned cash flow after it.

        Planned cash flow is the open amount of planned transactions at the latest rates plus transactions booked after
        the cutover. Overdue amounts of the last 60 days count on the day after the cutover. If the window ends in the
        past, all values are actual and all planned values are 0.
        """
        arguments = self.build_forecast_arguments(self.parse_body(serializers.ForecastQuery))
        forecast_found = cash_flow.forecast_cash_flow(**arguments)
        axis = forecast_found.actual.points
        return Response(
            {
                "inflow": build_point_dicts(axis, forecast_found.actual.inflow),
                "outflow": build_point_dicts(axis, forecast_found.actual.outflow),
                "plannedInflow": build_point_dicts(axis, forecast_found.planned.inflow),
                "plannedOutflow": build_point_dicts(axis, forecast_found.planned.outflow),
                **build_broken_changes(arguments["scenario"]),
            }
        )

    def build_forecast_arguments(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of every forecast query from its body.

        Raises:
            ValidationFailed: the window is invalid.
        """
        today = self.today
        end, cutover = values["end_date"], values.get("cutover_date") or today
        check_cutover(cutover=cutover, today=today)
        start = values.get("start_date") or get_default_forecast_start(end=end, cutover=cutover)
        check_window_order(start=start, end=end)
        check_window_length(start=start, end=end)
        return {
            "company": self.company,
            "start": start,
            "end": end,
            "cutover": cutover,
            "today": today,
            "interval": values["interval"],
            "rates": get_rate_table(),
            "scenario": self.find_scenario(values),
        }

    @extend_schema(
        operation_id="forecastBalanceTimeSeries",
        request=serializers.ForecastBalanceQuery,
        responses=serializers.ForecastBalanceSeries,
    )
    def balance_forecast(self, request: Request, company_id: str) -> Response:
        """Get the balance at the end of each interval, actual up to the cutover and projected after it.

        The projection adds transactions booked after the cutover, open occurrences of planned transactions and, on the
        day after the cutover, overdue ones. The change up to the last projected balance is exactly plannedInflow -
        plannedOutflow - transfersOut + revaluation.
        """
        values = self.parse_body(serializers.ForecastBalanceQuery)
        accounts = values.get("account_ids")
        if accounts:
            check_known_ids(Account.objects.for_company(self.company.id), accounts, name="accountIds")
        arguments = self.build_forecast_arguments(values)
        forecast_found = compute_balance_forecast(**arguments, accounts=accounts, per_account=values["by_account"])
        return Response(
            {
                "actual": series_to_dicts(forecast_found.actual),
                "projected": series_to_dicts(forecast_found.projected),
                "lowest": forecast_found.lowest and point_to_dict(*forecast_found.lowest),
                "belowZero": forecast_found.below_zero and forecast_found.below_zero[0],
                "overdue": {
                    "count": forecast_found.overdue_count,
                    "value": to_json_number(forecast_found.overdue_value),
                },
                "plannedInflow": to_json_number(forecast_found.planned_inflow),
                "plannedOutflow": to_json_number(forecast_found.planned_outflow),
                "transfersOut": to_json_number(forecast_found.transfers_out),
                "revaluation": to_json_number(forecast_found.revaluation),
                "accounts": None
                if forecast_found.accounts is None
                else [account_forecast_to_dict(each) for each in forecast_found.accounts],
                **build_broken_changes(arguments["scenario"]),
            }
        )

    @extend_schema(operation_id="cashBridge", request=Window, responses=serializers.CashBridgeSerializer)
    def bridge(self, request: Request, company_id: str) -> Response:
        """Get the cash bridge: the steps from opening to closing cash, up to today.

        opening + openingBalances + operatingInflow + operatingOutflow + cards + financing + exchangeResult +
        revaluation + otherTransfers = closing, to the cent. Each part has the sign of its effect on cash. Each `…Url`
        lists the transactions of its part; their `X-Total-Amount` equals the part, up to rounding. That of `opening`
        and `closing` is at each day's rate, so it lacks the revaluation of balances in other currencies.
        """
        start, end = parse_window(self.parse_body(Window))
        bridge_found = compute_cash_bridge(
            company=self.company, start=start, end=end, today=self.today, rates=get_rate_table()
        )
        amounts = {"opening": bridge_found.opening, **bridge_found.parts, "closing": bridge_found.closing}
        address = f"{settings.BASE_URL}/companies/{self.company.id}/transactions"
        queries = build_part_queries(start=start, end=bridge_found.last)
        urls = {f"{part}Url": query and f"{address}?{query}" for part, query in queries.items()}
        return Response({part: to_json_number(amount) for part, amount in amounts.items()} | urls)
