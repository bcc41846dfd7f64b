"""Endpoints of closed months."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ListSerializer

from companies.api.company_viewset import CompanyViewSet
from companies.api.fields import parse_month_path
from companies.errors import ValidationFailed
from companies.permissions import Permission
from ledger.closings import actions, serializers
from ledger.closings.queries.closings import get_closing, list_closings
from ledger.closings.queries.differences import list_closing_differences
from ledger.models import Closing
from ledger.money.calc.fx import RateLookupError
from ledger.recognition.actions.postings import MissingRateError

MAX_VERSION_DIGITS = 9
VERSION_PARAMETER = OpenApiParameter(
    "version",
    {"type": "integer", "minimum": 1, "maximum": 999_999_999},
    description="Version of the closing; default is the latest.",
)


class ClosingViewSet(CompanyViewSet):
    schema_tags = ["Closings"]
    schema_noun = "closing"
    shape = serializers.ClosingSerializer
    only_reads = False  # recurring revenue that an import made stale is added up here
    permission_for = {
        **dict.fromkeys(("list", "retrieve", "differences"), Permission.FINANCIALS_READ),
        **dict.fromkeys(("create", "reopen"), Permission.CLOSINGS_MANAGE),
    }
    errors_for = {
        "create": [
            actions.MonthNotOver,
            actions.MonthBeforeData,
            actions.AlreadyClosed,
            actions.CloseChecksFailed,
            MissingRateError,
        ],
        "reopen": [actions.NotClosed],
        "differences": [MissingRateError],
    }

    @extend_schema(responses=ListSerializer(child=serializers.ClosingSerializer(), max_length=serializers.MAX_CLOSINGS))
    def list(self, request: Request, company_id: str) -> Response:
        """List the latest version of each closed month, latest month first, including reopened ones."""
        self.allow_parameters()
        return self.respond_with_all(list_closings(self.company))

    @extend_schema(request=serializers.CloseRequest, responses={201: serializers.ClosingSerializer})
    def create(self, request: Request, company_id: str) -> Response:
        """Close a month and every open month before it. Their figures cannot change until they are reopened.

        Each month gets a closing with its figures; the note is kept with `month`. If something is unfinished, the
        answer is 409 `close_checks_failed` with `checks`. Send `acknowledge` to close anyway.
        """
        values = self.parse_body(serializers.CloseRequest)
        closing = actions.close_months(
            company=self.company,
            context=self.audit_context,
            month=values["month"],
            note=values.get("note"),
            acknowledge=values["acknowledge"],
        )
        location = f"{self.request.path_info}/{closing.month:%Y-%m}"
        return self.respond_with_one(closing, status=201, location=location)

    @extend_schema(parameters=[VERSION_PARAMETER], responses=serializers.ClosingWithFigures)
    def retrieve(self, request: Request, company_id: str, month: str) -> Response:
        """Get a closed month with its figures as reported, in the latest version or an earlier one."""
        return self.respond_with_one(self.find_closing(month), serializers.ClosingWithFigures)

    @extend_schema(request=serializers.ReopenRequest, responses=serializers.ClosingSerializer)
    def reopen(self, request: Request, company_id: str, month: str) -> Response:
        """Reopen a closed month and all later ones. Owners and admins are notified of the reason."""
        first = parse_month_path(month)
        reason = self.parse_body(serializers.ReopenRequest)["reason"]
        closing = actions.reopen_months(company=self.company, context=self.audit_context, month=first, reason=reason)
        return self.respond_with_one(closing)

    @extend_schema(
        operation_id="listClosingDifferences",
        parameters=[VERSION_PARAMETER],
        responses=ListSerializer(child=serializers.DifferenceSerializer(), max_length=serializers.MAX_FIGURES),
    )
    def differences(self, request: Request, company_id: str, month: str) -> Response:
        """List the figures that changed since they were reported, with the events that changed them.

        was + difference = is. Events are changes of subscriptions, and of transactions dated or recognized up to the
        month's end. `rates` is true if exchange rates arrived late.
        """
        changes = list_closing_differences(self.company, self.find_closing(month))
        return Response(serializers.DifferenceSerializer(changes, many=True).data)

    def find_closing(self, month: str) -> Closing:
        """Return the closing of the path in the requested version. Raises NotFoundError, ValidationFailed."""
        self.allow_parameters("version")
        return get_closing(self.company, parse_month_path(month), parse_version(self.request))

    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(MissingRateError(str(exc)) if isinstance(exc, RateLookupError) else exc)


def parse_version(request: Request) -> int | None:
    """Parse the parameter ``version``. Raises ValidationFailed."""
    text = request.query_params.get("version")
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= MAX_VERSION_DIGITS and int(text) > 0):
        raise ValidationFailed([("#/version", "invalid_filter", "Must be a whole number, 1 or more.")])
    return int(text)
