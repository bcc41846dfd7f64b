"""Closing months, reopening them, and verifying the chain of digests."""

from collections.abc import Sequence
from datetime import date
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import CharField, Func

from companies.change import CompanyChange, change_company
from companies.errors import ConflictError, InvalidInputError
from companies.models import AuditContext, AuditEntry, Company
from companies.time_zones import get_today
from ledger import hooks
from ledger.calc.months import format_month, get_last_day_of_month
from ledger.closings.calc.digests import compute_digest
from ledger.closings.calc.figures import Figure
from ledger.closings.queries.checks import CloseChecks, check_months
from ledger.closings.queries.closings import find_first_booked_month, list_months_to_close
from ledger.closings.queries.figures import compute_figures
from ledger.models import CONTENT_COLUMNS, ChangeEntry, Closing, FigureChange, RateLoad, Reopening, ReportLink
from ledger.money.rates import get_rate_table, get_rates_version
from notifications.notify import notify_closing_reopened


class MonthNotOver(InvalidInputError):
    """The month is not over yet. Close it after its last day."""

    code = "month_not_over"


class MonthBeforeData(InvalidInputError):
    """The month lies before the first booked transaction."""

    code = "month_before_data"


class AlreadyClosed(ConflictError):
    """The month is already closed."""

    code = "already_closed"


class NotClosed(ConflictError):
    """The month is not closed."""

    code = "not_closed"


class CloseChecksFailed(ConflictError):
    """Some checks failed. Finish the listed items, or acknowledge them to close anyway."""

    code = "close_checks_failed"

    def __init__(self, checks: CloseChecks):
        super().__init__()
        self.extensions = {"checks": checks.to_json()}


def close_months(
    *, company: Company, context: AuditContext, month: date, note: str | None = None, acknowledge: bool = False
) -> Closing:
    """Close a month and every open month before it; returns the closing of the month.

    Each month gets a closing with its figures, and an entry in the audit log.

    Raises:
        MonthNotOver, AlreadyClosed, MonthBeforeData, CloseChecksFailed.
        RateLookupError: a currency has no exchange rate.
    """
    today = get_today(company, context.time)
    if get_last_day_of_month(month) >= today:
        raise MonthNotOver
    with change_company(company, context=context) as change:
        first = find_first_booked_month(company)
        if first is None or month < first:
            raise MonthBeforeData
        if company.closed_through is not None and month <= company.closed_through:
            raise AlreadyClosed
        rates = get_rate_table()
        months = list_months_to_close(company, month)
        checks = check_months(company, months, today=today, rates=rates)
        if checks.missing_rates or not (acknowledge or checks.passed):
            raise CloseChecksFailed(checks)
        figures = compute_figures(company, months, rates=rates)
        closings = build_closings(change, figures, note=note)
        add_report_contents(closings, checks)
        Closing.objects.bulk_create(closings)
        for closing in closings:
            after = {"month": format_month(closing.month), "version": closing.version, "digest": closing.digest}
            change.record(closing, "closing.closed", after=after)
    return closings[-1]


def build_closings(change: CompanyChange, figures: dict[date, list[Figure]], *, note: str | None) -> list[Closing]:
    """Build the closings of months, oldest first, each with the digest of the one stored before it.

    The note belongs to the last of them, which was named.
    """
    company = change.company
    rows = Closing.objects.for_company(company.id)
    last = rows.defer(*CONTENT_COLUMNS).order_by("-number").first()
    number, previous_digest = (last.number, last.digest) if last else (0, None)
    versions = dict(rows.order_by("month", "version").values_list("month", "version"))
    log_number = AuditEntry.objects.for_company(company.id).get_newest_number()
    version_of_rates = find_rates_version()
    closings = []
    for month, figures_of_month in figures.items():
        number += 1
        closing = Closing(
            company=company,
            month=month,
            version=versions.get(month, 0) + 1,
            number=number,
            note=note if month == max(figures) else None,
            figures=[figure.to_json() for figure in figures_of_month],
            previous_digest=previous_digest,
            log_number=log_number,
            rates_version=version_of_rates,
            created_time=change.context.time,
            created_user_id=change.context.actor,
        )
        closing.digest = previous_digest = compute_closing_digest(closing)
        closings.append(closing)
    return closings


def add_report_contents(closings: Sequence[Closing], checks: CloseChecks) -> None:
    """Add what a closing stores beside its figures: what reports show, and the checks that were acknowledged.

    Checks cover all months that are closed at once, so they stand with the last one.
    """
    company, months = closings[-1].company, [closing.month for closing in closings]
    plans = {
        month: plan for by_month in hooks.list_plans_to_report.run(company, months) for month, plan in by_month.items()
    }
    report_figures = {
        month: figures
        for by_month in hooks.list_figures_to_report.run(company, months)
        for month, figures in by_month.items()
    }
    for closing in closings:
        closing.plan, closing.report_figures = plans.get(closing.month), report_figures.get(closing.month)
    closings[-1].acknowledged_checks = None if checks.passed else checks.to_json()


