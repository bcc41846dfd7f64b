"""Pages of a CSV import: upload, check by a dry run that stores nothing, and import once confirmed."""

from dataclasses import dataclass, replace
from itertools import islice
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.auth import login_redirects
from companies.errors import DomainError, InvalidInputError, TooLargeError
from companies.models import parse_id
from companies.pages.amount_formats import format_count
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission
from companies.uploaded_files import find_uploaded_file
from ledger.calc.delimited_text import Lines
from ledger.imports import progress
from ledger.imports.actions import uploads
from ledger.imports.actions.imports import import_transactions
from ledger.imports.calc.column_mapping import normalize_csv_settings
from ledger.imports.calc.detection import find_configured_table
from ledger.imports.calc.detection_result import Detection
from ledger.imports.encoding_choices import find_encoding_choices
from ledger.imports.forms import FIELD_LABELS, SETTING_LABELS, ColumnsForm, to_form_data
from ledger.imports.pages.chosen_rows import build_import_rows, describe_other_account
from ledger.imports.pages.file_accounts import (
    describe_number_owners,
    find_account_of_upload,
    find_chosen_account,
    list_importable_accounts,
)
from ledger.imports.pages.mapping_questions import (
    EXAMPLE_ROWS_SHOWN,
    AskedQuestion,
    build_asked_encoding,
    build_asked_question,
)
from ledger.imports.pages.new_account import (
    CREATE_FIELD,
    build_new_account_context,
    build_new_account_form,
    can_create_account,
    create_new_accounts,
    propose_account_of_table,
)
from ledger.imports.pages.outcome_messages import find_other_currency, format_import_outcome
from ledger.imports.pages.reported_balances import find_opening_balance
from ledger.imports.pages.saved_settings import (
    ANSWER,
    apply_answers,
    build_csv_settings,
    find_saved_settings,
    read_lines,
)
from ledger.imports.pages.uploaded_files import get_upload_owner, redirect_to_next_file
from ledger.imports.pages.uploaded_invoices import list_uploaded_invoices
from ledger.imports.queries.account_numbers import find_other_account
from ledger.imports.row_errors import format_balance_fault
from ledger.imports.table_items import TableItems, describe_reader_error, detect_account_mapping, read_uploaded_table
from ledger.models import Account

MAX_FILES = 20  # statements at once; their names and ids stand in an address
ROWS_SHOWN = 10
MAX_NAME_LENGTH = 100  # of the file, as it is shown
BAD_ROWS_SHOWN = 100
KNOWN_ROWS_SHOWN = 100
BAD_ROWS_MESSAGE = gettext_lazy("Some rows have errors. Fix the file, change the columns or skip those rows.")
LINES_SHOWN = 5  # of the file as it is, while its columns are not known


class NoFile(InvalidInputError):
    """Select a file."""

    code = "no_file"


# ---------------------------------------------------------------------------------------------- upload


def upload_csv_page(page: CompanyPage) -> HttpResponse:
    """Store an uploaded CSV file and go to its check. Choices made for a file that it replaces are kept."""
    try:
        upload_id = store_csv_upload(page)
    except DomainError as error:
        return render_upload_form(page, error=error.detail, status=413 if isinstance(error, TooLargeError) else 400)
    posted = page.request.POST
    form_data = {name: posted[name] for name in posted if name not in ("csrfmiddlewaretoken", "replaces", "name")}
    name = getattr(page.request.FILES["file"], "name", None) or "file"
    if not form_data.get("account") and (account := find_account_of_upload(page, upload_id, filename=name)):
        form_data["account"] = str(account.id)
    form_data["name"] = name[-MAX_NAME_LENGTH:]
    address = reverse("import-check", args=[page.company.id, upload_id])
    address_with_choices = f"{address}?{urlencode(form_data)}"
    return redirect(address_with_choices if len(address_with_choices) <= login_redirects.MAX_URL_LENGTH else address)


