"""The imports that were kept, and undoing one."""

from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.pages.amounts import number
from companies.pages.settings.activity import names
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.importing import undoing
from ledger.models import Account, ImportBatch, PendingBefore, Source, Transaction

A_SCREEN = 12  # imports on a page: on a telephone each takes some 300 pixels


@company_page(reads=Permission.TRANSACTIONS_READ)
def history(visit: Visit) -> HttpResponse:
    """The company's imports, latest first; undone ones too."""
    rows, cursor = visit.page_of(
        ImportBatch.objects.of(visit.company.id), order=("-created_time", "-id"), limit=A_SCREEN
    )
    actors = names(visit, {row.created_user_id for row in rows if row.created_user_id})
    accounts = account_names(visit, rows)
    booked = booked_by(visit, rows)
    listed = [
        {
            "row": row,
            "who": actors.get(row.created_user_id or "", _("the service")),
            "accounts": [accounts[each] for each in row.account_ids if each in accounts],
            "booked": booked.get(row.id, 0),
            "known": row.duplicates - booked.get(row.id, 0),
        }
        for row in rows
    ]
    writes = visit.may(Permission.TRANSACTIONS_WRITE)
    return visit.show("ledger/importing/imports.html", tab="transactions", imports=listed, cursor=cursor, writes=writes)


def account_names(visit: Visit, rows: list[ImportBatch]) -> dict[UUID, str]:
    """The names of the accounts that the imports brought movements of, where the visitor may see them."""
    if not visit.may(Permission.ACCOUNTS_READ):
        return {}
    wanted = {each for row in rows for each in row.account_ids}
    return dict(Account.objects.of(visit.company.id).filter(id__in=wanted).values_list("id", "name"))


def booked_by(visit: Visit, rows: list[ImportBatch]) -> dict[UUID, int]:
    """How many transactions that were pending before each of the statements has booked."""
    statements = [row.id for row in rows if row.source == Source.BANK and row.duplicates]
    if not statements:
        return {}
    theirs = Transaction.objects.of(visit.company.id).filter(
        id=OuterRef("transaction_id"), import_batch_id=OuterRef("import_batch_id")
    )
    before = PendingBefore.objects.of(visit.company.id).filter(Exists(theirs), import_batch_id__in=statements)
    counts = before.values("import_batch_id").annotate(booked=Count("id"))
    return dict(counts.values_list("import_batch_id", "booked"))


@company_page(reads=Permission.TRANSACTIONS_WRITE, writes=Permission.TRANSACTIONS_WRITE)
def undo(visit: Visit, import_id: UUID) -> HttpResponse:
    """Says what would go, and how many of that had been changed; once that is confirmed it goes."""
    asked: dict[str, Any] = {"company": visit.company, "stamp": visit.stamp, "import_id": import_id}
    with visit.sending():
        if visit.sent:
            return visit.done(in_words(undoing.undo(**asked)), "imports")
        would = undoing.foreseen(**asked)
        row = ImportBatch.objects.of(visit.company.id).get(id=import_id)
        return visit.show("ledger/importing/import_undo.html", tab="transactions", row=row, would=would)
    return visit.to("imports")


def in_words(done: undoing.Outcome) -> str:
    """What undoing an import did."""
    said = [ngettext("{count} transaction removed.", "{count} transactions removed.", done.deleted)]
    if done.changed:
        said.append(_("{changed} of them had been changed since."))
    if done.pending:
        again = ngettext(
            "{pending} transaction is pending again.", "{pending} transactions are pending again.", done.pending
        )
        said.append(again)
    counts = {"count": done.deleted, "changed": done.changed, "pending": done.pending}
    return " ".join(said).format(**{name: number(count) for name, count in counts.items()})