def find_rates_version() -> int:
    """Return the number of the newest load of exchange rates by which all postings have been converted."""
    pending_load_id = RateLoad.objects.pending_revaluation().order_by("id").values_list("id", flat=True).first()
    return get_rates_version() if pending_load_id is None else pending_load_id - 1


def compute_closing_digest(closing: Closing) -> str:
    """Compute the digest of a stored closing."""
    figures = [Figure.from_json(each) for each in closing.figures]
    return compute_digest(
        company_id=str(closing.company_id),
        month=format_month(closing.month),
        version=closing.version,
        figures=[{**figure.key.to_json(), "value": figure.value} for figure in figures],
        previous_digest=closing.previous_digest,
    )


def reopen_months(*, company: Company, context: AuditContext, month: date, reason: str) -> Closing:
    """Reopen a closed month and all later ones; returns the closing of the month. Owners and admins are notified.

    Raises:
        NotClosed.
    """
    with change_company(company, context=context) as change:
        closings = list(
            Closing.objects.not_reopened(company.id).filter(month__gte=month).defer(*CONTENT_COLUMNS).order_by("-month")
        )
        if not closings or closings[-1].month != month:
            raise NotClosed
        reopenings = [
            Reopening(
                company=company,
                closing=closing,
                reason=reason,
                created_time=context.time,
                created_user_id=context.actor,
            )
            for closing in closings
        ]
        Reopening.objects.bulk_create(reopenings)
        for closing, reopening in zip(closings, reopenings, strict=True):
            closing.reopening = reopening
            after = {"month": format_month(closing.month), "version": closing.version, "reason": reason}
            change.record(closing, "closing.reopened", after=after)
        notify_closing_reopened(
            company_id=company.id,
            context=context,
            closing_id=closings[-1].id,
            month=format_month(month),
            last_month=format_month(closings[0].month),
            reason=reason,
        )
    return closings[-1]


def copy_closings(*, source: Company, company: Company, counts: dict[str, int], context: AuditContext) -> None:
    """Copy closings and reopenings to a copy of the company, with digests that name the copy.

    What changed reported figures before stays in the original's audit log.
    """
    log_number = AuditEntry.objects.for_company(company.id).get_newest_number()
    previous_digest = None
    closings = list(Closing.objects.for_company(source.id).order_by("number"))
    for closing in closings:
        closing.company, closing.log_number, closing.previous_digest = company, log_number, previous_digest
        closing.digest = previous_digest = compute_closing_digest(closing)
    reopenings = list(Reopening.objects.for_company(source.id))
    for reopening in reopenings:
        reopening.company = company
    Closing.objects.bulk_create(closings)
    Reopening.objects.bulk_create(reopenings)


def delete_closings(company: Company) -> None:
    """Delete the closings of a company and links to them; the database refuses it except for demos and sandboxes."""
    for model in (FigureChange, ChangeEntry, Reopening, ReportLink, Closing):
        model.objects.for_company(company.id).delete()


# ---------------------------------------------------------------------------------------------- derived rows

_CHECK_NOW = "SET CONSTRAINTS ledger_figure_change_allowed IMMEDIATE"
_CHECK_LATER = "SET CONSTRAINTS ledger_figure_change_allowed DEFERRED"


def check_figure_changes(*, company: Company, entries: Sequence[AuditEntry]) -> None:
    """Let the database check the figures that a change touched, and store the change's audit entries with them.

    Raises:
        django.db.IntegrityError: a figure of a closed month differs.
    """
    with connection.cursor() as cursor:
        cursor.execute(_CHECK_NOW)
        cursor.execute(_CHECK_LATER)
        if not entries:
            return
    current_token = Func(function="ledger_change_token", output_field=CharField())
    changes = FigureChange.objects.for_company(company.id).filter(token=current_token).order_by()
    token = next(iter(changes.values_list("token", flat=True)[:1]), None)
    if token is not None:
        numbers: dict[UUID, Any] = dict(
            AuditEntry.objects.for_company(company.id)
            .filter(id__in=[entry.id for entry in entries], time__gte=min(entry.time for entry in entries))
            .values_list("id", "number")
        )
        ChangeEntry.objects.bulk_create(
            ChangeEntry(company_id=company.id, token=token, entry_id=entry_id, number=number)
            for entry_id, number in numbers.items()
        )


def find_chain_differences(company_id: UUID) -> list[str]:
    """Return one line for each closing whose digest does not match its figures or the closing stored before it."""
    faults = []
    previous: Closing | None = None
    for closing in Closing.objects.for_company(company_id).order_by("number").iterator():
        name = f"closing {closing.month:%Y-%m} version {closing.version}"
        if closing.digest != compute_closing_digest(closing):
            faults.append(f"{name}: its digest is not that of its figures")
        if closing.previous_digest != (previous.digest if previous else None):
            faults.append(f"{name}: previousDigest is not the digest of the closing before it")
        if closing.number != (previous.number + 1 if previous else 1):
            faults.append(f"{name}: a closing before it is missing")
        previous = closing
    return faults
