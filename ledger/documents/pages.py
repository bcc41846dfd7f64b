"""Documents: dropped, looked at, and laid beside the transactions that they prove."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from csp.constants import SELF
from csp.decorators import csp_update
from django.contrib import messages
from django.db.models import Q
from django.http import FileResponse, Http404, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy

from companies.errors import Invalid, Missing
from companies.models import Currency, id_from
from companies.pages.amounts import NotAnAmount, amount_typed, number
from companies.pages.typed import Typed, of_body, read_amounts
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.documents import keeping
from ledger.documents.serializers import FileShape
from ledger.documents.sniffing import JPEG, PDF, PNG
from ledger.models import File, ParseStatus, Transaction
from ledger.transactions.pages.ways import back_to, kept, then, to_its_page
from ledger.transactions.pages.words import in_choices, names_for

READ, WRITE = Permission.FILES_READ, Permission.FILES_WRITE
PICTURES = {PNG.content_type, JPEG.content_type}
SHOWN_INLINE = PICTURES | {PDF.content_type}  # others could run as pages of ours
OF_VIEWERS = {"object-src": [SELF]}  # what shows a PDF in a browser is an object in an empty page
MOST_FILES = 20  # at once
MOST_FOUND = 20  # transactions to choose from
MOST_NAMED = 3  # transactions in one line of the list
LONGEST_SEARCH = 200
STATUSES: dict[ParseStatus, Any] = {
    ParseStatus.OPEN: gettext_lazy("Not read yet"),
    ParseStatus.PARSED: pgettext_lazy("of a document", "Read"),
    ParseStatus.MATCHED: gettext_lazy("Matched"),
    ParseStatus.FAILED: gettext_lazy("Could not be read"),
    ParseStatus.IGNORED: gettext_lazy("Not needed"),
}
TEXTS = ("parseStatus", "amount", "currency", "date", "kind")
FIELDS = {
    "parseData/amount": "amount",
    "parseData/amount/value": "amount",
    "parseData/amount/currency": "currency",
    "parseData/date": "date",
    "parseData/type": "kind",
}


class NoFile(Invalid):
    """Choose a file first."""

    code = "required"


class TooManyFiles(Invalid):
    """At most 20 files at once."""

    code = "too_many_files"


# ---------------------------------------------------------------------------------------------- all of them


@company_page(reads=READ, writes=WRITE, uploads=True)
def everything(visit: Visit) -> HttpResponse:
    """The documents, latest first, and where new ones are dropped."""
    form = Typed(values={"file": ""})
    if visit.sent:
        with visit.sending(form):
            stored = keep(visit, transaction_ids=[])
            said = ngettext("{count} document kept.", "{count} documents kept.", len(stored))
            return sent(visit, visit.done(said.format(count=number(len(stored))), "documents"))
    loose, status = visit.request.GET.get("loose") == "true", visit.request.GET.get("status", "")
    rows = File.objects.of(visit.company.id).with_transactions(visit.company.id)
    rows = rows.loose() if loose else rows
    rows = rows.filter(parse_status=status) if status in ParseStatus.values else rows
    listed, cursor = visit.page_of(rows, order=("-created_time", "-id"))
    titles = titles_of(visit, [each for row in listed for each in row.transaction_ids[:MOST_NAMED]])
    return visit.show(
        "ledger/documents/documents.html",
        status=400 if form.errors else 200,
        tab="transactions",
        form=form,
        rows=[
            {
                "row": row,
                "status": str(STATUSES[ParseStatus(row.parse_status)]),
                "beside": [(each, titles[each]) for each in row.transaction_ids[:MOST_NAMED] if each in titles],
                "more": len(row.transaction_ids) - MOST_NAMED,
            }
            for row in listed
        ],
        cursor=cursor,
        asked=visit.request.GET.urlencode(),
        loose=loose,
        chosen=status,
        statuses=in_choices(STATUSES),
        sees_transactions=visit.may(Permission.TRANSACTIONS_READ),
        writes=visit.may(WRITE),
    )


def keep(visit: Visit, *, transaction_ids: list[UUID]) -> Sequence[File]:
    """Stores what was dropped, all of it or nothing. Raises NoFile, TooManyFiles, and what the act raises."""
    files: Any = visit.request.FILES.getlist("file")
    if not files:
        raise NoFile(pointer="#/file")
    if len(files) > MOST_FILES:
        raise TooManyFiles(pointer="#/file")
    return keeping.keep_all(company=visit.company, stamp=visit.stamp, files=files, transaction_ids=transaction_ids)


def sent(visit: Visit, response: HttpResponse) -> HttpResponse:
    """The answer of an upload: its script asks for the next page's address alone, and goes there itself."""
    if visit.request.headers.get("Accept") == "application/json":
        return JsonResponse({"location": response["Location"]})
    return response


