"""Public files that people uploaded: logos, re-encoded when they came."""

from django.core.exceptions import SuspiciousOperation
from django.core.files.storage import storages
from django.http import FileResponse, Http404, HttpRequest

from companies.api.methods import read_only


@read_only
def serve(request: HttpRequest, path: str) -> FileResponse:
    """A logo by its path; names are never reused, so it may be kept for ever."""
    try:
        file = storages["assets"].open(path)
    except (OSError, ValueError, SuspiciousOperation):
        raise Http404 from None
    response = FileResponse(file, content_type="image/png")
    response["Cache-Control"] = "public, max-age=31536000, immutable"
    return response
