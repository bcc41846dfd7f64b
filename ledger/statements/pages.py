"""Importing what banks export: dropped, looked at by a rehearsal that stores nothing, stored once that is confirmed.

A single CSV file goes the way of tables, where its columns are chosen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.errors import FieldErrors, Invalid, Refusal, TooLarge
from companies.models import id_from
from companies.pages.amounts import number
from companies.pages.typed import Typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.documents.keeping import shown_name
from ledger.importing import progress, uploads
from ledger.importing.pages import upload
from ledger.importing.pages.upload import MOST_FILES, owned
from ledger.models import Account
from ledger.statements import receiving
from ledger.statements.accounts import AccountDiffers, AccountUnknown
from ledger.statements.calc import formats
from ledger.statements.errors import ColumnsUnknown, DateOrderUnknown, FormatUnknown, MappingAmbiguous
from ledger.statements.receiving import Received, Told

MIB = 1024 * 1024
SHOWN_STATEMENTS = 50  # of one file
LONGEST_NAME = 100
SHOWN_NAMES = 5  # of files in an archive
CHOICES = {"split": ("entry", "details"), "dateOrder": ("", "dayFirst", "monthFirst")}


class TooManyFiles(Invalid):
    """More files than are taken at once."""

    code = "too_many_files"


class RepeatedUpload(Invalid):
    """A file is named more than once: upload the files again."""

    code = "repeated_upload"


class UploadsTooLarge(TooLarge):
    """The files together are larger than one upload may be: import them in several steps."""

    code = "body_too_large"


# ---------------------------------------------------------------------------------------------- upload


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE, uploads=True)
def new(visit: Visit) -> HttpResponse:
    """Takes what is dropped: statements, several at once, or one CSV file.

    A script that shows how much is sent asks for the next page's address alone, and goes there itself.
    """
    if not visit.sent:
        return upload.upload_page(visit)
    response = received(visit)
    if response.has_header("Location") and visit.request.headers.get("Accept") == "application/json":
        return JsonResponse({"location": response["Location"]})
    return response


def received(visit: Visit) -> HttpResponse:
    """Keeps the files, and goes where they are looked at."""
    files = visit.request.FILES.getlist("file")
    if len(files) < 2 and not any(has_no_columns(each) for each in files):
        return upload.new_table(visit)
    try:
        good, refused = sorted_out(files)
        kept = [(keep(visit, each), shown_name(each.name or "file")[-LONGEST_NAME:]) for each in good]
    except Refusal as refusal:
        return upload.upload_page(visit, error=refusal.detail, status=413 if isinstance(refusal, TooLarge) else 400)
    for each in refused:
        messages.error(visit.request, _("{why} It was left out.").format(why=each.detail))
    sent = [("upload", f"{upload_id} {name}") for upload_id, name in kept]
    if visit.request.POST.get("account"):
        sent.append(("account", visit.request.POST["account"]))
    return redirect(f"{reverse('statement-check', args=[visit.company.id])}?{urlencode(sent)}")


def has_no_columns(file: Any) -> bool:
    """Whether a file alone is a statement, or nothing that could be a table; what else is wrong with one its reader
    says."""
    start = beginning(file)
    return formats.kind_of(start) not in (None, formats.CSV) or not start.strip() or start.startswith(b"%PDF")


def kind_of(file: Any) -> str | None:
    return formats.kind_of(beginning(file))


def beginning(file: Any) -> bytes:
    start: bytes = file.read(formats.LOOKED_AT * 2)
    file.seek(0)
    return start


def sorted_out(files: Sequence[Any]) -> tuple[list[Any], list[Refusal]]:
    """(files that can be looked at, why each of the others cannot). Raises TooManyFiles, and FormatUnknown where there
    is none to look at."""
    if len(files) > MOST_FILES:
        raise TooManyFiles(_("At most {most} files at once: choose fewer.").format(most=MOST_FILES))
    good = [each for each in files if kind_of(each) is not None]
    refused: list[Refusal] = [FormatUnknown(why_not(each)) for each in files if each not in good]
    if not good:
        raise FormatUnknown(" ".join(each.detail for each in refused))
    return good, refused


def why_not(file: Any) -> str:
    """Why a file cannot even be looked at."""
    why = _("“{name}” is no bank statement, whatever its name says.")
    if not beginning(file).strip():
        why = _("“{name}” is empty. Export it again, and choose that file.")
    return why.format(name=shown_name(file.name or "file")[:60])


def keep(visit: Visit, file: Any) -> UUID:
    return uploads.keep(**owned(visit), file=file)


# ---------------------------------------------------------------------------------------------- check and import


@dataclass(frozen=True, slots=True)
class Kept:
    """An uploaded file that waits. Its content is read when its turn comes, and not kept: files can be large."""

    upload_id: UUID
    name: str
    account: Account | None  # where the file names none, or one that nobody has

    @property
    def sent(self) -> list[tuple[str, str]]:
        """As the address has it."""
        return [("upload", f"{self.upload_id} {self.name}"), ("account", str(self.account.id) if self.account else "")]


@dataclass(frozen=True, slots=True)
class Look:
    """What would become of a file, or why it is refused."""

    file: Kept
    received: Received | None = None
    refusal: str = ""
    number: str = ""  # of an account that is to be opened first

    @property
    def asks(self) -> bool:
        """Whether its account may have to be chosen."""
        return bool(self.refusal or self.file.account)

    @property
    def shown(self) -> list[Told]:
        return self.received.statements[:SHOWN_STATEMENTS] if self.received else []

    @property
    def counts(self) -> str:
        """What becomes of its entries, in a line."""
        return ", ".join(counted(self.received)) if self.received else ""

    @property
    def hidden(self) -> int:
        return max(len(self.received.statements) - SHOWN_STATEMENTS, 0) if self.received else 0


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE)
def check(visit: Visit) -> HttpResponse:
    """Shows what each statement would bring and whether its balances agree; stores all once that is confirmed."""
    sent: Any = visit.request.POST if visit.sent else visit.request.GET
    named = named_in(sent)
    if not named:
        return visit.to("import-new")
    first = named[0][0]
    if answer := upload.how_far(visit, first):
        return answer
    try:
        check_uploads(visit, [upload_id for upload_id, _name, _account in named])
    except uploads.UploadGone:
        return upload.no_longer(visit)
    except Refusal as refusal:
        return upload.upload_page(visit, error=refusal.detail, status=413 if isinstance(refusal, TooLarge) else 400)
    accounts = {str(each.id): each for each in upload.choosable(visit)}
    files = [Kept(each, name, accounts.get(account)) for each, name, account in named]
    choices = {name: sent.get(name) if sent.get(name) in known else known[0] for name, known in CHOICES.items()}
    with progress.watched(**owned(visit), upload_id=first, files=len(files)):
        if not visit.sent:
            return shown(visit, files, choices)
        return imported(visit, files, choices)


def check_uploads(visit: Visit, upload_ids: Sequence[UUID]) -> None:
    """Check what an address names before anything is read: each upload once, together no more than one upload may be.

    Raises TooManyFiles, RepeatedUpload, UploadsTooLarge, UploadGone.
    """
    if len(upload_ids) > MOST_FILES:
        raise TooManyFiles(_("At most {most} files at once: choose fewer.").format(most=MOST_FILES))
    if len(set(upload_ids)) < len(upload_ids):
        raise RepeatedUpload
    if sum(uploads.size(**owned(visit), upload_id=each) for each in upload_ids) > settings.MAX_UPLOAD_MB * MIB:
        raise UploadsTooLarge


def named_in(sent: Any) -> list[tuple[UUID, str, str]]:
    """(id, name, chosen account) of each upload that the address has. An account alone is chosen for all of them; else
    each has its own, in their order."""
    texts, accounts = sent.getlist("upload"), sent.getlist("account")
    if len(accounts) != len(texts):
        accounts = [accounts[0] if accounts else ""] * len(texts)
    found = []
    for text, account in zip(texts, accounts, strict=True):
        upload_id, _, name = text.partition(" ")
        if known := id_from(upload_id):
            found.append((known, shown_name(name)[-LONGEST_NAME:], account))
    return found


def shown(visit: Visit, files: list[Kept], choices: dict[str, str], *, error: str = "") -> HttpResponse:
    looks = rehearsed(visit, files, choices)
    good = [pair for look in looks if not look.refusal for pair in look.file.sent]
    return visit.show(
        "ledger/statements/statement_check.html",
        status=400 if error else 200,
        tab="transactions",
        error=error,
        looks=looks,
        refused=any(look.refusal for look in looks),
        others=urlencode([*good, *choices.items()]) if good else "",  # the address of the files that can be stored
        count=sum(look.received.count for look in looks if look.received),
        booked=sum(look.received.booked for look in looks if look.received),
        sent=[*(pair for each in files for pair in each.sent), *choices.items()],
        accounts=upload.choosable(visit),
        chosen=choices,
    )


def rehearsed(visit: Visit, files: list[Kept], choices: dict[str, str]) -> list[Look]:
    """Each file after those before it, and all of it taken back."""
    looks = []
    with transaction.atomic():
        for file in files:
            try:
                looks.append(Look(file, taken(visit, file, choices)))
            except Refusal as refusal:
                looks.append(Look(file, refusal=in_words(refusal), number=getattr(refusal, "number", "")))
        transaction.set_rollback(True)
    return looks


def in_words(refusal: Refusal) -> str:
    if isinstance(refusal, AccountUnknown):
        number = refusal.number
        if number:
            why = _("No account has the number {number}. Where it is one without a number, choose that below.")
            return why.format(number=number)
        return _("It names no account: choose one below.")
    if isinstance(refusal, DateOrderUnknown):
        return _("Its dates can be read in both orders: choose below which comes first, the day or the month.")
    files = [refusal.file] if isinstance(refusal, ColumnsUnknown) and refusal.file else []
    files = refusal.files if isinstance(refusal, MappingAmbiguous) else files
    if files:
        why = _("Unpack the archive, import {names} alone, and answer there how to read the columns.")
        return why.format(names=", ".join(f"“{name}”" for name in files[:SHOWN_NAMES]))
    if isinstance(refusal, ColumnsUnknown):
        return _("No columns of a day and an amount were found: import this one alone, and choose them there.")
    if isinstance(refusal, MappingAmbiguous):
        return _("It can be read in several ways: import this one alone, and answer there.")
    return refusal.errors[0][2] if isinstance(refusal, FieldErrors) else refusal.detail


def taken(visit: Visit, file: Kept, choices: dict[str, str]) -> Received:
    """Takes a file in; the account chosen for it counts where it tells none, or one that nobody has, and that account
    has no other number."""
    progress.next_file()
    values: dict[str, Any] = {
        "company": visit.company,
        "stamp": visit.stamp,
        "content": uploads.content(**owned(visit), upload_id=file.upload_id),
        "filename": file.name,
        "details": choices["split"] == "details",
        "date_order": choices["dateOrder"] or None,
    }
    try:
        return receiving.receive(**values, account=None)
    except AccountUnknown as unknown:
        if file.account is None:
            raise
        try:
            return receiving.receive(**values, account=file.account)
        except AccountDiffers:
            if not unknown.number:  # a QIF file of several accounts
                raise
            raise unknown from None


def counted(received: Received) -> list[str]:
    """What becomes of a file's entries: each of them in one of these, and those that are none are not named."""
    said = [_("{count} new"), _("{count} there already")]
    counts = [received.count, received.known]
    if received.booked:
        said.append(_("{count} booked that were pending"))
        counts.append(received.booked)
    if received.lapsed:
        said.append(_("{count} pending not stored, for the bank's statement of their day does not have them"))
        counts.append(received.lapsed)
    if others := received.other_accounts:
        said.append(ngettext("{count} other account left out", "{count} other accounts left out", len(others)))
        counts.append(len(others))
    if old := received.skipped_before_data_start:
        said.append(_("{count} before the books start"))
        counts.append(old)
    texts = [each.format(count=number(count)) for each, count in zip(said, counts, strict=True)]
    if files := received.left_out_files:
        text = ngettext("{count} file left out ({names})", "{count} files left out ({names})", len(files))
        texts.append(text.format(count=number(len(files)), names=", ".join(files[:SHOWN_NAMES])))
    return texts


