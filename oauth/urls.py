"""One line per endpoint and page."""

from django.urls import path

from oauth import pages, views

urlpatterns = [
    path("auth/oauth2/authorize", pages.authorize, name="authorize"),
    path("auth/oauth2/token", views.token),
    path("auth/oauth2/revoke", views.revoke),
    path("auth/oauth2/userinfo", views.userinfo),
    path("auth/oauth2/jwks", views.jwks),
    path("auth/.well-known/openid-configuration", views.server_metadata),
    path("auth/.well-known/oauth-authorization-server", views.server_metadata),
    path(".well-known/oauth-authorization-server/auth", views.server_metadata),
    path(".well-known/openid-configuration/auth", views.server_metadata),
    path(".well-known/oauth-protected-resource", views.resource_metadata),
    path("companies/<str:company_id>/connected_apps", views.ConnectedAppViewSet.as_view({"get": "list"})),
    path(
        "companies/<str:company_id>/connected_apps/<str:connected_app_id>",
        views.ConnectedAppViewSet.as_view({"delete": "destroy"}),
    ),
    path("app/companies/<str:company_id>/settings/api-keys", pages.settings_page, name="api-keys"),
    path(
        "app/companies/<str:company_id>/settings/apps/<uuid:consent_id>/disconnect",
        pages.disconnect,
        name="app-disconnect",
    ),
]
