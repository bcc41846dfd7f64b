"""Base viewset below a company: the member's access, the permission of the action, the company's audit context."""

from collections.abc import Mapping
from datetime import date
from typing import Any, ClassVar

import orjson
from django.core.exceptions import ImproperlyConfigured, RequestDataTooBig
from rest_framework.exceptions import ParseError, UnsupportedMediaType, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from companies.actions.companies import CompanyExpired
from companies.api import request_slots
from companies.api.viewsets import ApiViewSet, PermissionMissing
from companies.auth.access import Access, SecondFactorRequired
from companies.errors import InvalidInputError, NotFoundError, TooLargeError, UnsupportedMediaTypeError
from companies.models import Company, CompanyOwned, parse_id
from companies.permissions import Permission
from companies.time_zones import get_today

BODY_ERRORS = (
    ParseError,
    UnsupportedMediaType,
    ValidationError,
    RequestDataTooBig,
    InvalidInputError,
    TooLargeError,
    UnsupportedMediaTypeError,
)
FIELDS_SHOWN_BLINDLY = {"success", "importId", "runId", "errors", "dryRun"}
ANY_MEMBER = None  # an action without a permission for all members; it checks its caller itself


def build_crud_permissions(*, reads: Permission, writes: Permission) -> dict[str, Permission]:
    """Return the permissions of a resource's usual actions."""
    return {"list": reads, "retrieve": reads, "create": writes, "update": writes, "destroy": writes}


class CompanyViewSet(ApiViewSet):
    """Endpoints below /companies/{companyId}: company and permission are checked before the action runs."""

    permission_for: ClassVar[Mapping[str, Permission | None]] = {}
    resource: ClassVar[type[CompanyOwned] | None] = None  # model of the first id behind the company's
    actions_checking_expiry: ClassVar[frozenset[str]] = frozenset()  # actions that check an expired company themselves
    access: Access
    company: Company
    is_blind = False  # the caller may write but not read the resource

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

    def resolve_target(self, **kwargs: Any) -> None:
        company_id = kwargs["company_id"]
        access = self.caller.access(company_id) if parse_id(company_id) else None
        if access is None:
            raise NotFoundError
        if access.needs_mfa_setup:
            raise SecondFactorRequired
        request_slots.get_request_slots(self.request).take_company_slot(access.company.id)
        self.access, self.company = access, access.company
        self.http_request.access = access  # type: ignore[attr-defined] # for what is kept of a failure

    def check_permission(self) -> None:
        permission = self.permission_for[self.action]
        if permission is ANY_MEMBER:
            return
        self.require_permission(permission)
        if self.is_write:
            self.is_blind = permission.read_permission not in self.access.permissions
            is_exempt = permission is Permission.COMPANY_MANAGE or self.action in self.actions_checking_expiry
            if self.company.read_only and not is_exempt:
                raise CompanyExpired

    def require_permission(self, permission: Permission) -> None:
        """Raise PermissionMissing if the credential lacks the permission."""
        if permission not in self.access.permissions:
            raise PermissionMissing(permission)

    @property
    def is_write(self) -> bool:
        """Whether the action writes; a POST with a read permission is a query with a body."""
        permission = self.permission_for[self.action]
        return super().is_write and (permission is ANY_MEMBER or not permission.is_read)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        if self.is_blind:
            for headers in (response.headers, self.headers):
                headers.pop("ETag", None)
            if response.status_code < 300:
                response.data = hide_resource_fields(response.data)
        return super().finalize_response(request, response, *args, **kwargs)

    def handle_exception(self, exc: Exception) -> Response:
        """Return 404 before 400: errors of a body are reported only for an existing resource."""
        if isinstance(exc, BODY_ERRORS) and hasattr(self, "company") and not self.has_resource():
            exc = NotFoundError()
        return super().handle_exception(exc)

    def has_resource(self) -> bool:
        ids = [value for name, value in self.kwargs.items() if name != "company_id"]
        if self.resource is None or not ids:
            return True
        rows = self.resource._base_manager.filter(company_id=self.company.id)
        row_uuid = parse_id(ids[0])
        return row_uuid is not None and rows.filter(id=row_uuid).exists()

    def get_row(self, rows: Any, row_id: str) -> Any:
        """Return the company's row with this id. Raises NotFoundError for unknown and malformed ids alike."""
        row_uuid = parse_id(row_id)
        row = rows.filter(company_id=self.company.id, id=row_uuid).first() if row_uuid else None
        if row is None:
            raise NotFoundError
        return row


def hide_resource_fields(answer: Any) -> dict[str, Any]:
    """Reduce the response of a write for a credential that may not read the resource: success, or the id.

    Errors of the request's own rows are kept; counts are null.
    """
    body = orjson.loads(answer) if isinstance(answer, bytes) else answer  # a replayed response is bytes
    if "success" in body or "dryRun" in body:
        return {name: value if name in FIELDS_SHOWN_BLINDLY else None for name, value in body.items()}
    resource = body if "id" in body else next(iter(body.values()))
    return {"id": resource["id"]}
