"""List the routes of the URL configuration."""

from typing import Any

from django.urls import URLPattern, URLResolver


def list_url_routes(resolver: Any, prefix: str = "") -> list[tuple[str, Any]]:
    """Return (route, callback) of every URL pattern, included URLconfs too."""
    routes = []
    for entry in resolver.url_patterns:
        route = f"{prefix}{entry.pattern}"
        if isinstance(entry, URLResolver):
            routes += list_url_routes(entry, route)
        elif isinstance(entry, URLPattern):
            routes.append((route, entry.callback))
    return routes
