"""One line per endpoint."""

from django.urls import path

from assistants.views import mcp

urlpatterns = [
    path("mcp", mcp),
]
