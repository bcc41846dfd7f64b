"""The imports that were kept, and undoing one."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect

from companies.amounts import counted
from companies.pages.activity import names
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger import undoing
from ledger.models import ImportBatch
from ledger.pages.changes import ledger_change


@company_page(reads=Permission.TRANSACTIONS_READ)
def history(visit: Visit) -> HttpResponse:
    """The company's imports, latest first; undone ones too."""
    rows, cursor = visit.page_of(ImportBatch.objects.of(visit.company.id), order=("-created_time", "-id"))
    actors = names(visit, {row.created_user_id for row in rows if row.created_user_id})
    shown = [{"row": row, "who": actors.get(row.created_user_id or "", "the service")} for row in rows]
    writes = visit.may(Permission.TRANSACTIONS_WRITE)
    return visit.show("ledger/imports.html", tab="transactions", imports=shown, cursor=cursor, writes=writes)


@company_page(writes=Permission.TRANSACTIONS_WRITE)
def undo(visit: Visit, import_id: UUID) -> HttpResponse:
    """Its transactions go, and somebody is told how many of them had been changed."""
    with ledger_change(visit) as change:
        batch = ImportBatch.objects.of(visit.company.id).select_for_update().filter(id=import_id).first()
        if batch is None:
            raise Http404
        done = undoing.undo(batch=batch, company=visit.company, stamp=visit.stamp)
    if change.refusal:
        messages.error(visit.request, change.refusal.detail)
    else:
        since = f" {done.changed:,} of them had been changed since." if done.changed else ""
        messages.success(visit.request, f"{counted(done.deleted, 'transaction')} removed.{since}")
    return redirect("imports", company_id=visit.company.id)
