"""Limits of the request body's size, checked by path before the body is read.

A body that is too large is rejected by its length alone.
"""

from typing import Any

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.urls import Resolver404, resolve

from companies import error_pages
from companies.api import errors
from companies.api.rendering import get_content_length

MIB = 1024 * 1024
JSON_CONTENT_TYPE = "application/json"
FORM_CONTENT_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")
OAUTH_PATHS = ("/auth/oauth2/token", "/auth/oauth2/revoke")  # their errors follow RFC 6749


def refuse_body(request: HttpRequest) -> HttpResponse | None:
    """Return the answer to a body that is too large, chunked or an incomplete form; None where it may be read."""
    length, chunked = get_content_length(request.META), "HTTP_TRANSFER_ENCODING" in request.META
    if length <= settings.MAX_FORM_BYTES and not chunked:
        if is_form_incomplete(request):
            return build_refusal_response(request, 400, "bad_request", "The request body is incomplete.")
        return None
    view = find_view(request)
    if hasattr(view, "actions"):
        return None
    if chunked:
        return build_refusal_response(request, 411, "length_required", "Send a Content-Length header.")
    max_bytes = get_max_body_bytes(request, view)
    if length > max_bytes:
        return build_refusal_response(
            request, 413, "body_too_large", f"The request is too large (maximum {format_byte_limit(max_bytes)})."
        )
    return None


def is_form_incomplete(request: HttpRequest) -> bool:
    """Return whether a form ended before its announced length. JSON and large uploads are checked while they
    are read.
    """
    if request.content_type not in FORM_CONTENT_TYPES:
        return False
    try:
        _ = request.body
    except UnreadablePostError:
        return True
    return False


def find_view(request: HttpRequest) -> Any:
    """Return the view of the path, or None."""
    try:
        return resolve(request.path_info).func
    except Resolver404:
        return None


def get_max_body_bytes(request: HttpRequest, view: Any) -> int:
    """Return the maximum body size in bytes for a page, or for a path without a view."""
    if getattr(view, "takes_uploads", False) or getattr(getattr(view, "model_admin", None), "takes_uploads", False):
        return settings.MAX_UPLOAD_MB * MIB
    return settings.MAX_BODY_BYTES if request.content_type == JSON_CONTENT_TYPE else settings.MAX_FORM_BYTES


def format_byte_limit(byte_count: int) -> str:
    """Format a size: 64 KB, 1 MB."""
    return f"{byte_count // MIB} MB" if byte_count >= MIB else f"{byte_count // 1024} KB"


def build_refusal_response(request: HttpRequest, status: int, code: str, detail: str) -> HttpResponse:
    """Build the error response: a page, an OAuth error (RFC 6749) or a problem body, depending on the path."""
    if request.path in OAUTH_PATHS:
        oauth_error = {"error": "invalid_request", "error_description": detail}
        headers = {"Cache-Control": "no-store", "Access-Control-Allow-Origin": "*"}
        return HttpResponse(orjson.dumps(oauth_error), status=status, content_type=JSON_CONTENT_TYPE, headers=headers)
    if request.path.startswith(error_pages.PAGE_PREFIXES):
        return error_pages.render_refused_body_page(request, status=status, text=f"{detail} Nothing was saved.")
    return errors.build_problem_response(request, status=status, code=code, detail=detail)
