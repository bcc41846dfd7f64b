"""Pairs of a planned transaction and a transaction whose categories or parties contradict each other."""

from collections import defaultdict
from collections.abc import Collection
from uuid import UUID

from django.db.models.functions import Lower

from companies.models import Company, IdIn
from ledger.models import Categorization, Counterparty, Transaction
from planning.calc.invoice_parties import normalize_party_name
from planning.models import PlannedOverride, PlannedTransaction

Pair = tuple[UUID, UUID]  # planned transaction, transaction


def find_contradicting_matches(company: Company, pairs: Collection[Pair]) -> set[Pair]:
    """Return the pairs that contradict each other. Five statements.

    A transaction that is categorized has another category or counterparty than planned, or the bank names another
    counterparty of the company.
    """
    if not pairs:
        return set()
    planned_ids, transaction_ids = ({pair[place] for pair in pairs} for place in (0, 1))
    parties, categories = load_planned_values(company, planned_ids)
    assigned_categories, assigned_parties = load_assigned_values(company, transaction_ids)
    named_parties = load_named_parties(company, transaction_ids)
    return {
        (planned_id, transaction_id)
        for planned_id, transaction_id in pairs
        if is_contradiction(categories[planned_id], assigned_categories[transaction_id])
        or is_party_contradiction(
            parties.get(planned_id), assigned_parties[transaction_id], named_parties.get(transaction_id, "")
        )
    }


def is_contradiction(expected: Collection[UUID], assigned: Collection[UUID]) -> bool:
    """Whether both sides say something and agree on nothing."""
    return bool(expected and assigned) and set(expected).isdisjoint(assigned)


def is_party_contradiction(party: Counterparty | None, assigned: Collection[UUID], named: str) -> bool:
    """Whether a transaction has another counterparty than planned, or its bank names another one."""
    if party is None:
        return False
    if assigned:
        return party.id not in assigned
    return bool(named) and named != normalize_party_name(party.name)


def load_planned_values(
    company: Company, planned_ids: Collection[UUID]
) -> tuple[dict[UUID, Counterparty | None], dict[UUID, set[UUID]]]:
    """Return the counterparty of planned transactions, and their categories with those of their overrides, by id."""
    plans = PlannedTransaction.objects.for_company(company.id).filter(IdIn("id", list(planned_ids)))
    parties: dict[UUID, Counterparty | None] = {}
    categories: defaultdict[UUID, set[UUID]] = defaultdict(set)
    for row in plans.with_counterparty():
        parties[row.id] = row.counterparty
        if row.category_id:
            categories[row.id].add(row.category_id)
    overrides = PlannedOverride.objects.for_company(company.id).filter(IdIn("planned_id", list(planned_ids)))
    for planned_id, category_id in overrides.exclude(category=None).values_list("planned_id", "category_id"):
        if category_id:
            categories[planned_id].add(category_id)
    return parties, categories


def load_assigned_values(
    company: Company, transaction_ids: Collection[UUID]
) -> tuple[dict[UUID, set[UUID]], dict[UUID, set[UUID]]]:
    """Return the categories and the counterparties of categorized transactions, by transaction."""
    categories: defaultdict[UUID, set[UUID]] = defaultdict(set)
    parties: defaultdict[UUID, set[UUID]] = defaultdict(set)
    rows = Categorization.objects.for_company(company.id).filter(IdIn("transaction_id", list(transaction_ids)))
    for transaction_id, category_id, party_id in rows.values_list("transaction_id", "category_id", "counterparty_id"):
        if category_id:
            categories[transaction_id].add(category_id)
        if party_id:
            parties[transaction_id].add(party_id)
    return categories, parties


def load_named_parties(company: Company, transaction_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the counterparty that the bank names, where the company has one of exactly that name, by transaction."""
    transactions = Transaction.objects.for_company(company.id).filter(IdIn("id", list(transaction_ids)))
    names = {
        row_id: " ".join(name.split()).lower() for row_id, name in transactions.values_list("id", "from_to") if name
    }
    counterparties = Counterparty.objects.for_company(company.id).annotate(folded_name=Lower("name"))
    known = set(counterparties.filter(folded_name__in=set(names.values())).values_list("folded_name", flat=True))
    return {row_id: normalize_party_name(name) for row_id, name in names.items() if name in known}
