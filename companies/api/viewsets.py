"""Base viewsets: credential, company, permission, then one transaction around the operation."""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar

from django.conf import settings
from django.db import DatabaseError, InterfaceError, transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from rest_framework.exceptions import (
    MethodNotAllowed,
    NotAcceptable,
    NotAuthenticated,
    Throttled,
    UnsupportedMediaType,
    ValidationError,
)
from rest_framework.request import Empty, Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from companies.api import idempotency, request_slots
from companies.api.ignored_fields import format_ignored_fields, list_unknown_fields
from companies.api.pagination import (
    paginate_by_keyset,
    refuse_repeated_parameters,
    refuse_unknown_parameters,
)
from companies.api.rendering import is_media_type_accepted, refuse_unreadable_body
from companies.api.serializers import EmptyRequest
from companies.auth import throttling
from companies.auth.access import Credential
from companies.auth.authentication import build_challenge_header
from companies.auth.client_network import get_client_network
from companies.errors import (
    DomainError,
    PermissionDeniedError,
    ValidationFailed,
)
from companies.models import AuditContext
from companies.permissions import Permission
from companies.uploaded_files import find_uploaded_file
from companies.versions import (
    NO_VERSION,
    ExpectedVersions,
    PreconditionFailed,
    compute_short_digest,
    compute_version,
    parse_etags,
    read_if_match,
)

log = logging.getLogger("api")

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class PermissionMissing(PermissionDeniedError):
    """You do not have the required permission."""

    def __init__(self, permission: Permission):
        self.permission = permission
        super().__init__(f"You need the permission {permission.value}.")

    @property
    def scope(self) -> str | None:
        """The scope an app would need; None for administrative permissions, which no scope grants."""
        if self.permission.is_admin:
            return None
        return "svc:read" if self.permission.is_read else "svc:write"


