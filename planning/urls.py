"""One line per endpoint."""

from django.urls import path

from planning.invoice_files import pages as invoice_pages
from planning.invoice_files.views import InvoiceFileViewSet
from planning.plan.pages import plan
from planning.plan.views import PlanItemViewSet
from planning.planned_transactions.pages import occurrences, planned_transactions
from planning.planned_transactions.views import PlannedTransactionViewSet

COMPANY = "companies/<str:company_id>"
PLANNED_TRANSACTION = f"{COMPANY}/planned_transactions/<str:planned_transaction_id>"
PAGE = "app/companies/<str:company_id>/planned"
PLAN = "app/companies/<str:company_id>/plan"
OCCURRENCE = f"{PAGE}/<uuid:planned_id>/occurrences/<str:day>"

urlpatterns = [
    path(f"{COMPANY}/planned_transactions", PlannedTransactionViewSet.as_view({"get": "list", "post": "create"})),
    path(f"{COMPANY}/planned_transactions/due", PlannedTransactionViewSet.as_view({"get": "due"})),
    path(f"{COMPANY}/planned_transactions/matches", PlannedTransactionViewSet.as_view({"post": "matches"})),
    path(PLANNED_TRANSACTION, PlannedTransactionViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"})),
    path(f"{PLANNED_TRANSACTION}/occurrences", PlannedTransactionViewSet.as_view({"get": "occurrences"})),
    path(f"{PLANNED_TRANSACTION}/settle", PlannedTransactionViewSet.as_view({"post": "settle"})),
    path(f"{PLANNED_TRANSACTION}/unsettle", PlannedTransactionViewSet.as_view({"post": "unsettle"})),
    path(
        f"{PLANNED_TRANSACTION}/overrides/<str:original_date>",
        PlannedTransactionViewSet.as_view({"put": "put_override", "delete": "delete_override"}),
    ),
    path(f"{COMPANY}/files/<str:file_id>/plan", InvoiceFileViewSet.as_view({"post": "plan"})),
    path(f"{COMPANY}/plan_items", PlanItemViewSet.as_view({"get": "list", "post": "create"})),
    path(
        f"{COMPANY}/plan_items/<str:plan_item_id>",
        PlanItemViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("app/companies/<str:company_id>/documents/<uuid:file_id>/plan", invoice_pages.plan_file_page, name="document-plan"),
    path(f"{PAGE}/rules", planned_transactions.show_planned_transactions, name="planned-rules"),
    path(f"{PAGE}/new", planned_transactions.create_planned_transaction_page, name="planned-new"),
    path(f"{PAGE}/<uuid:planned_id>", planned_transactions.show_planned_transaction, name="planned-one"),
    path(f"{PAGE}/<uuid:planned_id>/edit", planned_transactions.edit_planned_transaction_page, name="planned-edit"),
    path(f"{PAGE}/<uuid:planned_id>/delete", planned_transactions.delete_planned_transaction_page, name="planned-delete"),
    path(OCCURRENCE, occurrences.edit_occurrence_page, name="occurrence"),
    path(f"{OCCURRENCE}/skip", occurrences.skip_occurrence_page, name="occurrence-skip"),
    path(f"{OCCURRENCE}/settle", occurrences.settle_occurrence_page, name="occurrence-settle"),
    path(f"{OCCURRENCE}/unsettle", occurrences.unsettle_occurrence_page, name="occurrence-unsettle"),
    path(f"{OCCURRENCE}/restore", occurrences.restore_occurrence_page, name="occurrence-restore"),
    path(PLAN, plan.show_plan, name="plan"),
    path(f"{PLAN}/undo", plan.undo_plan_change_page, name="plan-undo"),
    path(f"{PLAN}/fill", plan.fill_plan_row_page, name="plan-fill"),
    path(f"{PLAN}/items/<uuid:plan_item_id>", plan.edit_plan_item_page, name="plan-item"),
    path(f"{PLAN}/items/<uuid:plan_item_id>/delete", plan.delete_plan_item_page, name="plan-item-delete"),
]
