"""One line per endpoint."""

from django.urls import path

from assistants.views import handle_mcp

urlpatterns = [
    path("mcp", handle_mcp),
]
