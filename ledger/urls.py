"""One line per endpoint."""

from django.urls import path

from ledger.views import accounts, imports, products, subscriptions

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
    path("companies/<str:company_id>/products", products.ProductViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/products/<str:product_id>", products.ProductViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"})),
    path("companies/<str:company_id>/product_groups", products.ProductGroupViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/product_groups/<str:product_group_id>", products.ProductGroupViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"})),
    path("companies/<str:company_id>/subscriptions", subscriptions.SubscriptionViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/subscriptions/<str:subscription_id>", subscriptions.SubscriptionViewSet.as_view({"get": "retrieve"})),
    path("companies/<str:company_id>/subscription_events", subscriptions.SubscriptionEventViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/subscription_events/import", subscriptions.SubscriptionEventViewSet.as_view({"post": "import_events"})),
    path("companies/<str:company_id>/subscription_events/<str:subscription_event_id>", subscriptions.SubscriptionEventViewSet.as_view({"get": "retrieve", "delete": "destroy"})),
]
