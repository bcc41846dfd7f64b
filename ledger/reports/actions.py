"""Writing the commentary on a month, and creating and revoking links to its report."""

import secrets
from datetime import date, datetime, timedelta
from uuid import UUID

from django.conf import settings

from companies.auth.api_keys import ExpiresInPast
from companies.change import change_company
from companies.errors import InvalidInputError, PermissionDeniedError
from companies.models import AuditContext, Company
from companies.permissions import Permission, Permissions, sort_permissions
from companies.time_zones import get_today
from companies.versions import check_version
from ledger.calc.months import format_month
from ledger.closings.queries.closings import get_closing
from ledger.models import Closing, ReportCommentary, ReportLink
from ledger.reports.calc.tokens import hash_token
from ledger.reports.queries import check_report_month, find_commentary, list_links

MAX_LINK_LIFETIME = timedelta(days=400)
# What a report shows depends on these.
REPORT_PERMISSIONS = frozenset(
    {
        Permission.FINANCIALS_READ,
        Permission.BALANCES_READ,
        Permission.SUBSCRIPTIONS_READ,
        Permission.PLANNING_READ,
        Permission.COUNTERPARTIES_READ,
    }
)


class ExpiresTooLate(InvalidInputError):
    """A link expires within 400 days."""

    code = "expires_too_late"


class LinkExceedsCreator(PermissionDeniedError):
    """You can only share what you can see yourself. You need the permission financials:read."""

    code = "permission_denied"


def write_commentary(*, company: Company, context: AuditContext, month: date, text: str) -> ReportCommentary:
    """Store the commentary on a month's report.

    Raises:
        MonthWithoutReport, PreconditionFailed
    """
    check_report_month(company, month, today=get_today(company, context.time))
    text = text.replace("\r\n", "\n")  # as browsers send line breaks
    with change_company(company, context=context) as change:
        commentary = find_commentary(company, month)
        check_version(commentary, context.expected_versions)
        if commentary is None:
            return change.create(ReportCommentary(company=company, month=month, text=text), "reportCommentary.created")
        commentary.company = company
        change.update(commentary, "reportCommentary.updated", text=text)
    return commentary


def create_report_link(
    *, company: Company, context: AuditContext, month: date, expires_time: datetime, permissions: Permissions
) -> tuple[ReportLink, str]:
    """Create a link to a month's report; returns it with its URL, which is shown only once.

    ``permissions`` are those of its creator.

    Raises:
        MonthWithoutReport, LinkExceedsCreator, ExpiresInPast, ExpiresTooLate
    """
    check_report_month(company, month, today=get_today(company, context.time))
    return create_link(
        company=company, context=context, month=month, expires_time=expires_time, permissions=permissions
    )


def create_closing_link(
    *, company: Company, context: AuditContext, month: date, expires_time: datetime, permissions: Permissions
) -> tuple[ReportLink, str]:
    """Create a link to the figures of the latest closing of a month; returns it with its URL, shown only once.

    Raises:
        NotFoundError, LinkExceedsCreator, ExpiresInPast, ExpiresTooLate
    """
    closing = get_closing(company, month)
    return create_link(
        company=company,
        context=context,
        month=month,
        expires_time=expires_time,
        permissions=permissions,
        closing=closing,
    )


def create_link(
    *,
    company: Company,
    context: AuditContext,
    month: date,
    expires_time: datetime,
    permissions: Permissions,
    closing: Closing | None = None,
) -> tuple[ReportLink, str]:
    """Create a link; see `create_report_link` and `create_closing_link`."""
    if Permission.FINANCIALS_READ not in permissions:
        raise LinkExceedsCreator
    if expires_time <= context.time:
        raise ExpiresInPast(pointer="#/expiresTime")
    if expires_time > context.time + MAX_LINK_LIFETIME:
        raise ExpiresTooLate(pointer="#/expiresTime")
    token = secrets.token_urlsafe(32)
    with change_company(company, context=context) as change:
        link = ReportLink(
            company=company,
            month=month,
            closing=closing,
            permissions=sort_permissions(permissions & REPORT_PERMISSIONS),
            digest=hash_token(token),
            expires_time=expires_time,
        )
        change.insert(link)
        change.record(link, "reportLink.created", after=build_report_link_snapshot(link))
    return link, f"{settings.APP_URL}/shared/{company.id}/{token}"


def build_report_link_snapshot(link: ReportLink) -> dict[str, object]:
    """Return what the audit log says of a link."""
    version = link.closing.version if link.closing else None
    return {"month": format_month(link.month), "version": version, "expires_time": link.expires_time}


def revoke_link(*, company: Company, context: AuditContext, month: date, link_id: UUID | str, of_closing: bool) -> None:
    """Delete a link; its address is not found from then on.

    Raises:
        NotFoundError, PreconditionFailed
    """
    with change_company(company, context=context) as change:
        link = change.lock(list_links(company, month, of_closings=of_closing), link_id)
        change.delete(link, "reportLink.revoked", before=build_report_link_snapshot(link))
