"""OpenAPI generation: adds what all operations share, so that a view declares only its own."""

import json
import re
from typing import Any

from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.contrib.django_filters import DjangoFilterExtension
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent, force_instance, is_list_serializer
from drf_spectacular.utils import OpenApiParameter

from companies.api.camel_case import to_camel_case, to_sentence_case
from companies.api.fields import MONTH_SCHEMA
from companies.api.limits import MAX_LINE_LENGTH, add_column_limits, add_format_limits
from companies.api.openapi.components import COMMON_HEADERS, add_components, build_header_refs
from companies.api.openapi.enums import extract_shared_enums
from companies.api.openapi.error_codes import describe_error
from companies.api.openapi.error_responses import SAFE_METHODS, add_error_responses, build_error_responses
from companies.api.openapi.examples import add_examples
from companies.api.pagination import DEFAULT_LIMIT, MAX_LIMIT
from companies.api.serializers import MapSerializer, StrictModelSerializer, StrictSerializer, Success
from companies.permissions import Permission

HTTP_METHODS = ("get", "post", "put", "delete")
# Fields that mark a serializer as one resource with an ETag; the second one is of an account's initial balance,
# the third of a closed month.
RESOURCE_FIELDS = {"lastUpdatedTime", "transaction", "reopenedTime"}
LIMIT_PARAMETER = OpenApiParameter(
    "limit",
    {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
    description="Maximum number of rows to return.",
)
AFTER_PARAMETER = OpenApiParameter("after", {"type": "string", "format": "uuid"}, description="Id of your last event.")
PAGING_PARAMETERS = [
    LIMIT_PARAMETER,
    OpenApiParameter(
        "cursor",
        {"type": "string", "maxLength": MAX_LINE_LENGTH},
        description="Cursor from the `Link` header of the previous page.",
    ),
]
INTERNAL_DOCSTRINGS = {
    StrictSerializer.__doc__,
    StrictModelSerializer.__doc__,
}  # docstrings for developers, not for API clients
OPERATION_VERBS = {"retrieve": "get", "destroy": "delete"}  # verbs of operation ids; other actions use their own name
SECURITY_REQUIREMENTS: list[dict[str, list[str]]] = [
    {"apiKey": []},
    {"oauth2": ["svc:read", "svc:write"]},
    {"session": []},
]


class MapSchema(OpenApiSerializerExtension):
    """Schema of a map."""

    target_class = MapSerializer
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        serializer_class = type(self.target)
        return build_map_schema(serializer_class, auto_schema.resolve_serializer(serializer_class.child, direction).ref)


def build_map_schema(kind: type[MapSerializer], value: dict[str, Any]) -> dict[str, Any]:
    """Build the schema of a map with values of one schema."""
    values = {"type": "array", "items": value, "maxItems": kind.max_items} if kind.max_items else value
    return {"type": "object", "additionalProperties": values}


def complete_serializer_schema(serializer: Any, direction: str, schema: dict[str, Any]) -> None:
    """Complete what drf-spectacular made of a serializer. All fields of a response are required unless it is
    ``sparse``.
    """
    serializer_class = type(serializer)
    if not serializer_class.__doc__ or serializer_class.__doc__ in INTERNAL_DOCSTRINGS:
        schema.pop("description", None)
    add_column_limits(serializer, schema)
    for name, field_schema in schema.get("properties", {}).items():
        if not getattr(serializer.fields[name], "allow_empty", True):
            field_schema["minItems"] = 1  # drf-spectacular leaves it out
    if direction == "response" and not getattr(serializer_class, "sparse", False):
        optional = getattr(serializer_class, "optional", ())
        schema["required"] = sorted(name for name in schema.get("properties", ()) if name not in optional)
    if direction == "response" and getattr(serializer_class, "filled", False):
        for field_schema in schema["properties"].values():
            field_schema["type"] = next(word for word in field_schema["type"] if word != "null")


class FilterParameters(DjangoFilterExtension):
    """Parameters of a list's filters. The library would look for the model in a queryset, which our views do
    not have.
    """

    priority = 1  # before the library's own extension

    def get_schema_operation_parameters(self, auto_schema: Any, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        filters, parameters = auto_schema.view.filterset_class, []
        for name, filter_field in filters.base_filters.items():
            for parameter in self.resolve_filter_field(auto_schema, filters._meta.model, filters, name, filter_field):
                if "max_length" in filter_field.extra:
                    parameter["schema"]["maxLength"] = filter_field.extra["max_length"]
                parameters.append(parameter)
        return parameters


class ClientNamesSchema(AutoSchema):
    """Names of types and operations for generated clients. Overrides a private method because the public hook
    is too narrow.
    """

    def _get_serializer_name(self, serializer: Any, direction: str, bypass_extensions: bool = False) -> str:  # noqa: FBT001
        """The name of the type in a generated client: Account is answered, AccountRequest creates, AccountUpdate
        changes. A serializer's own `schema_name` keeps the name that clients know."""
        if is_list_serializer(serializer):
            return self._get_serializer_name(serializer.child, direction)
        serializer_class = type(serializer)
        name = vars(serializer_class).get("schema_name") or serializer_class.__name__.removesuffix("Serializer")
        if direction == "response":
            return name
        if getattr(serializer, "partial", False):
            return name.removesuffix("Input") + "Update"
        return name if name.startswith("New") or name.endswith(("Request", "Query")) else f"{name}Request"


class OperationSchema(ClientNamesSchema):
    """One operation: its permission, errors and headers."""

    def resolve_serializer(self, serializer: Any, direction: Any, bypass_extensions: bool = False) -> Any:  # noqa: FBT001
        """Return the component of a serializer; a new one is completed."""
        serializer = force_instance(serializer)
        same_component = ResolvedComponent(
            name=self._get_serializer_name(serializer, direction),
            type=ResolvedComponent.SCHEMA,
            object=self.get_serializer_identity(serializer, direction),
        )
        is_new = same_component not in self.registry
        component = super().resolve_serializer(serializer, direction, bypass_extensions)
        if is_new and component.name and not isinstance(serializer, MapSerializer):
            complete_serializer_schema(serializer, direction, component.schema)
        return component

    def get_tags(self) -> list[str]:
        return list(getattr(self.view, "schema_tags", ())) or super().get_tags()

    def get_operation_id(self) -> str:
        """Return the method name for generated clients: listAccounts, createAccount, getAccount, archiveAccount."""
        action = getattr(self.view, "action", None) or self.method.lower()
        noun = getattr(self.view, "schema_noun", None) or type(self.view).__name__.removesuffix("ViewSet")
        if action == "list":
            noun = self.path.rpartition("/")[2]  # the path has the plural
        return to_camel_case(f"{OPERATION_VERBS.get(action, action)}_{noun[:1].lower()}{noun[1:]}")

    def get_summary(self) -> str:
        return super().get_summary() or to_sentence_case(self.get_operation_id())

    def get_description(self) -> str:  # type: ignore[override]
        text = super().get_description() or ""
        permission = self.get_permission()
        return f"{text}\n\nPermission: `{permission.value}`." if permission else text

    def get_permission(self) -> Permission | None:
        return getattr(self.view, "permission_for", {}).get(getattr(self.view, "action", None))

    def is_write(self) -> bool:
        """Return whether the operation writes; a POST with a read permission is a query with a body."""
        permission = self.get_permission()
        return self.method not in SAFE_METHODS and (permission is None or not permission.is_read)

    def get_request_serializer(self) -> Any:
        """Return the declared request serializer; by default the view's, in full or in part."""
        view: Any = self.view
        return {"create": view.shape, "update": view.shape and view.shape(partial=True)}.get(view.action)

    def get_response_serializers(self) -> Any:
        """Return the declared response serializer; by default the view's."""
        view: Any = self.view
        list_serializer = view.shape and view.shape(many=True)
        answers = {"list": list_serializer, "create": {201: view.shape}, "destroy": {200: Success}}
        return answers.get(view.action, view.shape)

    def get_filter_backends(self) -> list[Any]:
        is_filtered_list = getattr(self.view, "action", None) == "list" and hasattr(self.view, "filterset_class")
        return [DjangoFilterBackend] if is_filtered_list else []

    def get_auth(self) -> list[dict[str, list[str]]]:
        return SECURITY_REQUIREMENTS

    def get_operation(self, path: str, path_regex: str, path_prefix: str, method: str, registry: Any) -> Any:
        operation = super().get_operation(path, path_regex, path_prefix, method, registry)
        if operation is None:
            return None
        max_rows = self.get_max_rows(operation)
        for status, answer in list(operation["responses"].items()):
            headers = self.list_response_headers(operation, status, answer)
            for media in answer["content"].values() if max_rows else ():
                media["schema"]["maxItems"] = max_rows
            answer["headers"] = build_header_refs(headers)
            if method == "GET" and "ETag" in headers:
                operation["responses"]["304"] = {"$ref": "#/components/responses/NotModified"}
        operation["responses"] |= build_error_responses(method, path, self.list_own_errors())
        operation["responses"] = dict(sorted(operation["responses"].items()))
        body = operation.get("requestBody")
        if body:
            body["required"] = any(
                self.get_content_schema(content).get("required") for content in body["content"].values()
            )
        accepted_headers = {
            "Idempotency-Key": self.is_write(),
            "If-Match": method in ("PUT", "DELETE"),
            "If-None-Match": "304" in operation["responses"] or method == "PUT",
        }
        operation.setdefault("parameters", []).extend(
            {"$ref": f"#/components/parameters/{name}"} for name, holds in accepted_headers.items() if holds
        )
        return operation

    def get_max_rows(self, operation: dict[str, Any]) -> int | None:
        """Return the maximum number of rows in the response, if known."""
        is_paged = any(parameter.get("name") in ("cursor", "after") for parameter in operation.get("parameters", ()))
        return getattr(self.get_response_serializers(), "max_length", None) or (MAX_LIMIT if is_paged else None)

    def list_response_headers(self, operation: dict[str, Any], status: str, answer: dict[str, Any]) -> list[str]:
        """Return the headers that a successful response can have."""
        parameter_names = {parameter.get("name") for parameter in operation.get("parameters", ())}
        present_headers = {
            "ETag": self.is_resource(answer),
            "Location": status == "201",
            "Link": bool({"cursor", "after"} & set(parameter_names)),
            "X-Total-Count": "total" in parameter_names,
            "X-Total-Amount": "total" in parameter_names,
            "Broken-Changes": getattr(self.view, "action", "") in getattr(self.view, "scenario_lists", ()),
            "Ignored-Fields": self.method in ("POST", "PUT"),  # a body that is sent is always checked
            "Idempotency-Replayed": self.is_write(),
        }
        return [*COMMON_HEADERS, *(name for name, holds in present_headers.items() if holds)]

    def is_resource(self, answer: dict[str, Any]) -> bool:
        """Return whether the response is one resource and not a list or a result."""
        shape = self.get_content_schema(answer.get("content", {}).get("application/json", {}))
        return bool(RESOURCE_FIELDS & set(shape.get("properties", ())))

    def get_content_schema(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return the schema that the content references; empty if it has no named schema."""
        name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
        return self.registry[name, ResolvedComponent.SCHEMA].schema if name else {}

    def list_own_errors(self) -> list[tuple[int, str, str]]:
        """Return (status, code, meaning) of the errors declared for the action."""
        return [
            describe_error(error)
            for error in getattr(self.view, "errors_for", {}).get(getattr(self.view, "action", None), ())
        ]


def complete_document(result: dict[str, Any], generator: Any, request: Any, public: Any) -> dict[str, Any]:
    """Add the shared components and convert path parameters to camelCase; a hook of drf-spectacular."""
    extract_shared_enums(result)
    add_components(result["components"])
    add_error_responses(result["components"])
    result["paths"] = {to_camel_case_path(path): order_operations(item) for path, item in result["paths"].items()}
    drop_unused_components("schemas", result)
    drop_unused_components("examples", result)
    add_format_limits(result)
    add_examples(result["paths"])
    return result


def drop_unused_components(section: str, document: dict[str, Any]) -> None:
    """Remove components that nothing references, such as schemas of requests of read-only serializers."""
    text, components = json.dumps(document), document["components"][section]
    unused_names = [name for name in components if f'"#/components/{section}/{name}"' not in text]
    for name in unused_names:
        del components[name]
    if unused_names:
        drop_unused_components(section, document)


def to_camel_case_path(path: str) -> str:
    """Convert the parameters of a path to camelCase."""
    return re.sub(r"{(\w+)}", lambda match: "{" + to_camel_case(match[1]) + "}", path)


def order_operations(operations: dict[str, Any]) -> dict[str, Any]:
    """Return a path's operations in a fixed order, with path parameters in camelCase."""
    operations = {method: operations[method] for method in HTTP_METHODS if method in operations}
    for operation in operations.values():
        for parameter in operation.get("parameters", ()):
            if parameter.get("in") == "path":
                parameter["name"] = to_camel_case(parameter["name"])
                parameter["schema"] = build_path_schema(parameter["name"])
    return operations


def build_path_schema(name: str) -> dict[str, Any]:
    """Build the schema of a path parameter: a month, a date or an id."""
    if name == "month":
        return {**MONTH_SCHEMA}
    return {"type": "string", "format": "date" if name.endswith("Date") else "uuid", "minLength": 1}
