"""Tool calls: the tool's endpoint is called by its own view, for the caller authenticated at /mcp.

Permissions, validation, rate limits, audit log and errors are therefore the API's own.
"""

import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import msgspec
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest
from django.urls import resolve
from rest_framework.authentication import BaseAuthentication

from assistants.jsonrpc import decode_value
from assistants.tool_definition import Tool
from assistants.tools import TOOLS_BY_NAME
from companies.api.request_slots import RequestSlots, get_request_slots
from companies.auth.access import Credential
from companies.models import parse_id

Arguments = Mapping[str, msgspec.Raw]

NEXT_LINK_PATTERN = re.compile(r"<([^>]*)>; rel=\"next\"")
FORWARDED_META = (  # no cookies and no conditional headers, which are meant for /mcp
    "HTTP_AUTHORIZATION",
    "HTTP_HOST",
    "HTTP_X_FORWARDED_PROTO",
    "REMOTE_ADDR",
    "SERVER_NAME",
    "SERVER_PORT",
    "SERVER_PROTOCOL",
    "wsgi.url_scheme",
)
UNKNOWN_ARGUMENT_MESSAGE = "Unknown argument: "


class ToolRequest(WSGIRequest):
    """The API request of a tool call."""

    caller: Credential
    request_id: str
    slots: RequestSlots  # concurrency slots of the /mcp request


class CallerAuthentication(BaseAuthentication):
    """Authenticates as the caller of /mcp."""

    def authenticate(self, request: Any) -> tuple[Credential, None]:
        return request.caller, None


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The response of the endpoint, as encoded JSON."""

    status: int
    body: bytes
    next_cursor: str | None = None
    totals: Mapping[str, Any] = field(default_factory=dict)  # of all pages

    @property
    def is_error(self) -> bool:
        return self.status >= 400

    def to_json_object(self) -> bytes:
        """Return the body as an object: a list becomes its `items`."""
        if not self.body.startswith(b"["):
            return self.body
        cursor_json = b"" if self.next_cursor is None else b',"nextCursor":' + msgspec.json.encode(self.next_cursor)
        return b'{"items":' + self.body + cursor_json + b"}"


def build_error_answer(status: int, code: str, detail: str) -> ToolAnswer:
    """Build an error that no API view returns."""
    return ToolAnswer(status, msgspec.json.encode({"status": status, "code": code, "detail": detail}))


def find_unknown_argument(tool: Tool, arguments: Iterable[str]) -> ToolAnswer | None:
    """Return an error for arguments that the tool does not have; ignoring them would mislead an assistant."""
    known_names = {
        *tool.input_fields,
        *(["companyId"] if tool.is_company_scoped else []),
        *(["confirm"] if tool.is_write else []),
    }
    unknown = sorted(set(arguments) - known_names)
    return (
        build_error_answer(400, "unknown_argument", UNKNOWN_ARGUMENT_MESSAGE + ", ".join(unknown)[:200])
        if unknown
        else None
    )


def find_invalid_id(tool: Tool, arguments: Arguments, company_id: str) -> ToolAnswer | None:
    """Return an error that names the argument, for an ID that stands in the endpoint's path and is missing or none.

    Without it the endpoint would only say that the address does not exist.
    """
    for name in sorted(resolve_tool_endpoint(tool.name).path_arguments):
        is_company = name == "companyId"
        if parse_id(company_id if is_company else get_text_argument(arguments.get(name))):
            continue
        if name in arguments:
            return build_error_answer(400, "invalid_argument", f"{name} must be an ID (UUID), in quotes.")
        hint = " You have access to no or several companies. Call list_companies for their IDs." if is_company else ""
        return build_error_answer(400, "missing_argument", f"{name} is required.{hint}")
    return None


def get_company_id(arguments: Arguments, caller: Credential) -> str:
    """Return the company of the arguments, or the caller's only one; empty if unclear."""
    if "companyId" in arguments:
        return get_text_argument(arguments["companyId"])
    accesses = caller.accesses()
    return str(accesses[0].company.id) if len(accesses) == 1 else ""


