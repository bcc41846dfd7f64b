"""One line per endpoint."""

from django.urls import path

from ledger.pages import accounts as account_pages
from ledger.pages import importing, one_transaction, splitting, transfers
from ledger.pages import imports as import_pages
from ledger.pages import transactions as transaction_pages
from ledger.views import (
    accounts,
    categories,
    categorizations,
    files,
    import_history,
    imports,
    products,
    subscriptions,
    transactions,
)

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
    path("companies/<str:company_id>/account_groups", accounts.AccountGroupViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "companies/<str:company_id>/account_groups/<str:account_group_id>",
        accounts.AccountGroupViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("companies/<str:company_id>/transactions/import", imports.ImportViewSet.as_view({"post": "create"})),
    path("companies/<str:company_id>/imports", import_history.ImportHistoryViewSet.as_view({"get": "list"})),
    path(
        "companies/<str:company_id>/imports/<str:import_id>",
        import_history.ImportHistoryViewSet.as_view({"get": "retrieve", "delete": "destroy"}),
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
        categorizations.TransferViewSet.as_view({"post": "link"}),
    ),
    path(
        "companies/<str:company_id>/transactions/unlink_transfer",
        categorizations.TransferViewSet.as_view({"post": "unlink"}),
    ),
    path(
        "companies/<str:company_id>/transactions/<str:transaction_id>",
        transactions.TransactionViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path(
        "companies/<str:company_id>/transactions/<str:transaction_id>/categorizations",
        categorizations.CategorizationViewSet.as_view({"put": "replace"}),
    ),
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
    path("companies/<str:company_id>/products", products.ProductViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/products/<str:product_id>", products.ProductViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"})),
    path("companies/<str:company_id>/product_groups", products.ProductGroupViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/product_groups/<str:product_group_id>", products.ProductGroupViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"})),
    path("companies/<str:company_id>/subscriptions", subscriptions.SubscriptionViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/subscriptions/<str:subscription_id>", subscriptions.SubscriptionViewSet.as_view({"get": "retrieve"})),
    path("companies/<str:company_id>/subscription_events", subscriptions.SubscriptionEventViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/subscription_events/import", subscriptions.SubscriptionEventViewSet.as_view({"post": "import_events"})),
    path("companies/<str:company_id>/subscription_events/<str:subscription_event_id>", subscriptions.SubscriptionEventViewSet.as_view({"get": "retrieve", "delete": "destroy"})),
    path("app/companies/<str:company_id>/transactions", transaction_pages.transactions, name="transactions"),
    path("app/companies/<str:company_id>/transactions/download", transaction_pages.download, name="transactions-csv"),
    path("app/companies/<str:company_id>/transactions/new", transaction_pages.new, name="transaction-new"),
    path("app/companies/<str:company_id>/transactions/<uuid:transaction_id>", one_transaction.transaction, name="transaction"),
    path("app/companies/<str:company_id>/transactions/<uuid:transaction_id>/edit", one_transaction.edit, name="transaction-edit"),
    path("app/companies/<str:company_id>/transactions/<uuid:transaction_id>/delete", one_transaction.delete, name="transaction-delete"),
    path("app/companies/<str:company_id>/transactions/<uuid:transaction_id>/split", splitting.split, name="transaction-split"),
    path("app/companies/<str:company_id>/transactions/<uuid:transaction_id>/link", transfers.link, name="transaction-link"),
    path("app/companies/<str:company_id>/transactions/<uuid:transaction_id>/unlink", transfers.unlink, name="transaction-unlink"),
    path("app/companies/<str:company_id>/accounts", account_pages.shelf, name="accounts"),
    path("app/companies/<str:company_id>/accounts/new", account_pages.new, name="account-new"),
    path("app/companies/<str:company_id>/accounts/<uuid:account_id>", account_pages.one, name="account"),
    path("app/companies/<str:company_id>/accounts/<uuid:account_id>/edit", account_pages.edit, name="account-edit"),
    path("app/companies/<str:company_id>/accounts/<uuid:account_id>/initial-balance", account_pages.initial, name="account-initial"),
    path("app/companies/<str:company_id>/accounts/<uuid:account_id>/archive", account_pages.archive, name="account-archive"),
    path("app/companies/<str:company_id>/accounts/<uuid:account_id>/delete", account_pages.delete, name="account-delete"),
    path("app/companies/<str:company_id>/imports", import_pages.history, name="imports"),
    path("app/companies/<str:company_id>/imports/new", importing.new, name="import-new"),
    path("app/companies/<str:company_id>/imports/new/<uuid:upload_id>", importing.check, name="import-check"),
    path("app/companies/<str:company_id>/imports/<uuid:import_id>/undo", import_pages.undo, name="import-undo"),
]
