"""One line per endpoint."""

from django.urls import path

from analytics import pages, views

urlpatterns = [
    path("companies/<str:company_id>/data/accountBalanceByAccount", views.BalanceViewSet.as_view({"post": "by_account"})),
    path("companies/<str:company_id>/data/balanceByCashType", views.BalanceViewSet.as_view({"post": "by_cash_type"})),
    path("companies/<str:company_id>/data/cashFlowTimeSeries", views.CashFlowViewSet.as_view({"post": "cash_flow"})),
    path("companies/<str:company_id>/data/forecastCashFlowTimeSeries", views.CashFlowViewSet.as_view({"post": "forecast"})),
    path("companies/<str:company_id>/data/revenueExpensesBar", views.ResultViewSet.as_view({"post": "bars"})),
    path("companies/<str:company_id>/data/profitAndLoss", views.ResultViewSet.as_view({"post": "profit_and_loss"})),
    path("companies/<str:company_id>/data/monthlyData", views.RecurringViewSet.as_view({"post": "monthly_data"})),
    path("app/companies/<str:company_id>", pages.company, name="company"),
    path("app/companies/<str:company_id>/overview/<str:chart>.csv", pages.download, name="chart-download"),
]
