"""The OpenAPI document: what every operation shares is added here, so that each view says only what is its own."""

import json
import re
from typing import Any

from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.contrib.django_filters import DjangoFilterExtension
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent, is_list_serializer
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from companies.api.document.codes import told
from companies.api.document.components import EVERYWHERE, add_components, referred
from companies.api.document.enums import name_enums
from companies.api.document.examples import add_examples
from companies.api.document.refusals import SAFE, add_refusals, refusals_of
from companies.api.document.samples import add_samples
from companies.api.limits import LONGEST_LINE, add_columns_limits, add_limits
from companies.api.naming import camel, words
from companies.api.pagination import DEFAULT_LIMIT, MOST
from companies.api.serializers import MapOf, RowShape, Shape, Success
from companies.permissions import Permission

METHODS = ("get", "post", "put", "delete")
# Fields by which a shape shows that it is one resource with an ETag; the second is an account's initial balance.
RESOURCE = {"lastUpdatedTime", "transaction"}
LIMIT = OpenApiParameter(
    "limit",
    {"type": "integer", "minimum": 1, "maximum": MOST, "default": DEFAULT_LIMIT},
    description="how many rows to answer at most",
)
AFTER = OpenApiParameter("after", {"type": "string", "format": "uuid"}, description="the id of the last event you have")
PAGING = [
    LIMIT,
    OpenApiParameter(
        "cursor",
        {"type": "string", "maxLength": LONGEST_LINE},
        description="from the `Link` header of the page before",
    ),
]
UNSAID = {Shape.__doc__, RowShape.__doc__}  # what is said for us, not for callers
VERBS = {"retrieve": "get", "destroy": "delete"}  # of an operation's name; the others are called as their action
SECURITY: list[dict[str, list[str]]] = [{"apiKey": []}, {"oauth2": ["svc:read", "svc:write"]}, {"session": []}]


class ShapeSchema(OpenApiSerializerExtension):
    """Described by its own words; an answer has all its fields, always, unless it says that it is ``sparse``."""

    target_class = serializers.Serializer
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        kind = type(self.target)
        if issubclass(kind, MapOf):
            return map_of(kind, auto_schema.resolve_serializer(kind.child, direction).ref)
        schema = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)  # noqa: SLF001 - as it asks
        if not kind.__doc__ or kind.__doc__ in UNSAID:
            schema.pop("description", None)
        add_columns_limits(self.target, schema)
        for name, each in schema.get("properties", {}).items():
            if not getattr(self.target.fields[name], "allow_empty", True):
                each["minItems"] = 1  # which the framework leaves out
        if direction == "response" and not getattr(kind, "sparse", False):
            schema["required"] = sorted(schema.get("properties", ()))
        if direction == "response" and getattr(kind, "filled", False):
            for each in schema["properties"].values():
                each["type"] = next(word for word in each["type"] if word != "null")
        return schema


def map_of(kind: type[MapOf], value: dict[str, Any]) -> dict[str, Any]:
    values = {"type": "array", "items": value, "maxItems": kind.most} if kind.most else value
    return {"type": "object", "additionalProperties": values}


