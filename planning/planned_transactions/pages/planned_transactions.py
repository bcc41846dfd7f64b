"""Pages of planned transactions: list, detail, create, edit and delete."""

import datetime as dt
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.audit.changes import build_history_context
from companies.models import Currency
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission
from ledger.calc.months import add_months
from ledger.calc.recognition import DateRule
from ledger.money.calc.fx import RateLookupError
from ledger.transactions.pages.counterparty_lookup import list_counterparty_suggestions
from ledger.transactions.pages.labels import DATE_RULE_LABELS, load_visible_names, to_choices
from planning.calc.expected_dates import compute_due_date
from planning.calc.settlements import SettlementPart
from planning.models import Frequency, PlannedSource, PlannedTransaction, SettledBy, WeekendShift, attach_overrides
from planning.planned_transactions import forms
from planning.planned_transactions.actions import planned_transactions
from planning.planned_transactions.fields import PLANNED_TEXTS
from planning.planned_transactions.pages import outlook
from planning.planned_transactions.pages.planned_history import list_invoice_files, list_planned_history
from planning.planned_transactions.pages.write_off_undo import get_write_off_undo
from planning.planned_transactions.queries.expected_dates import attach_expected_dates
from planning.planned_transactions.queries.occurrences import MAX_WINDOW_YEARS, find_next_occurrence
from planning.planned_transactions.queries.settled_totals import NOTHING_SETTLED, load_settled_amounts
from planning.planned_transactions.queries.settlements import list_settlement_parts

MONTHS_PER_YEAR = 12  # also the lookahead of the detail page
FREQUENCY_LABELS = {
    Frequency.DAY: gettext_lazy("Every day"),
    Frequency.WEEK: gettext_lazy("Every week"),
    Frequency.MONTH: gettext_lazy("Every month"),
    Frequency.YEAR: gettext_lazy("Every year"),
}

ROWS_PER_PAGE = 25  # each takes several lines on a phone
WEEKEND_SHIFT_LABELS = {
    WeekendShift.NONE: gettext_lazy("Pay on that day"),
    WeekendShift.BEFORE: gettext_lazy("Pay on the Friday before"),
    WeekendShift.AFTER: gettext_lazy("Pay on the Monday after"),
}
SETTLED_BY_LABELS = {
    SettledBy.TRANSACTION: (
        gettext_lazy("One transaction"),
        gettext_lazy("One payment such as rent, payroll or an invoice."),
    ),
    SettledBy.CATEGORY: (
        gettext_lazy("All transactions in its category that month"),
        gettext_lazy("A monthly total, such as all subscription payments. Needs a category."),
    ),
}


@company_page(reads=Permission.PLANNING_READ)
def show_planned_transactions(page: CompanyPage) -> HttpResponse:
    """List planned transactions, latest first, each with its next occurrence."""
    accounts = list_visible_account_names(page)
    plans = PlannedTransaction.objects.for_company(page.company.id).with_counterparty()
    rows, cursor = page.paginate(plans, order=("-id",), limit=ROWS_PER_PAGE)
    attach_expected_dates(attach_overrides(rows))
    missing_currency, settled = "", NOTHING_SETTLED
    try:
        settled = load_settled_amounts(
            rows, start=page.today, end=add_months(page.today, MAX_WINDOW_YEARS * MONTHS_PER_YEAR), today=page.today
        )
    except RateLookupError as error:
        missing_currency = error.currency
    rule_rows = [
        {
            "row": row,
            "next": find_next_occurrence(row, today=page.today, settled=settled),
            "words": outlook.describe_recurrence(row),
            "account": outlook.format_planned_accounts(row, accounts=accounts),
        }
        for row in rows
    ]
    can_write = page.has_permission(Permission.PLANNING_WRITE)
    return page.render(
        "planning/planned_transactions/planned_transactions.html",
        tab="planned",
        rules=rule_rows,
        texts=PLANNED_TEXTS,
        cursor=cursor,
        writes=can_write,
        uploads=page.has_permission(Permission.FILES_READ) and page.has_permission(Permission.FILES_WRITE),
        missing=missing_currency,
    )


