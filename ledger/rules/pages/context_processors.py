"""Context processor for the rule that is offered after a person categorized a transaction."""

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from companies.models import parse_id
from companies.permissions import Permission
from ledger.models import CategorizationRule
from ledger.rules.queries.rule_offers import find_rule_offer
from ledger.transactions.pages.return_urls import CATEGORIZED_PARAMETER


def add_rule_offer(request: HttpRequest) -> dict[str, object]:
    """Offer a rule for the transaction that the URL names; computed only if a page shows it."""

    def find_offer() -> CategorizationRule | None:
        access = getattr(request, "access", None)
        row_id = parse_id(request.GET.get(CATEGORIZED_PARAMETER, ""))
        if access is None or row_id is None or access.company.read_only:
            return None
        needed = {Permission.TRANSACTIONS_READ, Permission.TRANSACTIONS_WRITE}
        return find_rule_offer(access.company, row_id) if needed <= access.permissions else None

    return {"rule_offer": SimpleLazyObject(find_offer)}
