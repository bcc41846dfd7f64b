"""Where every request passes: credential, company, permission, then one transaction around the act.

A view names the permission of each of its actions in ``permission_for``; one that does not cannot be routed.
"""

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property, partial
from typing import Any, ClassVar

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, InterfaceError, transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from rest_framework.exceptions import MethodNotAllowed, NotAcceptable, NotAuthenticated, Throttled
from rest_framework.request import Empty, Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from companies.access import Access, Credential
from companies.api import idempotency, replica, throttling
from companies.api.errors import problem
from companies.api.filters import refuse_repeated, refuse_unknown
from companies.api.limits import LONGEST_IGNORED
from companies.api.pagination import keyset
from companies.api.rendering import accepts, refuse_unreadable
from companies.api.serializers import Nothing
from companies.authentication import challenge
from companies.errors import Denied, Missing, Refusal
from companies.models import Company, Stamp, id_from
from companies.permissions import Permission

log = logging.getLogger("api")

SAFE = ("GET", "HEAD", "OPTIONS")
ANY_MEMBER = None  # an action that needs no permission of everyone: it looks at its caller itself


class Stale(Exception):
    """The resource changed since the caller read it; carries the current ETag, None where it is gone or not yet."""

    def __init__(self, etag: str | None):
        self.etag = etag
        super().__init__(etag)


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
    caller: Credential
    now: datetime

    # ------------------------------------------------------------------ one request

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """The framework's dispatch, with the act in a transaction and our headers on every answer."""
        self.args, self.kwargs = args, kwargs
        self.headers: dict[str, str] = {}
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
            self.count(f"address:{request.META.get('REMOTE_ADDR', '')}")
            raise
        self.caller = request.user  # type: ignore[assignment]
        self.count(self.caller.key)
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
        """Runs the handler: reads as they are, writes in one transaction, retried ones once."""
        retried = "HTTP_IDEMPOTENCY_KEY" in request.META and request.method not in SAFE
        if not self.writes and not retried:
            ask = partial(self.handled, request, handler)
            return replica.answered(ask) if self.only_reads else ask()
        with transaction.atomic():
            if not retried:
                return self.write(request, handler)
            return idempotency.once(
                request, credential=self.caller.key, now=self.now, act=lambda: self.write(request, handler)
            )

    def write(self, request: Request, handler: Callable[..., Response]) -> Response:
        return self.handled(request, handler)

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

    def count(self, name: str) -> None:
        """Spends one request of the budget. Raises Throttled where none is left."""
        budget = throttling.spend(name, now=self.now.timestamp())
        self.headers |= budget.headers()
        if budget.exceeded:
            raise Throttled(wait=budget.resets_in)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        if request.method in SAFE and response.status_code == 200 and self.is_known(response.headers.get("ETag")):
            response = Response(None, status=304, headers={"ETag": response.headers["ETag"]})
        if not getattr(request, "accepted_renderer", None):
            renderer = self.get_renderers()[0]
            request.accepted_renderer, request.accepted_media_type = renderer, renderer.media_type
        if isinstance(response, Response):
            response.accepted_renderer = request.accepted_renderer
            response.accepted_media_type = request.accepted_media_type or ""
            response.renderer_context = {}  # type: ignore[attr-defined]
        for name, value in self.headers.items():
            response.headers.setdefault(name, value)
        patch_vary_headers(response, ("Authorization", "Cookie"))
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
        if isinstance(exc, Stale):
            return self.stale(exc)
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
        if isinstance(body, Mapping):
            self.ignored(set(body) - set(serializer.fields) - set(shown().fields if shown else ()))
        return serializer.validated_data

    def ignored(self, names: set[str]) -> None:
        """Names unknown request fields in the answer; one that is no printable token is shown quoted."""
        if names:
            shown = sorted(name if name.isascii() and name.isprintable() else repr(name) for name in names)
            self.told["Ignored-Fields"] = (
                ", ".join(shown).encode("ascii", "backslashreplace").decode()[:LONGEST_IGNORED]
            )

    def only_parameters(self, *known: str) -> None:
        """Refuses query parameters that the operation does not have."""
        refuse_unknown(set(self.request.query_params) - set(known))
        refuse_repeated(self.request.query_params)

    def page(self, rows: Any, serializer_class: Any, *, order: Sequence[str], **context: Any) -> Response:
        """One keyset page of the rows, with a Link to the next."""
        found, headers = keyset(self.request, rows, order=order)
        return Response(serializer_class(found, many=True, context={"view": self, **context}).data, headers=headers)

    def one(
        self, row: Any, serializer_class: Any, *, status: int = 200, location: str | None = None, **context: Any
    ) -> Response:
        """A single resource with its ETag."""
        headers = {"ETag": etag_of(row)}
        if location:
            headers["Location"] = location
        data = serializer_class(row, context={"view": self, **context}).data
        return Response(data, status=status, headers=headers)

    def is_known(self, etag: str | None) -> bool:
        """Whether If-None-Match names the version that would be answered."""
        given = self.request.META.get("HTTP_IF_NONE_MATCH", "")
        return etag is not None and (given.strip() == "*" or etag in entity_tags(given))

    def unless_stale(self, row: Any) -> None:
        """Raises Stale where If-Match names another version, or any where there is none. Call with the row locked."""
        given = self.request.META.get("HTTP_IF_MATCH")
        if given is None:
            return  # an empty one is not left out: it fits nothing
        if row is None:
            raise Stale(None)
        current = etag_of(row)
        if given.strip() != "*" and stored_part(current) not in map(stored_part, entity_tags(given)):
            raise Stale(current)

    def stale(self, error: Stale) -> Response:
        body = problem(
            self.request, status=412, code="precondition_failed", detail="The resource has changed since you read it."
        )
        headers = {"ETag": error.etag} if error.etag else {}
        return Response(body, status=412, headers=headers, content_type="application/problem+json")