def titles_of(visit: Visit, ids: Sequence[UUID]) -> dict[UUID, str]:
    """What to call the transactions, for those who may see them."""
    if not visit.may(Permission.TRANSACTIONS_READ):
        return {}
    rows = Transaction.objects.of(visit.company.id).filter(id__in=set(ids))
    return {row.id: row.from_to or row.description or _("Transaction") for row in rows}


# ---------------------------------------------------------------------------------------------- one


@company_page(reads=READ, writes=WRITE)
def document(visit: Visit, file_id: UUID) -> HttpResponse:
    """What is known of one, the transactions beside it, and others that it could belong to."""
    row = found(visit, file_id)
    form = read(visit) if visit.sent else Typed(values=values_of(row))
    if visit.sent and form.valid:
        with visit.sending(form):
            keeping.change(company=visit.company, stamp=visit.stamp, file_id=file_id, values=form.data)
            messages.success(visit.request, _("What is known of the document was saved."))
            return to_document(visit, file_id)
    text = visit.request.GET.get("q", "").replace("\0", "").strip()[:LONGEST_SEARCH]
    names, sees = names_for(visit), visit.may(Permission.TRANSACTIONS_READ)
    tied = Transaction.objects.of(visit.company.id).filter(id__in=row.transaction_ids).order_by("-date", "-id")
    writes = visit.may(WRITE)
    suggestions = candidates(row, text) if sees and writes else ()
    return visit.show(
        "ledger/documents/document.html",
        status=400 if form.errors else 200,
        tab="transactions",
        row=row,
        seen=visit.seen(row),
        back=then(visit, "documents"),
        own=kept(visit, "q"),
        kept=kept(visit),
        form=form,
        picture=row.content_type in PICTURES,
        inline=row.content_type in SHOWN_INLINE,
        beside=[(each, names.account(each.account_id)) for each in tied] if sees else [],
        count=len(row.transaction_ids),
        q=text,
        candidates=[(each, names.account(each.account_id)) for each in suggestions],
        sees_transactions=sees,
        statuses=in_choices(STATUSES),
        currencies=[(each, each) for each in Currency.values],
        writes=writes,
    )


def candidates(row: File, text: str) -> Iterable[Transaction]:
    """Transactions that have the text or the amount; without one those of the amount that was read in the document."""
    rows = Transaction.objects.of(row.company_id).exclude(id__in=row.transaction_ids).order_by("-date", "-id")
    if text:
        asked = Q(from_to__icontains=text) | Q(description__icontains=text) | Q(notes__icontains=text)
        try:
            value = Decimal(amount_typed(text, ""))
        except NotAnAmount:
            return rows.filter(asked)[:MOST_FOUND]
        return rows.filter(asked | Q(amount_value__in=[value, -value]))[:MOST_FOUND]
    amount = (row.parse_data or {}).get("amount")
    if not amount:
        return ()
    value = Decimal(str(amount["value"]))
    return rows.filter(amount_value__in=[value, -value], amount_currency=amount["currency"])[:MOST_FOUND]


def values_of(row: File) -> dict[str, Any]:
    read_in = row.parse_data or {}
    amount = read_in.get("amount") or {}
    return {
        "parseStatus": row.parse_status,
        "amount": str(amount.get("value", "")),
        "currency": amount.get("currency", row.company.base_currency),
        "date": read_in.get("date") or "",
        "kind": read_in.get("type") or "",
    }


def read(visit: Visit) -> Typed:
    """What was typed of what stands in the document, as PUT files takes it."""
    values: dict[str, Any] = {name: visit.request.POST.get(name, "").strip() for name in TEXTS}
    amounts, wrong = read_amounts(values, ["amount"], currency=values["currency"])
    money = {"value": Decimal(amounts["amount"]), "currency": values["currency"]} if amounts else None
    data = {"amount": money, "date": values["date"] or None, "type": values["kind"] or None}
    body = {"parseStatus": values["parseStatus"], "parseData": data if any(data.values()) else None}
    form = of_body(FileShape, body, values=values, fields=FIELDS, partial=True)
    form.errors |= wrong
    return form


