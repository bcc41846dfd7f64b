"""Link two transactions as the legs of a transfer between accounts, and unlink them.

Both stay in their account balances; neither is a cash flow or in the profit and loss.
"""

from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Q

from companies.change import change_company
from companies.closed_periods import check_period_open_for_days
from companies.errors import ConflictError, InvalidInputError, NotFoundError
from companies.models import AuditContext, Company, generate_id
from ledger.models import (
    Account,
    AccountType,
    Categorization,
    Category,
    LinkKind,
    PlType,
    Transaction,
    TransactionIsInitialBalance,
)
from ledger.recognition.actions.transaction_totals import recompute_totals_and_postings
from ledger.transactions.actions.audit_links import link_audit_entry
from ledger.transactions.queries.transfer_amounts import has_amount_difference


class AlreadyLinked(ConflictError):
    """One of the transactions already belongs to another transfer. Unlink it first."""

    code = "already_linked"


class NotLinked(ConflictError):
    """This categorization does not belong to a transfer."""

    code = "not_linked"


class TransferSameAccount(InvalidInputError):
    """Both transactions are on the same account. Choose transactions on two accounts."""

    code = "transfer_same_account"


class TransferSameSign(InvalidInputError):
    """Both transactions have the same sign. Choose one money out and one money in."""

    code = "transfer_same_sign"


class TransferSourceClosed(InvalidInputError):
    """The source transaction is fully categorized. Select a categorization as the leg, or uncategorize it first."""

    code = "transfer_source_closed"


class TransferTargetClosed(InvalidInputError):
    """The target transaction is fully categorized. Uncategorize it first."""

    code = "transfer_target_closed"


class TransferAmountsDiffer(InvalidInputError):
    """The amounts differ (by more than 10 % across currencies). Use force to link them anyway."""

    code = "transfer_amounts_differ"


def link_transfer(
    *,
    company: Company,
    context: AuditContext,
    source_id: UUID,
    source_categorization_id: UUID | None,
    target_id: UUID,
    force: bool = False,
) -> bool:
    """Link a categorization of the source, or its uncategorized amount, with the target's uncategorized amount.

    Returns:
        False if this pair is linked already.

    Raises, in this order:
        NotFoundError, TransactionIsInitialBalance, AlreadyLinked, TransferSameAccount, TransferSameSign,
        TransferSourceClosed, TransferTargetClosed, TransferAmountsDiffer, MissingRateError.
    """
    with change_company(company, context=context) as change:
        source, target = get_transfer_transactions(company, source_id, target_id)
        transaction_ids = [source.id, target.id]
        categorizations = list(
            Categorization.objects.for_company(company.id)
            .filter(transaction_id__in=transaction_ids)
            .select_related("counter")
        )
        categorization = find_source_categorization(categorizations, source, source_categorization_id)
        if is_linked_pair(categorizations, source, target, categorization):
            return False
        check_not_linked(categorizations, source, target, categorization)
        days = [("#/sourceTransactionId", source), ("#/targetTransactionId", target)]
        check_period_open_for_days(company, [(pointer, row.date) for pointer, row in days if not row.pending])
        source_value = categorization.value if categorization else source.amount_value - source.categorized_value
        check_transfer_pair(source, source_value, target, force=force)
        create_transfer_legs(
            company=company, source=source, categorization=categorization, source_value=source_value, target=target
        )
        recompute_totals_and_postings(change, transaction_ids)
        entry = change.record_bulk(
            "transfer.linked",
            "transaction",
            entity_id=source.id,
            after={"source": str(source.id), "target": str(target.id), "forced": force},
        )
        link_audit_entry(change, entry, (), partners=[target.id])
    return True


def get_transfer_transactions(company: Company, source_id: UUID, target_id: UUID) -> tuple[Transaction, Transaction]:
    """Return (source, target). Raises NotFoundError, TransactionIsInitialBalance."""
    rows = Transaction.objects.for_company(company.id).in_bulk([source_id, target_id])
    if source_id not in rows or target_id not in rows:
        raise NotFoundError
    if any(row.is_initial for row in rows.values()):
        raise TransactionIsInitialBalance
    return rows[source_id], rows[target_id]


def find_source_categorization(
    categorizations: list[Categorization], source: Transaction, categorization_id: UUID | None
) -> Categorization | None:
    """Return the source's categorization with this id; None without an id. Raises NotFoundError."""
    if categorization_id is None:
        return None
    for categorization in categorizations:
        if categorization.id == categorization_id and categorization.transaction_id == source.id:
            return categorization
    raise NotFoundError


def is_linked_pair(
    categorizations: list[Categorization],
    source: Transaction,
    target: Transaction,
    categorization: Categorization | None,
) -> bool:
    """Return whether the source (or this categorization of it) is linked with the target."""
    legs = [
        each
        for each in categorizations
        if each.transaction_id == source.id and each.counter and categorization in (None, each)
    ]
    return any(each.counter and each.counter.transaction_id == target.id for each in legs)


