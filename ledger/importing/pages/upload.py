"""Importing a CSV file: uploaded, checked by a dry run that stores nothing, and imported once that is confirmed."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, override

from companies.callers import addresses
from companies.errors import Invalid, Refusal, TooLarge
from companies.models import id_from
from companies.pages.amounts import number
from companies.pages.downloads import as_it_was
from companies.pages.typed import Typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.tables import Line
from ledger.importing import progress, uploads
from ledger.importing.calc.columns import FIELDS, accounts_in_export, from_kept, guessed, of_export, to_keep
from ledger.importing.imports import Outcome, import_transactions
from ledger.importing.items import Rows, table_of
from ledger.importing.pages.columns_form import ColumnsForm, as_sent
from ledger.models import Account
from ledger.transactions.pages.words import COLUMNS as EXPORTED

MOST_FILES = 20  # statements at once; their names and ids stand in an address
SHOWN_ROWS = 10
LONGEST_NAME = 100  # of the file, as it is shown
SHOWN_BAD_ROWS = 100
SHOWN_ACCOUNTS = 5  # by name
SOME_ARE_BAD = gettext_lazy(
    "Some rows cannot be stored. Correct the file, change how it is read, or leave those rows out."
)
SHOWN_LINES = 5  # of the file as it is, while its columns are not known


class NoFile(Invalid):
    """Choose a file first."""

    code = "no_file"


# ---------------------------------------------------------------------------------------------- upload


def new_table(visit: Visit) -> HttpResponse:
    """Takes a CSV file. Choices that were made for an earlier one, which this corrects, go along."""
    try:
        upload_id = received(visit)
    except Refusal as refusal:
        return upload_page(visit, error=refusal.detail, status=413 if isinstance(refusal, TooLarge) else 400)
    posted = visit.request.POST
    sent = {name: posted[name] for name in posted if name not in ("csrfmiddlewaretoken", "replaces", "name")}
    sent["name"] = (getattr(visit.request.FILES["file"], "name", None) or "file")[-LONGEST_NAME:]
    address = reverse("import-check", args=[visit.company.id, upload_id])
    whole = f"{address}?{urlencode(sent)}"
    return redirect(whole if len(whole) <= addresses.LONGEST else address)


def upload_page(visit: Visit, *, error: str = "", status: int = 200) -> HttpResponse:
    sent = visit.request.POST or visit.request.GET
    return visit.show(
        "ledger/importing/import_new.html",
        status=status,
        tab="transactions",
        error=error,
        accounts=choosable(visit),
        chosen=sent.get("account"),
        most=settings.MAX_UPLOAD_MB,
        most_files=MOST_FILES,
    )


def received(visit: Visit) -> UUID:
    """Keeps the file of the form, in the place of the one that it corrects. Raises a Refusal where it is no table."""
    file: Any = visit.request.FILES.get("file")
    if file is None:
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


def how_far(visit: Visit, upload_id: UUID) -> HttpResponse | None:
    """The answer to a script that asks how far the work on an upload is, at the address that does it; else None."""
    if visit.sent or visit.request.headers.get("Accept") != "application/json":
        return None
    return JsonResponse(progress.noted(**owned(visit), upload_id=upload_id), headers={"Cache-Control": "no-store"})


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
            "ledger/importing/import_check.html",
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
    if answer := how_far(visit, upload_id):
        return answer
    try:
        lines = table_of(uploads.content(**owned(visit), upload_id=upload_id))
    except uploads.UploadGone:
        return no_longer(visit)
    look = look_at(visit, upload_id, lines)
    if not look.form.is_valid():
        return look.show(status=200 if look.first else 400)
    try:
        rows = Rows(lines, look.form.columns(), account_id=look.form.cleaned_data["account"])
    except Refusal as refusal:
        return look.show(status=400, error=refusal.detail)
    if visit.request.method != "POST":
        return preview(look, rows)
    with progress.watched(**owned(visit), upload_id=upload_id):
        return imported(look, rows)


def no_longer(visit: Visit) -> HttpResponse:
    more = _("If you imported it already, it is in the list of imports.")
    messages.error(visit.request, f"{uploads.UploadGone().detail} {more}")
    return visit.to("import-new")


def look_at(visit: Visit, upload_id: UUID, lines: list[Line]) -> Look:
    """With the choices that were sent; at the first look those that were kept for the account, or else a guess. Where
    the account was not known then and is the only thing that was chosen since, it is the first look still."""
    sent: Any = visit.request.POST if visit.request.method == "POST" else visit.request.GET
    accounts = choosable(visit)
    named = sent.get("account") or (str(accounts[0].id) if len(accounts) == 1 else "")
    account = next((each for each in accounts if str(each.id) == named), None)
    name = sent.get("name", "")
    first = "date" not in sent
    if first or ("unchosen" in sent and only_account_chosen(sent, lines)):
        kept = (account.import_settings or {}) if account else {}
        columns = of_export(lines, headers()) or from_kept(kept.get("csv"), lines) or guessed(lines)
        sent = as_sent(columns, account=named, name=name)
    return Look(visit, upload_id, lines, ColumnsForm(sent, lines=lines, accounts=accounts), first)


def only_account_chosen(sent: Any, lines: list[Line]) -> bool:
    """Whether all other choices are those that were guessed for a file of no account yet."""
    columns = of_export(lines, headers()) or guessed(lines)
    shown = as_sent(columns, account=sent.get("account", ""), name=sent.get("name", ""))
    names = (*FIELDS, "headings", "date_order", "decimal_sign")
    return all(sent.get(name, "") == shown.get(name, "") for name in names)


def headers() -> list[dict[str, str]]:
    """What the columns of our exports are called, in each language."""
    found = []
    for language, _name in settings.LANGUAGES:
        with override(language):
            found.append({name: str(heading) for name, heading in EXPORTED.items()})
    return found


def other_accounts(look: Look) -> str:
    """The names of accounts that our own export has transactions of, beside the chosen one."""
    found = [as_it_was(name) for name in accounts_in_export(look.lines, headers())]
    others = [name for name in found if name != look.form.chosen_account().name]
    return ", ".join(others[:SHOWN_ACCOUNTS]) + (" …" if len(others) > SHOWN_ACCOUNTS else "")


def preview(look: Look, rows: Rows, *, status: int = 200, error: str = "") -> HttpResponse:
    """The dry run: nothing of it is stored."""
    form = Typed(values={})
    with look.visit.sending(form):
        request = rows.request(dry_run=True, on_error="skip", duplicates=look.duplicates)
        outcome = import_transactions(company=look.visit.company, stamp=look.visit.stamp, request=request)
        return look.show(
            status=status,
            error=error,
            outcome=outcome,
            account=look.form.chosen_account(),
            others=other_accounts(look),
            first_rows=outcome.rows[:SHOWN_ROWS],
            bad_rows=rows.bad_rows(outcome.errors[:SHOWN_BAD_ROWS]),
        )
    return look.show(status=400, error=form.general)


def imported(look: Look, rows: Rows) -> HttpResponse:
    """Stores the rows and goes to the list of imports; a refusal is told where the rows are shown."""
    visit, account, form = look.visit, look.form.chosen_account(), Typed(values={})
    on_error = "skip" if "leave_out" in visit.request.POST else "abort"
    with visit.sending(form):
        outcome = uploads.import_kept(
            company=visit.company,
            stamp=visit.stamp,
            upload_id=look.upload_id,
            request=rows.request(on_error=on_error, duplicates=look.duplicates),
            account_id=account.id,
            name=look.form.cleaned_data["name"],
            reading=to_keep(rows.columns, rows.names) if visit.may(Permission.ACCOUNTS_WRITE) else None,
        )
        return visit.done(in_words(outcome, account), "imports")
    if not uploads.is_kept(**owned(visit), upload_id=look.upload_id):
        return no_longer(visit)
    return preview(look, rows, status=400, error=form.errors.get("", str(SOME_ARE_BAD)))


def in_words(outcome: Outcome, account: Account) -> str:
    """What an import did, in a sentence or two."""
    count, bad = outcome.count, outcome.bad
    said = ngettext(
        "{count} transaction imported into {account}.", "{count} transactions imported into {account}.", count
    )
    parts = [said.format(count=number(count), account=account.name)]
    if outcome.duplicates:
        known = ngettext("{count} was there already.", "{count} were there already.", outcome.duplicates)
        parts.append(known.format(count=number(outcome.duplicates)))
    if old := outcome.skipped_before_data_start:
        early = ngettext("{count} is dated before the books start.", "{count} are dated before the books start.", old)
        parts.append(early.format(count=number(old)))
    if bad:
        parts.append(ngettext("{count} bad row left out.", "{count} bad rows left out.", bad).format(count=number(bad)))
    return " ".join(parts)
