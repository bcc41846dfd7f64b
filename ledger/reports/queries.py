"""Months that have a report, their commentary, and links to it."""

from datetime import date, datetime
from uuid import UUID

from django.db.models import QuerySet

from companies.errors import NotFoundError
from companies.models import Company, parse_id
from ledger.calc.months import get_first_day_of_month
from ledger.closings.queries.closings import find_first_booked_month
from ledger.models import CONTENT_COLUMNS, ReportCommentary, ReportLink
from ledger.reports.calc.tokens import hash_token


class MonthWithoutReport(NotFoundError):
    """There is no report for this month. Reports start with the first booked month and end with the current one."""


def check_report_month(company: Company, month: date, *, today: date) -> None:
    """Raise MonthWithoutReport for a month before the first booked transaction, or after the current one."""
    first = find_first_booked_month(company)
    if first is None or not first <= month <= get_first_day_of_month(today):
        raise MonthWithoutReport


def find_commentary(company: Company, month: date) -> ReportCommentary | None:
    """Return the commentary on a month, None where nothing was written."""
    return ReportCommentary.objects.for_company(company.id).filter(month=month).first()


def list_links(company: Company, month: date, *, of_closings: bool) -> QuerySet[ReportLink]:
    """Return the links to a month's report, or to the figures of its closings."""
    rows = ReportLink.objects.for_company(company.id).filter(month=month, closing__isnull=not of_closings)
    return rows.select_related("closing").defer(*(f"closing__{column}" for column in CONTENT_COLUMNS))


def find_link_by_token(*, company_id: str, token: str, now: datetime) -> ReportLink | None:
    """Return the link with this token; None if it is unknown, revoked or expired."""
    company_uuid: UUID | None = parse_id(company_id)
    if company_uuid is None:
        return None
    rows = ReportLink.objects.for_company(company_uuid).active(now).filter(digest=hash_token(token))
    return rows.select_related("company", "closing").first()
