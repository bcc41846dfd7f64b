"""Serves the OpenAPI document and the interactive API reference from this host, under the strict CSP."""

import gzip
from functools import lru_cache

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from drf_spectacular.generators import SchemaGenerator

from companies.api.errors import STATUS_TITLES
from companies.api.http_methods import read_only
from companies.api.openapi import error_codes
from companies.compression import is_gzip_accepted


@lru_cache(maxsize=1)
def build_openapi_document() -> bytes:
    """Build the OpenAPI 3.1 document as JSON; cached."""
    return orjson.dumps(SchemaGenerator().get_schema(request=None, public=True))


@lru_cache(maxsize=1)
def compress_openapi_document() -> bytes:
    """Return the document compressed with gzip; cached."""
    return gzip.compress(build_openapi_document(), mtime=0)


@read_only
def serve_openapi_document(request: HttpRequest) -> HttpResponse:
    """Serve the OpenAPI document."""
    response = HttpResponse(
        compress_openapi_document() if is_gzip_accepted(request) else build_openapi_document(),
        content_type="application/json",
    )
    if is_gzip_accepted(request):
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])
    response["Access-Control-Allow-Origin"] = "*"
    return response


@read_only
def show_api_reference(request: HttpRequest) -> HttpResponse:
    """Show the API reference."""
    return render(request, "docs.html", {"csrf_cookie": settings.CSRF_COOKIE_NAME})


@read_only
def show_error_codes(request: HttpRequest) -> HttpResponse:
    """Show the meaning of each error code; the ``type`` of a problem links here."""
    codes_by_status: dict[str, dict[str, str]] = {}
    for code, (status, meaning) in sorted(error_codes.list_error_codes().items(), key=lambda entry: entry[1][0]):
        codes_by_status.setdefault(f"{status} {STATUS_TITLES[status]}", {})[code] = meaning
    return render(request, "error_codes.html", {"refusals": codes_by_status, "fields": error_codes.FIELD_CODES})
