"""The OpenAPI document and the interactive reference, served from this host under the strict policy."""

import gzip
from functools import lru_cache

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from drf_spectacular.generators import SchemaGenerator

from companies.api.document import codes
from companies.api.errors import TITLES
from companies.api.methods import read_only
from companies.running.compression import takes_gzip


@lru_cache(maxsize=1)
def document() -> bytes:
    """The OpenAPI 3.1 document as JSON; made once a process."""
    return orjson.dumps(SchemaGenerator().get_schema(request=None, public=True))


@lru_cache(maxsize=1)
def compressed() -> bytes:
    return gzip.compress(document(), mtime=0)


@read_only
def openapi(request: HttpRequest) -> HttpResponse:
    response = HttpResponse(compressed() if takes_gzip(request) else document(), content_type="application/json")
    if takes_gzip(request):
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])
    response["Access-Control-Allow-Origin"] = "*"
    return response


@read_only
def docs(request: HttpRequest) -> HttpResponse:
    return render(request, "docs.html", {"csrf_cookie": settings.CSRF_COOKIE_NAME})


@read_only
def error_codes(request: HttpRequest) -> HttpResponse:
    """What each error code means; the ``type`` of a problem leads here."""
    refusals: dict[str, dict[str, str]] = {}
    for code, (status, meaning) in sorted(codes.documented().items(), key=lambda told: told[1][0]):
        refusals.setdefault(f"{status} {TITLES[status]}", {})[code] = meaning
    return render(request, "error_codes.html", {"refusals": refusals, "fields": codes.FIELD_CODES})
