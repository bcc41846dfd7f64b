"""Whether the bank names another party than the planned one, so that a similar amount alone proves nothing."""

import datetime as dt
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple
from uuid import UUID

from django.db.models import Q, QuerySet

from companies.models import Company
from ledger.models import Categorization
from planning.calc.invoice_matching import BankTransaction
from planning.calc.invoice_parties import is_party_named
from planning.models import PlannedTransaction
from planning.models.planned_transactions import INVOICE

UnrelatedCheck = Callable[[UUID, UUID], bool]
"""Whether a planned transaction and a transaction, by their ids, have different parties."""


class PlannedParty(NamedTuple):
    """The counterparty of a planned transaction, or the name of an invoice without one."""

    counterparty_id: UUID | None
    name: str


def build_unrelated_check(
    company: Company,
    transactions: Iterable[BankTransaction],
    *,
    plans: QuerySet[PlannedTransaction],
    window: tuple[dt.date, dt.date],
) -> UnrelatedCheck:
    """Return the check of pairs: true where neither the bank's texts nor a categorization names the planned party.

    Planned transactions without a counterparty that are no invoices have none to differ from, and a transaction
    without texts names no other. At most two statements.
    """
    parties = load_planned_parties(plans)
    rows = {row.id: row for row in transactions} if parties else {}
    assigned = load_assigned_pairs(company, {party.counterparty_id for party in parties.values()}, window)

    def is_unrelated(planned_id: UUID, transaction_id: UUID) -> bool:
        party, row = parties.get(planned_id), rows.get(transaction_id)
        if party is None or row is None or not row.text or (transaction_id, party.counterparty_id) in assigned:
            return False
        # The name of an invoice has words such as "Invoice", which many texts have too.
        return not is_party_named(party.name, row.text if party.counterparty_id else row.party or row.text)

    return is_unrelated


def load_planned_parties(plans: QuerySet[PlannedTransaction]) -> dict[UUID, PlannedParty]:
    """Return the parties of those that have a counterparty or are invoices, by id. One statement."""
    rows = plans.filter(INVOICE | Q(counterparty__isnull=False))
    return {
        planned_id: PlannedParty(counterparty_id, counterparty_name or name)
        for planned_id, name, counterparty_id, counterparty_name in rows.values_list(
            "id", "name", "counterparty_id", "counterparty__name"
        )
    }


def load_assigned_pairs(
    company: Company, counterparty_ids: Collection[UUID | None], window: tuple[dt.date, dt.date]
) -> set[tuple[UUID, UUID | None]]:
    """Return (transaction, counterparty) of the categorizations in a window with these. One statement if any."""
    known_ids = [each for each in counterparty_ids if each is not None]
    if not known_ids:
        return set()
    rows = Categorization.objects.for_company(company.id).filter(
        counterparty_id__in=known_ids, transaction__date__range=window
    )
    return set(rows.values_list("transaction_id", "counterparty_id"))
