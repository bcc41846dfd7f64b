"""One line per endpoint."""

from django.urls import path

from planning.invoice_files import pages as invoice_file_pages
from planning.invoice_files.views import InvoiceFileViewSet
from planning.invoices.pages import import_payments, invoice_import, invoice_imports
from planning.invoices.pages import invoices as invoice_pages
from planning.invoices.views import (
    InvoiceExportViewSet,
    InvoiceImportHistoryViewSet,
    InvoiceImportViewSet,
    InvoiceViewSet,
)
from planning.plan.pages import plan, plan_import, planned_payments
from planning.plan.views import PlanItemViewSet
from planning.planned_transactions.pages import occurrences, planned_transactions, proposals, sums
from planning.planned_transactions.views import PlannedTransactionViewSet
from planning.scenarios.pages import scenarios
from planning.scenarios.views import ScenarioViewSet

COMPANY = "companies/<str:company_id>"
PLANNED_TRANSACTION = f"{COMPANY}/planned_transactions/<str:planned_transaction_id>"
PAGE = "app/companies/<str:company_id>/planned"
PLAN = "app/companies/<str:company_id>/plan"
SCENARIO_PAGE = f"{PAGE}/scenarios/<uuid:scenario_id>"
OCCURRENCE = f"{PAGE}/<uuid:planned_id>/occurrences/<str:day>"