def list_visible_account_names(page: CompanyPage) -> dict[UUID, str]:
    """Return the names of accounts by id; empty without the permission to read them."""
    return outlook.list_account_names(page.company) if page.has_permission(Permission.ACCOUNTS_READ) else {}


@company_page(reads=Permission.PLANNING_READ)
def show_planned_transaction(page: CompanyPage, planned_id: UUID) -> HttpResponse:
    """Show a planned transaction, its occurrences within a year, and its overrides."""
    planned = get_planned_transaction_or_404(page, planned_id)
    names, accounts = load_visible_names(page), list_visible_account_names(page)
    account_ids = (planned.account_id, planned.transfer_account_id)
    account_names = {each: names.get_account_name(each) for each in account_ids if each}
    end = add_months(page.today, MONTHS_PER_YEAR)
    upcoming, missing_currency = [], ""
    try:
        upcoming = outlook.list_upcoming_occurrences(page, planned, end=end, accounts=accounts)
    except RateLookupError as error:
        missing_currency = error.currency
    return page.render(
        "planning/planned_transactions/planned_transaction.html",
        tab="planned",
        planned=planned,
        texts=PLANNED_TEXTS,
        words=outlook.describe_recurrence(planned),
        account=outlook.format_planned_accounts(planned, accounts=account_names),
        category=names.get_category_name(planned.category_id) if planned.category_id else "",
        counterparty=names.get_counterparty_name(planned.counterparty) if planned.counterparty else "",
        late=[each for each in upcoming if each.expected.is_open and each.expected.date < page.today],
        coming=[each for each in upcoming if each.is_from(page.today)][: outlook.MAX_OCCURRENCES_SHOWN],
        sees_transactions=page.has_permission(Permission.TRANSACTIONS_READ),
        differing=list(planned.overrides.values()),
        settlements=list_settlement_rows(planned),
        today=page.today,
        undo_write_off=get_write_off_undo(page, return_page="rule"),
        due_date=compute_due_date(planned.build_invoice_dates()) if planned.is_invoice else None,
        files=list_invoice_files(page, planned),
        **build_history_context(page, list_planned_history(page, planned), planned.id),
        missing=missing_currency,
        writes=page.has_permission(Permission.PLANNING_WRITE),
    )


def list_settlement_rows(planned: PlannedTransaction) -> list[tuple[dt.date, SettlementPart]]:
    """Return the settlements of all occurrences with their original date, latest first."""
    rows = [
        (original_date, part)
        for (_, original_date), parts in list_settlement_parts(planned.company_id, [planned.id]).items()
        for part in parts
    ]
    return sorted(rows, key=lambda row: (row[1].date, row[0]), reverse=True)[: outlook.MAX_OCCURRENCES_SHOWN]


# ---------------------------------------------------------------------------------------------- new and changed


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE)
def create_planned_transaction_page(page: CompanyPage) -> HttpResponse:
    """Create a planned transaction."""
    if page.request.method != "POST":
        direction = page.request.GET.get("invoice", "")
        values = {"startDate": page.today.isoformat(), "frequency": "month"}
        values |= {name: page.request.GET[name] for name in forms.PREFILLED_FIELDS if name in page.request.GET}
        if direction in ("in", "out"):
            values |= {"frequency": "", "direction": direction, "invoiceDate": page.today.isoformat()}
        return render_planned_transaction_form(page, forms.build_blank_planned_form(**values))
    form = forms.parse_planned_form(page, planned=None, hidden=list_hidden_fields(page))
    if form.is_valid:
        with page.handle_errors(form):
            values = forms.resolve_new_counterparty(page, form)
            planned = planned_transactions.create_planned_transaction(
                company=page.company, context=page.audit_context, source=PlannedSource.MANUAL, values=values
            )
            message = _("{name} added.").format(name=planned.name)
            return page.redirect_with_message(message, "planned-one", planned_id=planned.id)
    return render_planned_transaction_form(page, form)


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE)
def edit_planned_transaction_page(page: CompanyPage, planned_id: UUID) -> HttpResponse:
    """Edit a planned transaction; overrides of its occurrences stay."""
    planned = get_planned_transaction_or_404(page, planned_id)
    if page.request.method != "POST":
        return render_planned_transaction_form(page, forms.build_planned_form(planned), planned=planned)
    form = forms.parse_planned_form(page, planned=planned, hidden=list_hidden_fields(page))
    if form.is_valid:
        with page.handle_errors(form):
            values = forms.resolve_new_counterparty(page, form)
            changed = planned_transactions.update_planned_transaction(
                company=page.company,
                context=page.audit_context,
                planned_id=planned_id,
                build_values=lambda stored: values,
            )
            message = _("{name} saved.").format(name=changed.name)
            return page.redirect_with_message(message, "planned-one", planned_id=planned_id)
    return render_planned_transaction_form(page, form, planned=planned)


