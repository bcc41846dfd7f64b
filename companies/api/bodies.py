"""How large a body may be: its address says so, before anything reads it.

What has no business with us is refused from its length alone: nothing of it is read, wherever it is sent.
"""

from typing import Any

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.urls import Resolver404, resolve

from companies.api import errors
from companies.api.rendering import announced
from companies.pages import failures

MIB = 1024 * 1024
JSON = "application/json"
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
OAUTH = ("/auth/oauth2/token", "/auth/oauth2/revoke")  # their refusals are RFC 6749's


def refuse_body(request: HttpRequest) -> HttpResponse | None:
    """Return the answer to a body that is too large, chunked or an incomplete form; None where it may be read."""
    length, chunked = announced(request.META), "HTTP_TRANSFER_ENCODING" in request.META
    if length <= settings.MAX_FORM_BYTES and not chunked:
        if cut_short(request):
            return refused(request, 400, "bad_request", "A part of what was sent is missing.")
        return None
    view = view_of(request)
    if hasattr(view, "actions"):
        return None
    if chunked:
        return refused(request, 411, "length_required", "Send the body with its Content-Length.")
    most = largest(request, view)
    if length > most:
        return refused(request, 413, "body_too_large", f"What was sent is larger than {shown(most)}.")
    return None


def cut_short(request: HttpRequest) -> bool:
    """Whether a form ended before its announced length. Who reads JSON or a large upload is told so while reading."""
    if request.content_type not in FORMS:
        return False
    try:
        _ = request.body
    except UnreadablePostError:
        return True
    return False


def view_of(request: HttpRequest) -> Any:
    """What answers at the address, or None."""
    try:
        return resolve(request.path_info).func
    except Resolver404:
        return None


def largest(request: HttpRequest, view: Any) -> int:
    """How many bytes may be sent to a page, or to an address that is none."""
    if getattr(view, "takes_uploads", False) or getattr(getattr(view, "model_admin", None), "takes_uploads", False):
        return settings.MAX_UPLOAD_MB * MIB
    return settings.MAX_BODY_BYTES if request.content_type == JSON else settings.MAX_FORM_BYTES


def shown(size: int) -> str:
    """64 KB, 1 MB."""
    return f"{size // MIB} MB" if size >= MIB else f"{size // 1024} KB"


def refused(request: HttpRequest, status: int, code: str, detail: str) -> HttpResponse:
    """A page for people; what an app or a program expects at the address."""
    if request.path in OAUTH:
        told = {"error": "invalid_request", "error_description": detail}
        headers = {"Cache-Control": "no-store", "Access-Control-Allow-Origin": "*"}
        return HttpResponse(orjson.dumps(told), status=status, content_type=JSON, headers=headers)
    if request.path.startswith(failures.PAGES):
        return failures.not_taken(request, status=status, text=f"{detail} Nothing was stored.")
    return errors.plain(request, status=status, code=code, detail=detail)
