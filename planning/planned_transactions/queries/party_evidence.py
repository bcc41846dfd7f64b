"""Whether the bank names another party than the planned one, so that the amount alone proves nothing."""

import datetime as dt
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from django.db.models.fields.json import KT

from companies.models import Company
from ledger.calc.text_normalization import fold_words, strip_accents
from ledger.models import Categorization
from planning.calc.invoice_matching import BankTransaction, NameIndex
from planning.calc.invoice_parties import is_party_named
from planning.calc.settlement_matching import SettlementMatch
from planning.models import PlannedTransaction
from planning.models.planned_transactions import INVOICE

UnrelatedCheck = Callable[[SettlementMatch], bool]
"""Whether the planned transaction and the transaction of a match have different parties."""


class PlannedParty(NamedTuple):
    """The counterparty of a planned transaction, or the name of an invoice without one."""

    counterparty_id: UUID | None
    name: str
    is_invoice: bool
    number: str  # of an invoice; empty without one


def build_unrelated_check(
    company: Company,
    transactions: Iterable[BankTransaction],
    *,
    plans: QuerySet[PlannedTransaction],
    window: tuple[dt.date, dt.date],
    with_equal_amounts: bool,
) -> UnrelatedCheck:
    """Return the check of pairs: true where neither the bank's texts nor a categorization names the planned party.

    Planned transactions without a counterparty that are no invoices have none to differ from, and a transaction
    without texts names no other. At most two statements.

    Args:
        with_equal_amounts: whether an equal amount proves nothing either: that of a counterparty's invoice whose number
            the text does not have, where the bank names who paid or was paid.
    """
    parties = load_planned_parties(plans)
    rows = {row.id: row for row in transactions} if parties else {}
    assigned = load_assigned_pairs(company, {party.counterparty_id for party in parties.values()}, window)

    def is_unrelated(match: SettlementMatch) -> bool:
        party, row = parties.get(match.occurrence.planned_id), rows.get(match.transaction.id)
        if party is None or row is None or not row.text or (row.id, party.counterparty_id) in assigned:
            return False
        if not match.difference and not (with_equal_amounts and is_other_party_possible(party, row)):
            return False
        # The name of an invoice has words such as "Invoice", which many texts have too.
        return not is_party_named(party.name, row.text if party.counterparty_id else row.party or row.text)

    return is_unrelated


def is_other_party_possible(party: PlannedParty, row: BankTransaction) -> bool:
    """Whether the invoice is a counterparty's, the bank names a party, and its text does not have the number."""
    if not (party.counterparty_id and party.is_invoice and row.party.strip()):
        return False
    number = fold_words(strip_accents(party.number))
    return not (number and NameIndex([number]).find_in(row.text))


def load_planned_parties(plans: QuerySet[PlannedTransaction]) -> dict[UUID, PlannedParty]:
    """Return the parties of those that have a counterparty or are invoices, by id. One statement."""
    rows = plans.filter(INVOICE | Q(counterparty__isnull=False))
    return {
        planned_id: PlannedParty(counterparty_id, counterparty_name or name, is_invoice, number or "")
        for planned_id, name, counterparty_id, counterparty_name, is_invoice, number in rows.values_list(
            *("id", "name", "counterparty_id", "counterparty__name"),
            ExpressionWrapper(INVOICE, output_field=BooleanField()),
            KT("external_data__invoice_number"),
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
