"""Shared components of the OpenAPI document: headers, parameters, authentication."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings

from companies.api.limits import INT32, MAX_IGNORED_FIELDS_LENGTH, MAX_LINE_LENGTH, MAX_REQUEST_ID_LENGTH

ETAG_SCHEMA = {"type": "string", "maxLength": MAX_LINE_LENGTH, "examples": ['"6b1f0a3c5d7e9f2b4c6d8e0f"']}
REQUEST_HEADERS: dict[str, tuple[dict[str, Any], str]] = {
    "Idempotency-Key": (
        {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
        "1 to 255 characters; a retry with the same key and body gets the first answer, for 24 hours.",
    ),
    "If-Match": (
        ETAG_SCHEMA,
        "The `ETag` that was read, or `*` for any; the change is refused with 412 if the resource has another version. Weak tags match no version.",
    ),
    "If-None-Match": (
        ETAG_SCHEMA,
        "The `ETag` that was read, or `*`: a read is answered 304 if it still holds. With `*` a change is refused with 412 if the resource exists.",
    ),
}
UNSIGNED_INT_SCHEMA = {"type": "integer", "minimum": 0, "maximum": INT32}
LINE_SCHEMA = {"type": "string", "maxLength": MAX_LINE_LENGTH}
ANSWER_HEADERS: dict[str, tuple[dict[str, Any], str]] = {
    "X-Request-Id": ({"type": "string", "maxLength": MAX_REQUEST_ID_LENGTH}, "Names the request in support and logs."),
    "RateLimit-Limit": (UNSIGNED_INT_SCHEMA, "Requests a minute."),
    "RateLimit-Remaining": (UNSIGNED_INT_SCHEMA, "Requests left in this minute."),
    "RateLimit-Reset": (UNSIGNED_INT_SCHEMA, "Seconds until the budget is full again."),
    "ETag": ({"type": "string", "maxLength": 100}, "The version of the resource, for `If-Match` and `If-None-Match`."),
    "Location": ({"type": "string", "maxLength": 300}, "The path of what was created."),
    "Link": (LINE_SCHEMA, 'The next page, `<…>; rel="next"`; absent on the last one.'),
    "X-Total-Count": (UNSIGNED_INT_SCHEMA, "With `total=true`: how many rows there are on all pages."),
    "X-Total-Amount": (
        {"type": "string", "maxLength": 60},
        "With `total=true`: what they come to in the company's base currency, each at its own day's rate. Where "
        "`recognizedFrom`, `recognizedTo` or `recognizedBy` is given: what of them counts in the profit and loss of those "
        "months or up to that day, as it shows the line asked for.",
    ),
    "Ignored-Fields": (
        {"type": "string", "maxLength": MAX_IGNORED_FIELDS_LENGTH},
        "Request fields that are unknown, separated by commas, nested ones by their path: `recurrence.every`, "
        "`transactions/3/foo`; absent without any.",
    ),
    "Idempotency-Replayed": (
        {"type": "string", "const": "true"},
        "`true` where this is the kept answer of an earlier request with the same key.",
    ),
    "WWW-Authenticate": (LINE_SCHEMA, "How to authenticate, and where to get a token: RFC 6750 and RFC 9728."),
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
            "description": "`If-None-Match` names the current version; there is no body.",
            "headers": build_header_refs([*COMMON_HEADERS, "ETag"]),
        }
    }
    components["parameters"] = {
        name: {"name": name, "in": "header", "required": False, "description": text, "schema": schema}
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
            "description": "Access tokens are JWTs of RFC 9068 and checked as RFC8725 asks: algorithm, type, issuer and audience are fixed; then the consent is looked up.",
            "flows": {
                "authorizationCode": {
                    "authorizationUrl": f"{settings.AUTH_URL}/oauth2/authorize",
                    "tokenUrl": f"{settings.AUTH_URL}/oauth2/token",
                    "refreshUrl": f"{settings.AUTH_URL}/oauth2/token",
                    "scopes": {
                        "svc:read": "read access to the company's data",
                        "svc:write": "write access, bounded by the granting user's permissions",
                        "openid": "who the user is",
                        "profile": "the user's name",
                        "email": "the user's e-mail address",
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
