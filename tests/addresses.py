"""The addresses of the service, as its URL configuration has them."""

from typing import Any

from django.urls import URLPattern, URLResolver


def patterns(resolver: Any, prefix: str = "") -> list[tuple[str, Any]]:
    """(route, callback) of every address."""
    found = []
    for entry in resolver.url_patterns:
        route = f"{prefix}{entry.pattern}"
        if isinstance(entry, URLResolver):
            found += patterns(entry, route)
        elif isinstance(entry, URLPattern):
            found.append((route, entry.callback))
    return found