class CompanyViewSet(ApiViewSet):
    """Endpoints below /companies/{companyId}: the company is found and the permission checked before the view runs."""

    permission_for: ClassVar[Mapping[str, Permission | None]] = {}
    access: Access
    company: Company

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
        self.access, self.company = access, access.company

    def permit(self) -> None:
        needed = self.permission_for[self.action]
        if needed is not ANY_MEMBER:
            self.require(needed)

    def require(self, permission: Permission) -> None:
        """Raises PermissionMissing where the caller lacks it."""
        if permission not in self.access.permissions:
            raise PermissionMissing(permission)

    @property
    def writes(self) -> bool:
        """A POST whose permission only reads is a question that needs a body, not a change."""
        needed = self.permission_for[self.action]
        return super().writes and (needed is ANY_MEMBER or not needed.reads)

    def write(self, request: Request, handler: Callable[..., Response]) -> Response:
        response = super().write(request, handler)
        if self.changes_company(response):
            Company.objects.touch(self.company.id, self.now)  # last, so that its lock is held for the shortest time
        return response

    def changes_company(self, response: Response) -> bool:
        """Whether the company's data changed: each change has left its row in the audit log."""
        return response.status_code < 300 and self.company.id in self.stamp.changed

    def found(self, rows: Any, row_id: str, *, locked: bool = False) -> Any:
        """A row of this company by the id in the path. Raises Missing for unknown and malformed ids alike."""
        rows = rows.select_for_update(of=("self",)) if locked else rows
        wanted = id_from(row_id)
        row = rows.filter(company_id=self.company.id, id=wanted).first() if wanted else None
        if row is None:
            raise Missing
        return row


def body_was_read(request: Request) -> bool:
    """Whether the view looked at it, parsed or raw."""
    raw: Any = request._request
    return getattr(request, "_full_data", Empty) is not Empty or raw._read_started  # noqa: SLF001


def etag_of(row: Model) -> str:
    """A weak tag that changes with every change of the row; behind a dot, with what is shown beside its own data."""
    version = f"{row.pk}:{row.last_updated_time.timestamp():.6f}"  # type: ignore[attr-defined]
    beside = getattr(row, "shown_beside", None)
    return f'W/"{short_digest(version)}.{short_digest(beside)}"' if beside else f'W/"{short_digest(version)}"'


def short_digest(text: str) -> str:
    return hashlib.blake2s(text.encode(), digest_size=12).hexdigest()


def stored_part(tag: str) -> str:
    """The part of a tag that If-Match compares: what was computed meanwhile stands in nobody's way."""
    return tag.rstrip('"').partition(".")[0]


def entity_tags(header: str) -> set[str]:
    """The tags of an If-Match or If-None-Match header, all as weak ones: only weak ones are given out."""
    tags = {tag.strip() for tag in header.split(",") if tag.strip()}
    return {tag if tag.startswith("W/") else f"W/{tag}" for tag in tags}
