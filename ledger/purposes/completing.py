"""Saying what the open rest of one transaction is for: what was said of its other parts stays."""

from uuid import UUID

from companies.changing import changing
from companies.models import Company, Stamp, new_id
from companies.versions import Stale
from ledger.models import Categorization, InitialBalanceFixed, Transaction
from ledger.purposes.categorizing import checked_counterparty, line_of, pl_types_of
from ledger.purposes.splitting import Given, in_log, write_parts
from ledger.recognition.totals import parts_changed


def categorize_rest(
    *,
    company: Company,
    stamp: Stamp,
    transaction_id: UUID,
    category_id: UUID,
    pl_type: str | None = None,
    counterparty: tuple[UUID, str | None] | None = None,
) -> Transaction:
    """Adds a part of all that is open, by the transaction's date.

    Raises Missing, Stale (also where nothing is open any more), InitialBalanceFixed, FieldErrors, PlTypeNeeded,
    PlTypeNotAllowed, NoRate.
    """
    with changing(company, stamp=stamp) as change:
        row = change.locked(Transaction, transaction_id)
        if row.is_initial:
            raise InitialBalanceFixed
        if not row.is_open:
            raise Stale(row)
        line = line_of(pl_types_of(company, category_id), pl_type)
        person = checked_counterparty(company, counterparty)
        rest = row.amount_value - row.categorized_value
        given = Given(key="rest", category_id=category_id, lines={line: rest}, counterparty_id=person)
        stored = list(Categorization.objects.of(company.id).filter(transaction=row))
        part_id = new_id()
        write_parts(row, {part_id: given}, first=1 + max((part.position for part in stored), default=-1))
        parts_changed(change, [row.id])
        before = {str(part.id): in_log(part.category_id, part.value) for part in stored}
        after = before | {str(part_id): in_log(category_id, rest)}
        change.record_many("transaction.split", "transaction", entity_id=row.id, before=before, after=after)
    return row
