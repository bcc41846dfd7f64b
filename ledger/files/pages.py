"""Pages: files (list, upload, detail, delete) and their links to transactions."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from csp.constants import SELF
from csp.decorators import csp_replace, csp_update
from django.contrib import messages
from django.db.models import Q
from django.http import FileResponse, Http404, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.errors import InvalidInputError, NotFoundError
from companies.models import Currency, parse_id
from companies.pages.amount_formats import AmountParseError, format_count, parse_typed_amount
from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm
from companies.permissions import Permission
from ledger import hooks
from ledger.files import actions
from ledger.files.content_type import JPEG, PDF, PNG
from ledger.files.forms import bind_file_form, build_file_form_values
from ledger.files.invoice_details import KIND_LABELS, PARSE_ERROR_TEXTS, PARSE_STATUS_LABELS, build_invoice_context
from ledger.models import File, ParseError, ParseStatus, Transaction
from ledger.transactions.pages.labels import load_visible_names, to_choices
from ledger.transactions.pages.return_urls import (
    build_return_query,
    get_return_url,
    redirect_to_list,
    redirect_to_transaction,
)

READ, WRITE = Permission.FILES_READ, Permission.FILES_WRITE
IMAGE_CONTENT_TYPES = {PNG.content_type, JPEG.content_type}
INLINE_CONTENT_TYPES = IMAGE_CONTENT_TYPES | {PDF.content_type}  # other types could run scripts on our origin
PDF_VIEWER_POLICY = {"object-src": [SELF]}  # browsers show a PDF as an object in an empty page
FRAMED_PDF_POLICY = {"frame-src": [SELF]}  # the page of a file shows its PDF in a frame
PDF_FRAME_POLICY = {"frame-ancestors": [SELF]}
MAX_FILES_PER_UPLOAD = 20  # per upload
MAX_CANDIDATES = 20  # transactions offered
MAX_LISTED_TRANSACTIONS = 3  # transactions shown per row of the list
MAX_SEARCH_LENGTH = 200


class FileRequired(InvalidInputError):
    """Select a file."""

    code = "required"


class TooManyFiles(InvalidInputError):
    """Upload at most 20 files at once."""

    code = "too_many_files"


# ---------------------------------------------------------------------------------------------- all of them


@company_page(reads=READ, writes=WRITE, uploads=True)
def show_files(page: CompanyPage) -> HttpResponse:
    """Show the files, latest first, and upload new ones."""
    form = BoundForm(values={"file": ""})
    if page.is_post:
        with page.handle_errors(form):
            created_files = upload_files(page, transaction_ids=[])
            message = ngettext("{count} file uploaded.", "{count} files uploaded.", len(created_files))
            message = message.format(count=format_count(len(created_files)))
            return respond_to_upload(page, redirect_after_upload(page, created_files, message))
    unattached_only, status = page.request.GET.get("loose") == "true", page.request.GET.get("status", "")
    files = File.objects.for_company(page.company.id).with_transaction_ids(page.company.id)
    files = files.unattached() if unattached_only else files
    files = files.filter(parse_status=status) if status in ParseStatus.values else files
    file_rows, cursor = page.paginate(files, order=("-created_time", "-id"))
    titles = get_transaction_titles(
        page, [each for row in file_rows for each in row.transaction_ids[:MAX_LISTED_TRANSACTIONS]]
    )
    return page.render(
        "ledger/files/files.html",
        status=400 if form.errors else 200,
        tab="transactions",
        form=form,
        rows=[
            {
                "row": row,
                "status": str(PARSE_STATUS_LABELS[ParseStatus(row.parse_status)]),
                "beside": [
                    (transaction_id, titles[transaction_id])
                    for transaction_id in row.transaction_ids[:MAX_LISTED_TRANSACTIONS]
                    if transaction_id in titles
                ],
                "more": len(row.transaction_ids) - MAX_LISTED_TRANSACTIONS,
            }
            for row in file_rows
        ],
        cursor=cursor,
        list_query=page.request.GET.urlencode(),
        loose=unattached_only,
        chosen=status,
        statuses=to_choices(PARSE_STATUS_LABELS),
        sees_transactions=page.has_permission(Permission.TRANSACTIONS_READ),
        writes=page.has_permission(WRITE),
    )


def redirect_after_upload(page: CompanyPage, files: Sequence[File], message: str) -> HttpResponse:
    """Redirect to the page of a single electronic invoice or dropped file, otherwise to the list of files."""
    is_dropped = page.request.POST.get("from") == "drop"
    if len(files) == 1 and (is_dropped or files[0].parse_status != ParseStatus.OPEN):
        return page.redirect_with_message(message, "document", file_id=files[0].id)
    return page.redirect_with_message(message, "documents")


def upload_files(page: CompanyPage, *, transaction_ids: list[UUID]) -> Sequence[File]:
    """Create the uploaded files, all or none.

    Raises:
        FileRequired, TooManyFiles, and what `create_files` raises.
    """
    files: Any = page.request.FILES.getlist("file")
    if not files:
        raise FileRequired(pointer="#/file")
    if len(files) > MAX_FILES_PER_UPLOAD:
        raise TooManyFiles(pointer="#/file")
    return actions.create_files(
        company=page.company, context=page.audit_context, files=files, transaction_ids=transaction_ids
    )


def respond_to_upload(page: CompanyPage, response: HttpResponse) -> HttpResponse:
    """Answer an upload: the script on the page asks for the redirect address as JSON and follows it itself."""
    if page.request.headers.get("Accept") == "application/json":
        return JsonResponse({"location": response["Location"]})
    return response


def get_transaction_titles(page: CompanyPage, ids: Sequence[UUID]) -> dict[UUID, str]:
    """Return transaction id -> title; empty if the user may not read transactions."""
    if not page.has_permission(Permission.TRANSACTIONS_READ):
        return {}
    rows = Transaction.objects.for_company(page.company.id).filter(id__in=set(ids))
    return {row.id: row.from_to or row.description or _("Transaction") for row in rows}


# ---------------------------------------------------------------------------------------------- one


@company_page(reads=READ, writes=WRITE)
def show_file(page: CompanyPage, file_id: UUID) -> HttpResponse:
    """Show a file with its linked transactions and others it could belong to; a POST updates its metadata."""
    row = get_file_or_404(page, file_id)
    form = bind_file_form(page, row) if page.is_post else BoundForm(values=build_file_form_values(row))
    if page.is_post and form.is_valid:
        with page.handle_errors(form):
            actions.update_file(company=page.company, context=page.audit_context, file_id=file_id, values=form.data)
            messages.success(page.request, _("File details saved."))
            return redirect_to_file(page, file_id)
    text = page.request.GET.get("q", "").replace("\0", "").strip()[:MAX_SEARCH_LENGTH]
    names, sees_transactions = load_visible_names(page), page.has_permission(Permission.TRANSACTIONS_READ)
    transactions = (
        Transaction.objects.for_company(page.company.id).filter(id__in=row.transaction_ids).order_by("-date", "-id")
    )
    writes = page.has_permission(WRITE)
    suggestions = list_attachable_transactions(row, text) if sees_transactions and writes else ()
    response = page.render(
        "ledger/files/file.html",
        status=400 if form.errors else 200,
        tab="transactions",
        row=row,
        seen=page.get_seen_version(row),
        back=get_return_url(page, "documents"),
        own=build_return_query(page, "q"),
        kept=build_return_query(page),
        form=form,
        picture=row.content_type in IMAGE_CONTENT_TYPES,
        inline=row.content_type in INLINE_CONTENT_TYPES,
        pdf=row.content_type == PDF.content_type,
        panels=hooks.render_file_panels.run(page, row),
        parse_error=PARSE_ERROR_TEXTS.get(ParseError(row.parse_error)) if row.parse_error else "",
        kinds=to_choices(KIND_LABELS | {kind: kind for kind in [form.values["kind"]] if kind not in KIND_LABELS}),
        **build_invoice_context(row),
        beside=[(each, names.get_account_name(each.account_id)) for each in transactions] if sees_transactions else [],
        count=len(row.transaction_ids),
        q=text,
        candidates=[(each, names.get_account_name(each.account_id)) for each in suggestions],
        sees_transactions=sees_transactions,
        statuses=to_choices(PARSE_STATUS_LABELS),
        currencies=[(each, each) for each in Currency.values],
        writes=writes,
    )
    framed: HttpResponse = csp_update(FRAMED_PDF_POLICY)(lambda request: response)(page.request)  # type: ignore[assignment]
    return framed


def list_attachable_transactions(row: File, text: str) -> Iterable[Transaction]:
    """Return transactions that match the search text or amount.

    Without a text, those with the amount that was read from the file.
    """
    rows = Transaction.objects.for_company(row.company_id).exclude(id__in=row.transaction_ids).order_by("-date", "-id")
    if text:
        text_condition = Q(from_to__icontains=text) | Q(description__icontains=text) | Q(notes__icontains=text)
        try:
            value = Decimal(parse_typed_amount(text, ""))
        except AmountParseError:
            return rows.filter(text_condition)[:MAX_CANDIDATES]
        return rows.filter(text_condition | Q(amount_value__in=[value, -value]))[:MAX_CANDIDATES]
    amount = (row.parse_data or {}).get("amount")
    if not amount:
        return ()
    value = Decimal(str(amount["value"]))
    return rows.filter(amount_value__in=[value, -value], amount_currency=amount["currency"])[:MAX_CANDIDATES]


def build_content_response(page: CompanyPage, row: File) -> HttpResponseBase:
    """Build the response with the content: inline where browsers render it safely, else as a download."""
    is_inline = row.content_type in INLINE_CONTENT_TYPES
    response = FileResponse(
        actions.open_file(row),
        as_attachment=not is_inline,
        filename=actions.get_download_name(row),
        content_type=row.content_type,
    )
    response["X-Content-Type-Options"] = "nosniff"
    if row.content_type == PDF.content_type:
        response["X-Frame-Options"] = "SAMEORIGIN"
        csp_replace(PDF_FRAME_POLICY)(lambda request: response)(page.request)
    return csp_update(PDF_VIEWER_POLICY)(lambda request: response)(page.request)


@company_page(reads=READ)
def show_file_content(page: CompanyPage, file_id: UUID) -> Any:
    """Return the content of a file."""
    row = get_file_or_404(page, file_id)
    try:
        return build_content_response(page, row)
    except NotFoundError:
        raise Http404 from None


@company_page(writes=WRITE)
def delete_file_page(page: CompanyPage, file_id: UUID) -> HttpResponse:
    """Delete a file and its content; transactions do not change."""
    row = get_file_or_404(page, file_id)
    with page.handle_errors():
        actions.delete_file(company=page.company, context=page.audit_context, file_id=file_id)
        return redirect_to_list(page, "documents", _("{name} deleted.").format(name=row.filename))
    return redirect_to_file(page, file_id)


# ---------------------------------------------------------------------------------------------- beside transactions


@company_page(writes=WRITE)
def attach_file_page(page: CompanyPage, file_id: UUID) -> HttpResponse:
    """Link a file to a transaction."""
    transaction_id = parse_id(page.request.POST.get("transactionId", ""))
    with page.handle_errors():
        if transaction_id is None:
            raise NotFoundError
        row = actions.attach_file(
            company=page.company, context=page.audit_context, file_id=file_id, transaction_id=transaction_id
        )
        return redirect_after_file_link(
            page, _("{name} attached to the transaction.").format(name=row.filename), file_id, transaction_id
        )
    return redirect_to_file(page, file_id)


@company_page(writes=WRITE)
def detach_file_page(page: CompanyPage, file_id: UUID) -> HttpResponse:
    """Remove the link between a file and a transaction; the file stays."""
    transaction_id = parse_id(page.request.POST.get("transactionId", ""))
    with page.handle_errors():
        if transaction_id is None:
            raise NotFoundError
        row = actions.detach_file(
            company=page.company, context=page.audit_context, file_id=file_id, transaction_id=transaction_id
        )
        message = _("{name} detached from the transaction.").format(name=row.filename)
        return redirect_after_file_link(page, message, file_id, transaction_id)
    return redirect_to_file(page, file_id)


def redirect_after_file_link(page: CompanyPage, message: str, file_id: UUID, transaction_id: UUID) -> HttpResponse:
    """Redirect to the page that had the form: the transaction or the file."""
    if page.request.POST.get("from") == "transaction":
        return redirect_to_transaction(page, transaction_id, message)
    messages.success(page.request, message)
    return redirect_to_file(page, file_id)


def redirect_to_file(page: CompanyPage, file_id: UUID) -> HttpResponse:
    """Redirect to the page of a file; keeps the search text and the return address."""
    path = reverse("document", kwargs={"company_id": page.company.id, "file_id": file_id})
    return redirect(path + build_return_query(page, "q"))


@company_page(writes=WRITE, uploads=True)
def upload_transaction_files_page(page: CompanyPage, transaction_id: UUID) -> HttpResponse:
    """Upload files for a transaction, or link an existing file to it."""
    get_object_or_404(Transaction.objects.for_company(page.company.id), id=transaction_id)
    chosen_id, response = page.request.POST.get("document", ""), redirect_to_transaction(page, transaction_id)
    with page.handle_errors():
        if chosen_id and not page.request.FILES:
            file_id = parse_id(chosen_id)
            if file_id is None:
                raise NotFoundError
            actions.attach_file(
                company=page.company, context=page.audit_context, file_id=file_id, transaction_id=transaction_id
            )
            count = 1
        else:
            count = len(upload_files(page, transaction_ids=[transaction_id]))
        message = ngettext("{count} file attached.", "{count} files attached.", count)
        messages.success(page.request, message.format(count=format_count(count)))
    return respond_to_upload(page, response)


def get_file_or_404(page: CompanyPage, file_id: UUID) -> File:
    """Return the file with this id and its transaction ids. Raises Http404."""
    row = get_object_or_404(File.objects.for_company(page.company.id).with_transaction_ids(page.company.id), id=file_id)
    row.company = page.company
    return row
