"""URL patterns of the ledger: REST endpoints and pages, one line each."""

from django.urls import path

from ledger.accounts.pages import account_groups as group_pages
from ledger.accounts.pages import accounts as account_pages
from ledger.accounts.views import account_groups, accounts
from ledger.bank_statements import views as statements
from ledger.bank_statements.pages import statement_check, statement_uploads
from ledger.categorization.pages import bulk_actions, split
from ledger.categorization.pages import categories as category_pages
from ledger.categorization.pages import counterparties as counterparty_pages
from ledger.categorization.views import categories, categorizations
from ledger.closings import pages as closing_pages
from ledger.closings import views as closings
from ledger.exports import pages as export_pages
from ledger.exports import views as exports
from ledger.files import pages as document_pages
from ledger.files import views as files
from ledger.imports import views as imports
from ledger.imports.pages import csv_import as importing
from ledger.imports.pages import imports as import_pages
from ledger.inbox.pages import groups as inbox_groups
from ledger.inbox.pages import inbox, suggestions
from ledger.money import pages as rate_pages
from ledger.money import views as rates
from ledger.reports import pages as report_pages
from ledger.reports import views as reports
from ledger.rules import views as rules
from ledger.rules.pages import rules as rule_pages
from ledger.rules.pages import suggested_rules as suggested_rule_pages
from ledger.subscriptions.pages import customers as customer_pages
from ledger.subscriptions.pages import event_import as event_import_pages
from ledger.subscriptions.pages import event_imports as event_import_history_pages
from ledger.subscriptions.pages import product_groups as product_group_pages
from ledger.subscriptions.pages import products as product_pages
from ledger.subscriptions.pages import subscription_events as event_pages
from ledger.subscriptions.pages import subscriptions as subscription_pages
from ledger.subscriptions.views import event_imports, product_groups, products, subscription_events, subscriptions
from ledger.transactions import views as transactions
from ledger.transactions.pages import create as transaction_pages
from ledger.transactions.pages import detail as one_transaction
from ledger.transactions.pages import other_leg, saved_views, search, transfers