def render_upload_form(page: CompanyPage, *, error: str = "", status: int = 200) -> HttpResponse:
    """Render the upload form."""
    form_data = page.request.POST or page.request.GET
    return page.render(
        "ledger/imports/import_new.html",
        status=status,
        tab="transactions",
        error=error,
        accounts=list_importable_accounts(page),
        can_create_account=can_create_account(page),
        chosen=form_data.get("account"),
        most=settings.MAX_UPLOAD_MB,
        most_files=MAX_FILES,
        uploaded_invoices=list_uploaded_invoices(page) if error else [],
    )


def store_csv_upload(page: CompanyPage) -> UUID:
    """Store the uploaded file, in place of the one that it replaces. Raises DomainError if it is no table."""
    file = find_uploaded_file(page.request.FILES)
    if file is None:
        raise NoFile
    read_uploaded_table(file.read())
    file.seek(0)
    replaced = parse_id(page.request.POST.get("replaces", ""))
    upload_id = uploads.store_upload(**get_upload_owner(page), file=file)
    if replaced:
        uploads.delete_upload(**get_upload_owner(page), upload_id=replaced)
    return upload_id


def build_progress_response(page: CompanyPage, upload_id: UUID) -> HttpResponse | None:
    """Return the progress for a script that asks for it at the page's own URL; else None."""
    if page.is_post or page.request.headers.get("Accept") != "application/json":
        return None
    return JsonResponse(
        progress.read_import_progress(**get_upload_owner(page), upload_id=upload_id),
        headers={"Cache-Control": "no-store"},
    )


# ---------------------------------------------------------------------------------------------- check and import


@dataclass(frozen=True, slots=True)
class CsvImportCheck:
    """One check of an uploaded file: its table and how it is read. Nothing is imported while questions are open."""

    page: CompanyPage
    upload_id: UUID
    lines: Lines
    form: ColumnsForm
    is_first: bool
    detection: Detection | None = None
    questions: tuple[AskedQuestion, ...] = ()
    answers: tuple[tuple[str, str], ...] = ()
    rejected_account: BoundForm | None = None  # form of a new account with errors

    def render(self, *, status: int, **context: Any) -> HttpResponse:
        return self.page.render(
            "ledger/imports/import_check.html",
            status=status,
            tab="transactions",
            upload_id=self.upload_id,
            lines=self.lines[:LINES_SHOWN],
            form=self.form,
            first_look=self.is_first,
            questions=self.questions,
            answers=self.answers,
            lost=describe_lost_columns(self.detection),
            changed=describe_changed_settings(self.detection),
            uploaded_invoices=list_uploaded_invoices(self.page),
            **self.build_account_context(),
            **context,
        )

    def build_account_context(self) -> dict[str, Any]:
        """Return what is asked while no account is chosen that the file may be of; nothing afterwards."""
        account, detection = find_chosen_account(self.page, self.form.data), self.detection
        if account and not (detection and find_other_account(account, detection.table, detection.mapping)):
            return {}
        detection = detection or detect_account_mapping(None, self.lines, {})
        proposed_account = propose_account_of_table(detection, base_currency=self.page.company.base_currency)
        number_owners = describe_number_owners(self.page, proposed_account.number)
        return {
            "asks_account": True,
            "proposed_account": proposed_account,
            "new_account": build_new_account_form(self.page, 0, proposed_account, self.rejected_account),
            "number_owners": number_owners,
            **({} if number_owners else build_new_account_context(self.page)),
        }

    @property
    def duplicates(self) -> str:
        return "keep" if self.form.cleaned_data["keep_duplicates"] else "skip"


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE)
def check_csv_import_page(page: CompanyPage, upload_id: UUID) -> HttpResponse:
    """Show what would be stored and what is wrong; import it once confirmed."""
    if answer := build_progress_response(page, upload_id):
        return answer
    form_data: Any = page.request.POST if page.request.method == "POST" else page.request.GET
    try:
        content = uploads.read_upload(**get_upload_owner(page), upload_id=upload_id)
    except uploads.UploadExpired:
        return redirect_to_new_upload(page)
    lines = read_lines(form_data, find_chosen_account(page, form_data), content)
    import_check = build_csv_import_check(page, upload_id, lines, content)
    if CREATE_FIELD in page.request.POST:
        return create_account_of_file(import_check)
    if error := find_import_obstacle(import_check, find_chosen_account(page, form_data)):
        return import_check.render(status=200 if import_check.is_first else 400, error=error)
    if import_check.questions or not import_check.form.is_valid():
        return import_check.render(status=200 if import_check.is_first else 400)
    rows = build_import_rows(import_check.form)
    error = (
        rows
        if isinstance(rows, str)
        else describe_other_account(import_check.form.get_chosen_account(), rows.table, rows.mapping)
    )
    if isinstance(rows, str) or error:
        return import_check.render(status=400, error=error)
    if page.request.method != "POST":
        return preview_csv_import(import_check, rows)
    with progress.track_import_progress(**get_upload_owner(page), upload_id=upload_id):
        return submit_csv_import(import_check, rows)


