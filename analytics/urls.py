"""One line per endpoint."""

from django.urls import path

from analytics import views

urlpatterns = [
    path("companies/<str:company_id>/data/accountBalanceByAccount", views.BalanceViewSet.as_view({"post": "by_account"})),
    path("companies/<str:company_id>/data/balanceByCashType", views.BalanceViewSet.as_view({"post": "by_cash_type"})),
]
