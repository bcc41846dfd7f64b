"""For every template: the rule that is offered after somebody has said what a transaction was for."""

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from companies.models import id_from
from companies.permissions import Permission
from ledger.models import CategorizationRule
from ledger.rules.offering import offered
from ledger.transactions.pages.ways import SAID


def rule_offer(request: HttpRequest) -> dict[str, object]:
    """Looked for where a page shows it, of the transaction that its address says was just spoken of."""

    def offer() -> CategorizationRule | None:
        access = getattr(request, "access", None)
        row_id = id_from(request.GET.get(SAID, ""))
        if access is None or row_id is None or access.company.read_only:
            return None
        needed = {Permission.TRANSACTIONS_READ, Permission.TRANSACTIONS_WRITE}
        return offered(access.company, row_id) if needed <= access.permissions else None

    return {"rule_offer": SimpleLazyObject(offer)}