def handed_out(visit: Visit, row: File) -> HttpResponseBase:
    """The bytes: shown where a browser can do no harm with them, else saved."""
    inline = row.content_type in SHOWN_INLINE
    answer = FileResponse(
        keeping.opened(row),
        as_attachment=not inline,
        filename=keeping.download_name(row),
        content_type=row.content_type,
    )
    answer["X-Content-Type-Options"] = "nosniff"
    return csp_update(OF_VIEWERS)(lambda request: answer)(visit.request)


@company_page(reads=READ)
def content(visit: Visit, file_id: UUID) -> Any:
    """The document itself."""
    row = found(visit, file_id)
    try:
        return handed_out(visit, row)
    except Missing:
        raise Http404 from None


@company_page(writes=WRITE)
def delete(visit: Visit, file_id: UUID) -> HttpResponse:
    """Deletes a document and its bytes; transactions stay."""
    row = found(visit, file_id)
    with visit.sending():
        keeping.delete(company=visit.company, stamp=visit.stamp, file_id=file_id)
        return back_to(visit, "documents", _("{name} was deleted.").format(name=row.filename))
    return to_document(visit, file_id)


# ---------------------------------------------------------------------------------------------- beside transactions


@company_page(writes=WRITE)
def attach(visit: Visit, file_id: UUID) -> HttpResponse:
    """Lays a document beside a transaction too."""
    wanted = id_from(visit.request.POST.get("transactionId", ""))
    with visit.sending():
        if wanted is None:
            raise Missing
        row = keeping.attach(company=visit.company, stamp=visit.stamp, file_id=file_id, transaction_id=wanted)
        return back(visit, _("{name} lies beside the transaction.").format(name=row.filename), file_id, wanted)
    return to_document(visit, file_id)


@company_page(writes=WRITE)
def detach(visit: Visit, file_id: UUID) -> HttpResponse:
    """Takes it away from a transaction; the document stays."""
    wanted = id_from(visit.request.POST.get("transactionId", ""))
    with visit.sending():
        if wanted is None:
            raise Missing
        row = keeping.detach(company=visit.company, stamp=visit.stamp, file_id=file_id, transaction_id=wanted)
        said = _("{name} lies beside the transaction no longer.").format(name=row.filename)
        return back(visit, said, file_id, wanted)
    return to_document(visit, file_id)


def back(visit: Visit, said: str, file_id: UUID, transaction_id: UUID) -> HttpResponse:
    """The page on which the button stood."""
    if visit.request.POST.get("from") == "transaction":
        return to_its_page(visit, transaction_id, said)
    messages.success(visit.request, said)
    return to_document(visit, file_id)


def to_document(visit: Visit, file_id: UUID) -> HttpResponse:
    """Its page, which knows what was looked for on it and the list before it."""
    path = reverse("document", kwargs={"company_id": visit.company.id, "file_id": file_id})
    return redirect(path + kept(visit, "q"))


@company_page(writes=WRITE, uploads=True)
def upload_beside(visit: Visit, transaction_id: UUID) -> HttpResponse:
    """Documents dropped beside a transaction, or one that is there already."""
    get_object_or_404(Transaction.objects.of(visit.company.id), id=transaction_id)
    chosen, there = visit.request.POST.get("document", ""), to_its_page(visit, transaction_id)
    with visit.sending():
        if chosen and not visit.request.FILES:
            file_id = id_from(chosen)
            if file_id is None:
                raise Missing
            keeping.attach(company=visit.company, stamp=visit.stamp, file_id=file_id, transaction_id=transaction_id)
            count = 1
        else:
            count = len(keep(visit, transaction_ids=[transaction_id]))
        said = ngettext(
            "{count} document laid beside the transaction.", "{count} documents laid beside the transaction.", count
        )
        messages.success(visit.request, said.format(count=number(count)))
    return sent(visit, there)


def found(visit: Visit, file_id: UUID) -> File:
    """The document of the address, with its transactions. Raises Http404."""
    row = get_object_or_404(File.objects.of(visit.company.id).with_transactions(visit.company.id), id=file_id)
    row.company = visit.company
    return row
