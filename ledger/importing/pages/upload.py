"""Importing a CSV file: uploaded, checked by a dry run that stores nothing, and imported once that is confirmed."""

from dataclasses import dataclass
from datetime import timedelta
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
from django.utils.translation import gettext_lazy, ngettext

from companies.callers import addresses
from companies.errors import Invalid, Refusal, TooLarge
from companies.models import id_from
from companies.pages.amounts import number
from companies.pages.typed import Typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.calc.tables import Lines
from ledger.importing import progress, uploads
from ledger.importing.calc.detection import find_given_table
from ledger.importing.calc.mapping import FIELDS, normalize_settings, to_settings
from ledger.importing.calc.questions import Detection
from ledger.importing.encoding_choices import find_encoding_choices
from ledger.importing.imports import Outcome, import_transactions
from ledger.importing.items import Rows, detect_for, table_of, told
from ledger.importing.pages.chosen_rows import build_rows
from ledger.importing.pages.columns_form import LABELS, ColumnsForm, as_sent, own_column
from ledger.importing.pages.kept_settings import ANSWER, find_given_reading, settings_for, with_answers
from ledger.importing.pages.questions import SHOWN_EXAMPLES, Asked, build_asked, build_asked_encoding
from ledger.importing.uploads import Opening
from ledger.models import Account, Transaction

