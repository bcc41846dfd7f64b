"""One line per endpoint and page."""

from django.urls import include, path

from oauth import pages, views
from oauth.connected_apps import pages as connected_app_pages
from oauth.connected_apps import views as connected_app_views

# Under the names by which the toolkit finds its own endpoints.
toolkit = [
    path("auth/oauth2/authorize", pages.AuthorizeView.as_view(), name="authorize"),
    path("auth/oauth2/token", views.TokenView.as_view(), name="token"),
    path("auth/oauth2/revoke", views.RevokeView.as_view(), name="revoke-token"),
    path("auth/oauth2/userinfo", views.UserInfoView.as_view(), name="user-info"),
    path("auth/oauth2/jwks", views.show_jwks, name="jwks-info"),
    path("auth/.well-known/openid-configuration", views.show_server_metadata, name="oidc-connect-discovery-info"),
    path("auth/.well-known/oauth-authorization-server", views.show_server_metadata, name="oauth-server-metadata"),
    path(".well-known/oauth-authorization-server/auth", views.show_server_metadata),
    path(".well-known/openid-configuration/auth", views.show_server_metadata),
    path(".well-known/oauth-protected-resource", views.show_resource_metadata, name="oauth-resource-metadata"),
    path(".well-known/oauth-protected-resource/mcp", views.show_mcp_resource_metadata, name="mcp-resource-metadata"),
]

urlpatterns = [
    path("", include((toolkit, "oauth2_provider"))),
    path("companies/<str:company_id>/connected_apps", connected_app_views.ConnectedAppViewSet.as_view({"get": "list"})),
    path(
        "companies/<str:company_id>/connected_apps/<str:connected_app_id>",
        connected_app_views.ConnectedAppViewSet.as_view({"delete": "destroy"}),
    ),
    path("app/companies/<str:company_id>/settings/api-keys", connected_app_pages.show_api_keys_and_apps, name="api-keys"),
    path(
        "app/companies/<str:company_id>/settings/apps/<uuid:consent_id>/disconnect",
        connected_app_pages.disconnect_app_page,
        name="app-disconnect",
    ),
]
