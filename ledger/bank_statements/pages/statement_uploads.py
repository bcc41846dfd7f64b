"""Pages to upload bank files. A single CSV file goes to the CSV pages, where its columns are chosen."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from companies.errors import DomainError, InvalidInputError, TooLargeError
from companies.pages.context import CompanyPage, company_page
from companies.permissions import Permission
from ledger.bank_statements.errors import StatementFormatUnknown
from ledger.bank_statements.parsers import formats
from ledger.files.actions import clean_filename
from ledger.imports.actions import uploads
from ledger.imports.pages import csv_import
from ledger.imports.pages.csv_import import MAX_FILES
from ledger.imports.pages.uploaded_files import get_upload_owner
from ledger.imports.pages.uploaded_invoices import is_invoice_file, store_invoice_files

MAX_NAME_LENGTH = 100


class TooManyFiles(InvalidInputError):
    """Too many files. Upload fewer at once."""

    code = "too_many_files"


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE, uploads=True)
def upload_statements_page(page: CompanyPage) -> HttpResponse:
    """Upload statements, several at once, or one CSV file.

    A script that shows upload progress asks only for the next page's URL and goes there itself.
    """
    if not page.is_post:
        return csv_import.render_upload_form(page)
    response = store_uploaded_files(page)
    if response.has_header("Location") and page.request.headers.get("Accept") == "application/json":
        return JsonResponse({"location": response["Location"]})
    return response


def store_uploaded_files(page: CompanyPage) -> HttpResponse:
    """Store the files and go to their check."""
    if answer := store_invoices_of_upload(page):
        return answer
    files = page.request.FILES.getlist("file")
    if len(files) < 2 and not any(needs_no_column_choice(each) for each in files):
        return csv_import.upload_csv_page(page)
    try:
        readable_files, refusals = split_readable_files(files)
        stored_uploads = [
            (store_statement_upload(page, file), clean_filename(file.name or "file")[-MAX_NAME_LENGTH:])
            for file in readable_files
        ]
    except DomainError as refusal:
        return csv_import.render_upload_form(
            page, error=refusal.detail, status=413 if isinstance(refusal, TooLargeError) else 400
        )
    for rejected_file in refusals:
        messages.error(page.request, _("{why} The file was skipped.").format(why=rejected_file.detail))
    query = [("upload", f"{upload_id} {name}") for upload_id, name in stored_uploads]
    if page.request.POST.get("account"):
        query.append(("account", page.request.POST["account"]))
    return redirect(f"{reverse('statement-check', args=[page.company.id])}?{urlencode(query)}")


def store_invoices_of_upload(page: CompanyPage) -> HttpResponse | None:
    """Store the invoices among the files, and leave the others for the import. A corrected table is no new upload.

    Returns:
        The answer, if there are no others; else None.
    """
    if "replaces" in page.request.POST:
        return None
    files = page.request.FILES.getlist("file")
    is_accepted = len(files) <= MAX_FILES
    invoice_files = [file for file in files if is_accepted and is_invoice_file(read_beginning(file))]
    stored, refusals = store_invoice_files(page, invoice_files)
    statement_files = [file for file in files if file not in invoice_files]
    page.request.FILES.setlist("file", statement_files)
    if not stored and not statement_files and refusals:
        return csv_import.render_upload_form(page, error=" ".join(refusals), status=400)
    for refusal in refusals:
        messages.error(page.request, refusal)
    if statement_files or not stored:
        return None
    if len(stored) == 1 and page.has_permission(Permission.FILES_READ):
        return page.redirect("document", file_id=stored[0].id)
    return page.redirect("imports")


def needs_no_column_choice(file: Any) -> bool:
    """Whether a file alone is a statement or cannot be a table; other errors are found by its reader."""
    first_bytes = read_beginning(file)
    return formats.detect_file_kind(first_bytes) not in (None, formats.CSV) or not first_bytes.strip()


def detect_upload_kind(file: Any) -> str | None:
    return formats.detect_file_kind(read_beginning(file))


def read_beginning(file: Any) -> bytes:
    first_bytes: bytes = file.read(formats.DETECTION_CHARACTERS * 2)
    file.seek(0)
    return first_bytes


def split_readable_files(files: Sequence[Any]) -> tuple[list[Any], list[DomainError]]:
    """Return (readable files, why each of the others is not).

    Raises TooManyFiles, and StatementFormatUnknown if no file is readable.
    """
    if len(files) > MAX_FILES:
        raise TooManyFiles(_("You can upload at most {most} files at once.").format(most=MAX_FILES))
    readable_files = [file for file in files if detect_upload_kind(file) is not None]
    refusals: list[DomainError] = [
        StatementFormatUnknown(describe_unreadable_file(file)) for file in files if file not in readable_files
    ]
    if not readable_files:
        raise StatementFormatUnknown(" ".join(file.detail for file in refusals))
    return readable_files, refusals


def describe_unreadable_file(file: Any) -> str:
    """Describe why a file is not readable."""
    message = _("“{name}” is not a supported statement file.")
    if not read_beginning(file).strip():
        message = _("“{name}” is empty. Export it again.")
    return message.format(name=clean_filename(file.name or "file")[:60])


def store_statement_upload(page: CompanyPage, file: Any) -> UUID:
    return uploads.store_upload(**get_upload_owner(page), file=file)