def create_account_of_file(import_check: CsvImportCheck) -> HttpResponse:
    """Create the account of the file, and go back to the review with the account chosen."""
    page = import_check.page
    created = create_new_accounts(page, file_count=1)
    if not created.accounts:
        return replace(import_check, rejected_account=created.forms.get(0)).render(status=400, error=created.error)
    query = {"account": str(created.accounts[0].id), "name": import_check.form.data.get("name", "")}
    return redirect(f"{page.request.path}?{urlencode(query | dict(import_check.answers))}")


def find_import_obstacle(import_check: CsvImportCheck, account: Account | None) -> str:
    """Return why no answer makes the file fit the account; empty where one may."""
    detection = import_check.detection
    if detection is None:
        return ""
    if detection.fault:
        return describe_reader_error(detection.fault)
    return describe_other_account(account, detection.table, detection.mapping) if account else ""


def redirect_to_new_upload(page: CompanyPage) -> HttpResponse:
    """Say that the upload has expired, and go to a new upload."""
    hint = _("Check the list of imports: you may have imported it already.")
    messages.error(page.request, f"{uploads.UploadExpired().detail} {hint}")
    return page.redirect("import-new")


def build_csv_import_check(page: CompanyPage, upload_id: UUID, lines: Lines, content: bytes) -> CsvImportCheck:
    """Return the check with the choices that were sent; at first with those kept for the account, or detected ones.

    It is the first check as well if the number of lines above the headings changed: the columns are other ones then.
    """
    form_data: Any = page.request.POST if page.request.method == "POST" else page.request.GET
    accounts, account = list_importable_accounts(page), find_chosen_account(page, form_data)
    account_key = form_data.get("account", "")
    answers = tuple((name, form_data[name]) for name in form_data if name.startswith(ANSWER) and form_data[name])
    lines_above = form_data.get("skip_above") or "0"
    headings_moved = (
        "date" in form_data and form_data.get("found_above") not in (None, "", lines_above) and lines_above.isdecimal()
    )
    is_first = "date" not in form_data
    if not is_first and not headings_moved:
        table = find_configured_table(
            lines,
            {
                "skipAbove": parse_posted_number(form_data, "skip_above"),
                "skipBelow": parse_posted_number(form_data, "skip_below"),
            },
        )
        return CsvImportCheck(
            page, upload_id, lines, ColumnsForm(form_data, table=table, accounts=accounts), is_first=False
        )
    settings = apply_answers(find_saved_settings(account, lines), answers)
    if headings_moved:
        settings = {"skipAbove": int(lines_above[:6]), "skipBelow": parse_posted_number(form_data, "skip_below")}
    detection = detect_account_mapping(account, lines, settings)
    initial_data = to_form_data(
        detection.mapping,
        detection.table,
        account=account_key,
        name=form_data.get("name", ""),
        settings=normalize_csv_settings(settings),
    )
    initial_data |= {
        name: form_data[name] for name in ("encoding", "separator", "keep_duplicates") if form_data.get(name)
    }
    form = ColumnsForm(initial_data, table=detection.table, accounts=accounts, is_first=is_first)
    currency = account.default_currency if account else page.company.base_currency
    questions = (
        [build_asked_question(detection, question, currency) for question in detection.questions] if account else []
    )
    given = {**settings, **({"encoding": initial_data["encoding"]} if initial_data.get("encoding") else {})}
    choices = (
        find_encoding_choices(content, settings=given, account=account, count=EXAMPLE_ROWS_SHOWN) if account else []
    )
    if choices:
        questions.insert(0, build_asked_encoding(choices))
    return CsvImportCheck(page, upload_id, lines, form, is_first, detection, tuple(questions), answers)


