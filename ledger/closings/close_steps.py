"""The steps of a month-end in their order: what is left in each, and where it is done."""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple
from uuid import UUID

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from companies.locales import get_current_locale
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.calc.months import format_month, get_last_day_of_month
from ledger.closings.queries.checks import CloseChecks, StatementAccount
from ledger.models import TRANSFER_SYSTEM_KEY, Category, ReportCommentary, Transaction
from ledger.rules.queries.transfer_proposals import list_recent_transfer_proposals
from ledger.transactions.filters import filter_transactions


class ListedAccount(NamedTuple):
    """An account to look at, and why."""

    id: UUID
    name: str
    reason: str = ""


class CheckLine(NamedTuple):
    """How much of one thing is unfinished, and the page or the accounts that list exactly that."""

    label: str
    unfinished: int
    url: str = ""
    accounts: Sequence[ListedAccount] = ()
    is_required: bool = True  # whether the month closes only once it is done or acknowledged
    note: str = ""  # what it means while it is unfinished
    state: str = ""  # instead of a number, where there is nothing to count


class CloseStep(NamedTuple):
    """One step: its checks, and a link to the page on which it is done."""

    title: str
    lines: Sequence[CheckLine] = ()
    url: str = ""
    link_label: str = ""
    statementless_accounts: Sequence[ListedAccount] = ()  # to which it does not apply


def list_close_steps(page: CompanyPage, checks: CloseChecks, months: Sequence[date]) -> list[CloseStep]:
    """Return the steps before closing months, in the order in which they are done; empty without months."""
    if not months:
        return []
    inbox_url = build_url(page, "inbox")
    can_import = page.has_permission(Permission.TRANSACTIONS_WRITE)
    report_url = reverse("report", args=[page.company.id, format_month(months[-1])])
    return [
        CloseStep(
            _("Import statements"),
            list_statement_lines(checks),
            build_url(page, "import-new") if can_import else "",
            _("Import a file"),
            [ListedAccount(account.id, account.name) for account in checks.statementless_accounts],
        ),
        CloseStep(_("Review"), list_review_lines(page, checks, months), inbox_url, _("Open inbox")),
        CloseStep(
            _("Transfers"),
            [build_suggested_transfer_line(page, months), build_transfer_line(page, months)],
            f"{inbox_url}#pairs-title",
            _("Show suggested transfers"),
        ),
        CloseStep(_("Plan against actual"), (), build_comparison_url(page, months[-1]), _("Compare with plan")),
        CloseStep(_("Report"), [build_commentary_line(page, months[-1], report_url)], report_url, _("View report")),
    ]


def list_statement_lines(checks: CloseChecks) -> list[CheckLine]:
    """Return the checks of bank statements: accounts that differ from theirs or lack its end, and those without any."""
    unreconciled = [
        ListedAccount(account.id, account.name, describe_unreconciled_account(account))
        for account in checks.unreconciled_accounts
    ]
    without_statement = [ListedAccount(account.id, account.name) for account in checks.accounts_without_statement]
    return [
        CheckLine(_("Accounts that are not reconciled"), len(unreconciled), accounts=unreconciled),
        CheckLine(
            _("Accounts without a closing balance"),
            len(without_statement),
            accounts=without_statement,
            is_required=False,
            note=_("They are not compared with the bank."),
        ),
    ]


def describe_unreconciled_account(account: StatementAccount) -> str:
    """Return why an account is not reconciled."""
    if account.has_mismatch or account.last_day is None:
        return _("out of balance")
    return _("statements end on {day}").format(day=get_current_locale().format_day(account.last_day))


def list_review_lines(page: CompanyPage, checks: CloseChecks, months: Sequence[date]) -> list[CheckLine]:
    """Return the checks of transactions and planned transactions."""
    first, last = months[0], get_last_day_of_month(months[-1])
    days = f"startDate={first}&endDate={last}"
    # Pending transactions may be older than the first booked one.
    pending_days = days if page.company.closed_through else f"endDate={last}"
    transactions_url = build_url(page, "transactions")
    overdue_url = f"{build_url(page, 'planned')}?overdueTo={last}#late-title"
    return [
        CheckLine(
            _("Uncategorized transactions"), checks.uncategorized, f"{transactions_url}?{days}&open=true&pending=false"
        ),
        CheckLine(_("Pending transactions"), checks.pending, f"{transactions_url}?{pending_days}&pending=true"),
        CheckLine(_("Overdue planned transactions"), checks.overdue, overdue_url),
        CheckLine(_("Missing exchange rates"), len(checks.missing_rates), build_url(page, "exchange-rates")),
    ]


def build_suggested_transfer_line(page: CompanyPage, months: Sequence[date]) -> CheckLine:
    """Return how many transfers that the inbox suggests have a transaction in the months."""
    first, last = months[0], get_last_day_of_month(months[-1])
    pairs = list_recent_transfer_proposals(page.company, today=page.today)
    count = sum(any(first <= leg.day <= last for leg in (pair.source, pair.target)) for pair in pairs)
    return CheckLine(_("Suggested transfers"), count, f"{build_url(page, 'inbox')}#pairs-title", is_required=False)


def build_transfer_line(page: CompanyPage, months: Sequence[date]) -> CheckLine:
    """Return how many booked transactions of the months are categorized as Transfers but not linked, counted with the
    filters of the list.
    """
    label = _("Transfers without the other transaction")
    transfer_category = Category.objects.for_company(page.company.id).for_system_key(TRANSFER_SYSTEM_KEY).first()
    if transfer_category is None:
        return CheckLine(label, 0, is_required=False)
    filters = QueryDict(mutable=True)
    filters.update(
        {
            "startDate": str(months[0]),
            "endDate": str(get_last_day_of_month(months[-1])),
            "categoryId": str(transfer_category.id),
            "transfer": "false",
            "pending": "false",
        }
    )
    rows = Transaction.objects.for_company(page.company.id)
    count = filter_transactions(rows, filters, company_id=page.company.id).count()
    url = f"{build_url(page, 'transactions')}?{filters.urlencode()}"
    return CheckLine(label, count, url, is_required=False, note=_("They count as money in and out."))


def build_commentary_line(page: CompanyPage, month: date, report_url: str) -> CheckLine:
    """Return whether the report of a month has its commentary."""
    label = _("Commentary on {month}").format(month=get_current_locale().format_month(month, full=True))
    commentaries = ReportCommentary.objects.for_company(page.company.id).filter(month=month).exclude(text="")
    is_written = commentaries.exists()
    state = _("Written") if is_written else _("Missing")
    return CheckLine(label, 0 if is_written else 1, report_url, is_required=False, state=state)


def build_comparison_url(page: CompanyPage, month: date) -> str:
    """Return the address of the profit and loss of a month beside its plan."""
    days = f"startDate={month}&endDate={get_last_day_of_month(month)}"
    return f"{build_url(page, 'profit-and-loss')}?{days}&comparison=plan"


def build_url(page: CompanyPage, url_name: str) -> str:
    return reverse(url_name, args=[page.company.id])
