"""The imports that were kept, and undoing one."""

from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.pages.activity import names
from companies.pages.amounts import number
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission
from ledger.importing import undoing
from ledger.models import Account, ImportBatch


@company_page(reads=Permission.TRANSACTIONS_READ)
def history(visit: Visit) -> HttpResponse:
    """The company's imports, latest first; undone ones too."""
    rows, cursor = visit.page_of(ImportBatch.objects.of(visit.company.id), order=("-created_time", "-id"))
    actors = names(visit, {row.created_user_id for row in rows if row.created_user_id})
    accounts = account_names(visit, rows)
    listed = [
        {
            "row": row,
            "who": actors.get(row.created_user_id or "", _("the service")),
            "accounts": [accounts[each] for each in row.account_ids if each in accounts],
        }
        for row in rows
    ]
    writes = visit.may(Permission.TRANSACTIONS_WRITE)
    return visit.show("ledger/imports.html", tab="transactions", imports=listed, cursor=cursor, writes=writes)


def account_names(visit: Visit, rows: list[ImportBatch]) -> dict[UUID, str]:
    """The names of the accounts that the imports brought movements of, where the visitor may see them."""
    if not visit.may(Permission.ACCOUNTS_READ):
        return {}
    wanted = {each for row in rows for each in row.account_ids}
    return dict(Account.objects.of(visit.company.id).filter(id__in=wanted).values_list("id", "name"))


@company_page(writes=Permission.TRANSACTIONS_WRITE)
def undo(visit: Visit, import_id: UUID) -> HttpResponse:
    """Its transactions go, and somebody is told how many of them had been changed."""
    with visit.sending():
        done = undoing.undo(company=visit.company, stamp=visit.stamp, import_id=import_id)
        said = [ngettext("{count} transaction removed.", "{count} transactions removed.", done.deleted)]
        if done.changed:
            said.append(_("{changed} of them had been changed since."))
        counts = {"count": number(done.deleted), "changed": number(done.changed)}
        return visit.done(" ".join(said).format(**counts), "imports")
    return visit.to("imports")
