"""Context processors for what is offered for a transaction: a rule after a person categorized it, a suggested split."""

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from companies.models import parse_id
from companies.permissions import Permission
from ledger.models import CategorizationRule, Transaction
from ledger.rules.pages.split_offers import SplitOffer, build_split_offers
from ledger.rules.queries.category_suggestions import suggest_categories
from ledger.rules.queries.rule_offers import find_rule_offer
from ledger.transactions.pages.labels import load_ledger_names
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


def add_split_offer(request: HttpRequest) -> dict[str, object]:
    """Offer a split of the transaction whose page this is; computed only if a page shows it."""

    def find_offer() -> SplitOffer | None:
        access, match = getattr(request, "access", None), request.resolver_match
        row_id = match.kwargs.get("transaction_id") if match else None
        if access is None or row_id is None:
            return None
        rows = list(Transaction.objects.for_company(access.company.id).booked().filter(id=row_id))
        names = load_ledger_names(access.company, permissions=access.permissions)
        proposals_by_id = suggest_categories(access.company, [row.id for row in rows])
        return build_split_offers(access.company, rows, proposals_by_id, names).get(row_id)

    return {"split_offer": SimpleLazyObject(find_offer)}
