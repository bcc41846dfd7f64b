"""Pages of imports: the list, and undoing one."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.audit.names import find_actor_names
from companies.pages.amount_formats import format_count
from companies.pages.context import CompanyPage, company_page
from companies.permissions import Permission
from ledger.imports.actions import import_undo
from ledger.imports.pages.outcome_messages import count_import_payments, format_import_payments
from ledger.imports.pages.uploaded_files import list_waiting_files
from ledger.imports.pages.uploaded_invoices import list_uploaded_invoices
from ledger.imports.queries.known_rows import count_known_rows
from ledger.imports.queries.rule_counts import count_categorized_by_rules
from ledger.models import Account, ImportBatch

PAGE_SIZE = 12  # imports on a page: on a telephone each takes some 300 pixels


@company_page(reads=Permission.TRANSACTIONS_READ)
def show_imports(page: CompanyPage) -> HttpResponse:
    """Show the company's imports, the latest first, including undone ones."""
    rows, cursor = page.paginate(
        ImportBatch.objects.for_company(page.company.id), order=("-created_time", "-id"), limit=PAGE_SIZE
    )
    actors = find_actor_names(page, {row.created_user_id for row in rows if row.created_user_id})
    accounts = load_account_names(page, rows)
    counts = count_known_rows(page.company, rows)
    payments = count_import_payments(page, [row.id for row in rows])
    rule_counts = count_categorized_by_rules(page.company, [row.id for row in rows])
    lines = [
        {
            "row": row,
            "is_workbook": row.format == "csv" and (row.filename or "").lower().endswith((".xlsx", ".xlsm")),
            "who": actors.get(row.created_user_id or "", _("System")),
            "accounts": [accounts[each] for each in row.account_ids if each in accounts],
            "booked": counts[row.id].booked,
            "known": counts[row.id].known,
            "payments": format_import_payments(payments.get(row.id)),
            "categorized_by_rules": rule_counts.get(row.id, 0),
        }
        for row in rows
    ]
    writes = page.has_permission(Permission.TRANSACTIONS_WRITE)
    waiting_files = [(file.name, file.build_url(page)) for file in list_waiting_files(page)] if writes else []
    return page.render(
        "ledger/imports/imports.html",
        tab="transactions",
        imports=lines,
        cursor=cursor,
        writes=writes,
        waiting_files=waiting_files,
        uploaded_invoices=list_uploaded_invoices(page),
    )


def load_account_names(page: CompanyPage, rows: list[ImportBatch]) -> dict[UUID, str]:
    """Return the names of the imports' accounts, if the user may see them."""
    if not page.has_permission(Permission.ACCOUNTS_READ):
        return {}
    account_ids = {account_id for row in rows for account_id in row.account_ids}
    return dict(Account.objects.for_company(page.company.id).filter(id__in=account_ids).values_list("id", "name"))


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE)
def undo_import_page(page: CompanyPage, import_id: UUID) -> HttpResponse:
    """Show what undoing an import would delete and how much of it was changed; undo it once confirmed."""
    arguments: dict[str, Any] = {"company": page.company, "context": page.audit_context, "import_id": import_id}
    with page.handle_errors():
        if page.is_post:
            return page.redirect_with_message(format_import_undo(import_undo.undo_import(**arguments)), "imports")
        expected_outcome = import_undo.preview_import_undo(**arguments)
        row = ImportBatch.objects.for_company(page.company.id).get(id=import_id)
        return page.render("ledger/imports/import_undo.html", tab="transactions", row=row, would=expected_outcome)
    return page.redirect("imports")


def format_import_undo(outcome: import_undo.ImportUndoOutcome) -> str:
    """Describe what undoing an import did."""
    sentences = [ngettext("{count} transaction deleted.", "{count} transactions deleted.", outcome.deleted)]
    if outcome.changed:
        sentences.append(_("{changed} of them had been edited."))
    if outcome.pending:
        pending_sentence = ngettext(
            "{pending} transaction is pending again.", "{pending} transactions are pending again.", outcome.pending
        )
        sentences.append(pending_sentence)
    counts = {"count": outcome.deleted, "changed": outcome.changed, "pending": outcome.pending}
    return " ".join(sentences).format(**{name: format_count(count) for name, count in counts.items()})
