"""The OpenAPI document: what every operation shares is added here, so that each view says only what is its own."""

import re
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.contrib.django_filters import DjangoFilterExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent, is_serializer
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from companies.api.naming import camel
from companies.api.pagination import DEFAULT_LIMIT, MOST
from companies.permissions import Permission

SAFE = ("GET", "HEAD")
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
# Fields by which a shape shows that it is one resource with an ETag; the second is an account's initial balance.
RESOURCE = {"lastUpdatedTime", "transaction"}
PAGING = [
    OpenApiParameter(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": MOST, "default": DEFAULT_LIMIT},
        description="how many rows to answer at most",
    ),
    OpenApiParameter("cursor", str, description="from the `Link` header of the page before"),
]
SECURITY: list[dict[str, list[str]]] = [{"apiKey": []}, {"oauth2": ["svc:read", "svc:write"]}, {"session": []}]


class MapOf:
    """The answer is an object whose keys are data and whose values have one shape."""

    def __init__(self, shape: type[serializers.Serializer]):
        self.shape = shape


class OperationSchema(AutoSchema):
    """One operation: its permission, its refusals and the headers that all operations of its kind take."""

    def get_tags(self) -> list[str]:
        return list(getattr(self.view, "schema_tags", ())) or super().get_tags()

    def get_operation_id(self) -> str:
        action = getattr(self.view, "action", None) or self.method.lower()
        noun = getattr(self.view, "schema_noun", None) or type(self.view).__name__.removesuffix("ViewSet")
        return camel(f"{action}_{noun[:1].lower()}{noun[1:]}") if action else super().get_operation_id()

    def get_description(self) -> str:  # type: ignore[override]
        text = super().get_description() or ""
        permission = self.permission()
        return f"{text}\n\nPermission: `{permission.value}`." if permission else text

    def permission(self) -> Permission | None:
        return getattr(self.view, "permission_for", {}).get(getattr(self.view, "action", None))

    def get_auth(self) -> list[dict[str, list[str]]]:
        return SECURITY

    def get_operation(self, path: str, path_regex: str, path_prefix: str, method: str, registry: Any) -> Any:
        operation = super().get_operation(path, path_regex, path_prefix, method, registry)
        if operation is None:
            return None
        for status, answer in list(operation["responses"].items()):
            headers = self.headers_of(operation, status, answer)
            answer["headers"] = referred(headers)
            if method == "GET" and "ETag" in headers:
                operation["responses"]["304"] = {"$ref": "#/components/responses/NotModified"}
        for status in self.refusals(path):
            operation["responses"][str(status)] = {"$ref": f"#/components/responses/Problem{status}"}
        operation["responses"] = dict(sorted(operation["responses"].items()))
        taken = {
            "Idempotency-Key": method not in SAFE,
            "If-Match": method in ("PUT", "DELETE"),
            "If-None-Match": "304" in operation["responses"],
        }
        operation.setdefault("parameters", []).extend(
            {"$ref": f"#/components/parameters/{name}"} for name, holds in taken.items() if holds
        )
        return operation

    def headers_of(self, operation: dict[str, Any], status: str, answer: dict[str, Any]) -> list[str]:
        """The headers that a success can carry."""
        carried = {
            "ETag": self.is_resource(answer),
            "Location": status == "201",
            "Link": any(parameter["name"] == "cursor" for parameter in operation.get("parameters", ())),
            "Ignored-Fields": self.method
            in ("POST", "PUT"),  # those that take no body look at what was sent all the same
            "Idempotency-Replayed": self.method not in SAFE,
        }
        return [*EVERYWHERE, *(name for name, holds in carried.items() if holds)]

    def is_resource(self, answer: dict[str, Any]) -> bool:
        """Whether one resource is answered, not a list nor the outcome of an act."""
        schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
        name = schema.get("$ref", "").rpartition("/")[2]
        shape = self.registry[name, ResolvedComponent.SCHEMA].schema if name else {}
        return bool(RESOURCE & set(shape.get("properties", ())))

    def _get_filter_parameters(self) -> list[dict[str, Any]]:
        """The filters of a list; the framework would look for them beside a queryset, which our views do not have."""
        filters = getattr(self.view, "filterset_class", None)
        if filters is None or getattr(self.view, "action", None) != "list":
            return []
        reader = DjangoFilterExtension(DjangoFilterBackend)
        return [
            parameter
            for name, each in filters.base_filters.items()
            for parameter in reader.resolve_filter_field(self, filters._meta.model, filters, name, each)
        ]

    def _get_response_bodies(self, direction: Any = "response") -> Any:
        """A delete answers with a body, which the framework would leave out."""
        answers = self.get_response_serializers()
        if self.method == "DELETE" and is_serializer(answers):
            return {"200": self._get_response_for_code(answers, "200", direction=direction)}
        return super()._get_response_bodies(direction)

    def _get_response_for_code(self, serializer: Any, status_code: str, *args: Any, **kwargs: Any) -> Any:
        if isinstance(serializer, MapOf):
            values = self.resolve_serializer(serializer.shape(), "response").ref
            serializer = {"type": "object", "additionalProperties": values}
        return super()._get_response_for_code(serializer, status_code, *args, **kwargs)

    def refusals(self, path: str) -> list[int]:
        """The statuses that this operation can refuse with."""
        statuses = [400, 401, 406, 429]
        if "{" in path:
            statuses += [403, 404]
        if self.method not in SAFE:
            statuses += [403, 409, 411, 413, 415]
        if self.method in ("PUT", "DELETE"):
            statuses.append(412)
        return statuses


def finish(result: dict[str, Any], generator: Any, request: Any, public: Any) -> dict[str, Any]:
    """Adds what the operations refer to, and names path parameters in camelCase."""
    components = result.setdefault("components", {})
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
    result["paths"] = {camel_path(path): named(item) for path, item in result["paths"].items()}
    return result


def refusal(status: int, text: str) -> dict[str, Any]:
    headers = referred([*EVERYWHERE, *REFUSAL_HEADERS.get(status, ())])
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {"description": text, "headers": headers, "content": content}


def referred(names: Iterable[str]) -> dict[str, dict[str, str]]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def camel_path(path: str) -> str:
    return re.sub(r"{(\w+)}", lambda match: "{" + camel(match[1]) + "}", path)


def named(item: dict[str, Any]) -> dict[str, Any]:
    for operation in item.values():
        for parameter in operation.get("parameters", ()):
            if parameter.get("in") == "path":
                parameter["name"] = camel(parameter["name"])
                parameter["schema"] = {"type": "string", "minLength": 1}  # service.md, part 4
    return item