urlpatterns = [
    path("companies/<str:company_id>/accounts", accounts.AccountViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "companies/<str:company_id>/accounts/<str:account_id>",
        accounts.AccountViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("companies/<str:company_id>/accounts/<str:account_id>/archive", accounts.AccountViewSet.as_view({"put": "archive"})),
    path("companies/<str:company_id>/accounts/<str:account_id>/unarchive", accounts.AccountViewSet.as_view({"put": "unarchive"})),
    path("companies/<str:company_id>/accounts/<str:account_id>/change_group", accounts.AccountViewSet.as_view({"put": "change_group"})),
    path(
        "companies/<str:company_id>/accounts/<str:account_id>/initial_balance",
        accounts.AccountViewSet.as_view({"get": "initial_balance", "put": "set_initial_balance"}),
    ),
    path("companies/<str:company_id>/accounts/<str:account_id>/reconciliation", statements.ReconciliationViewSet.as_view({"get": "list"})),
    path("companies/<str:company_id>/account_groups", account_groups.AccountGroupViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "companies/<str:company_id>/account_groups/<str:account_group_id>",
        account_groups.AccountGroupViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("companies/<str:company_id>/closings", closings.ClosingViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/closings/<str:month>", closings.ClosingViewSet.as_view({"get": "retrieve"})),
    path("companies/<str:company_id>/closings/<str:month>/reopen", closings.ClosingViewSet.as_view({"post": "reopen"})),
    path("companies/<str:company_id>/closings/<str:month>/differences", closings.ClosingViewSet.as_view({"get": "differences"})),
    path("companies/<str:company_id>/closings/<str:month>/links", reports.ClosingLinkViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/closings/<str:month>/links/<str:link_id>", reports.ClosingLinkViewSet.as_view({"delete": "destroy"})),
    path("companies/<str:company_id>/reports/<str:month>/commentary", reports.CommentaryViewSet.as_view({"get": "retrieve", "put": "update"})),
    path("companies/<str:company_id>/reports/<str:month>/links", reports.ReportLinkViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/reports/<str:month>/links/<str:link_id>", reports.ReportLinkViewSet.as_view({"delete": "destroy"})),
    path("companies/<str:company_id>/rates", rates.RateViewSet.as_view({"get": "list"})),
    path("companies/<str:company_id>/transactions/import", imports.ImportViewSet.as_view({"post": "create"})),
    path("companies/<str:company_id>/statements", statements.StatementViewSet.as_view({"post": "create"})),
    path("companies/<str:company_id>/imports", imports.ImportHistoryViewSet.as_view({"get": "list"})),
    path(
        "companies/<str:company_id>/imports/<str:import_id>",
        imports.ImportHistoryViewSet.as_view({"get": "retrieve", "delete": "destroy"}),
    ),
    path(
        "companies/<str:company_id>/transactions",
        transactions.TransactionViewSet.as_view({"get": "list", "post": "create"}),
    ),
    path(
        "companies/<str:company_id>/transactions/batch_delete",
        transactions.TransactionViewSet.as_view({"post": "batch_delete"}),
    ),
    path(
        "companies/<str:company_id>/transactions/categorize",
        categorizations.CategorizationViewSet.as_view({"post": "categorize"}),
    ),
    path(
        "companies/<str:company_id>/transactions/uncategorize",
        categorizations.CategorizationViewSet.as_view({"post": "uncategorize"}),
    ),
    path(
        "companies/<str:company_id>/transactions/categorization_status",
        categorizations.CategorizationViewSet.as_view({"post": "categorization_status"}),
    ),
    path(
        "companies/<str:company_id>/transactions/link_transfer",
        transactions.TransferViewSet.as_view({"post": "link"}),
    ),
    path(
        "companies/<str:company_id>/transactions/unlink_transfer",
        transactions.TransferViewSet.as_view({"post": "unlink"}),
    ),
    path("companies/<str:company_id>/transactions/proposals", rules.ProposalViewSet.as_view({"post": "proposals"})),
    path("companies/<str:company_id>/transactions/transfer_proposals", rules.ProposalViewSet.as_view({"post": "transfers"})),
    path(
        "companies/<str:company_id>/transactions/<str:transaction_id>",
        transactions.TransactionViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path(
        "companies/<str:company_id>/transactions/<str:transaction_id>/categorizations",
        categorizations.CategorizationViewSet.as_view({"put": "replace"}),
    ),
    path("companies/<str:company_id>/categorization_rules", rules.RuleViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/categorization_rules/order", rules.RuleViewSet.as_view({"put": "arrange"})),
    path("companies/<str:company_id>/categorization_rules/preview", rules.RuleViewSet.as_view({"post": "preview"})),
    path("companies/<str:company_id>/categorization_rules/from_transaction", rules.RuleViewSet.as_view({"post": "from_transaction"})),
    path("companies/<str:company_id>/categorization_rules/suggestions", rules.RuleViewSet.as_view({"get": "suggestions"})),
    path("companies/<str:company_id>/categorization_rules/apply", rules.RuleViewSet.as_view({"post": "apply"})),
    path(
        "companies/<str:company_id>/categorization_rules/<str:rule_id>",
        rules.RuleViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("companies/<str:company_id>/categorization_runs/<str:run_id>", rules.RunViewSet.as_view({"delete": "destroy"})),
    path("companies/<str:company_id>/categories", categories.CategoryViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "companies/<str:company_id>/categories/<str:category_id>",
        categories.CategoryViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path(
        "companies/<str:company_id>/counterparties",
        categories.CounterpartyViewSet.as_view({"get": "list", "post": "create"}),
    ),
    path(
        "companies/<str:company_id>/counterparties/<str:counterparty_id>",
        categories.CounterpartyViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("companies/<str:company_id>/files", files.FileViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "companies/<str:company_id>/files/<str:file_id>",
        files.FileViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("companies/<str:company_id>/files/<str:file_id>/content", files.FileViewSet.as_view({"get": "content"})),
    path("companies/<str:company_id>/exports/transactions.csv", exports.ExportViewSet.as_view({"get": "transactions_csv"})),
    path("companies/<str:company_id>/exports/transactions.xlsx", exports.ExportViewSet.as_view({"get": "transactions_xlsx"})),
    path("companies/<str:company_id>/exports/journal.beancount", exports.ExportViewSet.as_view({"get": "beancount"})),
    path("companies/<str:company_id>/exports/journal.hledger", exports.ExportViewSet.as_view({"get": "hledger"})),
    path("companies/<str:company_id>/products", products.ProductViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/products/<str:product_id>", products.ProductViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"})),
    path("companies/<str:company_id>/product_groups", product_groups.ProductGroupViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/product_groups/<str:product_group_id>", product_groups.ProductGroupViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"})),
    path("companies/<str:company_id>/subscriptions", subscriptions.SubscriptionViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/subscriptions/<str:subscription_id>", subscriptions.SubscriptionViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"})),
    path("companies/<str:company_id>/subscription_events", subscription_events.SubscriptionEventViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/subscription_events/import", subscription_events.SubscriptionEventViewSet.as_view({"post": "import_events"})),
    path("companies/<str:company_id>/subscription_events/import_file", event_imports.SubscriptionEventImportViewSet.as_view({"post": "import_file"})),
    path("companies/<str:company_id>/subscription_event_imports", event_imports.SubscriptionEventImportViewSet.as_view({"get": "list"})),
    path("companies/<str:company_id>/subscription_event_imports/<str:subscription_event_import_id>", event_imports.SubscriptionEventImportViewSet.as_view({"get": "retrieve", "delete": "destroy"})),
    path("companies/<str:company_id>/subscription_events/<str:subscription_event_id>", subscription_events.SubscriptionEventViewSet.as_view({"get": "retrieve", "delete": "destroy"})),
    path("app/companies/<str:company_id>/inbox", inbox.show_inbox_page, name="inbox"),
    path("app/companies/<str:company_id>/inbox/groups", inbox_groups.show_inbox_groups, name="inbox-groups"),
    path("app/companies/<str:company_id>/inbox/accept", suggestions.accept_suggestions_page, name="inbox-accept"),
    path("app/companies/<str:company_id>/rules", rule_pages.show_rules, name="rules"),
    path("app/companies/<str:company_id>/rules/new", rule_pages.create_rule_page, name="rule-new"),
    path("app/companies/<str:company_id>/rules/suggested", suggested_rule_pages.create_suggested_rules_page, name="rules-suggested"),
    path("app/companies/<str:company_id>/rules/created/<uuid:entry_id>/undo", suggested_rule_pages.undo_created_rules_page, name="rules-created-undo"),
    path("app/companies/<str:company_id>/rules/apply", rule_pages.apply_rules_page, name="rules-apply"),
    path("app/companies/<str:company_id>/rules/runs/<uuid:run_id>/undo", rule_pages.undo_rule_run_page, name="rules-undo"),
    path("app/companies/<str:company_id>/rules/<uuid:rule_id>", rule_pages.edit_rule_page, name="rule"),
    path("app/companies/<str:company_id>/rules/<uuid:rule_id>/move", rule_pages.move_rule_page, name="rule-move"),
    path("app/companies/<str:company_id>/rules/<uuid:rule_id>/delete", rule_pages.delete_rule_page, name="rule-delete"),
    path("app/companies/<str:company_id>/transactions", bulk_actions.show_transactions, name="transactions"),
    path("app/companies/<str:company_id>/search", search.show_search_results, name="search"),
    path("app/companies/<str:company_id>/transactions/views", saved_views.save_view_page, name="view-save"),
    path("app/companies/<str:company_id>/transactions/views/<uuid:view_id>/delete", saved_views.delete_view_page, name="view-delete"),
    path("app/companies/<str:company_id>/transactions/export/<str:name>", export_pages.export_transactions_page, name="transactions-export"),
    path("app/companies/<str:company_id>/transactions/new", transaction_pages.create_transaction_page, name="transaction-new"),
    path("app/companies/<str:company_id>/transactions/<uuid:transaction_id>", one_transaction.show_transaction, name="transaction"),
    path("app/companies/<str:company_id>/transactions/<uuid:transaction_id>/edit", one_transaction.edit_transaction_page, name="transaction-edit"),
    path("app/companies/<str:company_id>/transactions/<uuid:transaction_id>/delete", one_transaction.delete_transaction_page, name="transaction-delete"),
    path("app/companies/<str:company_id>/transactions/<uuid:transaction_id>/split", split.split_transaction_page, name="transaction-split"),
    path("app/companies/<str:company_id>/transactions/<uuid:transaction_id>/link", transfers.link_transfer_page, name="transaction-link"),
    path("app/companies/<str:company_id>/transactions/<uuid:transaction_id>/other-leg", other_leg.create_other_leg_page, name="transaction-other-leg"),
    path("app/companies/<str:company_id>/transactions/<uuid:transaction_id>/unlink", transfers.unlink_transfer_page, name="transaction-unlink"),
    path("app/companies/<str:company_id>/transactions/<uuid:transaction_id>/documents", document_pages.upload_transaction_files_page, name="transaction-documents"),
    path("app/companies/<str:company_id>/documents", document_pages.show_files, name="documents"),
    path("app/companies/<str:company_id>/documents/<uuid:file_id>", document_pages.show_file, name="document"),
    path("app/companies/<str:company_id>/documents/<uuid:file_id>/content", document_pages.show_file_content, name="document-content"),
    path("app/companies/<str:company_id>/documents/<uuid:file_id>/attach", document_pages.attach_file_page, name="document-attach"),
    path("app/companies/<str:company_id>/documents/<uuid:file_id>/detach", document_pages.detach_file_page, name="document-detach"),
    path("app/companies/<str:company_id>/documents/<uuid:file_id>/delete", document_pages.delete_file_page, name="document-delete"),
    path("app/companies/<str:company_id>/accounts.csv", account_pages.download_accounts, name="accounts-csv"),
    path("app/companies/<str:company_id>/accounts", account_pages.show_accounts, name="accounts"),
    path("app/companies/<str:company_id>/accounts/new", account_pages.create_account_page, name="account-new"),
    path("app/companies/<str:company_id>/accounts/groups", group_pages.show_account_groups, name="account-groups"),
    path("app/companies/<str:company_id>/accounts/groups/new", group_pages.create_account_group_page, name="account-group-new"),
    path("app/companies/<str:company_id>/accounts/groups/<uuid:group_id>", group_pages.edit_account_group_page, name="account-group"),
    path("app/companies/<str:company_id>/accounts/groups/<uuid:group_id>/move", group_pages.move_account_group_page, name="account-group-move"),
    path("app/companies/<str:company_id>/accounts/groups/<uuid:group_id>/delete", group_pages.delete_account_group_page, name="account-group-delete"),
    path("app/companies/<str:company_id>/accounts/<uuid:account_id>/edit", account_pages.edit_account_page, name="account-edit"),
    path("app/companies/<str:company_id>/accounts/<uuid:account_id>/initial-balance", account_pages.set_initial_balance_page, name="account-initial"),
    path("app/companies/<str:company_id>/accounts/<uuid:account_id>/archive", account_pages.archive_account_page, name="account-archive"),
    path("app/companies/<str:company_id>/accounts/<uuid:account_id>/delete", account_pages.delete_account_page, name="account-delete"),
    path("app/companies/<str:company_id>/settings/categories", category_pages.show_categories, name="categories"),
    path("app/companies/<str:company_id>/settings/categories/new", category_pages.create_category_page, name="category-new"),
    path("app/companies/<str:company_id>/settings/categories/<uuid:category_id>", category_pages.edit_category_page, name="category"),
    path("app/companies/<str:company_id>/settings/categories/<uuid:category_id>/move", category_pages.move_category_page, name="category-move"),
    path("app/companies/<str:company_id>/settings/categories/<uuid:category_id>/delete", category_pages.delete_category_page, name="category-delete"),
    path("app/companies/<str:company_id>/closings", closing_pages.show_closings, name="closings"),
    path("app/companies/<str:company_id>/closings/<str:month>", closing_pages.show_closing, name="closing"),
    path("app/companies/<str:company_id>/closings/<str:month>/links", report_pages.share_closing_page, name="closing-links"),
    path("app/companies/<str:company_id>/closings/<str:month>/links/<uuid:link_id>/revoke", report_pages.revoke_closing_link_page, name="closing-link-revoke"),
    path("app/companies/<str:company_id>/reports/<str:month>/links", report_pages.share_report_page, name="report-links"),
    path("app/companies/<str:company_id>/reports/<str:month>/links/<uuid:link_id>/revoke", report_pages.revoke_report_link_page, name="report-link-revoke"),
    path("app/companies/<str:company_id>/settings/exchange-rates", rate_pages.show_exchange_rates, name="exchange-rates"),
    path("app/companies/<str:company_id>/settings/counterparties", counterparty_pages.show_counterparties, name="counterparties"),
    path("app/companies/<str:company_id>/settings/counterparties/new", counterparty_pages.create_counterparty_page, name="counterparty-new"),
    path("app/companies/<str:company_id>/settings/counterparties/<uuid:counterparty_id>", counterparty_pages.edit_counterparty_page, name="counterparty"),
    path("app/companies/<str:company_id>/settings/counterparties/<uuid:counterparty_id>/merge", counterparty_pages.merge_counterparty_page, name="counterparty-merge"),
    path("app/companies/<str:company_id>/settings/counterparties/<uuid:counterparty_id>/delete", counterparty_pages.delete_counterparty_page, name="counterparty-delete"),
    path("app/companies/<str:company_id>/recurring-revenue/customers/new", customer_pages.create_customer_page, name="customer-new"),
    path("app/companies/<str:company_id>/recurring-revenue/customers/<uuid:customer_id>/edit", customer_pages.edit_customer_page, name="customer-edit"),
    path("app/companies/<str:company_id>/recurring-revenue/customers/<uuid:customer_id>/delete", customer_pages.delete_customer_page, name="customer-delete"),
    path("app/companies/<str:company_id>/recurring-revenue/customers/<uuid:customer_id>/subscriptions/new", subscription_pages.create_subscription_page, name="subscription-new"),
    path("app/companies/<str:company_id>/recurring-revenue/subscriptions/<uuid:subscription_id>/edit", subscription_pages.edit_subscription_page, name="subscription-edit"),
    path("app/companies/<str:company_id>/recurring-revenue/subscriptions/<uuid:subscription_id>/delete", subscription_pages.delete_subscription_page, name="subscription-delete"),
    path("app/companies/<str:company_id>/recurring-revenue/subscriptions/<uuid:subscription_id>/events/new", event_pages.add_subscription_event_page, name="subscription-event-new"),
    path("app/companies/<str:company_id>/recurring-revenue/events", event_pages.show_subscription_events, name="subscription-events"),
    path("app/companies/<str:company_id>/recurring-revenue/events/import", event_import_pages.upload_events_page, name="subscription-event-import-new"),
    path("app/companies/<str:company_id>/recurring-revenue/events/import/<uuid:upload_id>", event_import_pages.review_events_page, name="subscription-event-import-check"),
    path("app/companies/<str:company_id>/recurring-revenue/events/imports", event_import_history_pages.show_event_imports, name="subscription-event-imports"),
    path("app/companies/<str:company_id>/recurring-revenue/events/imports/<uuid:event_import_id>", event_import_history_pages.show_event_import, name="subscription-event-import"),
    path("app/companies/<str:company_id>/recurring-revenue/events/imports/<uuid:event_import_id>/undo", event_import_history_pages.undo_event_import_page, name="subscription-event-import-undo"),
    path("app/companies/<str:company_id>/recurring-revenue/events/<uuid:event_id>/retract", event_pages.retract_subscription_event_page, name="subscription-event-retract"),
    path("app/companies/<str:company_id>/recurring-revenue/products", product_pages.show_products, name="products"),
    path("app/companies/<str:company_id>/recurring-revenue/products/new", product_pages.create_product_page, name="product-new"),
    path("app/companies/<str:company_id>/recurring-revenue/products/<uuid:product_id>/edit", product_pages.edit_product_page, name="product-edit"),
    path("app/companies/<str:company_id>/recurring-revenue/products/<uuid:product_id>/delete", product_pages.delete_product_page, name="product-delete"),
    path("app/companies/<str:company_id>/recurring-revenue/product-groups/new", product_group_pages.create_product_group_page, name="product-group-new"),
    path("app/companies/<str:company_id>/recurring-revenue/product-groups/<uuid:product_group_id>/edit", product_group_pages.edit_product_group_page, name="product-group-edit"),
    path("app/companies/<str:company_id>/recurring-revenue/product-groups/<uuid:product_group_id>/delete", product_group_pages.delete_product_group_page, name="product-group-delete"),
    path("app/companies/<str:company_id>/imports", import_pages.show_imports, name="imports"),
    path("app/companies/<str:company_id>/imports/new", statement_uploads.upload_statements_page, name="import-new"),
    path("app/companies/<str:company_id>/imports/statements", statement_check.check_statements_page, name="statement-check"),
    path("app/companies/<str:company_id>/imports/new/<uuid:upload_id>", importing.check_csv_import_page, name="import-check"),
    path("app/companies/<str:company_id>/imports/<uuid:import_id>/undo", import_pages.undo_import_page, name="import-undo"),
]
