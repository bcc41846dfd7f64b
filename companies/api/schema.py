"""The OpenAPI document: what every operation shares is added here, so that each view says only what is its own."""

import re
from typing import Any

from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.contrib.django_filters import DjangoFilterExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent, is_serializer
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from companies.api.components import EVERYWHERE, add_components, referred
from companies.api.naming import camel
from companies.api.pagination import DEFAULT_LIMIT, MOST
from companies.permissions import Permission

SAFE = ("GET", "HEAD")
METHODS = ("get", "post", "put", "delete")
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
            "Ignored-Fields": self.method in ("POST", "PUT"),  # also where no body is taken: it is looked at
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
    add_components(result.setdefault("components", {}))
    result["paths"] = {camel_path(path): named(item) for path, item in result["paths"].items()}
    return result


def camel_path(path: str) -> str:
    return re.sub(r"{(\w+)}", lambda match: "{" + camel(match[1]) + "}", path)


def named(item: dict[str, Any]) -> dict[str, Any]:
    """The operations of a path in one order, which the framework leaves to chance."""
    item = {method: item[method] for method in METHODS if method in item}
    for operation in item.values():
        for parameter in operation.get("parameters", ()):
            if parameter.get("in") == "path":
                parameter["name"] = camel(parameter["name"])
                parameter["schema"] = {"type": "string", "minLength": 1}  # service.md, part 4
    return item
