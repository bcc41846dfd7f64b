"""What the operations of the OpenAPI document refer to: headers, parameters, and the ways to authenticate."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings

from companies.api.limits import INT32, LONGEST_IGNORED, LONGEST_LINE, LONGEST_REQUEST_ID

TAG = {"type": "string", "maxLength": LONGEST_LINE, "examples": ['"6b1f0a3c5d7e9f2b4c6d8e0f"']}
HEADERS: dict[str, tuple[dict[str, Any], str]] = {
    "Idempotency-Key": (
        {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
        "1 to 255 characters; a retry with the same key and body gets the first answer, for 24 hours.",
    ),
    "If-Match": (
        TAG,
        "The `ETag` that was read, or `*` for any; the change is refused with 412 if the resource has another version. Weak tags match no version.",
    ),
    "If-None-Match": (
        TAG,
        "The `ETag` that was read, or `*`: a read is answered 304 if it still holds. With `*` a change is refused with 412 if the resource exists.",
    ),
}
WHOLE = {"type": "integer", "minimum": 0, "maximum": INT32}
LINE = {"type": "string", "maxLength": LONGEST_LINE}
ANSWER_HEADERS: dict[str, tuple[dict[str, Any], str]] = {
    "X-Request-Id": ({"type": "string", "maxLength": LONGEST_REQUEST_ID}, "Names the request in support and logs."),
    "RateLimit-Limit": (WHOLE, "Requests a minute."),
    "RateLimit-Remaining": (WHOLE, "Requests left in this minute."),
    "RateLimit-Reset": (WHOLE, "Seconds until the budget is full again."),
    "ETag": ({"type": "string", "maxLength": 100}, "The version of the resource, for `If-Match` and `If-None-Match`."),
    "Location": ({"type": "string", "maxLength": 300}, "The path of what was created."),
    "Link": (LINE, 'The next page, `<…>; rel="next"`; absent on the last one.'),
    "X-Total-Count": (WHOLE, "With `total=true`: how many rows there are on all pages."),
    "X-Total-Amount": (
        {"type": "string", "maxLength": 60},
        "With `total=true`: what they come to in the company's base currency, each at its own day's rate. Where "
        "`recognizedFrom`, `recognizedTo` or `recognizedBy` is given: what of them counts in the profit and loss of those "
        "months or up to that day, as it shows the line asked for.",
    ),
    "Ignored-Fields": (
        {"type": "string", "maxLength": LONGEST_IGNORED},
        "Request fields that are unknown, separated by commas, nested ones by their path: `recurrence.every`, "
        "`transactions/3/foo`; absent without any.",
    ),
    "Idempotency-Replayed": (
        {"type": "string", "const": "true"},
        "`true` where this is the kept answer of an earlier request with the same key.",
    ),
    "WWW-Authenticate": (LINE, "How to authenticate, and where to get a token: RFC 6750 and RFC 9728."),
    "Retry-After": (WHOLE, "Seconds to wait before the next request."),
}
EVERYWHERE = ("X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")


def add_components(components: dict[str, Any]) -> None:
    components["headers"] = {
        name: {"description": text, "schema": schema} for name, (schema, text) in ANSWER_HEADERS.items()
    }
    components["responses"] = {
        "NotModified": {
            "description": "`If-None-Match` names the current version; there is no body.",
            "headers": referred([*EVERYWHERE, "ETag"]),
        }
    }
    components["parameters"] = {
        name: {"name": name, "in": "header", "required": False, "description": text, "schema": schema}
        for name, (schema, text) in HEADERS.items()
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


def referred(names: Iterable[str]) -> dict[str, dict[str, str]]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
