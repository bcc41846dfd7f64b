"""Categorize the remaining amount of one transaction; its other categorizations stay."""

from decimal import Decimal
from uuid import UUID

from companies.change import change_company
from companies.models import AuditContext, Company, generate_id
from companies.versions import PreconditionFailed
from ledger.categorization.actions.split import (
    CategorizationInput,
    build_categorization_snapshot,
    build_stored_input,
    set_settled_counterparty,
    write_split_categorizations,
)
from ledger.categorization.queries.references import get_category_pl_types, resolve_counterparty_id, resolve_pl_type
from ledger.models import Categorization, Transaction, TransactionIsInitialBalance
from ledger.money.calc.money import compute_included_tax
from ledger.recognition.actions.transaction_totals import recompute_totals_and_postings


def categorize_remainder(
    *,
    company: Company,
    context: AuditContext,
    transaction_id: UUID,
    category_id: UUID,
    pl_type: str | None = None,
    counterparty: tuple[UUID, str | None] | None = None,
    tax_percent: Decimal | None = None,
) -> Transaction:
    """Categorize the whole uncategorized amount of a transaction, by transaction date.

    Args:
        tax_percent: the pass-through tax that the amount includes.

    Raises:
        NotFoundError, InitialBalanceFixed, ValidationFailed, PlTypeNeeded, PlTypeNotAllowed, MissingRateError.
        PreconditionFailed: also if nothing is left to categorize.
    """
    with change_company(company, context=context) as change:
        row = change.lock(Transaction, transaction_id)
        if row.is_initial:
            raise TransactionIsInitialBalance
        if not row.is_open:
            raise PreconditionFailed(row)
        resolved_pl_type = resolve_pl_type(get_category_pl_types(company, category_id), pl_type)
        counterparty_id = resolve_counterparty_id(company, counterparty)
        remaining_amount = row.amount_value - row.categorized_value
        tax = compute_included_tax(remaining_amount, tax_percent, row.amount_currency) if tax_percent else None
        categorization = CategorizationInput(
            key="rest",
            category_id=category_id,
            lines={resolved_pl_type: remaining_amount - (tax or 0)},
            counterparty_id=counterparty_id,
            pass_through_tax=tax,
        )
        existing = list(Categorization.objects.for_company(company.id).filter(transaction=row))
        categorization_id = generate_id()
        categorizations = set_settled_counterparty(row, {categorization_id: categorization}, {})
        write_split_categorizations(
            row,
            categorizations,
            first_position=1 + max((part.position for part in existing), default=-1),
        )
        recompute_totals_and_postings(change, [row.id])
        before = {str(part.id): build_categorization_snapshot(build_stored_input(part)) for part in existing}
        after = before | {str(categorization_id): build_categorization_snapshot(categorizations[categorization_id])}
        change.record_bulk("transaction.split", "transaction", entity_id=row.id, before=before, after=after)
    return row
