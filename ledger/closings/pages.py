"""Pages of period close: close a month, the history, and what has changed since a month was reported."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, ngettext_lazy

from companies.api.fields import parse_month_path
from companies.audit.changes import AuditChange, build_audit_changes
from companies.audit.names import find_actor_names
from companies.errors import NotFoundError
from companies.locales import get_current_locale
from companies.models import AuditEntry
from companies.pages.amount_formats import format_count
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm, bind_form
from companies.permissions import Permission
from ledger import hooks
from ledger.calc.months import add_months, format_month, get_first_day_of_month, list_months
from ledger.closings import actions
from ledger.closings.calc.figures import FigureKey
from ledger.closings.close_steps import list_close_steps
from ledger.closings.queries import closings as closing_queries
from ledger.closings.queries.checks import check_months
from ledger.closings.queries.differences import Difference, list_closing_differences
from ledger.closings.serializers import CloseRequest, ReopenRequest
from ledger.models import (
    Account,
    Category,
    Closing,
    PlType,
    translate_category_name,
)
from ledger.money.calc.fx import RateLookupError
from ledger.money.rates import get_rate_table
from ledger.transactions.pages.labels import LINE_LABELS, join_texts

CHECK_LABELS = {  # by their names in the API
    "uncategorized": ngettext_lazy("{count} uncategorized transaction", "{count} uncategorized transactions"),
    "pending": ngettext_lazy("{count} pending transaction", "{count} pending transactions"),
    "unreconciledAccounts": ngettext_lazy(
        "{count} account that is not reconciled", "{count} accounts that are not reconciled"
    ),
    "overdue": ngettext_lazy("{count} overdue planned transaction", "{count} overdue planned transactions"),
}
READ, MANAGE = Permission.FINANCIALS_READ, Permission.CLOSINGS_MANAGE


@company_page(reads=READ, writes=MANAGE)
def show_closings(page: CompanyPage) -> HttpResponse:
    """Show the months that can be closed, with their checks, and the closed ones. The form closes a month."""
    if page.is_post:
        form = bind_form(CloseRequest, page.request.POST, texts=("month", "note"), flags=("acknowledge",))
        if form.is_valid:
            with page.handle_errors(form):
                months = closing_queries.list_months_to_close(page.company, form.data["month"])
                actions.close_months(company=page.company, context=page.audit_context, **form.data)
                message = ngettext("{months} is closed.", "{months} are closed.", len(months))
                return page.redirect_with_message(message.format(months=format_month_names(months)), "closings")
        return render_closings(page, form)
    month = page.request.GET.get("month", "")
    return render_closings(page, BoundForm(values={"month": month, "acknowledge": False}))


def render_closings(page: CompanyPage, form: BoundForm) -> HttpResponse:
    months = list_closable_months(page)
    chosen_month = next((month for month in months if format_month(month) == form.values["month"]), None)
    # Without a choice the first open month, not the one of the opening balances alone.
    chosen_month = chosen_month or closing_queries.find_first_month_with_transactions(page.company, months)
    chosen_month = chosen_month or (months[-1] if months else None)
    through = closing_queries.list_months_to_close(page.company, chosen_month) if chosen_month else []
    result = check_months(page.company, through, today=page.today, rates=get_rate_table())
    without_transactions = closing_queries.list_months_without_transactions(page.company, through[:-1])
    rows = closing_queries.list_closings(page.company)
    last_note = next((row.note or "" for row in rows if row.month == chosen_month), "")  # if it is closed again
    actor_names = find_actor_names(
        page, {each for row in rows for each in (row.created_user_id, row.reopened_user_id) if each}
    )
    return page.render(
        "ledger/closings/closings.html",
        status=400 if form.errors else 200,
        tab="reports",
        form=form,
        note=form.values["note"] if page.is_post else last_note,
        months=[(format_month(month), get_current_locale().format_month(month, full=True)) for month in months],
        closing_count=len(through),
        closing_months=format_month_names(through),
        earlier_months=format_month_names(through[:-1]),
        months_without_transactions=format_month_names(without_transactions),
        without_transactions_count=len(without_transactions),
        last_month=get_current_locale().format_month(through[-1], full=True) if through else "",
        chosen=format_month(chosen_month) if chosen_month else "",
        steps=list_close_steps(page, result, through),
        missing_rates=", ".join(result.missing_rates),
        passed=result.passed,
        rows=[(row, format_month(row.month), *describe_closing(row, actor_names)) for row in rows],
        manages=page.has_permission(MANAGE),
        now=format_month(page.today),
    )


def format_month_names(months: Sequence[date]) -> str:
    """Format consecutive months as text: two by their names, more as a range. A year in common is named once."""
    if not months:
        return ""
    locale, first, last = get_current_locale(), months[0], months[-1]
    last_name = locale.format_month(last, full=True)
    if first == last:
        return last_name
    first_name = locale.format_month(first, full=True, year=first.year != last.year)
    return (
        _("{first} to {last}").format(first=first_name, last=last_name)
        if len(months) > 2
        else join_texts([first_name, last_name])
    )


def list_closable_months(page: CompanyPage) -> list[date]:
    """Return the open months that are over, latest first."""
    last = add_months(get_first_day_of_month(page.today), -1)
    months: list[date] = closing_queries.list_months_to_close(page.company, last)
    return months[::-1]


def describe_closing(row: Closing, actor_names: dict[str, str]) -> tuple[str, str, str]:
    """Return what was unfinished when a month was closed, and the names of who closed and who reopened it."""
    service, checks = _("System"), describe_acknowledged_checks(row)
    return (
        checks,
        actor_names.get(row.created_user_id or "", service),
        actor_names.get(row.reopened_user_id or "", service),
    )


def describe_acknowledged_checks(closing: Closing) -> str:
    """Return what was unfinished when a month was closed; empty if nothing was, or it was not stored."""
    checks = closing.acknowledged_checks
    if not checks:
        return ""
    counts = {name: len(value) if isinstance(value, list) else value for name, value in checks.items()}
    items = [
        (label % counts[name]).format(count=format_count(counts[name]))
        for name, label in CHECK_LABELS.items()
        if counts[name]
    ]
    return _("Closed with {items}").format(items=join_texts(items))


# ---------------------------------------------------------------------------------------------- one month


@company_page(reads=READ, writes=MANAGE)
def show_closing(page: CompanyPage, month: str) -> HttpResponse:
    """Show a closed month: its versions, and each changed figure as reported, now, and why. The form reopens it."""
    first = parse_path_month(month)
    form = BoundForm(values={"reason": ""})
    if page.is_post:
        form = bind_form(ReopenRequest, page.request.POST, texts=("reason",))
        if form.is_valid:
            with page.handle_errors(form):
                actions.reopen_months(company=page.company, context=page.audit_context, month=first, **form.data)
                message = _("{month} is open again.").format(month=get_current_locale().format_month(first, full=True))
                return page.redirect_with_message(message, "closing", month=month)
    versions = closing_queries.list_closing_versions(page.company, first)
    shown_version = next((each for each in versions if str(each.version) == page.request.GET.get("version")), None)
    shown_version = shown_version or (versions[0] if versions else None)
    if shown_version is None:
        raise Http404
    missing_currency, rows = "", list[dict[str, Any]]()
    try:
        rows = describe_differences(page, list_closing_differences(page.company, shown_version))
        rows += list_report_rows(page, shown_version)
    except RateLookupError as missing:
        missing_currency = missing.currency
    actor_names = find_actor_names(
        page, {each for row in versions for each in (row.created_user_id, row.reopened_user_id) if each}
    )
    later = page.company.closed_through
    return page.render(
        "ledger/closings/closing.html",
        status=400 if form.errors else 200,
        tab="reports",
        form=form,
        month=month,
        title=get_current_locale().format_month(first, full=True),
        closing=shown_version,
        versions=[(row, *describe_closing(row, actor_names)) for row in versions],
        rows=rows,
        missing_currency=missing_currency,
        reopens=format_month_names(list_months(first, later)) if later and first <= later else "",
        manages=page.has_permission(MANAGE),
        audits=page.has_permission(Permission.AUDIT_READ),
    )


def parse_path_month(text: str) -> date:
    """Parse the month of a URL path. Raises Http404."""
    try:
        return parse_month_path(text)
    except NotFoundError:
        raise Http404 from None


def describe_differences(page: CompanyPage, differences: Sequence[Difference]) -> list[dict[str, Any]]:
    """Return the differences with labels, and with the audit entries behind them where the viewer may read the log."""
    labels = FigureLabels(page, [each.change.key for each in differences])
    entries = list_audit_changes(page, {entry_id for each in differences for entry_id in each.because})
    return [
        {
            "label": labels.format_label(difference.change.key),
            "was": difference.change.was,
            "now": difference.change.is_now,
            "difference": difference.change.difference,
            "count": len(difference.because),
            "entries": [entries[entry_id] for entry_id in difference.because if entry_id in entries],
            "rates": difference.rates,
        }
        for difference in differences
    ]


def list_report_rows(page: CompanyPage, closing: Closing) -> list[dict[str, Any]]:
    """Return what the report of the month shows beside its figures and has changed, as rows of differences.

    Raises RateLookupError.
    """
    return [
        {
            "label": difference.label,
            "was": difference.was,
            "now": difference.now,
            "difference": difference.now - difference.was,
            "url": difference.url,
        }
        for differences in hooks.list_report_differences.run(page, closing)
        for difference in differences
    ]


def list_audit_changes(page: CompanyPage, ids: Iterable[UUID]) -> dict[UUID, AuditChange]:
    """Return audit entries as changes, by id; none without the permission to read the log."""
    wanted = list(ids)
    if not wanted or not page.has_permission(Permission.AUDIT_READ):
        return {}
    rows = list(AuditEntry.objects.for_company(page.company.id).filter(id__in=wanted))
    return dict(zip((row.id for row in rows), build_audit_changes(page, rows), strict=True))


class FigureLabels:
    """Labels of figures on a page."""

    def __init__(self, page: CompanyPage, keys: Sequence[FigureKey]) -> None:
        """Look up the names of accounts and categories; two statements."""
        accounts = {key.account_id for key in keys if key.account_id}
        categories = {key.category_id for key in keys if key.category_id}
        company_id = page.company.id
        self.accounts = dict(Account.objects.for_company(company_id).filter(id__in=accounts).values_list("id", "name"))
        self.categories = dict(
            Category.objects.for_company(company_id).filter(id__in=categories).values_list("id", "name")
        )

    def format_label(self, key: FigureKey) -> str:
        match key.figure:
            case "balance":
                return _("Balance of {account}").format(account=self.get_account_name(key))
            case "inflow":
                return _("Inflow of {account}").format(account=self.get_account_name(key))
            case "outflow":
                return _("Outflow of {account}").format(account=self.get_account_name(key))
            case "profitAndLoss":
                name = self.categories.get(UUID(key.category_id))
                category = translate_category_name(name) if name else _("a deleted category")
                return f"{LINE_LABELS[PlType(str(key.pl_type))]}: {category}"
        basis = "CMRR" if key.mrr_type == "cmrr" else "MRR"
        return f"{basis}: {MOVEMENT_LABELS[str(key.movement)]()}"

    def get_account_name(self, key: FigureKey) -> str:
        return self.accounts.get(UUID(key.account_id)) or _("a deleted account")


MOVEMENT_LABELS = {
    "start": lambda: _("at the start"),
    "new": lambda: _("new"),
    "reactivate": lambda: _("reactivation"),
    "upgrade": lambda: _("expansion"),
    "downgrade": lambda: _("contraction"),
    "cancel": lambda: _("churn"),
    "currency": lambda: _("exchange rates"),
    "end": lambda: _("at the end"),
}