def list_hidden_fields(page: CompanyPage) -> set[str]:
    """Return the form fields whose values the user may not read."""
    permission_by_field = {
        "accountId": Permission.ACCOUNTS_READ,
        "transferAccountId": Permission.ACCOUNTS_READ,
        "categoryId": Permission.CATEGORIES_READ,
        "counterparty": Permission.COUNTERPARTIES_READ,
    }
    return {name for name, permission in permission_by_field.items() if not page.has_permission(permission)}


def render_planned_transaction_form(
    page: CompanyPage, form: BoundForm, *, planned: PlannedTransaction | None = None
) -> HttpResponse:
    names = load_visible_names(page)
    if planned is None and not page.is_post:
        form.values = {**form.values, "accountId": names.get_only_account_id()}
    is_new_invoice = planned is None and page.request.GET.get("invoice") in ("in", "out")
    main_fields = forms.MAIN_INVOICE_FIELDS if is_new_invoice else ()
    return page.render(
        "planning/planned_transactions/planned_transaction_form.html",
        status=400 if form.errors else 200,
        tab="planned",
        form=form,
        planned=planned,
        texts=PLANNED_TEXTS,
        new_invoice=is_new_invoice,
        seen=page.get_seen_version(planned) if planned else "",
        hidden=list_hidden_fields(page),
        accounts=[(str(key), name) for key, name in list_visible_account_names(page).items()],
        categories=names.list_category_choices(),
        currencies=Currency.values,
        frequencies=FREQUENCY_LABELS,
        weekend_shifts=to_choices(WEEKEND_SHIFT_LABELS),
        settled_by=[(value, label, hint) for value, (label, hint) in SETTLED_BY_LABELS.items()],
        date_rules=to_choices(DATE_RULE_LABELS),
        attempts=[("true", _("Yes")), ("false", _("No"))],
        counterparties=list_counterparty_suggestions(page),
        more_open=any(has_value_to_show(form, name) for name in forms.ADVANCED_FIELDS if name not in main_fields),
        schedule_open=any(has_value_to_show(form, name) for name in forms.SCHEDULE_FIELDS),
    )


def has_value_to_show(form: BoundForm, name: str) -> bool:
    """Return whether a field that may be collapsed has an error or a value other than the default."""
    defaults = ("", False, forms.DEFAULT_VALUES.get(name), DateRule.TRANSACTION_DATE.value)
    return name in form.errors or form.values.get(name, "") not in defaults


@company_page(writes=Permission.PLANNING_WRITE)
def delete_planned_transaction_page(page: CompanyPage, planned_id: UUID) -> HttpResponse:
    """Delete a planned transaction."""
    with page.handle_errors():
        planned = planned_transactions.delete_planned_transaction(
            company=page.company, context=page.audit_context, planned_id=planned_id
        )
        return page.redirect_with_message(_("{name} deleted.").format(name=planned.name), "planned")
    return page.redirect("planned")


def get_planned_transaction_or_404(page: CompanyPage, planned_id: UUID) -> PlannedTransaction:
    """Return the planned transaction of the URL with its overrides.

    Raises:
        Http404: there is none.
    """
    rows = PlannedTransaction.objects.for_company(page.company.id).with_counterparty()
    row = get_object_or_404(rows, id=planned_id)
    row.company = page.company
    return attach_overrides([row])[0]
