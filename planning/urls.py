"""One line per endpoint."""

from django.urls import path

from planning.pages import occurrences, plans
from planning.views import PlanItemViewSet, PlannedTransactionViewSet

COMPANY = "companies/<str:company_id>"
PLANNED = f"{COMPANY}/planned_transactions/<str:planned_transaction_id>"
PAGE = "app/companies/<str:company_id>/planned"
OCCURRENCE = f"{PAGE}/<uuid:planned_id>/occurrences/<str:day>"

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
    path(PAGE, plans.coming, name="planned"),
    path(f"{PAGE}/rules", plans.rules, name="planned-rules"),
    path(f"{PAGE}/new", plans.new, name="planned-new"),
    path(f"{PAGE}/<uuid:planned_id>", plans.one, name="planned-one"),
    path(f"{PAGE}/<uuid:planned_id>/edit", plans.edit, name="planned-edit"),
    path(f"{PAGE}/<uuid:planned_id>/delete", plans.delete, name="planned-delete"),
    path(OCCURRENCE, occurrences.change, name="occurrence"),
    path(f"{OCCURRENCE}/skip", occurrences.skip, name="occurrence-skip"),
    path(f"{OCCURRENCE}/restore", occurrences.restore, name="occurrence-restore"),
]
