"""One line per endpoint."""

from django.urls import path

from companies import views

urlpatterns = [
    path("companies", views.CompanyListViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>", views.CompanyDetailViewSet.as_view({"get": "retrieve", "put": "update"})),
    path(
        "companies/<str:company_id>/logo",
        views.CompanyDetailViewSet.as_view({"put": "put_logo", "delete": "delete_logo"}),
    ),
    path("companies/<str:company_id>/members", views.MemberViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "companies/<str:company_id>/members/<str:member_id>",
        views.MemberViewSet.as_view({"put": "update", "delete": "destroy"}),
    ),
    path("companies/<str:company_id>/api_keys", views.ApiKeyViewSet.as_view({"get": "list", "post": "create"})),
    path("companies/<str:company_id>/api_keys/<str:api_key_id>", views.ApiKeyViewSet.as_view({"delete": "destroy"})),
    path("companies/<str:company_id>/audit_log", views.AuditLogViewSet.as_view({"get": "list"})),
]
