"""One line per endpoint."""

from django.urls import path

from planning.views import PlanItemViewSet, PlannedTransactionViewSet

COMPANY = "companies/<str:company_id>"
PLANNED = f"{COMPANY}/planned_transactions/<str:planned_transaction_id>"

urlpatterns = [
    path(f"{COMPANY}/planned_transactions", PlannedTransactionViewSet.as_view({"get": "list", "post": "create"})),
    path(PLANNED, PlannedTransactionViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"})),
    path(f"{PLANNED}/occurrences", PlannedTransactionViewSet.as_view({"get": "occurrences"})),
    path(
        f"{PLANNED}/overrides/<str:original_date>",
        PlannedTransactionViewSet.as_view({"put": "put_override", "delete": "delete_override"}),
    ),
    path(f"{COMPANY}/plan_items", PlanItemViewSet.as_view({"get": "list", "post": "create"})),
    path(
        f"{COMPANY}/plan_items/<str:plan_item_id>",
        PlanItemViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
]