def call_tool(
    tool: Tool, arguments: Arguments, *, company_id: str, caller: Credential, request: HttpRequest
) -> ToolAnswer:
    """Call the tool's endpoint with the arguments."""
    endpoint = resolve_tool_endpoint(tool.name)
    path_values = {"companyId": company_id} | {
        name: get_text_argument(arguments.get(name)) for name in endpoint.path_arguments - {"companyId"}
    }
    path, _, query = tool.path.partition("?")
    other_arguments = {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in tool.defaults.items()} | {
        name: raw for name, raw in arguments.items() if name not in {*path_values, *tool.own_arguments, "confirm"}
    }
    body = b""
    if tool.method == "GET":
        query = "&".join(filter(None, (query, urlencode(to_query_values(other_arguments), doseq=True))))
    else:
        body = msgspec.json.encode(other_arguments)
    api_request = ToolRequest(
        {name: request.META[name] for name in FORWARDED_META if name in request.META}
        | {
            "REQUEST_METHOD": tool.method,
            "PATH_INFO": path.format(**{name: quote(value, safe="") for name, value in path_values.items()}),
            "QUERY_STRING": query,
            "CONTENT_TYPE": "application/json" if body else "",
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.input": io.BytesIO(body),
        }
    )
    api_request.caller, api_request.request_id = caller, getattr(request, "request_id", "")
    api_request.slots = get_request_slots(request)
    response = endpoint.view(api_request, **{kwarg: path_values[name] for kwarg, name in endpoint.kwargs.items()})
    response.render()
    return ToolAnswer(
        response.status_code,
        response.content,
        parse_next_cursor(response.headers.get("Link", "")),
        read_total_headers(response.headers),
    )


def read_total_headers(headers: Mapping[str, str]) -> dict[str, Any]:
    """Return the number of rows on all pages, their sum in the base currency, and a scenario's broken changes."""
    totals: dict[str, Any] = {}
    if "X-Total-Count" in headers:
        totals["totalCount"] = int(headers["X-Total-Count"])
    if "X-Total-Amount" in headers:
        totals["totalAmount"] = headers["X-Total-Amount"]
    if "Broken-Changes" in headers:
        totals["brokenChanges"] = [int(position) for position in headers["Broken-Changes"].split(",")]
    return totals


@dataclass(frozen=True, slots=True)
class ToolEndpoint:
    view: Any
    kwargs: Mapping[str, str]  # URL keyword of the view → argument of the tool

    @property
    def path_arguments(self) -> set[str]:
        return set(self.kwargs.values())


@cache
def resolve_tool_endpoint(tool_name: str) -> ToolEndpoint:
    """Resolve the view at a tool's path, with another authentication. Cached."""
    tool = TOOLS_BY_NAME[tool_name]
    match = resolve(urlsplit(tool.path).path)
    view_function: Any = match.func
    view = view_function.cls.as_view(
        view_function.actions, **view_function.initkwargs, authentication_classes=[CallerAuthentication]
    )
    return ToolEndpoint(view, {kwarg: value.strip("{}") for kwarg, value in match.kwargs.items()})


def to_query_values(arguments: Arguments) -> dict[str, Any]:
    """Return arguments as query values; null counts as absent."""
    values = {name: decode_value(raw) for name, raw in arguments.items()}
    return {name: format_query_value(value) for name, value in values.items() if value is not None}


def format_query_value(value: Any) -> Any:
    """Format a query value; an object becomes a text that the endpoint rejects."""
    if isinstance(value, list):
        return [format_query_value(each) for each in value]
    return ("false", "true")[value] if isinstance(value, bool) else str(value)


def get_text_argument(raw: msgspec.Raw | None) -> str:
    """Return a text argument; empty if it is none."""
    value = None if raw is None else decode_value(raw)
    return value if isinstance(value, str) else ""


def parse_next_cursor(link: str) -> str | None:
    match = NEXT_LINK_PATTERN.match(link)
    return parse_qs(urlsplit(match[1]).query)["cursor"][0] if match else None
