"""Pages: one transaction with its details, the form to edit it, and its deletion."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _

from companies.audit.changes import build_history_context
from companies.audit.names import find_actor_names
from companies.closed_periods import is_day_closed
from companies.pages.amount_formats import format_money
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission
from ledger.models import (
    TRANSFER_SYSTEM_KEY,
    BulkOperation,
    Categorization,
    File,
    Source,
    Transaction,
    TransactionIsInitialBalance,
)
from ledger.transactions.actions import transactions
from ledger.transactions.actions.bulk_undo import record_undo
from ledger.transactions.fields import NOTES, TRANSACTION_TEXTS
from ledger.transactions.pages.closed_months import ClosedMonthLabels
from ledger.transactions.pages.edit_conflicts import describe_concurrent_changes, describe_current_values
from ledger.transactions.pages.imported_text import translate_description, translate_notes
from ledger.transactions.pages.labels import (
    DATE_RULE_LABELS,
    LINE_LABELS,
    SOURCE_LABELS,
    describe_assigners,
    is_assigner_note,
    load_visible_names,
)
from ledger.transactions.pages.return_urls import (
    build_return_query,
    build_transactions_return_url,
    redirect_to_transaction,
)
from ledger.transactions.pages.transaction_form import (
    bind_transaction_form,
    build_transaction_form_values,
    find_reconciled_day,
    list_fixed_fields,
    render_transaction_form,
)
from ledger.transactions.pages.transaction_history import list_transaction_history
from ledger.transactions.queries.possible_duplicates import MAX_DAYS_APART, list_possible_duplicates
from ledger.transactions.representation import get_settled_occurrences

MAX_UNATTACHED_FILES = 20  # files offered for linking


@company_page(reads=Permission.TRANSACTIONS_READ)
def show_transaction(page: CompanyPage, transaction_id: UUID) -> HttpResponse:
    """Show a transaction with its categorizations, files and history."""
    row = get_transaction_or_404(page, transaction_id)
    categorizations = list(list_transaction_categorizations(row))
    closed = ClosedMonthLabels(page).find_closed_month(row)
    ledger_names, assigner_names = (
        load_visible_names(page),
        describe_assigners(page.company, [part.source_note for part in categorizations]),
    )
    user_ids = {actor for actor in (row.created_user_id, row.last_updated_user_id, row.assigned_user_id) if actor}
    actors = find_actor_names(page, user_ids)
    history = list_transaction_history(page, row, categorizations=categorizations, assigner_names=assigner_names)
    return page.render(
        "ledger/transactions/transaction.html",
        tab="transactions",
        row=row,
        then=page.request.GET.get("then", ""),
        kept=build_return_query(page),
        back=build_transactions_return_url(page, page.request.GET.get("then", "")),
        title=row.from_to or translate_description(row) or _("Transaction"),
        description=translate_description(row),
        texts=[
            (_(text.label), translate_notes(row) if text is NOTES else getattr(row, text.column))
            for text in TRANSACTION_TEXTS
        ],
        account=ledger_names.get_account_name(row.account_id),
        source=SOURCE_LABELS[Source(row.source)],
        parts=[
            build_categorization_line(part, ledger_names)
            | {"assigner": row.categorizations_auto_assigned and assigner_names.get(part.source_note or "")}
            for part in categorizations
        ],
        rest=row.amount_value - row.categorized_value,
        closed=closed,
        may_split=not row.is_initial and (not closed or row.is_open),  # what is open can count in an open month
        may_link=not row.is_initial
        and not closed
        and (row.is_open or any(part.counter_id is None for part in categorizations)),
        may_create_leg=not closed
        and not row.is_open
        and any(is_unlinked_transfer(part) for part in categorizations)
        and page.has_permission(Permission.ACCOUNTS_READ),
        duplicates=list_duplicate_lines(page, row),
        settlements=get_settled_occurrences(company_id=row.company_id, transaction_ids=[row.id]).get(row.id, []),
        sees_plans=page.has_permission(Permission.PLANNING_READ),
        files=list(list_attached_files(page, row)),
        loose=list(list_unattached_files(page)),
        keeps=page.has_permission(Permission.FILES_WRITE),
        **build_history_context(page, history, row.id),
        sees_history=page.has_permission(Permission.AUDIT_READ),
        sees_files=page.has_permission(Permission.FILES_READ),
        writes=page.has_permission(Permission.TRANSACTIONS_WRITE),
        reconciled_until=find_reconciled_day(row) if page.has_permission(Permission.TRANSACTIONS_WRITE) else None,
        creator=actors.get(row.created_user_id or "", _("System")),
        changer=actors.get(row.last_updated_user_id or "", _("System")),
        assignee=actors.get(row.assigned_user_id or ""),
    )


def list_duplicate_lines(page: CompanyPage, row: Transaction) -> list[dict[str, Any]]:
    """Return the payments that the transaction may repeat or that may repeat it, each with its pair to dismiss."""
    if row.amount_value >= 0 or row.pending or not row.from_to or row.transferred_value:
        return []
    duplicates = list_possible_duplicates(page.company, start=row.date, end=row.date + MAX_DAYS_APART, of=row)
    return [{"row": pair.earlier if pair.row.id == row.id else pair.row, "pair": pair} for pair in duplicates]


def list_transaction_categorizations(row: Transaction) -> Any:
    """Return a transaction's categorizations in order, with related rows."""
    rows = Categorization.objects.for_company(row.company_id).filter(transaction_id=row.id)
    return rows.select_related("category", "counterparty", "counter__transaction").order_by("position", "id")


