"""What the operations of the OpenAPI document refer to: refusals, headers, parameters, and the ways to authenticate."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings

REFUSALS = {
    400: "A body or parameter is wrong: `validation_failed` with a pointer a field, `invalid_json`, or a refusal's own code.",
    401: "No credential, or one that is unknown, wrong, expired or revoked.",
    403: "The permission named in `detail` is missing; a session sent no CSRF token (`csrf_failed`); or the act is for people only.",
    404: "Unknown or malformed id, another company's id, or a company out of the caller's reach; one and the same body.",
    406: "Only application/json (and problem+json) can be had.",
    409: "The state of the data forbids it; the code says why.",
    411: "The body came in chunks, without its length.",
    412: "`If-Match` names another version; `ETag` is the current one.",
    413: "The body is larger than the operation takes.",
    415: "The body's media type is not one that the operation takes.",
    429: "The credential's budget of requests is spent; see `Retry-After`.",
}
PROBLEM = {
    "type": "object",
    "description": "RFC 9457 problem details.",
    "required": ["type", "title", "status", "detail", "instance", "code", "requestId"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "code": {"type": "string", "description": "Stable, snake_case."},
        "requestId": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "code", "detail"],
                "properties": {
                    "pointer": {"type": "string", "examples": ["#/transactions/3/amountValue"]},
                    "code": {"type": "string"},
                    "detail": {"type": "string"},
                },
            },
        },
    },
}
HEADERS = {
    "Idempotency-Key": "1 to 255 characters; a retry with the same key and body gets the first answer, for 24 hours.",
    "If-Match": "The `ETag` that was read; the change is refused with 412 where the resource has another version.",
    "If-None-Match": "The `ETag` that was read; answered 304 where it still holds.",
}
ANSWER_HEADERS: dict[str, tuple[str, str]] = {
    "X-Request-Id": ("string", "Names the request in support and logs."),
    "RateLimit-Limit": ("integer", "Requests a minute."),
    "RateLimit-Remaining": ("integer", "Requests left in this minute."),
    "RateLimit-Reset": ("integer", "Seconds until the budget is full again."),
    "ETag": ("string", "The version of the resource, for `If-Match` and `If-None-Match`."),
    "Location": ("string", "The path of what was created."),
    "Link": ("string", 'The next page, `<…>; rel="next"`; absent on the last one.'),
    "Ignored-Fields": ("string", "Names of request fields that are unknown, separated by commas; absent without any."),
    "Idempotency-Replayed": ("string", "`true` where this is the kept answer of an earlier request with the same key."),
    "WWW-Authenticate": ("string", "How to authenticate, and where to get a token: RFC 6750 and RFC 9728."),
    "Retry-After": ("integer", "Seconds to wait before the next request."),
}
EVERYWHERE = ("X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
REFUSAL_HEADERS = {
    401: ["WWW-Authenticate"],
    403: ["WWW-Authenticate"],  # an app that lacks a scope is told which
    412: ["ETag"],
    429: ["Retry-After"],
}


def add_components(components: dict[str, Any]) -> None:
    components.setdefault("schemas", {})["Problem"] = PROBLEM
    components["headers"] = {
        name: {"description": text, "schema": {"type": kind}} for name, (kind, text) in ANSWER_HEADERS.items()
    }
    components["responses"] = {f"Problem{status}": refusal(status, text) for status, text in REFUSALS.items()}
    components["responses"]["NotModified"] = {
        "description": "`If-None-Match` names the current version; there is no body.",
        "headers": referred([*EVERYWHERE, "ETag"]),
    }
    components["parameters"] = {
        name: {"name": name, "in": "header", "required": False, "description": text, "schema": {"type": "string"}}
        for name, text in HEADERS.items()
    }
    components["securitySchemes"] = {
        "apiKey": {
            "type": "http",
            "scheme": "bearer",
            "description": "An API key, `svc_…`; the prefix `Bearer` is added.",
        },
        "oauth2": {
            "type": "oauth2",
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


def refusal(status: int, text: str) -> dict[str, Any]:
    headers = referred([*EVERYWHERE, *REFUSAL_HEADERS.get(status, ())])
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {"description": text, "headers": headers, "content": content}


def referred(names: Iterable[str]) -> dict[str, dict[str, str]]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