urlpatterns = [
    path(f"{COMPANY}/planned_transactions", PlannedTransactionViewSet.as_view({"get": "list", "post": "create"})),
    path(f"{COMPANY}/planned_transactions/due", PlannedTransactionViewSet.as_view({"get": "due"})),
    path(f"{COMPANY}/planned_transactions/matches", PlannedTransactionViewSet.as_view({"post": "matches"})),
    path(f"{COMPANY}/planned_transactions/proposals", PlannedTransactionViewSet.as_view({"post": "proposals"})),
    path(PLANNED_TRANSACTION, PlannedTransactionViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"})),
    path(f"{PLANNED_TRANSACTION}/occurrences", PlannedTransactionViewSet.as_view({"get": "occurrences"})),
    path(f"{PLANNED_TRANSACTION}/settle", PlannedTransactionViewSet.as_view({"post": "settle"})),
    path(f"{PLANNED_TRANSACTION}/unsettle", PlannedTransactionViewSet.as_view({"post": "unsettle"})),
    path(f"{PLANNED_TRANSACTION}/write_off", PlannedTransactionViewSet.as_view({"post": "write_off"})),
    path(
        f"{PLANNED_TRANSACTION}/overrides/<str:original_date>",
        PlannedTransactionViewSet.as_view({"put": "put_override", "delete": "delete_override"}),
    ),
    path(f"{COMPANY}/receivables", InvoiceViewSet.as_view({"get": "receivables"})),
    path(f"{COMPANY}/payables", InvoiceViewSet.as_view({"get": "payables"})),
    path(f"{COMPANY}/receivables/import", InvoiceImportViewSet.as_view({"post": "import_receivables"})),
    path(f"{COMPANY}/payables/import", InvoiceImportViewSet.as_view({"post": "import_payables"})),
    path(f"{COMPANY}/invoice_imports", InvoiceImportHistoryViewSet.as_view({"get": "list"})),
    path(
        f"{COMPANY}/invoice_imports/<str:invoice_import_id>",
        InvoiceImportHistoryViewSet.as_view({"get": "retrieve", "delete": "destroy"}),
    ),
    path(f"{COMPANY}/exports/receivables.csv", InvoiceExportViewSet.as_view({"get": "receivables_csv"})),
    path(f"{COMPANY}/exports/payables.csv", InvoiceExportViewSet.as_view({"get": "payables_csv"})),
    path(f"{COMPANY}/data/aging", InvoiceViewSet.as_view({"post": "aging"})),
    path(f"{COMPANY}/files/<str:file_id>/plan", InvoiceFileViewSet.as_view({"post": "plan"})),
    path(f"{COMPANY}/plan_items", PlanItemViewSet.as_view({"get": "list", "post": "create"})),
    path(f"{COMPANY}/plan_items/proposals", PlanItemViewSet.as_view({"post": "proposals"})),
    path(
        f"{COMPANY}/plan_items/<str:plan_item_id>",
        PlanItemViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path(f"{COMPANY}/scenarios", ScenarioViewSet.as_view({"get": "list", "post": "create"})),
    path(
        f"{COMPANY}/scenarios/<str:scenario_id>",
        ScenarioViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path(
        f"{COMPANY}/scenarios/<str:scenario_id>/adopt",
        ScenarioViewSet.as_view({"post": "adopt", "delete": "undo_adoption"}),
    ),
    path(f"{PAGE}/proposals", proposals.show_payment_proposals, name="planned-proposals"),
    path(f"{PAGE}/proposals/<uuid:transaction_id>/plan", proposals.plan_payment_page, name="planned-proposal-plan"),
    path(f"{PAGE}/scenarios", scenarios.show_scenarios, name="scenarios"),
    path(f"{PAGE}/scenarios/new", scenarios.create_scenario_page, name="scenario-new"),
    path(f"{SCENARIO_PAGE}", scenarios.show_scenario, name="scenario"),
    path(f"{SCENARIO_PAGE}/changes/new/<str:kind>", scenarios.add_change_page, name="scenario-change-new"),
    path(f"{SCENARIO_PAGE}/changes/<str:position>/delete", scenarios.remove_change_page, name="scenario-change-delete"),
    path(f"{SCENARIO_PAGE}/duplicate", scenarios.duplicate_scenario_page, name="scenario-duplicate"),
    path(f"{SCENARIO_PAGE}/adopt", scenarios.adopt_scenario_page, name="scenario-adopt"),
    path(f"{SCENARIO_PAGE}/undo", scenarios.undo_adoption_page, name="scenario-undo"),
    path(f"{SCENARIO_PAGE}/delete", scenarios.delete_scenario_page, name="scenario-delete"),
    path("app/companies/<str:company_id>/documents/plan", invoice_file_pages.plan_files_page, name="documents-plan"),
    path("app/companies/<str:company_id>/documents/<uuid:file_id>/plan", invoice_file_pages.plan_file_page, name="document-plan"),
    path(f"{PAGE}/rules", planned_transactions.show_planned_transactions, name="planned-rules"),
    path(f"{PAGE}/new", planned_transactions.create_planned_transaction_page, name="planned-new"),
    path(f"{PAGE}/<uuid:planned_id>", planned_transactions.show_planned_transaction, name="planned-one"),
    path(f"{PAGE}/<uuid:planned_id>/edit", planned_transactions.edit_planned_transaction_page, name="planned-edit"),
    path(f"{PAGE}/<uuid:planned_id>/delete", planned_transactions.delete_planned_transaction_page, name="planned-delete"),
    path(OCCURRENCE, occurrences.edit_occurrence_page, name="occurrence"),
    path(f"{OCCURRENCE}/skip", occurrences.skip_occurrence_page, name="occurrence-skip"),
    path(f"{OCCURRENCE}/settle", occurrences.settle_occurrence_page, name="occurrence-settle"),
    path(f"{OCCURRENCE}/write-off", occurrences.write_off_occurrence_page, name="occurrence-write-off"),
    path(f"{OCCURRENCE}/unsettle", occurrences.unsettle_occurrence_page, name="occurrence-unsettle"),
    path(f"{PAGE}/transactions/<uuid:transaction_id>/settle", sums.settle_sum_page, name="transaction-settle-sum"),
    path(f"{PAGE}/transactions/<uuid:transaction_id>/unsettle", sums.unsettle_transaction_page, name="transaction-unsettle"),
    path(f"{OCCURRENCE}/restore", occurrences.restore_occurrence_page, name="occurrence-restore"),
    path("app/companies/<str:company_id>/receivables", invoice_pages.show_receivables, name="receivables"),
    path("app/companies/<str:company_id>/payables", invoice_pages.show_payables, name="payables"),
    path("app/companies/<str:company_id>/receivables.csv", invoice_pages.download_invoices_page, {"kind": "receivables"}, name="receivables-csv"),
    path("app/companies/<str:company_id>/receivables/import", invoice_import.upload_invoices_page, {"kind": "receivables"}, name="receivables-import"),
    path("app/companies/<str:company_id>/receivables/import/<uuid:upload_id>", invoice_import.review_invoices_page, {"kind": "receivables"}, name="receivables-import-check"),
    path("app/companies/<str:company_id>/payables.csv", invoice_pages.download_invoices_page, {"kind": "payables"}, name="payables-csv"),
    path("app/companies/<str:company_id>/payables/import", invoice_import.upload_invoices_page, {"kind": "payables"}, name="payables-import"),
    path("app/companies/<str:company_id>/payables/import/<uuid:upload_id>", invoice_import.review_invoices_page, {"kind": "payables"}, name="payables-import-check"),
    path("app/companies/<str:company_id>/invoice-imports", invoice_imports.show_invoice_imports, name="invoice-imports"),
    path("app/companies/<str:company_id>/imports/<uuid:import_id>/payments", import_payments.show_import_payments, name="import-payments"),
    path("app/companies/<str:company_id>/invoice-imports/<uuid:invoice_import_id>", invoice_imports.show_invoice_import, name="invoice-import"),
    path("app/companies/<str:company_id>/invoice-imports/<uuid:invoice_import_id>/undo", invoice_imports.undo_invoice_import_page, name="invoice-import-undo"),
    path(PLAN, plan.show_plan, name="plan"),
    path(f"{PLAN}.csv", plan.download_plan, name="plan-csv"),
    path(f"{PLAN}/payments", planned_payments.show_planned_payments, name="plan-payments"),
    path(f"{PLAN}/import", plan_import.upload_plan_page, name="plan-import"),
    path(f"{PLAN}/import/<uuid:upload_id>", plan_import.review_plan_page, name="plan-import-check"),
    path(f"{PLAN}/undo", plan.undo_plan_change_page, name="plan-undo"),
    path(f"{PLAN}/fill", plan.fill_plan_row_page, name="plan-fill"),
    path(f"{PLAN}/items/<uuid:plan_item_id>", plan.edit_plan_item_page, name="plan-item"),
    path(f"{PLAN}/items/<uuid:plan_item_id>/delete", plan.delete_plan_item_page, name="plan-item-delete"),
]