MOST_FILES = 20  # statements at once; their names and ids stand in an address
SHOWN_ROWS = 10
LONGEST_NAME = 100  # of the file, as it is shown
SHOWN_BAD_ROWS = 100
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
    """One look at an uploaded file: its table and the choices of how to read it; at the first, nothing was chosen.
    While there are questions, nothing is imported."""

    visit: Visit
    upload_id: UUID
    lines: Lines
    form: ColumnsForm
    first: bool
    detection: Detection | None = None
    asked: tuple[Asked, ...] = ()
    answers: tuple[tuple[str, str], ...] = ()

    def show(self, *, status: int, **context: Any) -> HttpResponse:
        return self.visit.show(
            "ledger/importing/import_check.html",
            status=status,
            tab="transactions",
            upload_id=self.upload_id,
            lines=self.lines[:SHOWN_LINES],
            form=self.form,
            first_look=self.first,
            asked=self.asked,
            answers=self.answers,
            lost=lost_in_words(self.detection),
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
    sent: Any = visit.request.POST if visit.request.method == "POST" else visit.request.GET
    try:
        content = uploads.content(**owned(visit), upload_id=upload_id)
    except uploads.UploadGone:
        return no_longer(visit)
    given = find_given_reading(sent, chosen_account(visit, sent), content)
    try:
        lines = table_of(content, given)
    except Refusal:
        lines = table_of(content)
    look = look_at(visit, upload_id, lines, content)
    if look.detection and look.detection.refused:
        return look.show(status=200 if look.first else 400, error=told(look.detection.refused))
    if look.asked or not look.form.is_valid():
        return look.show(status=200 if look.first else 400)
    rows = build_rows(look.form)
    if isinstance(rows, str):
        return look.show(status=400, error=rows)
    if visit.request.method != "POST":
        return preview(look, rows)
    with progress.watched(**owned(visit), upload_id=upload_id):
        return imported(look, rows)


def no_longer(visit: Visit) -> HttpResponse:
    more = _("If you imported it already, it is in the list of imports.")
    messages.error(visit.request, f"{uploads.UploadGone().detail} {more}")
    return visit.to("import-new")


def look_at(visit: Visit, upload_id: UUID, lines: Lines, content: bytes) -> Look:
    """With the choices that were sent; at the first look those that were kept for the account, or else what is
    detected. It is the first look still where the account is the only thing that was chosen since, and again where
    the lines above the headings change: the columns are other ones then."""
    sent: Any = visit.request.POST if visit.request.method == "POST" else visit.request.GET
    accounts, account = choosable(visit), chosen_account(visit, sent)
    named = sent.get("account") or (str(account.id) if account else "")
    answers = tuple((name, sent[name]) for name in sent if name.startswith(ANSWER) and sent[name])
    above = sent.get("skip_above") or "0"
    moved = "date" in sent and sent.get("found_above") not in (None, "", above) and above.isdecimal()
    first = "date" not in sent
    if not first and not moved and not ("unchosen" in sent and only_account_chosen(sent, lines)):
        table = find_given_table(
            lines, {"skipAbove": number_in(sent, "skip_above"), "skipBelow": number_in(sent, "skip_below")}
        )
        return Look(visit, upload_id, lines, ColumnsForm(sent, table=table, accounts=accounts), first=False)
    settings = with_answers(settings_for(account, lines), answers)
    if moved:
        settings = {"skipAbove": int(above[:6]), "skipBelow": number_in(sent, "skip_below")}
    detection = detect_for(account, lines, settings)
    shown = as_sent(
        detection.mapping,
        detection.table,
        account=named,
        name=sent.get("name", ""),
        settings=normalize_settings(settings),
    )
    shown |= {name: sent[name] for name in ("encoding", "separator", "keep_duplicates") if sent.get(name)}
    form = ColumnsForm(shown, table=detection.table, accounts=accounts)
    currency = account.default_currency if account else visit.company.base_currency
    asked = [build_asked(detection, question, currency) for question in detection.questions] if account else []
    given = {**settings, **({"encoding": shown["encoding"]} if shown.get("encoding") else {})}
    choices = find_encoding_choices(content, settings=given, account=account, count=SHOWN_EXAMPLES) if account else []
    if choices:
        asked.insert(0, build_asked_encoding(choices))
    return Look(visit, upload_id, lines, form, first, detection, tuple(asked), answers)


def chosen_account(visit: Visit, sent: Any) -> Account | None:
    """The account that was chosen, or the only one."""
    accounts = choosable(visit)
    named = sent.get("account") or (str(accounts[0].id) if len(accounts) == 1 else "")
    return next((each for each in accounts if str(each.id) == named), None)


def number_in(sent: Any, name: str) -> int:
    text = str(sent.get(name, ""))
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else 0


def only_account_chosen(sent: Any, lines: Lines) -> bool:
    """Whether all other choices are those that were detected for a file of no account yet."""
    detection = detect_for(None, lines, settings_for(None, lines))
    shown = as_sent(
        detection.mapping, detection.table, account=sent.get("account", ""), name=sent.get("name", ""), settings={}
    )
    names = {*shown, "amount_currency", *(own_column(name) for name in FIELDS)} - {
        "account",
        "name",
        "found_above",
        "skip_below",
    }
    return all(sent.get(name, "") == shown.get(name, "") for name in names)


# ---------------------------------------------------------------------------------------------- preview and import


def lost_in_words(detection: Detection | None) -> str:
    """The fields whose columns were kept and are not in this file."""
    return ", ".join(str(LABELS[name]) for name in detection.lost) if detection else ""


LEFT_OUT = {
    "balance": gettext_lazy("balances and sums"),
    "footer": gettext_lazy("lines without a date"),
    "empty": gettext_lazy("rows without an amount"),
    "status": gettext_lazy("statuses that are not imported"),
    "account": gettext_lazy("other accounts"),
}


def preview(look: Look, rows: Rows, *, status: int = 200, error: str = "") -> HttpResponse:
    """The dry run: nothing of it is stored."""
    form = Typed(values={})
    with look.visit.sending(form):
        request = rows.request(dry_run=True, on_error="skip", duplicates=look.duplicates)
        outcome = import_transactions(company=look.visit.company, stamp=look.visit.stamp, request=request)
        account = look.form.chosen_account()
        return look.show(
            status=status,
            error=error,
            outcome=outcome,
            account=account,
            first_rows=list(islice(outcome.rows, SHOWN_ROWS)),
            bad_rows=rows.bad_rows(outcome.errors[:SHOWN_BAD_ROWS]),
            proven=rows.balances is not None,
            left_out=[f"{number(count)} {LEFT_OUT[reason]}" for reason, count in rows.left_out_counts.items()],
            opening=opening_of(look.visit, account, rows),
        )
    return look.show(status=400, error=form.general)


def opening_of(visit: Visit, account: Account, rows: Rows) -> Opening | None:
    """The balance before the first row, where the balance column tells it and the account has no transactions."""
    balances = rows.balances
    if balances is None or Transaction.objects.of(visit.company.id).filter(account=account).exists():
        return None
    first = rows.run.first_day
    return Opening(first - timedelta(days=1), balances.opening, account.default_currency)


def imported(look: Look, rows: Rows) -> HttpResponse:
    """Stores the rows and goes to the list of imports; a refusal is told where the rows are shown."""
    visit, account, form = look.visit, look.form.chosen_account(), Typed(values={})
    on_error = "skip" if "leave_out" in visit.request.POST else "abort"
    with visit.sending(form):
        request = rows.request(on_error=on_error, duplicates=look.duplicates)
        request.leaves_possible = "leave_possible" in visit.request.POST
        opening = opening_of(visit, account, rows) if "set_opening" in visit.request.POST else None
        outcome = uploads.import_kept(
            company=visit.company,
            stamp=visit.stamp,
            upload_id=look.upload_id,
            request=request,
            account_id=account.id,
            name=look.form.cleaned_data["name"],
            reading=settings_of(look, rows) if visit.may(Permission.ACCOUNTS_WRITE) else None,
            opening=opening,
        )
        return visit.done(in_words(outcome, account), "imports")
    if not uploads.is_kept(**owned(visit), upload_id=look.upload_id):
        return no_longer(visit)
    return preview(look, rows, status=400, error=form.errors.get("", str(SOME_ARE_BAD)))


def settings_of(look: Look, rows: Rows) -> dict[str, Any]:
    """What is kept of the choices for the account's next file."""
    table, data = rows.table, look.form.cleaned_data
    kept = to_settings(rows.mapping, table.names, has_headings=bool(table.heading_line))
    kept["skipAbove"] = data["skip_above"] or 0
    if data["skip_below"]:
        kept["skipBelow"] = data["skip_below"]
    if data["amount_currency"]:
        kept["currency"] = data["amount_currency"]
    return kept | {name: data[name] for name in ("encoding", "separator") if data[name]}


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
