"""The base of all views: credential, company, permission, then one transaction around the operation."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property, partial
from typing import Any, ClassVar

import orjson
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured, RequestDataTooBig
from django.db import DatabaseError, InterfaceError, transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from rest_framework.exceptions import (
    MethodNotAllowed,
    NotAcceptable,
    NotAuthenticated,
    ParseError,
    Throttled,
    UnsupportedMediaType,
    ValidationError,
)
from rest_framework.request import Empty, Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from companies.api import concurrency, idempotency, replica, throttling
from companies.api.filters import refuse_repeated, refuse_unknown
from companies.api.pagination import Near, keyset
from companies.api.rendering import accepts, refuse_unreadable
from companies.api.serializers import Nothing
from companies.api.unknown import listed, unknown_fields
from companies.callers.access import Access, Credential, SecondFactorRequired
from companies.callers.authentication import FORM, challenge
from companies.callers.client_network import get_client_network
from companies.errors import Denied, Invalid, Missing, Refusal, TooLarge, Unsupported
from companies.membership.founding import CompanyExpired
from companies.models import Company, CompanyOwned, Stamp, id_from
from companies.permissions import Permission
from companies.time_zones import get_today
from companies.versions import ABSENT, Expected, Stale, list_tags, read_if_match, short_digest, version_of

log = logging.getLogger("api")

SAFE = ("GET", "HEAD", "OPTIONS")
ABOUT_THE_BODY = (ParseError, UnsupportedMediaType, ValidationError, RequestDataTooBig, Invalid, TooLarge, Unsupported)
TOLD_BLINDLY = {"success", "importId", "runId", "errors", "dryRun"}
ANY_MEMBER = None  # an action that needs no permission of everyone: it looks at its caller itself


class PermissionMissing(Denied):
    """A permission is missing; its name is in the detail."""

    def __init__(self, permission: Permission):
        self.permission = permission
        super().__init__(f"This needs the permission {permission.value}.")

    @property
    def scope(self) -> str | None:
        """What an app would have to ask for; None for what is administrative, which no scope gives."""
        if self.permission.admin_level:
            return None
        return "svc:read" if self.permission.reads else "svc:write"


class ApiViewSet(ViewSet):
    """The ground of all endpoints: one who calls, one budget, one clock reading, one transaction."""

    http_method_names = ["get", "post", "put", "delete", "head"]
    only_reads: ClassVar[bool] = True  # what answers a question writes nothing, so that a replica may answer it
    format_kwarg = None  # no .json endings: the framework asks for it
    schema_tags: ClassVar[Sequence[str]] = ()
    # Action → the refusals that are its own, as the document tells them; by code where they are raised in other apps.
    refuses: ClassVar[Mapping[str, Sequence[type[Refusal] | str]]] = {}
    shape: ClassVar[Any] = None  # of the resource, as it is sent and answered where an action says nothing else
    uploads: ClassVar[frozenset[str]] = frozenset()  # actions to which files are sent, or imports
    caller: Credential
    now: datetime

    # ------------------------------------------------------------------ one request

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """The framework's dispatch, which has no hook around the handler: there the act is in its transaction."""
        self.args, self.kwargs = args, kwargs
        self.headers = {"Vary": "Authorization, Cookie"}
        self.told: dict[str, str] = {}  # headers about what was done: kept with the answer for a retry
        self.now = timezone.now()
        self.request = drf_request = self.initialize_request(request, *args, **kwargs)
        try:
            self.initial(drf_request, *args, **kwargs)
            self.response = self.act(drf_request, getattr(self, (request.method or "").lower()))
        except Exception as error:  # noqa: BLE001 - the one place where exceptions become answers
            self.response = self.handle_exception(error)
        self.response = self.finalize_response(drf_request, self.response, *args, **kwargs)
        return self.response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """In the order that the answers promise: 401, 404 of the company, 405, 403; 406 where Accept asks for more."""
        try:
            if not request.user:
                raise NotAuthenticated("Send an API key or an access token: Authorization: Bearer …")
        except Exception:
            self.count(f"address:{get_client_network(request)}")
            raise
        self.caller = request.user  # type: ignore[assignment]
        self.count(self.caller.key)
        concurrency.slots_of(request._request).hold_credential(self.caller.key)
        self.reach(**kwargs)
        if (request.method or "").lower() not in self.action_map:
            self.headers["Allow"] = ", ".join(self.allowed_methods)
            raise MethodNotAllowed(request.method or "")
        self.permit()
        if request.method not in SAFE:
            refuse_unreadable(request)
        request.accepted_renderer, request.accepted_media_type = self.perform_content_negotiation(request)

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:  # noqa: FBT001
        """There is one renderer: what it writes is acceptable or not."""
        renderer = self.get_renderers()[0]
        if not force and not accepts(request.META.get("HTTP_ACCEPT", "*/*"), renderer.media_type):
            raise NotAcceptable
        return renderer, renderer.media_type

    def reach(self, **kwargs: Any) -> None:
        """Finds what the address is about; nothing for endpoints outside companies."""

    def permit(self) -> None:
        """Checks the action's permission; any caller may call endpoints outside companies."""

    def act(self, request: Request, handler: Callable[..., Response]) -> Response:
        """Run the handler: reads as they are, writes in one transaction with what a retry is told, once. Where nothing
        is written an Idempotency-Key is ignored: asking again does no harm, and answers would pile up."""
        retried = "HTTP_IDEMPOTENCY_KEY" in request.META
        if not self.writes:
            ask = partial(self.handled, request, handler)
            return replica.answered(ask) if self.only_reads else ask()
        with transaction.atomic():
            if not retried:
                return self.handled(request, handler)
            return idempotency.once(
                request,
                credential=self.caller.key,
                now=self.now,
                most_bytes=self.most_bytes,
                act=lambda: self.handled(request, handler),
            )

    def handled(self, request: Request, handler: Callable[..., Response]) -> Response:
        response = handler(request, **self.kwargs)
        if request.method in ("POST", "PUT") and not body_was_read(request):
            self.parsed(Nothing)  # no action of this name takes a body: what was sent is looked at all the same
        for name, value in self.told.items():
            response.headers[name] = value
        return response

    @property
    def writes(self) -> bool:
        return self.request.method not in SAFE

    @property
    def most_bytes(self) -> int:
        """How large the body may be."""
        return settings.MAX_UPLOAD_MB * 1024 * 1024 if self.action in self.uploads else settings.MAX_BODY_BYTES

    def count(self, name: str) -> None:
        """Spends one request of the budget. Raises Throttled where none is left."""
        budget = throttling.spend(name, now=self.now.timestamp())
        self.headers |= budget.headers()
        if budget.exceeded:
            raise Throttled(wait=budget.resets_in)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        if request.method in SAFE and response.status_code == 200 and self.is_known(response.headers.get("ETag")):
            response = Response(None, status=304, headers={"ETag": response.headers["ETag"]})
        response = super().finalize_response(request, response, *args, **kwargs)
        response.headers.setdefault("Cache-Control", "private, no-cache")
        if hasattr(self, "caller"):
            self.note_use()
        return response

    def note_use(self) -> None:
        """Of no weight beside the answer: where the database cannot note it, what was done stays done and is told."""
        try:
            self.caller.note_use(self.now)
        except (DatabaseError, InterfaceError) as error:
            log.warning("the last use of %s was not noted (%s)", self.caller.key, type(error).__name__)

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, Stale) and exc.row is not None:
            self.headers["ETag"] = etag_of(self.as_answered(exc.row))
        if isinstance(exc, NotAuthenticated) or getattr(exc, "status_code", None) == 401:
            exc.auth_header = self.get_authenticate_header(self.request)  # type: ignore[attr-defined]
        if isinstance(exc, PermissionMissing) and self.caller.kind == "oauth":
            self.headers["WWW-Authenticate"] = challenge("insufficient_scope", scope=exc.scope)
        response = self.get_exception_handler()(exc, self.get_exception_handler_context())
        response.exception = True
        return response

    # ------------------------------------------------------------------ words for the views

    @cached_property
    def stamp(self) -> Stamp:
        """Who changes something and when."""
        return Stamp(
            time=self.now,
            actor=self.caller.actor,
            user_id=self.caller.user_id,
            credential=self.caller.key,
            request_id=getattr(self.request, "request_id", ""),
            expected=self.expected,
        )

    def parsed(
        self, serializer_class: Any, *, data: Any = None, partial: bool = False, shown: Any = None, **context: Any
    ) -> dict[str, Any]:
        """The body through a serializer, strictly; unknown fields are named in the Ignored-Fields header.

        ``shown`` is the shape of the resource where it has more fields: sent back whole, none of them is unknown.
        """
        body = self.request.data if data is None else data
        serializer = serializer_class(data=body, partial=partial, context={"view": self, **context})
        serializer.is_valid(raise_exception=True)
        also = shown().fields if shown else ()
        self.ignored(path for path in unknown_fields(serializer, body) if path not in also)
        return serializer.validated_data

    def ignored(self, names: Iterable[str]) -> None:
        """Names unknown request fields in the answer."""
        if text := listed(names):
            self.told["Ignored-Fields"] = text

    def only_parameters(self, *known: str) -> None:
        """Refuses query parameters that the operation does not have."""
        refuse_unknown(set(self.request.query_params) - set(known))
        refuse_repeated(self.request.query_params)

    def all(self, rows: Any) -> Response:
        """All the rows, in the view's shape."""
        return Response(self.shape(rows, many=True).data)

    def page(
        self, rows: Any, serializer_class: Any = None, *, order: Sequence[str], near: Near | None = None
    ) -> Response:
        """One keyset page of the rows, with a Link to the next."""
        found, headers = keyset(self.request, rows, order=order, near=near)
        shape = serializer_class or self.shape
        return Response(shape(found, many=True, context={"view": self}).data, headers=headers)

    def one(
        self, row: Any, serializer_class: Any = None, *, status: int = 200, location: str | None = None
    ) -> Response:
        """A single resource with its ETag."""
        headers = {"ETag": etag_of(row)}
        if location:
            headers["Location"] = location
        shape = serializer_class or self.shape
        return Response(shape(row, context={"view": self}).data, status=status, headers=headers)

    def created(self, row: Any) -> Response:
        """A new resource, at an address below the one that was called."""
        return self.one(row, status=201, location=f"{self.request.path_info}/{row.id}")

    def as_answered(self, row: Any) -> Any:
        """A row with what its answer shows beside it; the view of a resource that shows more than its row reads it."""
        return row

    def is_known(self, etag: str | None) -> bool:
        """Whether If-None-Match names the version that would be answered."""
        given = self.request.META.get("HTTP_IF_NONE_MATCH", "")
        return etag is not None and (
            given.strip() == "*" or etag in {tag.removeprefix("W/") for tag in list_tags(given)}
        )

    @property
    def expected(self) -> Expected:
        """The versions that a change may be of: those of If-Match, or none yet with `If-None-Match: *`."""
        if self.request.method in ("PUT", "DELETE") and self.request.META.get("HTTP_IF_NONE_MATCH", "").strip() == "*":
            return frozenset({ABSENT})
        return read_if_match(self.request.META.get("HTTP_IF_MATCH"))


