"""Permissions and the filter that accounts and account groups share."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ErrorDetail, ValidationError

from companies.api.company_viewset import CompanyViewSet, build_crud_permissions
from companies.permissions import Permission

ACCOUNT_PERMISSIONS = build_crud_permissions(reads=Permission.ACCOUNTS_READ, writes=Permission.ACCOUNTS_WRITE)
ARCHIVED_FILTERS = {None: {"archived": False}, "true": {"archived": True}, "false": {"archived": False}, "all": {}}
ARCHIVED_PARAMETER = OpenApiParameter("archived", enum=["true", "false", "all"], description="Active only if left out.")


def filter_by_archived(view: CompanyViewSet, rows: Any) -> Any:
    """Filter rows by the query parameter `archived`; active ones if it is left out.

    Raises:
        ValidationError: with `invalid_filter`.
    """
    view.allow_parameters("archived")
    archived = view.request.query_params.get("archived")
    if archived not in ARCHIVED_FILTERS:
        raise ValidationError({"archived": [ErrorDetail("Must be true, false or all.", code="invalid_filter")]})
    return rows.filter(**ARCHIVED_FILTERS[archived])
