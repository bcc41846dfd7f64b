"""Pages to check uploaded bank files by a dry run that stores nothing, and to import them once confirmed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from companies.errors import DomainError, InvalidInputError, TooLargeError
from companies.models import parse_id
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission
from ledger.bank_statements.actions import statements
from ledger.bank_statements.actions.statement_results import StatementImportResult
from ledger.bank_statements.errors import ColumnsUnknown, DateOrderUnknown, MappingAmbiguous
from ledger.bank_statements.pages.checked_files import StatementCheck, UploadedStatement
from ledger.bank_statements.pages.proposed_accounts import (
    describe_owners_of_refused,
    lacks_full_number,
    propose_account,
)
from ledger.bank_statements.pages.statement_messages import (
    describe_refusal,
    format_statement_result,
    needs_reading_choice,
)
from ledger.bank_statements.pages.statement_uploads import MAX_NAME_LENGTH, TooManyFiles
from ledger.bank_statements.pages.table_settings import keep_table_settings
from ledger.bank_statements.queries.closing_balances import has_new_closing_balance
from ledger.bank_statements.queries.statement_accounts import AccountDiffers, AccountUnknown
from ledger.files.actions import clean_filename
from ledger.imports import progress
from ledger.imports.actions import uploads
from ledger.imports.pages import csv_import
from ledger.imports.pages.csv_import import MAX_FILES
from ledger.imports.pages.file_accounts import (
    find_account_of_table_upload,
    find_account_of_upload,
    list_importable_accounts,
)
from ledger.imports.pages.new_account import (
    CREATE_FIELD,
    NewAccountForm,
    NewAccounts,
    build_new_account_context,
    build_new_account_form,
    create_new_accounts,
)
from ledger.imports.pages.outcome_messages import describe_import_payments
from ledger.imports.pages.uploaded_files import (
    WaitingFile,
    add_waiting_files,
    get_upload_owner,
    redirect_to_next_file,
)
from ledger.imports.pages.uploaded_invoices import list_uploaded_invoices

PREVIEW_FIELD = "preview"  # in the form that shows the files again, with other choices
BYTES_PER_MIB = 1024 * 1024
OPTION_CHOICES = {
    "split": ("entry", "details"),
    "dateOrder": ("", "dayFirst", "monthFirst"),
    "closed": ("refuse", "skip"),
}


class RepeatedUpload(InvalidInputError):
    """A file is listed twice. Upload the files again."""

    code = "repeated_upload"


class UploadsTooLarge(TooLargeError):
    """The files are too large for one upload. Import them in several steps."""

    code = "body_too_large"


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE)
def check_statements_page(page: CompanyPage) -> HttpResponse:
    """Show what each statement would add and whether its balances agree; store all once confirmed."""
    form_data: Any = page.request.POST if page.is_post else page.request.GET
    named_uploads = parse_named_uploads(form_data)
    if not named_uploads:
        return page.redirect("import-new")
    first_upload_id = named_uploads[0][0]
    if answer := csv_import.build_progress_response(page, first_upload_id):
        return answer
    try:
        check_upload_limits(page, [upload_id for upload_id, _, _ in named_uploads])
    except uploads.UploadExpired:
        return csv_import.redirect_to_new_upload(page)
    except DomainError as refusal:
        return csv_import.render_upload_form(
            page, error=refusal.detail, status=413 if isinstance(refusal, TooLargeError) else 400
        )
    accounts = {str(each.id): each for each in list_importable_accounts(page)}
    files = [UploadedStatement(each, name, accounts.get(account)) for each, name, account in named_uploads]
    choices = {
        name: form_data.get(name) if form_data.get(name) in known else known[0]
        for name, known in OPTION_CHOICES.items()
    }
    with progress.track_import_progress(**get_upload_owner(page), upload_id=first_upload_id, files=len(files)):
        if CREATE_FIELD in page.request.POST:
            return create_accounts_of_files(page, files, choices)
        if not page.is_post or PREVIEW_FIELD in page.request.POST:
            return render_statement_check(page, files, choices)
        return submit_statement_import(page, files, choices)


def check_upload_limits(page: CompanyPage, upload_ids: Sequence[UUID]) -> None:
    """Check the uploads of a URL before reading them: each once, together within the size of one upload.

    Raises TooManyFiles, RepeatedUpload, UploadsTooLarge, UploadExpired.
    """
    if len(upload_ids) > MAX_FILES:
        raise TooManyFiles(_("You can upload at most {most} files at once.").format(most=MAX_FILES))
    if len(set(upload_ids)) < len(upload_ids):
        raise RepeatedUpload
    if (
        sum(uploads.get_upload_size(**get_upload_owner(page), upload_id=each) for each in upload_ids)
        > settings.MAX_UPLOAD_MB * BYTES_PER_MIB
    ):
        raise UploadsTooLarge


def parse_named_uploads(form_data: Any) -> list[tuple[UUID, str, str]]:
    """Return (id, name, chosen account) of each upload in the URL. A single account is chosen for all of them;
    else each has its own, in order.
    """
    texts, accounts = form_data.getlist("upload"), form_data.getlist("account")
    if len(accounts) != len(texts):
        accounts = [accounts[0] if accounts else ""] * len(texts)
    named_uploads = []
    for text, account in zip(texts, accounts, strict=True):
        upload_id, _, name = text.partition(" ")
        if known_id := parse_id(upload_id):
            named_uploads.append((known_id, clean_filename(name)[-MAX_NAME_LENGTH:], account))
    return named_uploads


def render_statement_check(
    page: CompanyPage,
    files: list[UploadedStatement],
    choices: dict[str, str],
    *,
    error: str = "",
    created: NewAccounts | None = None,
) -> HttpResponse:
    """Render the check of all files."""
    checks = preview_statement_files(page, files, choices)
    importable_items = [
        pair
        for statement_check in checks
        if not statement_check.is_refused
        for pair in statement_check.file.query_items
    ]
    results = [statement_check.received for statement_check in checks if statement_check.received]
    count, booked, gone = (sum(getattr(each, name) for each in results) for name in ("count", "booked", "gone"))
    outcomes = [outcome for result in results for outcome in result.statements]
    sent = [*(pair for each in checks for pair in each.file.query_items), *choices.items()]
    return page.render(
        "ledger/bank_statements/statement_check.html",
        status=400 if error else 200,
        tab="transactions",
        error=error,
        looks=checks,
        refused=any(statement_check.is_refused for statement_check in checks),
        waiting=any(statement_check.is_waiting for statement_check in checks),
        others=urlencode([*importable_items, *choices.items()]) if importable_items else "",
        count=count,
        booked=booked,
        gone=gone,
        adds_balances=not (count or booked or gone)
        and has_new_closing_balance(
            page.company, {(each.account.id, each.statement.last_day, each.statement.closing) for each in outcomes}
        ),
        sent=sent,
        accounts=list_importable_accounts(page),
        chosen=choices,
        has_date_order=any(statement_check.has_date_order for statement_check in checks),
        new_accounts=list_new_account_forms(page, checks, created or NewAccounts()),
        uploaded_invoices=list_uploaded_invoices(page),
        **build_new_account_context(page),
    )


def list_new_account_forms(
    page: CompanyPage, checks: list[StatementCheck], created: NewAccounts
) -> list[NewAccountForm]:
    """Return a form for each account that the files have and the company has not; files of one number share it."""
    proposed_accounts = {
        position: account for position, each in enumerate(checks) if (account := each.proposed_account)
    }
    positions_by_account = dict[tuple[str, str], list[int]]()
    for position, account in proposed_accounts.items():
        key = (account.number or str(position), account.currency)
        positions_by_account.setdefault(key, []).append(position)
    return [
        build_new_account_form(
            page,
            first,
            proposed_accounts[first],
            created.forms.get(first),
            file_names=[checks[position].file.name for position in (first, *others)],
        )
        for first, *others in positions_by_account.values()
    ]


def create_accounts_of_files(
    page: CompanyPage, files: list[UploadedStatement], choices: dict[str, str]
) -> HttpResponse:
    """Create new accounts and choose them for their files. Where forms of others remain, they keep what was typed."""
    created = create_new_accounts(page, file_count=len(files))
    files = [replace(file, account=created.accounts.get(position, file.account)) for position, file in enumerate(files)]
    if not created.accounts or created.others_remain:
        return render_statement_check(page, files, choices, error=created.error, created=created)
    query = [*(pair for file in files for pair in file.query_items), *choices.items()]
    return redirect(f"{page.request.path}?{urlencode(query)}")


def preview_statement_files(
    page: CompanyPage, files: list[UploadedStatement], choices: dict[str, str]
) -> list[StatementCheck]:
    """Import each file after those before it, and roll everything back.

    At first a file that names no account gets the one whose saved columns it has.
    """
    is_first = not page.is_post and "split" not in page.request.GET
    checks = []
    with transaction.atomic():
        for file in files:
            progress.start_next_file()
            check = preview_statement_file(page, file, choices)
            if (
                is_first
                and check.lacks_account
                and (account := find_account_of_table_upload(page, file.upload_id, filename=file.name))
            ):
                check = preview_statement_file(page, replace(file, account=account), choices)
            checks.append(check)
        transaction.set_rollback(True)
    return checks


def preview_statement_file(page: CompanyPage, file: UploadedStatement, choices: dict[str, str]) -> StatementCheck:
    """Import a file, or return why it is refused; the caller rolls the import back."""
    try:
        return StatementCheck(file, import_statement_file(page, file, choices))
    except DomainError as refusal:
        return StatementCheck(
            file,
            refusal=describe_owners_of_refused(page, refusal) or describe_refusal(refusal),
            proposed_account=propose_account(page, file.upload_id, refusal),
            is_waiting=needs_reading_choice(refusal),
            asks_date_order=isinstance(refusal, DateOrderUnknown),
            lacks_account=lacks_full_number(refusal) and file.account is None,
        )


def import_statement_file(page: CompanyPage, file: UploadedStatement, choices: dict[str, str]) -> StatementImportResult:
    """Import a file. The account chosen for it is used if the file names none or an unknown one, unless the
    account has another number.
    """
    values: dict[str, Any] = {
        "company": page.company,
        "context": page.audit_context,
        "content": uploads.read_upload(**get_upload_owner(page), upload_id=file.upload_id),
        "filename": file.name,
        "details": choices["split"] == "details",
        "date_order": choices["dateOrder"] or None,
        "skips_closed": choices["closed"] == "skip",
    }
    try:
        return statements.import_statement(**values, account=None)
    except AccountUnknown as error:
        if file.account is None:
            raise
        try:
            return statements.import_statement(**values, account=file.account)
        except AccountDiffers:
            if not error.number:  # a QIF file of several accounts
                raise
            raise error from None


def import_statement_files(
    page: CompanyPage, files: list[UploadedStatement], choices: dict[str, str]
) -> tuple[list[StatementImportResult], list[UploadedStatement]]:
    """Import files; return (what each came to, the files that wait for an answer).

    Raises what ``import_statement_file`` raises.
    """
    received, waiting = list[StatementImportResult](), list[UploadedStatement]()
    for file in files:
        progress.start_next_file()
        try:
            with transaction.atomic():
                received.append(import_statement_file(page, file, choices))
        except (ColumnsUnknown, MappingAmbiguous) as refusal:
            if not needs_reading_choice(refusal):
                raise
            waiting.append(file)
    return received, waiting


def build_waiting_file(page: CompanyPage, file: UploadedStatement) -> WaitingFile:
    account = file.account or find_account_of_upload(page, file.upload_id, filename=file.name)
    return WaitingFile(str(file.upload_id), file.name, str(account.id) if account else "")


def submit_statement_import(page: CompanyPage, files: list[UploadedStatement], choices: dict[str, str]) -> HttpResponse:
    """Store all files or none, but those that wait for an answer; go to the first of them, else to the imports."""
    form = BoundForm(values={})
    with page.handle_errors(form):
        received, waiting = import_statement_files(page, files, choices)
        for file, result in zip([each for each in files if each not in waiting], received, strict=True):
            keep_table_settings(page, file.upload_id, result)
            uploads.delete_upload(**get_upload_owner(page), upload_id=file.upload_id)
        if received:
            paid = describe_import_payments(page, [each.batch for each in received])
            messages.success(page.request, f"{format_statement_result(received)}{paid}")
        add_waiting_files(page, [build_waiting_file(page, file) for file in waiting])
        return redirect_to_next_file(page)
    return render_statement_check(page, files, choices, error=next(iter(form.errors.values()), form.general))
