"""Remove the categorizations of transactions; the transactions stay."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

from companies.change import CompanyChange, change_company
from companies.models import AuditContext, Company, IdIn
from ledger.categorization.actions.bulk_categorization import iterate_row_chunks
from ledger.models import Categorization
from ledger.recognition.actions.transaction_totals import recompute_totals
from ledger.recognition.closed_categorizations import check_period_open_for_categorizations
from ledger.transactions.actions.audit_links import link_audit_entry
from ledger.transactions.queries.selections import build_audited_selection, select_transactions


@dataclass(slots=True)
class UncategorizationResult:
    """Which transactions lost a categorization, and how many other transfer legs were removed or skipped."""

    affected_ids: set[UUID] = field(default_factory=set)
    partner_ids: set[UUID] = field(default_factory=set)  # whose legs went with those of others
    counters_created: int = 0
    counters_skipped: int = 0


def uncategorize_transactions(
    *, company: Company, context: AuditContext, selection: dict[str, Any]
) -> UncategorizationResult:
    """Remove all categorizations of the selected transactions, in a constant number of statements.

    Raises what ``select_transactions`` raises.
    """
    result = UncategorizationResult()
    with change_company(company, context=context) as change:
        chunks = [
            [row_id for (row_id,) in chunk]
            for chunk in iterate_row_chunks(select_transactions(company, selection), "id")
        ]
        selected_ids = {transaction_id for ids in chunks for transaction_id in ids}
        check_period_open_for_categorizations(company, selected_ids, selection)
        for ids in chunks:
            uncategorize_chunk(change, ids, selected_ids=selected_ids, result=result)
        if result.affected_ids:
            counts = {"counters_created": result.counters_created, "counters_skipped": result.counters_skipped}
            after = {"affected": len(result.affected_ids), **counts, "selection": build_audited_selection(selection)}
            entry = change.record_bulk("transactions.uncategorized", "transaction", after=after)
            link_audit_entry(change, entry, result.affected_ids, partners=result.partner_ids)
    return result


def uncategorize_chunk(
    change: CompanyChange, ids: list[UUID], *, selected_ids: set[UUID], result: UncategorizationResult
) -> None:
    """Uncategorize some thousand of the transactions that are uncategorized together.

    The other leg of a removed transfer leg is removed too, so that its amount is uncategorized again
    (counters_created). Where both transactions are selected, each counts one skipped leg, because its removal
    was requested.
    """
    categorizations = Categorization.objects.for_company(change.company.id).filter(IdIn("transaction_id", ids))
    legs = list(categorizations.linked().values_list("id", "counter_id", "counter__transaction_id"))
    removed_ids, counter_ids = {leg_id for leg_id, *_ in legs}, [counter_id for _, counter_id, _ in legs]
    for _, counter_id, partner_id in legs:
        if partner_id not in selected_ids:
            result.counters_created += 1
            result.partner_ids.add(partner_id)
        else:
            result.counters_skipped += 1 if counter_id in removed_ids else 2  # two where its own turn would come later
        removed_ids.add(counter_id)
    changed_ids = delete_categorizations(change.company, ids, counter_ids)
    result.affected_ids |= changed_ids - result.partner_ids
    if changed_ids:
        recompute_totals(change, sorted(changed_ids))


def delete_categorizations(company: Company, transaction_ids: list[UUID], categorization_ids: list[UUID]) -> set[UUID]:
    """Delete all categorizations of transactions and some other ones; return the ids of affected transactions.

    One statement, because legs of a transfer refer to each other. The database deletes the postings.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM ledger_categorization WHERE company_id = %(company)s "
            "AND (transaction_id = ANY(%(transactions)s::uuid[]) OR id = ANY(%(parts)s::uuid[])) "
            "RETURNING transaction_id",
            {"company": company.id, "transactions": transaction_ids, "parts": categorization_ids},
        )
        return {transaction_id for (transaction_id,) in cursor.fetchall()}
