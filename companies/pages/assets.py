"""Serves public uploaded files: logos, re-encoded on upload."""

from django.core.exceptions import SuspiciousOperation
from django.core.files.storage import storages
from django.http import FileResponse, Http404, HttpRequest

from companies.api.http_methods import read_only


@read_only
def serve_asset(request: HttpRequest, path: str) -> FileResponse:
    """Serve a logo by its path. Names are never reused, so it may be cached forever."""
    try:
        file = storages["assets"].open(path)
    except (OSError, ValueError, SuspiciousOperation):
        raise Http404 from None
    response = FileResponse(file, content_type="image/png")
    response["Cache-Control"] = "public, max-age=31536000, immutable"
    return response
