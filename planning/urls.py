"""One line per endpoint."""

from django.urls import path

from planning.pages import occurrences, plan, plans
from planning.views import PlanItemViewSet, PlannedTransactionViewSet

COMPANY = "companies/<str:company_id>"
PLANNED = f"{COMPANY}/planned_transactions/<str:planned_transaction_id>"
PAGE = "app/companies/<str:company_id>/planned"
PLAN = "app/companies/<str:company_id>/plan"
OCCURRENCE = f"{PAGE}/<uuid:planned_id>/occurrences/<str:day>"

urlpatterns = [
    path(f"{COMPANY}/planned_transactions", PlannedTransactionViewSet.as_view({"get": "list", "post": "create"})),
    path(f"{COMPANY}/planned_transactions/due", PlannedTransactionViewSet.as_view({"get": "due"})),
    path(f"{COMPANY}/planned_transactions/matches", PlannedTransactionViewSet.as_view({"post": "matches"})),
    path(PLANNED, PlannedTransactionViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"})),
    path(f"{PLANNED}/occurrences", PlannedTransactionViewSet.as_view({"get": "occurrences"})),
    path(f"{PLANNED}/settle", PlannedTransactionViewSet.as_view({"post": "settle"})),
    path(f"{PLANNED}/unsettle", PlannedTransactionViewSet.as_view({"post": "unsettle"})),
    path(
        f"{PLANNED}/overrides/<str:original_date>",
        PlannedTransactionViewSet.as_view({"put": "put_override", "delete": "delete_override"}),
    ),
    path(f"{COMPANY}/plan_items", PlanItemViewSet.as_view({"get": "list", "post": "create"})),
    path(
        f"{COMPANY}/plan_items/<str:plan_item_id>",
        PlanItemViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path(f"{PAGE}/rules", plans.rules, name="planned-rules"),
    path(f"{PAGE}/new", plans.new, name="planned-new"),
    path(f"{PAGE}/<uuid:planned_id>", plans.one, name="planned-one"),
    path(f"{PAGE}/<uuid:planned_id>/edit", plans.edit, name="planned-edit"),
    path(f"{PAGE}/<uuid:planned_id>/delete", plans.delete, name="planned-delete"),
    path(OCCURRENCE, occurrences.change, name="occurrence"),
    path(f"{OCCURRENCE}/skip", occurrences.skip, name="occurrence-skip"),
    path(f"{OCCURRENCE}/settle", occurrences.settle, name="occurrence-settle"),
    path(f"{OCCURRENCE}/unsettle", occurrences.unsettle, name="occurrence-unsettle"),
    path(f"{OCCURRENCE}/restore", occurrences.restore, name="occurrence-restore"),
    path(PLAN, plan.grid, name="plan"),
    path(f"{PLAN}/undo", plan.undo, name="plan-undo"),
    path(f"{PLAN}/fill", plan.fill, name="plan-fill"),
    path(f"{PLAN}/items/<uuid:plan_item_id>", plan.edit, name="plan-item"),
    path(f"{PLAN}/items/<uuid:plan_item_id>/delete", plan.delete, name="plan-item-delete"),
]
