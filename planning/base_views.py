"""Base of the endpoints of planned transactions and plan items."""

from collections.abc import Mapping
from typing import Any

from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet
from companies.permissions import Permission
from ledger.money.calc.fx import RateLookupError
from ledger.recognition.actions.postings import MissingRateError

READ, WRITE = Permission.PLANNING_READ, Permission.PLANNING_WRITE
CRUD_PERMISSIONS = {"list": READ, "retrieve": READ, "create": WRITE, "update": WRITE, "destroy": WRITE}


class PlanningViewSet(CompanyViewSet):
    def handle_exception(self, exc: Exception) -> Response:
        """Answer a missing exchange rate as an API error."""
        return super().handle_exception(MissingRateError(str(exc)) if isinstance(exc, RateLookupError) else exc)

    def merge_body(self, shape: Any, row: Any) -> dict[str, Any]:
        """Return the stored resource with the fields of the request, parsed."""
        body = self.request.data
        return self.parse_body(shape, data={**shape(row).data, **body} if isinstance(body, Mapping) else body)
