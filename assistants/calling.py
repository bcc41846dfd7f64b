"""Calling a tool: its endpoint's own view is asked, by the caller who was recognised at the door.

Permissions, checks, budgets, the log and every refusal are therefore the API's own.
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

from assistants.catalogue import BY_NAME, Tool
from assistants.messages import value_of
from companies.api.concurrency import RequestSlots, slots_of
from companies.callers.access import Credential

Arguments = Mapping[str, msgspec.Raw]

NEXT = re.compile(r"<([^>]*)>; rel=\"next\"")
HANDED_ON = (  # no cookie, and no condition that was meant for this address
    "HTTP_AUTHORIZATION",
    "HTTP_HOST",
    "HTTP_X_FORWARDED_PROTO",
    "REMOTE_ADDR",
    "SERVER_NAME",
    "SERVER_PORT",
    "SERVER_PROTOCOL",
    "wsgi.url_scheme",
)
UNKNOWN = "There is no such argument: "


class CallRequest(WSGIRequest):
    """A request of the API that stands for a tool's call."""

    caller: Credential
    request_id: str
    slots: RequestSlots  # of the call that it is part of


class Recognised(BaseAuthentication):
    """Whoever was recognised at the door."""

    def authenticate(self, request: Any) -> tuple[Credential, None]:
        return request._request.caller, None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the endpoint answered: JSON as it was written."""

    status: int
    body: bytes
    next_cursor: str | None = None
    totals: Mapping[str, Any] = field(default_factory=dict)  # of all pages

    @property
    def refused(self) -> bool:
        return self.status >= 400

    def structured(self) -> bytes:
        """The body as an object: a list is its ``items``."""
        if not self.body.startswith(b"["):
            return self.body
        more = b"" if self.next_cursor is None else b',"nextCursor":' + msgspec.json.encode(self.next_cursor)
        return b'{"items":' + self.body + more + b"}"


def refusal(status: int, code: str, detail: str) -> Answer:
    """One that the API has no view for."""
    return Answer(status, msgspec.json.encode({"status": status, "code": code, "detail": detail}))


def unknown_argument(tool: Tool, arguments: Iterable[str]) -> Answer | None:
    """An argument that the tool does not have is never passed over: an assistant would believe that it was heard."""
    known = {*tool.takes, *(["companyId"] if tool.in_company else []), *(["confirm"] if tool.writes else [])}
    unknown = sorted(set(arguments) - known)
    return refusal(400, "unknown_argument", UNKNOWN + ", ".join(unknown)[:200]) if unknown else None


def company_id_of(arguments: Arguments, caller: Credential) -> str:
    """The company that is meant: the named one, or the only one there is. Empty where that is unclear."""
    if "companyId" in arguments:
        return text_of(arguments["companyId"])
    accesses = caller.accesses()
    return str(accesses[0].company.id) if len(accesses) == 1 else ""


def called(tool: Tool, arguments: Arguments, *, company_id: str, caller: Credential, request: HttpRequest) -> Answer:
    """What the tool's endpoint answers to the arguments."""
    endpoint = endpoint_of(tool.name)
    inside = {"companyId": company_id} | {
        name: text_of(arguments.get(name)) for name in endpoint.inside - {"companyId"}
    }
    path, _, query = tool.path.partition("?")
    rest = {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in tool.defaults.items()} | {
        name: raw for name, raw in arguments.items() if name not in {*inside, *tool.own_arguments, "confirm"}
    }
    body = b""
    if tool.method == "GET":
        query = "&".join(filter(None, (query, urlencode(in_query(rest), doseq=True))))
    else:
        body = msgspec.json.encode(rest)
    asked = CallRequest(
        {name: request.META[name] for name in HANDED_ON if name in request.META}
        | {
            "REQUEST_METHOD": tool.method,
            "PATH_INFO": path.format(**{name: quote(value, safe="") for name, value in inside.items()}),
            "QUERY_STRING": query,
            "CONTENT_TYPE": "application/json" if body else "",
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.input": io.BytesIO(body),
        }
    )
    asked.caller, asked.request_id = caller, getattr(request, "request_id", "")
    asked.slots = slots_of(request)
    response = endpoint.view(asked, **{kwarg: inside[name] for kwarg, name in endpoint.kwargs.items()})
    response.render()
    return Answer(
        response.status_code,
        response.content,
        cursor_of(response.headers.get("Link", "")),
        read_totals(response.headers),
    )


def read_totals(headers: Mapping[str, str]) -> dict[str, Any]:
    """How many rows there are on all pages, and what they come to in the base currency."""
    totals: dict[str, Any] = {}
    if "X-Total-Count" in headers:
        totals["totalCount"] = int(headers["X-Total-Count"])
    if "X-Total-Amount" in headers:
        totals["totalAmount"] = headers["X-Total-Amount"]
    return totals


@dataclass(frozen=True, slots=True)
class Endpoint:
    view: Any
    kwargs: Mapping[str, str]  # what the view calls a part of the path → what the tool calls it

    @property
    def inside(self) -> set[str]:
        return set(self.kwargs.values())


@cache
def endpoint_of(tool_name: str) -> Endpoint:
    """Whatever answers at the tool's address, but for how it finds out who calls."""
    tool = BY_NAME[tool_name]
    match = resolve(urlsplit(tool.path).path)
    found: Any = match.func
    view = found.cls.as_view(found.actions, **found.initkwargs, authentication_classes=[Recognised])
    return Endpoint(view, {kwarg: value.strip("{}") for kwarg, value in match.kwargs.items()})


def in_query(arguments: Arguments) -> dict[str, Any]:
    """Arguments as a query has them; null is as if it were left out."""
    values = {name: value_of(raw) for name, raw in arguments.items()}
    return {name: written(value) for name, value in values.items() if value is not None}


def written(value: Any) -> Any:
    """A value of a query; what is none, such as an object, is refused there as any text is that means nothing."""
    if isinstance(value, list):
        return [written(each) for each in value]
    return ("false", "true")[value] if isinstance(value, bool) else str(value)


def text_of(raw: msgspec.Raw | None) -> str:
    """A text among the arguments; empty, which names nothing, where it is none."""
    found = None if raw is None else value_of(raw)
    return found if isinstance(found, str) else ""


def cursor_of(link: str) -> str | None:
    match = NEXT.match(link)
    return parse_qs(urlsplit(match[1]).query)["cursor"][0] if match else None