def parse_posted_number(form_data: Any, name: str) -> int:
    """Return a posted whole number, or 0."""
    text = str(form_data.get(name, ""))
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else 0


def describe_lost_columns(detection: Detection | None) -> str:
    """Return the labels of kept fields whose columns are not in this file."""
    return ", ".join(str(FIELD_LABELS[name]) for name in detection.lost_fields) if detection else ""


def describe_changed_settings(detection: Detection | None) -> str:
    """Return the labels of kept settings that the file contradicts."""
    return ", ".join(str(SETTING_LABELS[name]) for name in detection.changed_settings) if detection else ""


SKIP_REASON_LABELS = {
    "balance": gettext_lazy("balances and totals"),
    "footer": gettext_lazy("lines without a date"),
    "empty": gettext_lazy("rows without an amount"),
    "status": gettext_lazy("excluded statuses"),
    "account": gettext_lazy("other accounts"),
}


def preview_csv_import(
    import_check: CsvImportCheck, rows: TableItems, *, status: int = 200, error: str = ""
) -> HttpResponse:
    """Render the dry run; it stores nothing."""
    form = BoundForm(values={})
    with import_check.page.handle_errors(form):
        request = rows.build_request(dry_run=True, on_error="skip", duplicates=import_check.duplicates, closed="skip")
        outcome = import_transactions(
            company=import_check.page.company, context=import_check.page.audit_context, request=request
        )
        account = import_check.form.get_chosen_account()
        changes_ledger = bool(outcome.count or outcome.booked)
        return import_check.render(
            status=status,
            error=error,
            outcome=outcome,
            account=account,
            first_rows=list(islice(outcome.rows, ROWS_SHOWN)),
            known_rows=outcome.known_items[:KNOWN_ROWS_SHOWN],
            bad_rows=rows.list_bad_rows(outcome.errors[:BAD_ROWS_SHOWN]),
            balances=rows.balances,
            balance_fault=format_balance_fault(rows.balance_fault) if changes_ledger else "",
            left_out=[
                f"{SKIP_REASON_LABELS[reason]} ({format_count(count)})"
                for reason, count in rows.left_out_counts.items()
            ],
            other_currency=find_other_currency(outcome.rows, account),
            changes_ledger=changes_ledger,
            opening=find_opening_balance(import_check.page, account, rows, request) if changes_ledger else None,
        )
    return import_check.render(status=400, error=form.general)


def submit_csv_import(import_check: CsvImportCheck, rows: TableItems) -> HttpResponse:
    """Import the rows and go to the list of imports; on an error render the rows again."""
    page, account, form = import_check.page, import_check.form.get_chosen_account(), BoundForm(values={})
    on_error = "skip" if "leave_out" in page.request.POST else "abort"
    with page.handle_errors(form):
        closed = "skip" if "leave_closed" in page.request.POST else "refuse"
        request = rows.build_request(on_error=on_error, duplicates=import_check.duplicates, closed=closed)
        request.skip_possible_duplicates = "leave_possible" in page.request.POST
        sets_opening = "set_opening" in page.request.POST
        outcome = uploads.import_upload(
            company=page.company,
            context=page.audit_context,
            upload_id=import_check.upload_id,
            request=request,
            account_id=account.id,
            name=import_check.form.cleaned_data["name"],
            csv_settings=build_csv_settings(import_check.form, rows)
            if page.has_permission(Permission.ACCOUNTS_WRITE)
            else None,
            balances=rows.balances,
            opens_account=sets_opening and find_opening_balance(page, account, rows, request) is not None,
        )
        messages.success(page.request, format_import_outcome(page, outcome, account, rows.balance_fault))
        return redirect_to_next_file(page)
    if not uploads.is_upload_stored(**get_upload_owner(page), upload_id=import_check.upload_id):
        return redirect_to_new_upload(page)
    return preview_csv_import(import_check, rows, status=400, error=form.errors.get("", str(BAD_ROWS_MESSAGE)))
