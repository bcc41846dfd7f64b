"""Shared components of the OpenAPI document: headers, parameters, authentication."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings

from companies.api.limits import INT32, MAX_IGNORED_FIELDS_LENGTH, MAX_LINE_LENGTH, MAX_REQUEST_ID_LENGTH

ETAG_SCHEMA = {"type": "string", "maxLength": MAX_LINE_LENGTH, "examples": ['"6b1f0a3c5d7e9f2b4c6d8e0f"']}
REQUEST_HEADERS: dict[str, tuple[dict[str, Any], str]] = {
    "Idempotency-Key": (
        {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$", "examples": ["import-2026-03-31"]},
        "Key of the request: a retry with the same key and body within 24 hours returns the first response.",
    ),
    "If-Match": (
        ETAG_SCHEMA,
        "The `ETag` you received, or `*` for any version; 412 if the resource has changed or the tag is weak.",
    ),
    "If-None-Match": (
        ETAG_SCHEMA,
        "The `ETag` you received: reads return 304 if it is current; with `*`, changes return 412 if the resource exists.",
    ),
}
UNSIGNED_INT_SCHEMA = {"type": "integer", "minimum": 0, "maximum": INT32}
LINE_SCHEMA = {"type": "string", "maxLength": MAX_LINE_LENGTH}
ANSWER_HEADERS: dict[str, tuple[dict[str, Any], str]] = {
    "X-Request-Id": (
        {"type": "string", "maxLength": MAX_REQUEST_ID_LENGTH},
        "Identifies the request in logs and for support.",
    ),
    "RateLimit-Limit": (UNSIGNED_INT_SCHEMA, "Requests per minute."),
    "RateLimit-Remaining": (UNSIGNED_INT_SCHEMA, "Remaining requests in this minute."),
    "RateLimit-Reset": (UNSIGNED_INT_SCHEMA, "Seconds until the limit resets."),
    "ETag": ({"type": "string", "maxLength": 100}, "Version of the resource, for `If-Match` and `If-None-Match`."),
    "Location": ({"type": "string", "maxLength": 300}, "Path of the created resource."),
    "Link": (LINE_SCHEMA, 'The next page, `<…>; rel="next"`; absent on the last one.'),
    "X-Total-Count": (UNSIGNED_INT_SCHEMA, "Number of rows on all pages, with `total=true`."),
    "X-Total-Amount": (
        {"type": "string", "maxLength": 60},
        "Total of all pages in the base currency at each day's exchange rate, with `total=true`. With `recognizedFrom`, "
        "`recognizedTo` or `recognizedBy`: the amount recognized in the P&L line in those months or up to that day.",
    ),
    "Broken-Changes": (
        {"type": "string", "maxLength": 300},
        "Positions of changes of the scenario, from 0 and comma-separated, that refer to something deleted and do not "
        "apply; absent if there are none.",
    ),
    "Ignored-Fields": (
        {"type": "string", "maxLength": MAX_IGNORED_FIELDS_LENGTH},
        "Unknown request fields, comma-separated, nested fields by path such as `recurrence.every` or "
        "`transactions/3/foo`; absent if there are none.",
    ),
    "Idempotency-Replayed": (
        {"type": "string", "const": "true"},
        "`true` if this is the stored response of an earlier request with the same key.",
    ),
    "WWW-Authenticate": (LINE_SCHEMA, "How to authenticate and get a token (RFC 6750, RFC 9728)."),
    "Retry-After": (UNSIGNED_INT_SCHEMA, "Seconds to wait before the next request."),
}
COMMON_HEADERS = ("X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")


def add_components(components: dict[str, Any]) -> None:
    """Add headers, parameters, responses and security schemes."""
    components["headers"] = {
        name: {"description": text, "schema": schema} for name, (schema, text) in ANSWER_HEADERS.items()
    }
    components["responses"] = {
        "NotModified": {
            "description": "`If-None-Match` matches the current version; the response has no body.",
            "headers": build_header_refs([*COMMON_HEADERS, "ETag"]),
        }
    }
    components["parameters"] = {
        name: {
            "name": name,
            "in": "header",
            "required": False,
            "description": text,
            "schema": schema,
            "example": schema["examples"][0],
        }
        for name, (schema, text) in REQUEST_HEADERS.items()
    }
    components["securitySchemes"] = {
        "apiKey": {
            "type": "http",
            "scheme": "bearer",
            "description": "An API key, `svc_…`; the prefix `Bearer` is added.",
        },
        "oauth2": {
            "type": "oauth2",
            "description": "Access tokens are JWTs (RFC 9068), checked as RFC8725 recommends.",
            "flows": {
                "authorizationCode": {
                    "authorizationUrl": f"{settings.AUTH_URL}/oauth2/authorize",
                    "tokenUrl": f"{settings.AUTH_URL}/oauth2/token",
                    "refreshUrl": f"{settings.AUTH_URL}/oauth2/token",
                    "scopes": {
                        "svc:read": "read access to the company's data",
                        "svc:write": "write access, bounded by the granting user's permissions",
                        "openid": "identify the user",
                        "profile": "the user's name",
                        "email": "the user's email address",
                        "offline_access": "a refresh token",
                    },
                }
            },
        },
        "session": {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME},
    }


def build_header_refs(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Build references to headers by name."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
