"""What follows from the undoing of an import where statements brought it."""

from companies.changing import Change
from ledger.models import Account, ImportBatch, Statement, Transaction
from ledger.statements.opening import open_with_earliest
from ledger.statements.pending import give_back
from ledger.statements.reconciling import reconcile


def give_back_pending(*, change: Change, batch: ImportBatch) -> None:
    """Before its rows go: what was pending before it is so again, and is no longer among them."""
    give_back(change, batch)


def forget_statements(*, change: Change, batch: ImportBatch) -> None:
    """After its rows went: its statements go too, and with them what they said of their accounts."""
    gone = Statement.objects.of(change.company.id).filter(import_batch=batch)
    accounts = set(gone.values_list("account_id", flat=True))
    gone.delete()
    for account in Account.objects.of(change.company.id).filter(id__in=accounts).in_order():
        bare = not Transaction.objects.of(change.company.id).filter(account=account).without_initial().exists()
        open_with_earliest(change, account, first=False, bare=bare)
        reconcile(change, account)