class FilterParameters(DjangoFilterExtension):
    """The filters of a list; the framework would look for their model in a queryset, which our views do not have."""

    priority = 1  # before the framework's own

    def get_schema_operation_parameters(self, auto_schema: Any, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        filters, found = auto_schema.view.filterset_class, []
        for name, each in filters.base_filters.items():
            for parameter in self.resolve_filter_field(auto_schema, filters._meta.model, filters, name, each):
                if "max_length" in each.extra:
                    parameter["schema"]["maxLength"] = each.extra["max_length"]
                found.append(parameter)
        return found


class NamedForClients(AutoSchema):
    """The framework's hook for names, ``get_serializer_name``, cannot keep "Request" from the end of one, and where
    only part of a body is sent it puts "Patched" before it: hence its own method."""

    def _get_serializer_name(self, serializer: Any, direction: str, bypass_extensions: bool = False) -> str:  # noqa: FBT001
        """The name of the type in a generated client: Account is answered, AccountRequest creates, AccountUpdate
        changes."""
        if is_list_serializer(serializer):
            return self._get_serializer_name(serializer.child, direction)
        name = type(serializer).__name__.removesuffix("Shape")
        if direction == "response":
            return name
        if getattr(serializer, "partial", False):
            return name.removesuffix("Input") + "Update"
        return name if name.startswith("New") or name.endswith(("Request", "Query")) else f"{name}Request"


class OperationSchema(NamedForClients):
    """One operation: its permission, its refusals and the headers that all operations of its kind take."""

    def get_tags(self) -> list[str]:
        return list(getattr(self.view, "schema_tags", ())) or super().get_tags()

    def get_operation_id(self) -> str:
        """The name of the method in a generated client: listAccounts, createAccount, getAccount, archiveAccount."""
        action = getattr(self.view, "action", None) or self.method.lower()
        noun = getattr(self.view, "schema_noun", None) or type(self.view).__name__.removesuffix("ViewSet")
        if action == "list":
            noun = self.path.rpartition("/")[2]  # which says it in the plural
        return camel(f"{VERBS.get(action, action)}_{noun[:1].lower()}{noun[1:]}")

    def get_summary(self) -> str:
        return super().get_summary() or words(self.get_operation_id())

    def get_description(self) -> str:  # type: ignore[override]
        text = super().get_description() or ""
        permission = self.permission()
        return f"{text}\n\nPermission: `{permission.value}`." if permission else text

    def permission(self) -> Permission | None:
        return getattr(self.view, "permission_for", {}).get(getattr(self.view, "action", None))

    def changes_something(self) -> bool:
        """Whether it is no question: a POST whose permission only reads is one that needs a body."""
        permission = self.permission()
        return self.method not in SAFE and (permission is None or not permission.reads)

    def get_request_serializer(self) -> Any:
        """Where an action does not say what it takes, it is the view's shape, as a whole or in part."""
        view: Any = self.view
        return {"create": view.shape, "update": view.shape and view.shape(partial=True)}.get(view.action)

    def get_response_serializers(self) -> Any:
        """Where an action does not say what it answers, it is the view's shape."""
        view: Any = self.view
        listed = view.shape and view.shape(many=True)
        answers = {"list": listed, "create": {201: view.shape}, "destroy": {200: Success}}
        return answers.get(view.action, view.shape)

    def get_filter_backends(self) -> list[Any]:
        listed = getattr(self.view, "action", None) == "list" and hasattr(self.view, "filterset_class")
        return [DjangoFilterBackend] if listed else []

    def get_auth(self) -> list[dict[str, list[str]]]:
        return SECURITY

    def get_operation(self, path: str, path_regex: str, path_prefix: str, method: str, registry: Any) -> Any:
        operation = super().get_operation(path, path_regex, path_prefix, method, registry)
        if operation is None:
            return None
        most = self.most_rows(operation)
        for status, answer in list(operation["responses"].items()):
            headers = self.headers_of(operation, status, answer)
            for media in answer["content"].values() if most else ():
                media["schema"]["maxItems"] = most
            answer["headers"] = referred(headers)
            if method == "GET" and "ETag" in headers:
                operation["responses"]["304"] = {"$ref": "#/components/responses/NotModified"}
        operation["responses"] |= refusals_of(method, path, self.own_refusals())
        operation["responses"] = dict(sorted(operation["responses"].items()))
        body = operation.get("requestBody")
        if body:
            body["required"] = any(self.shape_of(content).get("required") for content in body["content"].values())
        taken = {
            "Idempotency-Key": self.changes_something(),
            "If-Match": method in ("PUT", "DELETE"),
            "If-None-Match": "304" in operation["responses"] or method == "PUT",
        }
        operation.setdefault("parameters", []).extend(
            {"$ref": f"#/components/parameters/{name}"} for name, holds in taken.items() if holds
        )
        return operation

    def most_rows(self, operation: dict[str, Any]) -> int | None:
        """How many rows are answered at most, where that is known."""
        paged = any(parameter.get("name") in ("cursor", "after") for parameter in operation.get("parameters", ()))
        return getattr(self.get_response_serializers(), "max_length", None) or (MOST if paged else None)

    def headers_of(self, operation: dict[str, Any], status: str, answer: dict[str, Any]) -> list[str]:
        """The headers that a success can carry."""
        taken = {parameter.get("name") for parameter in operation.get("parameters", ())}
        carried = {
            "ETag": self.is_resource(answer),
            "Location": status == "201",
            "Link": bool({"cursor", "after"} & set(taken)),
            "X-Total-Count": "total" in taken,
            "X-Total-Amount": "total" in taken,
            "Ignored-Fields": self.method in ("POST", "PUT"),  # also where no body is taken: it is looked at
            "Idempotency-Replayed": self.changes_something(),
        }
        return [*EVERYWHERE, *(name for name, holds in carried.items() if holds)]

    def is_resource(self, answer: dict[str, Any]) -> bool:
        """Whether one resource is answered, not a list nor the outcome of an act."""
        shape = self.shape_of(answer.get("content", {}).get("application/json", {}))
        return bool(RESOURCE & set(shape.get("properties", ())))

    def shape_of(self, content: dict[str, Any]) -> dict[str, Any]:
        """The schema that a body's content refers to; empty where it has none of a name."""
        name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
        return self.registry[name, ResolvedComponent.SCHEMA].schema if name else {}

    def own_refusals(self) -> list[tuple[int, str, str]]:
        """(status, code, meaning) of those that the view declares for the action."""
        return [told(each) for each in getattr(self.view, "refuses", {}).get(getattr(self.view, "action", None), ())]


def finish(result: dict[str, Any], generator: Any, request: Any, public: Any) -> dict[str, Any]:
    """Adds what the operations refer to and what holds for all of them, and names path parameters in camelCase."""
    name_enums(result)
    add_components(result["components"])
    add_refusals(result["components"])
    result["paths"] = {camel_path(path): named(item) for path, item in result["paths"].items()}
    drop_unused(result["components"]["schemas"], result)
    add_limits(result)
    add_examples(result["paths"])
    add_samples(result)
    return result


def drop_unused(schemas: dict[str, Any], document: dict[str, Any]) -> None:
    """Shapes that are only read have no use as a request."""
    text = json.dumps(document)
    unused = [name for name in schemas if f'"#/components/schemas/{name}"' not in text]
    for name in unused:
        del schemas[name]
    if unused:
        drop_unused(schemas, document)


def camel_path(path: str) -> str:
    return re.sub(r"{(\w+)}", lambda match: "{" + camel(match[1]) + "}", path)


def named(item: dict[str, Any]) -> dict[str, Any]:
    """The operations of a path in one order, which the framework leaves to chance."""
    item = {method: item[method] for method in METHODS if method in item}
    for operation in item.values():
        for parameter in operation.get("parameters", ()):
            if parameter.get("in") == "path":
                parameter["name"] = camel(parameter["name"])
                day = parameter["name"].endswith("Date")
                parameter["schema"] = {"type": "string", "format": "date" if day else "uuid", "minLength": 1}
    return item