def is_unlinked_transfer(categorization: Categorization) -> bool:
    """Return whether a categorization says that money moved between own accounts, but not to where."""
    return categorization.counter_id is None and categorization.category.system_key == TRANSFER_SYSTEM_KEY


def build_categorization_line(categorization: Categorization, ledger_names: Any) -> dict[str, Any]:
    """Return a categorization as a template row."""
    partner = categorization.counter.transaction if categorization.counter else None
    return {
        "part": categorization,
        "category": ledger_names.get_category_name(categorization.category_id),
        "lines": [(LINE_LABELS[line], value) for line, value in categorization.split.items()],  # type: ignore[index]
        "counterparty": ledger_names.get_counterparty_name(categorization.counterparty)
        if categorization.counterparty
        else "",
        "findable": ledger_names.can_read_counterparties,
        "rule": DATE_RULE_LABELS[categorization.rule],  # type: ignore[index]
        "note": "" if is_assigner_note(categorization.source_note) else categorization.source_note,
        "partner": partner,
        "partner_account": ledger_names.get_account_name(partner.account_id) if partner else "",
    }


def list_attached_files(page: CompanyPage, row: Transaction) -> Any:
    """Return the transaction's files, if the user may see files."""
    if not page.has_permission(Permission.FILES_READ):
        return ()
    return File.objects.for_company(page.company.id).for_transaction(row.id).order_by("-created_time", "-id")


def list_unattached_files(page: CompanyPage) -> Any:
    """Return the latest files without a transaction."""
    if not page.has_permission(Permission.FILES_WRITE):
        return ()
    return (
        File.objects.for_company(page.company.id).unattached().order_by("-created_time", "-id")[:MAX_UNATTACHED_FILES]
    )


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE)
def edit_transaction_page(page: CompanyPage, transaction_id: UUID) -> HttpResponse:
    """Edit a transaction's own fields, as PUT does; fields fixed by a transfer or initial balance are not offered."""
    row = get_transaction_or_404(page, transaction_id)
    fixed_names = list_fixed_fields(
        row, linked=row.transferred_value != 0, closed=is_day_closed(page.company, row.date)
    )
    if not page.is_post:
        return render_transaction_form(
            page, BoundForm(values=build_transaction_form_values(row)), row=row, fixed=fixed_names
        )
    form = bind_transaction_form(page, row)
    if form.is_valid:
        with page.handle_errors(form):
            saved = transactions.update_transaction(
                company=page.company,
                context=page.audit_context,
                transaction_id=row.id,
                values=form.data,
                categorization_follows=True,
            )
            return redirect_to_transaction(page, row.id, describe_saved_transaction(saved, before=row))
    form.values = {**build_transaction_form_values(row), **form.values}
    if page.is_outdated:
        row = get_transaction_or_404(page, row.id)
        form.errors = {
            "row": " ".join((describe_concurrent_changes(page, [row]), describe_current_values(page, row, form.values)))
        }
    return render_transaction_form(page, form, row=row, fixed=fixed_names)


def describe_saved_transaction(saved: Transaction, *, before: Transaction) -> str:
    """Return the message after saving; with what a new amount leaves uncategorized."""
    message = _("Transaction saved.")
    rest = saved.amount_value - saved.categorized_value
    if not rest or not saved.categorized_value or saved.amount_value == before.amount_value:
        return message
    text = _("{amount} is now uncategorized.")
    return f"{message} {text.format(amount=format_money(rest, saved.amount_currency))}"


@company_page(writes=Permission.TRANSACTIONS_WRITE)
def delete_transaction_page(page: CompanyPage, transaction_id: UUID) -> HttpResponse:
    """Delete a transaction, as DELETE does; the list offers to undo it."""
    with page.handle_errors():
        rows = Transaction.objects.for_company(page.company.id).filter(id=transaction_id)
        with record_undo(
            company=page.company, context=page.audit_context, operation=BulkOperation.DELETE, rows=rows
        ) as run:
            transactions.delete_transaction(
                company=page.company, context=page.audit_context, transaction_id=transaction_id
            )
        messages.success(page.request, _("Transaction deleted."))
        return redirect(build_transactions_return_url(page, page.request.POST.get("then", ""), run=str(run.id)))
    return page.redirect("transaction", transaction_id=transaction_id)


def get_transaction_or_404(page: CompanyPage, transaction_id: UUID) -> Transaction:
    """Return the transaction with this id. Raises Http404."""
    return get_object_or_404(Transaction.objects.for_company(page.company.id), id=transaction_id)


def reject_initial_balance(page: CompanyPage, row: Transaction) -> HttpResponse | None:
    """Return a redirect with an error message if the transaction is an initial balance, else None."""
    if not row.is_initial:
        return None
    messages.error(page.request, TransactionIsInitialBalance().detail)
    return redirect_to_transaction(page, row.id)