def granted(*, reads: Permission, writes: Permission) -> dict[str, Permission]:
    """What a resource's usual actions need."""
    return {"list": reads, "retrieve": reads, "create": writes, "update": writes, "destroy": writes}


class CompanyViewSet(ApiViewSet):
    """Endpoints below /companies/{companyId}: the company is found and the permission checked before the view runs."""

    permission_for: ClassVar[Mapping[str, Permission | None]] = {}
    resource: ClassVar[type[CompanyOwned] | None] = None  # what the first id behind the company's names
    minds_expiry: ClassVar[frozenset[str]] = frozenset()  # actions that refuse by themselves what an expired one cannot
    access: Access
    company: Company
    blind = False  # the caller may make this change and not see what it is made to

    @property
    def today(self) -> date:
        """The day of the request in the company's time zone."""
        return get_today(self.company, self.now)

    @classmethod
    def as_view(cls, actions: Any = None, **initkwargs: Any) -> Any:
        undeclared = set((actions or {}).values()) - set(cls.permission_for)
        if undeclared:
            raise ImproperlyConfigured(f"{cls.__name__}: no permission for {', '.join(sorted(undeclared))}")
        return super().as_view(actions, **initkwargs)

    def reach(self, **kwargs: Any) -> None:
        company_id = kwargs["company_id"]
        access = self.caller.access(company_id) if id_from(company_id) else None
        if access is None:
            raise Missing
        if access.waits:
            raise SecondFactorRequired
        concurrency.slots_of(self.request._request).hold_company(access.company.id)
        self.access, self.company = access, access.company
        self.request._request.access = access  # type: ignore[attr-defined] # for what is kept of a failure

    def permit(self) -> None:
        needed = self.permission_for[self.action]
        if needed is ANY_MEMBER:
            return
        self.require(needed)
        self.blind = needed.seeing not in self.access.permissions
        exempt = needed is Permission.COMPANY_MANAGE or self.action in self.minds_expiry
        if self.company.read_only and self.writes and not exempt:
            raise CompanyExpired

    def require(self, permission: Permission) -> None:
        """Raises PermissionMissing where the caller lacks it."""
        if permission not in self.access.permissions:
            raise PermissionMissing(permission)

    @property
    def writes(self) -> bool:
        """A POST whose permission only reads is a question that needs a body, not a change."""
        needed = self.permission_for[self.action]
        return super().writes and (needed is ANY_MEMBER or not needed.reads)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        if self.blind:
            for headers in (response.headers, self.headers):
                headers.pop("ETag", None)
            if response.status_code < 300:
                response.data = withheld(response.data)
        return super().finalize_response(request, response, *args, **kwargs)

    def handle_exception(self, exc: Exception) -> Response:
        """What is wrong with a body is told about a resource that is there: 404 comes before 400. A second token is
        refused before any company is looked for."""
        if isinstance(exc, ABOUT_THE_BODY) and hasattr(self, "company") and not self.resource_is_there():
            exc = Missing()
        return super().handle_exception(exc)

    def resource_is_there(self) -> bool:
        ids = [value for name, value in self.kwargs.items() if name != "company_id"]
        if self.resource is None or not ids:
            return True
        rows = self.resource._base_manager.filter(company_id=self.company.id)
        wanted = id_from(ids[0])
        return wanted is not None and rows.filter(id=wanted).exists()

    def found(self, rows: Any, row_id: str) -> Any:
        """A row of this company by the id in the path. Raises Missing for unknown and malformed ids alike."""
        wanted = id_from(row_id)
        row = rows.filter(company_id=self.company.id, id=wanted).first() if wanted else None
        if row is None:
            raise Missing
        return row


def withheld(answered: Any) -> dict[str, Any]:
    """A change as it is told to somebody who may not see the resource: that it was made, or the id of what it is about.

    What is wrong with the request's own rows is told too, as a refusal would; counts are null.
    """
    body = orjson.loads(answered) if isinstance(answered, bytes) else answered  # a retry's answer comes as it was kept
    if "success" in body or "dryRun" in body:
        return {name: value if name in TOLD_BLINDLY else None for name, value in body.items()}
    resource = body if "id" in body else next(iter(body.values()))
    return {"id": resource["id"]}


def body_was_read(request: Request) -> bool:
    """Whether the view looked at it, parsed or raw; a form was, for a second token (callers.authentication)."""
    raw: Any = request._request
    looked_at = raw._read_started and raw.content_type != FORM  # noqa: SLF001
    return getattr(request, "_full_data", Empty) is not Empty or looked_at


def etag_of(row: Model) -> str:
    """A strong tag that changes with every change of the row; behind a dot, with what is shown beside its own data."""
    beside = getattr(row, "shown_beside", None)
    return f'"{version_of(row)}.{short_digest(beside)}"' if beside else f'"{version_of(row)}"'
