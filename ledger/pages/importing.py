"""Importing a CSV file: uploaded, checked by a dry run that stores nothing, and imported once that is confirmed."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from companies.amounts import counted
from companies.errors import FieldErrors, Invalid, Refusal, TooLarge
from companies.models import id_from
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger import uploads
from ledger.accounts import change_account
from ledger.calc.columns import Columns, from_kept, guessed, to_keep
from ledger.calc.tables import Line
from ledger.csv_items import Rows, table_of
from ledger.importing import Outcome, import_transactions
from ledger.models import Account, Source
from ledger.pages.changes import ledger_change
from ledger.pages.columns_form import ColumnsForm, as_sent

SHOWN_ROWS = 10
SHOWN_BAD_ROWS = 100
SOME_ARE_BAD = "Some rows cannot be stored. Correct the file, change how it is read, or leave those rows out."
SHOWN_LINES = 5  # of the file as it is, while its columns are not known


class NoFile(Invalid):
    """Choose a file first."""

    code = "no_file"


# ---------------------------------------------------------------------------------------------- upload


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE)
def new(visit: Visit) -> HttpResponse:
    """Takes a file. Choices that were made for an earlier one, which this corrects, go along."""
    if visit.request.method != "POST":
        return upload_page(visit)
    try:
        upload_id = received(visit)
    except Refusal as refusal:
        return upload_page(visit, error=refusal.detail, status=413 if isinstance(refusal, TooLarge) else 400)
    posted = visit.request.POST
    sent = {name: posted[name] for name in posted if name not in ("csrfmiddlewaretoken", "replaces", "name")}
    sent["name"] = getattr(visit.request.FILES["file"], "name", None) or "file"
    address = reverse("import-check", args=[visit.company.id, upload_id])
    return redirect(f"{address}?{urlencode(sent)}")


def upload_page(visit: Visit, *, error: str = "", status: int = 200) -> HttpResponse:
    sent = visit.request.POST or visit.request.GET
    return visit.show(
        "ledger/import_new.html",
        status=status,
        tab="transactions",
        error=error,
        accounts=choosable(visit),
        chosen=sent.get("account"),
        most=uploads.most_bytes() // (1024 * 1024),
    )


def received(visit: Visit) -> UUID:
    """Keeps the file of the form, in the place of the one that it corrects. Raises a Refusal where it is no table."""
    file: Any = visit.request.FILES.get("file")
    if file is None:
        if int(visit.request.META.get("CONTENT_LENGTH") or 0) > uploads.most_bytes():
            raise uploads.UploadTooLarge(f"The file is larger than {uploads.most_bytes() // (1024 * 1024)} MB.")
        raise NoFile
    table_of(file.read())
    file.seek(0)
    replaced = id_from(visit.request.POST.get("replaces", ""))
    upload_id = uploads.keep(**owned(visit), file=file)
    if replaced:
        uploads.drop(**owned(visit), upload_id=replaced)
    return upload_id


def owned(visit: Visit) -> dict[str, Any]:
    """Whose uploads a page may find."""
    return {"company_id": visit.company.id, "user_id": visit.request.user.pk}


def choosable(visit: Visit) -> list[Account]:
    """The accounts that an import can go to, as far as the visitor may see them."""
    if not visit.may(Permission.ACCOUNTS_READ):
        return []
    return list(Account.objects.of(visit.company.id).active().in_order())


# ---------------------------------------------------------------------------------------------- check and import


@dataclass(frozen=True, slots=True)
class Look:
    """One look at an uploaded file: its lines and the choices of how to read them; at the first, nothing was chosen."""

    visit: Visit
    upload_id: UUID
    lines: list[Line]
    form: ColumnsForm
    first: bool

    def show(self, *, status: int, **context: Any) -> HttpResponse:
        return self.visit.show(
            "ledger/import_check.html",
            status=status,
            tab="transactions",
            upload_id=self.upload_id,
            lines=self.lines[:SHOWN_LINES],
            form=self.form,
            first_look=self.first,
            **context,
        )

    @property
    def duplicates(self) -> str:
        return "keep" if self.form.cleaned_data["keep_duplicates"] else "skip"


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE)
def check(visit: Visit, upload_id: UUID) -> HttpResponse:
    """Shows what would be stored and what is wrong; stores it once that is confirmed."""
    try:
        lines = table_of(uploads.content(**owned(visit), upload_id=upload_id))
    except uploads.UploadGone as gone:
        return no_longer(visit, gone)
    look = look_at(visit, upload_id, lines)
    if not look.form.is_valid():
        return look.show(status=200 if look.first else 400)
    try:
        rows = Rows(lines, look.form.columns(), account_id=look.form.cleaned_data["account"])
    except Refusal as refusal:
        return look.show(status=400, error=refusal.detail)
    if visit.request.method != "POST":
        return preview(look, rows)
    return imported(look, rows)


def no_longer(visit: Visit, gone: uploads.UploadGone) -> HttpResponse:
    messages.error(visit.request, f"{gone.detail} If you imported it already, it is in the list of imports.")
    return redirect("import-new", company_id=visit.company.id)


def look_at(visit: Visit, upload_id: UUID, lines: list[Line]) -> Look:
    """With the choices that were sent; at the first look those that were kept for the account, or else a guess."""
    sent: Any = visit.request.POST if visit.request.method == "POST" else visit.request.GET
    accounts = choosable(visit)
    first = "date" not in sent
    if first:
        account = next((each for each in accounts if str(each.id) == sent.get("account")), None)
        kept = (account.import_settings or {}) if account else {}
        columns = from_kept(kept.get("csv"), lines) or guessed(lines)
        sent = as_sent(columns, account=sent.get("account", ""), name=sent.get("name", ""))
    return Look(visit, upload_id, lines, ColumnsForm(sent, lines=lines, accounts=accounts), first)


def preview(look: Look, rows: Rows, *, status: int = 200, error: str = "") -> HttpResponse:
    """The dry run: nothing of it is stored."""
    with look.visit.change() as change:
        request = rows.request(dry_run=True, on_error="skip", duplicates=look.duplicates)
        outcome = import_transactions(company=look.visit.company, stamp=look.visit.stamp, request=request)
    if change.refusal:
        return look.show(status=400, error=change.refusal.detail)
    return look.show(
        status=status,
        error=error,
        outcome=outcome,
        account=look.form.chosen_account(),
        first_rows=outcome.rows[:SHOWN_ROWS],
        bad_rows=rows.bad_rows(outcome.errors[:SHOWN_BAD_ROWS]),
    )


def imported(look: Look, rows: Rows) -> HttpResponse:
    """Stores the rows and goes to the list of imports; a refusal is told where the rows are shown.

    The file goes before this change ends, so that a second click, which waits for it, finds nothing to import.
    """
    visit, account = look.visit, look.form.chosen_account()
    on_error = "skip" if "leave_out" in visit.request.POST else "abort"
    with ledger_change(visit) as change:
        uploads.check(**owned(visit), upload_id=look.upload_id)
        request = rows.request(on_error=on_error, duplicates=look.duplicates)
        outcome = import_transactions(company=visit.company, stamp=visit.stamp, request=request, source=Source.CSV)
        if visit.may(Permission.ACCOUNTS_WRITE):
            remember(visit, account.id, rows.columns, rows.names)
        uploads.drop(**owned(visit), upload_id=look.upload_id)
    if isinstance(change.refusal, uploads.UploadGone):
        return no_longer(visit, change.refusal)
    if change.refusal:
        bad_rows = isinstance(change.refusal, FieldErrors)
        return preview(look, rows, status=400, error=SOME_ARE_BAD if bad_rows else change.refusal.detail)
    messages.success(visit.request, told(outcome, account))
    return redirect("imports", company_id=visit.company.id)


def remember(visit: Visit, account_id: UUID, columns: Columns, names: list[str]) -> None:
    """The account's next file is read in the same way."""
    account = Account.objects.of(visit.company.id).select_for_update(no_key=True).get(id=account_id)
    settings = {**(account.import_settings or {}), "csv": to_keep(columns, names)}
    change_account(account=account, stamp=visit.stamp, values={"import_settings": settings})


def told(outcome: Outcome, account: Account) -> str:
    """What an import did, in a sentence or two."""
    parts = [f"{counted(outcome.count, 'transaction')} imported into {account.name}."]
    if outcome.duplicates:
        parts.append(f"{outcome.duplicates:,} were there already.")
    if outcome.skipped_before_data_start:
        parts.append(f"{outcome.skipped_before_data_start:,} are dated before the books start.")
    if outcome.errors:
        parts.append(f"{counted(len(outcome.errors), 'bad row')} left out.")
    return " ".join(parts)