class ApiViewSet(ViewSet):
    """Base of all endpoints: one credential, one rate limit, one time, one transaction."""

    http_method_names = ["get", "post", "put", "delete", "head"]
    format_kwarg = None  # DRF asks for it: there are no .json endings
    schema_tags: ClassVar[Sequence[str]] = ()
    scenario_lists: ClassVar[frozenset[str]] = frozenset()  # actions that answer a list under a scenario
    # Action → its own errors, as documented; by code if they are raised in other apps.
    errors_for: ClassVar[Mapping[str, Sequence[type[DomainError] | str]]] = {}
    shape: ClassVar[Any] = None  # serializer of the resource, unless an action declares another one
    uploads: ClassVar[frozenset[str]] = frozenset()  # actions that accept files or imports
    caller: Credential
    now: datetime
    has_read_raw_body = False  # whether the action has read the body without parsing it

    # ------------------------------------------------------------------ one request

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """DRF's dispatch, which has no hook around the handler: the handler runs in a transaction here."""
        self.args, self.kwargs, self.http_request = args, kwargs, request
        self.headers = {"Vary": "Authorization, Cookie"}
        self.answer_headers: dict[str, str] = {}  # response headers that are stored for a retry
        self.now = timezone.now()
        self.request = drf_request = self.initialize_request(request, *args, **kwargs)
        try:
            self.initial(drf_request, *args, **kwargs)
            self.response = self.run_handler(drf_request, getattr(self, (request.method or "").lower()))
        except Exception as error:  # noqa: BLE001 - the one place where exceptions become answers
            self.response = self.handle_exception(error)
        self.response = self.finalize_response(drf_request, self.response, *args, **kwargs)
        return self.response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the request in the documented order: 401, 404 of the company, 405, 403, then 406."""
        try:
            if not request.user:
                raise NotAuthenticated("Send an API key or an access token: Authorization: Bearer …")
        except Exception:
            self.consume_rate_limit(f"address:{get_client_network(request)}")
            raise
        self.caller = request.user  # type: ignore[assignment]
        self.consume_rate_limit(self.caller.key)
        request_slots.get_request_slots(request).take_credential_slot(self.caller.key)
        self.resolve_target(**kwargs)
        if (request.method or "").lower() not in self.action_map:
            self.headers["Allow"] = ", ".join(self.allowed_methods)
            raise MethodNotAllowed(request.method or "")
        self.check_permission()
        if request.method not in SAFE_METHODS:
            refuse_unreadable_body(request)
        request.accepted_renderer, request.accepted_media_type = self.perform_content_negotiation(request)

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:  # noqa: FBT001
        """There is one renderer: its media type is acceptable or not."""
        renderer = self.get_renderers()[0]
        if not force and not is_media_type_accepted(request.META.get("HTTP_ACCEPT", "*/*"), renderer.media_type):
            raise NotAcceptable
        return renderer, renderer.media_type

    def resolve_target(self, **kwargs: Any) -> None:
        """Resolve what the path is about; nothing for endpoints outside companies."""

    def check_permission(self) -> None:
        """Check the action's permission; endpoints outside companies are open to any credential."""

    def run_handler(self, request: Request, handler: Callable[..., Response]) -> Response:
        """Run the handler: reads as they are, writes in one transaction, once per Idempotency-Key.

        The key is ignored for reads: repeating them does no harm, and stored responses would pile up.
        """
        has_idempotency_key = "HTTP_IDEMPOTENCY_KEY" in request.META
        if not self.is_write:
            return self.call_handler(request, handler)
        with transaction.atomic():
            if not has_idempotency_key:
                return self.call_handler(request, handler)
            return idempotency.run_once(
                request,
                credential=self.caller.key,
                now=self.now,
                most_bytes=self.max_body_bytes,
                run_action=lambda: self.call_handler(request, handler),
            )

    def call_handler(self, request: Request, handler: Callable[..., Response]) -> Response:
        response = handler(request, **self.kwargs)
        if request.method in ("POST", "PUT") and not self.has_read_raw_body and not is_body_parsed(request):
            # an action without a declared body: one that was sent is checked all the same
            self.parse_body(EmptyRequest)
        for name, value in self.answer_headers.items():
            response.headers[name] = value
        return response

    @property
    def is_write(self) -> bool:
        return self.request.method not in SAFE_METHODS

    @property
    def max_body_bytes(self) -> int:
        """Maximum size of the body in bytes."""
        return settings.MAX_UPLOAD_MB * 1024 * 1024 if self.action in self.uploads else settings.MAX_BODY_BYTES

    def consume_rate_limit(self, name: str) -> None:
        """Count one request. Raises Throttled if the limit is reached."""
        budget = throttling.consume_budget(name, now=self.now.timestamp())
        self.headers |= budget.headers()
        if budget.is_exceeded:
            raise Throttled(wait=budget.resets_in)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        if (
            request.method in SAFE_METHODS
            and response.status_code == 200
            and self.is_not_modified(response.headers.get("ETag"))
        ):
            response = Response(None, status=304, headers={"ETag": response.headers["ETag"]})
        response = super().finalize_response(request, response, *args, **kwargs)
        response.headers.setdefault("Cache-Control", "private, no-cache")
        if hasattr(self, "caller"):
            self.record_credential_use()
        return response

    def record_credential_use(self) -> None:
        """Record the credential's use; a failure to store it does not affect the response."""
        try:
            self.caller.record_use(self.now)
        except (DatabaseError, InterfaceError) as error:
            log.warning("could not record the last use of %s (%s)", self.caller.key, type(error).__name__)

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, PreconditionFailed) and exc.row is not None:
            self.headers["ETag"] = build_etag(self.get_response_row(exc.row))
        if isinstance(exc, NotAuthenticated) or getattr(exc, "status_code", None) == 401:
            exc.auth_header = self.get_authenticate_header(self.request)  # type: ignore[attr-defined]
        if isinstance(exc, PermissionMissing) and self.caller.kind == "oauth":
            self.headers["WWW-Authenticate"] = build_challenge_header("insufficient_scope", scope=exc.scope)
        response = self.get_exception_handler()(exc, self.get_exception_handler_context())
        response.exception = True
        return response

    # ------------------------------------------------------------------ words for the views

    @cached_property
    def audit_context(self) -> AuditContext:
        """Audit context of the request."""
        return AuditContext(
            time=self.now,
            actor=self.caller.actor,
            user_id=self.caller.user_id,
            credential=self.caller.key,
            request_id=getattr(self.request, "request_id", ""),
            expected_versions=self.expected_versions,
        )

    def parse_body(
        self,
        serializer_class: Any,
        *,
        data: Any = None,
        partial: bool = False,
        resource_serializer: Any = None,
        **context: Any,
    ) -> dict[str, Any]:
        """Validate the body with a serializer; unknown fields are named in the Ignored-Fields header.

        ``resource_serializer`` has the resource's other fields: sent back with the whole resource, they are not
        unknown.
        """
        body = self.request.data if data is None else data
        serializer = serializer_class(data=body, partial=partial, context={"view": self, **context})
        serializer.is_valid(raise_exception=True)
        resource_fields = resource_serializer().fields if resource_serializer else ()
        self.report_ignored_fields(
            path for path in list_unknown_fields(serializer, body) if path not in resource_fields
        )
        return serializer.validated_data

    def parse_upload(self, names: Collection[str], *, repeatable_names: Collection[str] = ()) -> tuple[Any, Any]:
        """Return the form of an upload and its file; fields with other names are named in the Ignored-Fields header.

        Args:
            names: fields of the form, `file` among them.
            repeatable_names: those that may be sent several times.

        Raises:
            UnsupportedMediaType: the body is no form.
            ValidationError, ValidationFailed: it has no file, several, or another field twice.
        """
        form: Any = self.request.data
        if not hasattr(form, "getlist"):
            raise UnsupportedMediaType(self.request.content_type or "")
        self.report_ignored_fields(sorted(set(form) - set(names)))
        file = find_uploaded_file(form)
        if file is None:
            raise ValidationError({"file": "Send a file in this field."}, code="required")
        if repeated := [name for name in names if name not in repeatable_names and len(form.getlist(name)) > 1]:
            raise ValidationFailed([(f"#/{name}", "invalid_value", "Must be sent only once.") for name in repeated])
        return form, file

    def report_ignored_fields(self, names: Iterable[str]) -> None:
        """Name unknown request fields in the response."""
        if text := format_ignored_fields(names):
            self.answer_headers["Ignored-Fields"] = text

    def allow_parameters(self, *allowed_names: str) -> None:
        """Reject query parameters that the operation does not have."""
        refuse_unknown_parameters(set(self.request.query_params) - set(allowed_names))
        refuse_repeated_parameters(self.request.query_params)

    def respond_with_all(self, rows: Any) -> Response:
        """Respond with all the rows."""
        return Response(self.shape(rows, many=True).data)

    def respond_with_page(self, rows: Any, serializer_class: Any = None, *, order: Sequence[str]) -> Response:
        """Respond with one page of the rows and a Link to the next."""
        page_rows, headers = paginate_by_keyset(self.request, rows, order=order)
        serializer = serializer_class or self.shape
        return Response(serializer(page_rows, many=True, context={"view": self}).data, headers=headers)

    def respond_with_one(
        self, row: Any, serializer_class: Any = None, *, status: int = 200, location: str | None = None
    ) -> Response:
        """Respond with one resource and its ETag."""
        headers = {"ETag": build_etag(row)}
        if location:
            headers["Location"] = location
        serializer = serializer_class or self.shape
        return Response(serializer(row, context={"view": self}).data, status=status, headers=headers)

    def respond_created(self, row: Any) -> Response:
        """Respond with a new resource, whose path is below the requested one."""
        return self.respond_with_one(row, status=201, location=f"{self.request.path_info}/{row.id}")

    def get_response_row(self, row: Any) -> Any:
        """Return the row with everything its response shows; overridden by views that show more than the row."""
        return row

    def is_not_modified(self, etag: str | None) -> bool:
        """Return whether If-None-Match names the version that would be returned."""
        header = self.request.META.get("HTTP_IF_NONE_MATCH", "")
        return etag is not None and (
            header.strip() == "*" or etag in {tag.removeprefix("W/") for tag in parse_etags(header)}
        )

    @property
    def expected_versions(self) -> ExpectedVersions:
        """The versions that a change may be of: those of If-Match, or none yet with `If-None-Match: *`."""
        if self.request.method in ("PUT", "DELETE") and self.request.META.get("HTTP_IF_NONE_MATCH", "").strip() == "*":
            return frozenset({NO_VERSION})
        return read_if_match(self.request.META.get("HTTP_IF_MATCH"))


def is_body_parsed(request: Request) -> bool:
    return getattr(request, "_full_data", Empty) is not Empty


def build_etag(row: Model) -> str:
    """Build a strong ETag that changes with every change of the row; after a dot, with values shown beside its
    own data.
    """
    extra_state = getattr(row, "unversioned_values", None)
    return (
        f'"{compute_version(row)}.{compute_short_digest(extra_state)}"' if extra_state else f'"{compute_version(row)}"'
    )