def told(received: Sequence[Received]) -> str:
    """What was stored, in a sentence or more."""
    count, booked, known, lapsed, gone = (
        sum(getattr(each, name) for each in received) for name in ("count", "booked", "known", "lapsed", "gone")
    )
    transactions = ngettext("{count} transaction", "{count} transactions", count).format(count=number(count))
    files = ngettext("{count} file", "{count} files", len(received)).format(count=number(len(received)))
    lapsed_said = ngettext(
        "{count} pending one was not stored: the bank's statement of its day does not have it.",
        "{count} pending ones were not stored: the bank's statement of their day does not have them.",
        lapsed,
    )
    more = [
        (booked, ngettext("{count} pending one is booked now.", "{count} pending ones are booked now.", booked)),
        (known, ngettext("{count} was there already.", "{count} were there already.", known)),
        (lapsed, lapsed_said),
        (gone, ngettext("{count} pending one is gone.", "{count} pending ones are gone.", gone)),
    ]
    said = [_("{transactions} imported from {files}.").format(transactions=transactions, files=files)]
    return " ".join([*said, *(text.format(count=number(count)) for count, text in more if count)])


def imported(visit: Visit, files: list[Kept], choices: dict[str, str]) -> HttpResponse:
    """Stores all of them or none, and goes to the list of imports."""
    form = Typed(values={})
    with visit.sending(form):
        received = [taken(visit, file, choices) for file in files]
        for file in files:
            uploads.drop(**owned(visit), upload_id=file.upload_id)
        return visit.done(told(received), "imports")
    return shown(visit, files, choices, error=next(iter(form.errors.values()), form.general))
