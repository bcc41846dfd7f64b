"""One line per endpoint."""

from django.urls import path

from analytics.reports import (
    account,
    billed_and_received,
    cash_bridge,
    cash_plan,
    monthly_report,
    profit_and_loss,
    revenue_movements,
    shared_report,
    upcoming_movements,
)
from analytics.reports import overview as pages
from analytics.reports import recurring_revenue as revenue
from analytics.views import cash, exports, recurring_revenue, results

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
    path("companies/<str:company_id>/data/monthlyData", recurring_revenue.RecurringViewSet.as_view({"post": "monthly_data"})),
    path(
        "companies/<str:company_id>/data/recurringRevenueSummary",
        recurring_revenue.RecurringViewSet.as_view({"post": "summary"}),
    ),
    path("companies/<str:company_id>/data/cohorts", recurring_revenue.RecurringViewSet.as_view({"post": "cohorts"})),
    path("app/companies/<str:company_id>", pages.show_overview, name="company"),
    path("app/companies/<str:company_id>/", pages.redirect_without_slash, name="company-with-slash"),
    path("app/companies/<str:company_id>/first-hour", pages.dismiss_onboarding_page, name="onboarding-dismiss"),
    path("app/companies/<str:company_id>/planned.csv", cash_plan.download_cash_plan, name="planned-csv"),
    path("app/companies/<str:company_id>/planned", cash_plan.show_cash_plan, name="planned"),
    path("app/companies/<str:company_id>/recurring-revenue", revenue.show_recurring_revenue, name="recurring-revenue"),
    path("app/companies/<str:company_id>/recurring-revenue/customers.csv", revenue.download_customers, name="customers-csv"),
    path(
        "app/companies/<str:company_id>/recurring-revenue/billed-and-received.csv",
        billed_and_received.download_billed_and_received,
        name="billed-and-received-csv",
    ),
    path(
        "app/companies/<str:company_id>/recurring-revenue/billed-and-received",
        billed_and_received.show_billed_and_received,
        name="billed-and-received",
    ),
    path("app/companies/<str:company_id>/recurring-revenue/movements.csv", revenue_movements.download_revenue_movements, name="revenue-movements-csv"),
    path("app/companies/<str:company_id>/recurring-revenue/movements", revenue_movements.show_revenue_movements, name="revenue-movements"),
    path("app/companies/<str:company_id>/recurring-revenue/<str:chart>.csv", revenue.download_recurring_revenue_chart, name="recurring-revenue-download"),
    path("app/companies/<str:company_id>/recurring-revenue/customers", revenue.show_customers, name="customers"),
    path("app/companies/<str:company_id>/recurring-revenue/customers/<uuid:customer_id>", revenue.show_customer, name="customer"),
    path("app/companies/<str:company_id>/accounts/<uuid:account_id>", account.show_account, name="account"),
    path("app/companies/<str:company_id>/change-of-cash.csv", cash_bridge.download_cash_bridge, name="cash-bridge-csv"),
    path("app/companies/<str:company_id>/change-of-cash", cash_bridge.show_cash_bridge, name="cash-bridge"),
    path("app/companies/<str:company_id>/ahead", upcoming_movements.show_upcoming_movements, name="ahead"),
    path("app/companies/<str:company_id>/profit-and-loss", profit_and_loss.show_profit_and_loss, name="profit-and-loss"),
    path("app/companies/<str:company_id>/profit-and-loss.xlsx", profit_and_loss.download_profit_and_loss, name="profit-and-loss-xlsx"),
    path("app/companies/<str:company_id>/reports", monthly_report.show_reports, name="reports"),
    path("app/companies/<str:company_id>/reports/<str:month>", monthly_report.show_report, name="report"),
    path("app/shared/<str:company_id>/<str:token>", shared_report.show_shared_report, name="shared-report"),
    path(
        "app/companies/<str:company_id>/profit-and-loss.csv",
        profit_and_loss.download_profit_and_loss_csv,
        name="profit-and-loss-csv",
    ),
    path("app/companies/<str:company_id>/overview/<str:chart>.csv", pages.download_overview_chart, name="chart-download"),
]
