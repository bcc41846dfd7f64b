"""One line per endpoint."""

from django.urls import path

from analytics.demonstration import pages as demonstration
from analytics.pages import account, ahead, cash_plan, change_of_cash, profit_and_loss
from analytics.pages import company as pages
from analytics.revenue import pages as revenue
from analytics.views import cash, exports, recurring, results

urlpatterns = [
    path("companies/<str:company_id>/data/accountBalanceByAccount", cash.BalanceViewSet.as_view({"post": "by_account"})),
    path("companies/<str:company_id>/data/balanceByCashType", cash.BalanceViewSet.as_view({"post": "by_cash_type"})),
    path("companies/<str:company_id>/data/cashFlowTimeSeries", cash.CashFlowViewSet.as_view({"post": "cash_flow"})),
    path("companies/<str:company_id>/data/forecastCashFlowTimeSeries", cash.CashFlowViewSet.as_view({"post": "forecast"})),
    path("companies/<str:company_id>/data/runway", cash.BalanceViewSet.as_view({"post": "runway"})),
    path(
        "companies/<str:company_id>/data/forecastBalanceTimeSeries",
        cash.CashFlowViewSet.as_view({"post": "balance_forecast"}),
    ),
    path("companies/<str:company_id>/data/cashBridge", cash.CashFlowViewSet.as_view({"post": "bridge"})),
    path("companies/<str:company_id>/data/openTransactions", results.ResultViewSet.as_view({"post": "missing"})),
    path("companies/<str:company_id>/data/revenueExpensesBar", results.ResultViewSet.as_view({"post": "bars"})),
    path("companies/<str:company_id>/data/profitAndLoss", results.ResultViewSet.as_view({"post": "profit_and_loss"})),
    path("companies/<str:company_id>/exports/profitAndLoss.xlsx", exports.StatementExportViewSet.as_view({"get": "profit_and_loss"})),
    path("companies/<str:company_id>/data/monthlyData", recurring.RecurringViewSet.as_view({"post": "monthly_data"})),
    path(
        "companies/<str:company_id>/data/recurringRevenueSummary",
        recurring.RecurringViewSet.as_view({"post": "summary"}),
    ),
    path("companies/<str:company_id>/data/cohorts", recurring.RecurringViewSet.as_view({"post": "cohorts"})),
    path("app/companies/<str:company_id>", pages.company, name="company"),
    path("app/companies/<str:company_id>/", pages.without_slash, name="company-with-slash"),
    path("app/companies/<str:company_id>/first-hour", pages.put_first_hour_away, name="first-hour-away"),
    path("app/companies/<str:company_id>/planned", cash_plan.coming, name="planned"),
    path("app/companies/<str:company_id>/recurring-revenue", revenue.overview, name="recurring-revenue"),
    path("app/companies/<str:company_id>/recurring-revenue/<str:chart>.csv", revenue.download, name="recurring-revenue-download"),
    path("app/companies/<str:company_id>/recurring-revenue/customers", revenue.everyone, name="customers"),
    path("app/companies/<str:company_id>/recurring-revenue/customers/<uuid:customer_id>", revenue.one, name="customer"),
    path("app/companies/<str:company_id>/accounts/<uuid:account_id>", account.page, name="account"),
    path("app/companies/<str:company_id>/change-of-cash", change_of_cash.page, name="cash-bridge"),
    path("app/companies/<str:company_id>/ahead", ahead.coming, name="ahead"),
    path("app/companies/<str:company_id>/profit-and-loss", profit_and_loss.page, name="profit-and-loss"),
    path("app/companies/<str:company_id>/profit-and-loss.xlsx", profit_and_loss.download, name="profit-and-loss-xlsx"),
    path("app/companies/<str:company_id>/settings/reset", demonstration.reset, name="demonstration-reset"),
    path("app/companies/<str:company_id>/overview/<str:chart>.csv", pages.download, name="chart-download"),
]
