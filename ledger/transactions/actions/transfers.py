"""Link two transactions as the legs of a transfer between accounts, and unlink them.

Both stay in their account balances; neither is a cash flow or in the profit and loss.
"""

from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q

from companies.change import change_company
from companies.closed_periods import check_period_open_for_days
from companies.errors import ConflictError, InvalidInputError, NotFoundError
from companies.models import AuditContext, Company, generate_id
from ledger.models import (
    TRANSFER_SYSTEM_KEY,
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


class LinkedAmount(NamedTuple):
    """What becomes a leg: a categorization of a transaction, or its uncategorized amount."""

    row: Transaction
    categorization: Categorization | None

    @property
    def value(self) -> Decimal:
        return self.categorization.value if self.categorization else self.row.amount_value - self.row.categorized_value


def link_transfer(
    *,
    company: Company,
    context: AuditContext,
    source_id: UUID,
    source_categorization_id: UUID | None,
    target_id: UUID,
    target_categorization_id: UUID | None = None,
    force: bool = False,
) -> bool:
    """Link two transactions: of each the categorization with the given id, or its uncategorized amount.

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
        legs = (
            LinkedAmount(source, find_leg_categorization(categorizations, source, source_categorization_id)),
            LinkedAmount(target, find_leg_categorization(categorizations, target, target_categorization_id)),
        )
        if is_linked_pair(categorizations, source, target, legs[0].categorization):
            return False
        check_not_linked(categorizations, legs)
        days = [("#/sourceTransactionId", source), ("#/targetTransactionId", target)]
        check_period_open_for_days(company, [(pointer, row.date) for pointer, row in days if not row.pending])
        check_transfer_pair(*legs, force=force)
        create_transfer_legs(company, *legs)
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


def find_leg_categorization(
    categorizations: list[Categorization], row: Transaction, categorization_id: UUID | None
) -> Categorization | None:
    """Return the transaction's categorization with this id; None without an id. Raises NotFoundError."""
    if categorization_id is None:
        return None
    for categorization in categorizations:
        if categorization.id == categorization_id and categorization.transaction_id == row.id:
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
        leg
        for leg in categorizations
        if leg.transaction_id == source.id and leg.counter and categorization in (None, leg)
    ]
    return any(each.counter and each.counter.transaction_id == target.id for each in legs)


def check_not_linked(categorizations: list[Categorization], legs: tuple[LinkedAmount, LinkedAmount]) -> None:
    """Check that neither leg is linked: the categorization, or all amounts of a transaction. Raises AlreadyLinked."""
    if any(leg.categorization and leg.categorization.counter_id for leg in legs):
        raise AlreadyLinked
    for row in (leg.row for leg in legs if leg.categorization is None):
        has_linked_leg = any(each.counter_id for each in categorizations if each.transaction_id == row.id)
        if has_linked_leg and not row.is_open:
            raise AlreadyLinked


def check_transfer_pair(source: LinkedAmount, target: LinkedAmount, *, force: bool) -> None:
    """Check accounts, signs and amounts of both legs.

    Raises:
        TransferSameAccount, TransferSameSign, TransferSourceClosed, TransferTargetClosed,
        TransferAmountsDiffer, MissingRateError.
    """
    if source.row.account_id == target.row.account_id:
        raise TransferSameAccount
    if source.row.amount_value * target.row.amount_value >= 0:
        raise TransferSameSign
    if not source.value:
        raise TransferSourceClosed
    if not target.value:
        raise TransferTargetClosed
    if not force and has_amount_difference(source.row, source.value, target.row, target.value):
        raise TransferAmountsDiffer


def create_transfer_legs(company: Company, source: LinkedAmount, target: LinkedAmount) -> None:
    """Store both legs, which refer to each other, as neutral categorizations in the category for transfers."""
    category = Category.objects.for_company(company.id).for_system_key(TRANSFER_SYSTEM_KEY).get()
    kind = choose_link_kind(company, source.row, target.row)
    source_id, target_id = (leg.categorization.id if leg.categorization else generate_id() for leg in (source, target))
    values_by_id = {
        source_id: build_leg_values(source, category, kind) | {"counter_id": target_id},
        target_id: build_leg_values(target, category, kind) | {"counter_id": source_id},
    }
    Categorization.objects.bulk_create(
        Categorization(id=leg_id, company_id=company.id, transaction=leg.row, **values_by_id[leg_id])
        for leg_id, leg in ((source_id, source), (target_id, target))
        if leg.categorization is None
    )
    for leg in (source, target):
        if leg.categorization:
            leg_id = leg.categorization.id
            Categorization.objects.for_company(company.id).filter(id=leg_id).update(**values_by_id[leg_id])


def build_leg_values(leg: LinkedAmount, category: Category, kind: str) -> dict[str, Any]:
    """Return the column values of a leg: all neutral, on the day of its transaction."""
    lines = {line: leg.value if line == PlType.NEUTRAL else None for line in PlType.values}
    return {
        **lines,
        "category": category,
        "rule": "transactionDate",
        "rule_start_date": None,
        "rule_end_date": None,
        "invoice_date": None,
        "computed_start_date": leg.row.date,
        "computed_end_date": leg.row.date,
        "pass_through_tax": None,
        "value": leg.value,
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
            .select_related("transaction", "counter__transaction")
            .first()
        )
        if categorization is None:
            raise NotFoundError
        if categorization.counter is None:
            raise NotLinked
        rows = (categorization.transaction, categorization.counter.transaction)
        first_day = min((row.date for row in rows if not row.pending), default=None)
        check_period_open_for_days(company, [("#/transactionId", first_day)])
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