def check_not_linked(
    categorizations: list[Categorization],
    source: Transaction,
    target: Transaction,
    categorization: Categorization | None,
) -> None:
    """Check that neither leg is linked: the categorization, or all amounts of a transaction. Raises AlreadyLinked."""
    if categorization is not None and categorization.counter_id:
        raise AlreadyLinked
    for row in (target,) if categorization is not None else (source, target):
        has_linked_leg = any(each.counter_id for each in categorizations if each.transaction_id == row.id)
        if has_linked_leg and not row.is_open:
            raise AlreadyLinked


def check_transfer_pair(source: Transaction, source_value: Decimal, target: Transaction, *, force: bool) -> None:
    """Check accounts, signs and amounts of both legs.

    Raises:
        TransferSameAccount, TransferSameSign, TransferSourceClosed, TransferTargetClosed,
        TransferAmountsDiffer, MissingRateError.
    """
    target_value = target.amount_value - target.categorized_value
    if source.account_id == target.account_id:
        raise TransferSameAccount
    if source.amount_value * target.amount_value >= 0:
        raise TransferSameSign
    if not source_value:
        raise TransferSourceClosed
    if not target_value:
        raise TransferTargetClosed
    if not force and has_amount_difference(source, source_value, target, target_value):
        raise TransferAmountsDiffer


def create_transfer_legs(
    *,
    company: Company,
    source: Transaction,
    categorization: Categorization | None,
    source_value: Decimal,
    target: Transaction,
) -> None:
    """Store both legs, which refer to each other, as neutral categorizations in the category for transfers."""
    category = Category.objects.for_company(company.id).for_system_key("transfer").get()
    kind = choose_link_kind(company, source, target)
    target_value = target.amount_value - target.categorized_value
    if categorization is None:
        legs = [
            build_transfer_leg(source, source_value, category, kind),
            build_transfer_leg(target, target_value, category, kind),
        ]
        legs[0].counter_id, legs[1].counter_id = legs[1].id, legs[0].id
        Categorization.objects.bulk_create(legs)
        return
    counter = build_transfer_leg(target, target_value, category, kind)
    counter.counter_id = categorization.id
    counter.save(force_insert=True)
    Categorization.objects.for_company(company.id).filter(id=categorization.id).update(
        **build_leg_values(source, source_value, category, kind), counter_id=counter.id
    )


def build_transfer_leg(row: Transaction, value: Decimal, category: Category, kind: str) -> Categorization:
    return Categorization(
        id=generate_id(), company_id=row.company_id, transaction=row, **build_leg_values(row, value, category, kind)
    )


def build_leg_values(row: Transaction, value: Decimal, category: Category, kind: str) -> dict[str, Any]:
    """Return the column values of a leg: all neutral, on the day of its transaction."""
    lines = {line: value if line == PlType.NEUTRAL else None for line in PlType.values}
    return {
        **lines,
        "category": category,
        "rule": "transactionDate",
        "rule_start_date": None,
        "rule_end_date": None,
        "invoice_date": None,
        "computed_start_date": row.date,
        "computed_end_date": row.date,
        "pass_through_tax": None,
        "value": value,
        "link_kind": kind,
    }


def choose_link_kind(company: Company, source: Transaction, target: Transaction) -> str:
    """Return transit if one of the accounts is a transit account, else transfer."""
    ids = (source.account_id, target.account_id)
    transit = Account.objects.for_company(company.id).filter(Q(id__in=ids), type=AccountType.TRANSIT)
    return LinkKind.TRANSIT if transit.exists() else LinkKind.TRANSFER


def unlink_transfer(*, company: Company, context: AuditContext, transaction_id: UUID, categorization_id: UUID) -> None:
    """Delete both legs of a transfer; their amounts are uncategorized again. Raises NotFoundError, NotLinked."""
    with change_company(company, context=context) as change:
        categorizations = Categorization.objects.for_company(company.id)
        categorization = (
            categorizations.filter(id=categorization_id, transaction_id=transaction_id)
            .select_related("counter")
            .first()
        )
        if categorization is None:
            raise NotFoundError
        if categorization.counter is None:
            raise NotLinked
        ids = sorted((categorization.transaction_id, categorization.counter.transaction_id))
        categorizations.filter(id__in=(categorization.id, categorization.counter_id)).delete()
        recompute_totals_and_postings(change, ids)
        entry = change.record_bulk(
            "transfer.unlinked",
            "transaction",
            entity_id=categorization.transaction_id,
            before={"legs": [str(each) for each in ids]},
        )
        link_audit_entry(change, entry, (), partners={*ids} - {categorization.transaction_id})
