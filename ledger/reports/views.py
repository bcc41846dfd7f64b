"""Endpoints of monthly reports: commentary, and links to reports and closings."""

from collections.abc import Callable
from datetime import date
from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from companies.api.company_viewset import CompanyViewSet
from companies.api.fields import parse_month_path
from companies.auth.api_keys import ExpiresInPast
from companies.errors import NotFoundError
from companies.permissions import Permission
from ledger.closings.queries.closings import get_closing
from ledger.models import ReportLink
from ledger.reports import actions, serializers
from ledger.reports.queries import check_report_month, find_commentary, list_links


class CommentaryViewSet(CompanyViewSet):
    schema_tags = ["Reports"]
    schema_noun = "reportCommentary"
    shape = serializers.ReportCommentarySerializer
    permission_for = {"retrieve": Permission.FINANCIALS_READ, "update": Permission.PLANNING_WRITE}

    def retrieve(self, request: Request, company_id: str, month: str) -> Response:
        """Get the commentary on a month's report; 404 if nothing was written."""
        self.allow_parameters()
        commentary = find_commentary(self.company, parse_month_path(month))
        if commentary is None:
            raise NotFoundError
        return self.respond_with_one(commentary)

    def update(self, request: Request, company_id: str, month: str) -> Response:
        """Replace the commentary on a month's report, also of a closed month."""
        first = parse_month_path(month)
        check_report_month(self.company, first, today=self.today)
        text = self.parse_body(serializers.ReportCommentarySerializer)["text"]
        commentary = actions.write_commentary(company=self.company, context=self.audit_context, month=first, text=text)
        return self.respond_with_one(commentary)


class ReportLinkViewSet(CompanyViewSet):
    schema_tags = ["Reports"]
    schema_noun = "reportLink"
    shape = serializers.ReportLinkSerializer
    permission_for = dict.fromkeys(("list", "create", "destroy"), Permission.CLOSINGS_MANAGE)
    errors_for = {"create": [ExpiresInPast, actions.ExpiresTooLate]}
    of_closings: ClassVar[bool] = False

    @extend_schema(operation_id="listReportLinks")
    def list(self, request: Request, company_id: str, month: str) -> Response:
        """List the links to a month's report, newest first, without their URLs."""
        self.allow_parameters()
        links = list_links(self.company, parse_month_path(month), of_closings=self.of_closings)
        return self.respond_with_all(links.order_by("-id"))

    @extend_schema(request=serializers.ReportLinkRequest, responses={201: serializers.NewReportLinkSerializer})
    def create(self, request: Request, company_id: str, month: str) -> Response:
        """Create a link to a month's report. Its page needs no sign-in and shows this report only.

        The URL is returned only once. The link shows what you can see; it stops working when it expires or is revoked.
        """
        first = parse_month_path(month)
        check_report_month(self.company, first, today=self.today)
        return self.create_link(actions.create_report_link, first)

    def destroy(self, request: Request, company_id: str, month: str, link_id: str) -> Response:
        """Revoke a link. Its page returns 404 from then on."""
        actions.revoke_link(
            company=self.company,
            context=self.audit_context,
            month=parse_month_path(month),
            link_id=link_id,
            of_closing=self.of_closings,
        )
        return Response({"success": True})

    def create_link(self, create_link: Callable[..., tuple[ReportLink, str]], month: date) -> Response:
        """Create a link by an action, and return its URL."""
        link, url = create_link(
            company=self.company,
            context=self.audit_context,
            month=month,
            expires_time=self.parse_body(serializers.ReportLinkRequest)["expires_time"],
            permissions=self.access.permissions,
        )
        headers = {"Location": f"{self.request.path_info}/{link.id}"}
        answer = serializers.NewReportLinkSerializer({"id": link.id, "url": url}).data
        return Response(answer, status=201, headers=headers)


class ClosingLinkViewSet(ReportLinkViewSet):
    schema_tags = ["Closings"]
    schema_noun = "closingLink"
    of_closings = True

    @extend_schema(operation_id="listClosingLinks")
    def list(self, request: Request, company_id: str, month: str) -> Response:
        """List the links to the figures of a closed month, newest first, without their URLs."""
        return super().list(request, company_id, month)

    @extend_schema(request=serializers.ReportLinkRequest, responses={201: serializers.NewReportLinkSerializer})
    def create(self, request: Request, company_id: str, month: str) -> Response:
        """Create a link to the figures of the latest closing of a month. Its page needs no sign-in.

        The URL is returned only once. The link shows the figures of this version, also after the month is closed again.
        """
        first = parse_month_path(month)
        get_closing(self.company, first)
        return self.create_link(actions.create_closing_link, first)
