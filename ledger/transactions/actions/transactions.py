"""Create, update and delete transactions."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.utils.translation import gettext as _

from companies.change import CompanyChange, change_company
from companies.closed_periods import PeriodClosed, check_period_open_for_days, is_day_closed
from companies.errors import ConflictError, InvalidInputError, ValidationFailed, build_unknown_id_error
from companies.models import AuditContext, Company, IdIn, Membership, parse_id, snapshot_row
from ledger import hooks
from ledger.calc.proportional_shares import scale_proportionally
from ledger.models import (
    IMPORTED_FIELDS,
    Account,
    Categorization,
    Source,
    Transaction,
    TransactionIsInitialBalance,
    TransactionLinked,
)
from ledger.money.amounts import parse_api_amount
from ledger.money.calc.money import has_too_many_decimals
from ledger.recognition.actions.period_updates import recompute_periods
from ledger.recognition.actions.postings import PL_TYPES, delete_postings, rebuild_postings
from ledger.recognition.actions.transaction_totals import recompute_totals_and_postings
from ledger.recognition.closed_categorizations import find_legs_in_closed_months, find_recognized_in_closed_months
from ledger.transactions.actions.audit_links import link_audit_entry
from ledger.transactions.queries.selections import get_transaction_ids


class WrongDirection(InvalidInputError):
    """A transaction can only settle a planned transaction with the same sign."""

    code = "wrong_direction"


class SettlesTooMuch(ConflictError):
    """The amount exceeds what is open, or what is left of the transaction."""

    code = "settles_too_much"


class OccurrenceSettled(ConflictError):
    """The occurrence is settled. Unsettle it before you change this."""

    code = "occurrence_settled"


FIXED_BY_LINK = {"account_id", "amount_value", "amount_currency"}
FIXED_BY_INITIAL_BALANCE = FIXED_BY_LINK | {"date", "pending"}
BALANCE_COLUMNS = FIXED_BY_INITIAL_BALANCE
AMOUNT_COLUMNS = (*PL_TYPES, "pass_through_tax")  # of a categorization
PERIOD_COLUMNS = {"date", "amount_currency", "pending"}  # of computed dates and postings


def create_transaction(*, company: Company, context: AuditContext, values: dict[str, Any]) -> Transaction:
    """Create a transaction; without a currency it has the account's. `amount_value` is text as the API takes it.

    A planned transaction with its amount is settled by it.

    Raises:
        ValidationFailed: `unknown_id`, `invalid_decimal`, `too_many_decimals`.
        ExternalIdTaken.
    """
    with change_company(company, context=context) as change:
        account = get_booking_account(company, values["account_id"])
        values = to_transaction_columns(values, currency=values.get("amount_currency") or account.default_currency)
        check_assignee(company, values)
        if not values.get("pending"):
            check_period_open_for_days(company, [("#/date", values["date"])])
        row = change.insert(Transaction(company=company, source=Source.MANUAL, **values))
        hooks.transaction_created.run(company=company, transaction=row, context=context)
        change.record(row, "transaction.created", after=snapshot_row(row))
        hooks.transactions_booked.run(change=change, rows=Transaction.objects.for_company(company.id).filter(id=row.id))
        hooks.balances_changed.run(change=change, account_ids={account.id})
    return row


def update_transaction(
    *,
    company: Company,
    context: AuditContext,
    transaction_id: UUID | str,
    values: dict[str, Any],
    categorization_follows: bool = False,
) -> Transaction:
    """Update a transaction. If it becomes booked it settles planned transactions; if pending, it settles none.

    Args:
        categorization_follows: whether the only categorization of a whole amount takes the new amount.

    Raises:
        NotFoundError, PreconditionFailed, TransactionLinked, TransactionIsInitialBalance, SplitExceedsAmount,
        MissingRateError, WrongDirection, SettlesTooMuch, OccurrenceSettled, and what `create_transaction` raises.
    """
    with change_company(company, context=context) as change:
        row = change.lock(Transaction, transaction_id)
        currency = values.get("amount_currency") or row.amount_currency
        values = to_transaction_columns(
            {"amount_value": format(row.amount_value.normalize(), "f"), **values}, currency=currency
        )
        changed = {name for name, value in values.items() if getattr(row, name) != value}
        account_ids = {row.account_id}
        if "account_id" in changed:
            get_booking_account(company, values["account_id"])
        if "assigned_user_id" in changed:
            check_assignee(company, values)
        if row.is_initial and changed & FIXED_BY_INITIAL_BALANCE:
            raise TransactionIsInitialBalance
        check_period_open_for_transaction(company, row, values, changed)
        categorizations = list(Categorization.objects.for_company(company.id).filter(transaction=row))
        follows = categorization_follows and "amount_value" in changed
        followed = find_whole_categorization(row, categorizations) if follows else None
        if followed or (row.categorizations_auto_assigned and changed & {"amount_value", "amount_currency"}):
            values["categorized_value"] = values["amount_value"]  # which follows the amount
        else:
            check_categorizations_fit(categorizations, currency=currency, changed=changed)
        store_imported_values(row, changed)
        before, amount_before = snapshot_row(row), row.amount_value
        row.apply_changes(context, **values)
        if categorizations:
            update_categorizations(change, row, changed, followed=followed, amount_before=amount_before)
        if changed:
            hooks.transaction_updated.run(company=company, transaction=row, changed=changed, context=context)
            change.record(row, "transaction.updated", before=before, after=snapshot_row(row))
        if "pending" in changed:
            rematch_planned_transactions(change, row)
        hooks.balances_changed.run(
            change=change,
            account_ids=account_ids | {row.account_id} if changed & BALANCE_COLUMNS else (),
        )
    return row


def find_whole_categorization(row: Transaction, categorizations: Sequence[Categorization]) -> Categorization | None:
    """Return the only categorization of a transaction that a person assigned, if it is of the whole amount.

    Legs of transfers are none.
    """
    is_whole = len(categorizations) == 1 and not (row.is_open or row.categorizations_auto_assigned)
    return categorizations[0] if is_whole and not categorizations[0].counter_id else None


def update_categorizations(
    change: CompanyChange,
    row: Transaction,
    changed: set[str],
    *,
    followed: Categorization | None,
    amount_before: Decimal,
) -> None:
    """Update what follows from a changed transaction: the amount of its categorization, periods and postings."""
    if followed:
        rescale_categorization(followed, before=amount_before, transaction=row)
    if changed & PERIOD_COLUMNS:
        recompute_periods(change, [row.id])
    elif followed:
        rebuild_postings(company=change.company, transaction_ids=[row.id])


def rescale_categorization(categorization: Categorization, *, before: Decimal, transaction: Transaction) -> None:
    """Store the categorization of a whole amount with the new amount: P&L lines and tax keep their shares."""
    amounts = scale_proportionally(
        [getattr(categorization, name) for name in AMOUNT_COLUMNS],
        of=before,
        to=transaction.amount_value,
        currency=transaction.amount_currency,
    )
    for name, amount in zip(AMOUNT_COLUMNS, amounts, strict=True):
        setattr(categorization, name, amount)
    categorization.value = transaction.amount_value
    categorization.run = categorization.replaced = None  # whoever edits the amount takes it over
    categorization.save(update_fields=[*AMOUNT_COLUMNS, "value", "run", "replaced"])


FACT_POINTERS = {
    "account_id": "#/accountId",
    "amount_value": "#/amountValue",
    "amount_currency": "#/amountCurrency",
    "date": "#/date",
    "pending": "#/pending",
}


def check_period_open_for_transaction(
    company: Company, row: Transaction, values: dict[str, Any], changed: set[str]
) -> None:
    """Raise PeriodClosed if a field changes that a balance of a closed month depends on."""
    names = [name for name in FACT_POINTERS if name in changed]
    was_closed = not row.pending and is_day_closed(company, row.date)
    becomes_closed = not values.get("pending", row.pending) and is_day_closed(company, values.get("date", row.date))
    if not was_closed:  # only what moves it into a closed month
        names = [name for name in names if name in {"date", "pending"}] if becomes_closed else []
    if names:
        raise PeriodClosed.for_company(company, *(FACT_POINTERS[name] for name in names))


def find_closed_transactions(company: Company, transaction_ids: list[UUID]) -> set[UUID]:
    """Return the transactions that count in a closed month: by date, categorization or transfer."""
    if company.closed_through is None:
        return set()
    rows = Transaction.objects.for_company(company.id).filter(IdIn("id", transaction_ids)).booked()
    dated_ids = set(rows.filter(date__lte=company.closed_through).values_list("id", flat=True))
    recognized_ids = find_recognized_in_closed_months(company, transaction_ids)
    return dated_ids | recognized_ids | find_legs_in_closed_months(company, transaction_ids)


def store_imported_values(row: Transaction, changed: set[str]) -> None:
    """Store the imported values before a user first changes one of them."""
    if row.import_batch_id and row.as_told is None and changed.intersection(IMPORTED_FIELDS):
        row.as_told = row.imported_values
        row.save(update_fields=["as_told"])


def rematch_planned_transactions(change: CompanyChange, row: Transaction) -> None:
    """Match a transaction that became booked with planned ones; unsettle what a pending one settled."""
    if row.pending:
        hooks.transactions_pending.run(change=change, transaction_ids=[row.id])
    else:
        rows = Transaction.objects.for_company(change.company.id).filter(id=row.id)
        hooks.transactions_booked.run(change=change, rows=rows)


def check_categorizations_fit(categorizations: list[Categorization], *, currency: str, changed: set[str]) -> None:
    """Check that the categorizations fit the changed transaction; their sum is checked by the database.

    Raises:
        TransactionLinked.
        ValidationFailed: `too_many_decimals`.
    """
    if any(part.counter_id for part in categorizations) and changed & FIXED_BY_LINK:
        raise TransactionLinked
    if "amount_currency" in changed:
        values = (value for part in categorizations for value in (*part.split.values(), part.pass_through_tax) if value)
        if any(has_too_many_decimals(value, currency) for value in values):
            raise ValidationFailed(
                [
                    (
                        "#/amountCurrency",
                        "too_many_decimals",
                        _("Too many decimal places for {currency}.").format(currency=currency),
                    )
                ]
            )


def to_transaction_columns(values: dict[str, Any], *, currency: str) -> dict[str, Any]:
    """Return the values as columns: the amount as a number in its currency, null texts as empty ones."""
    columns = {**values, "amount_currency": currency}
    columns["amount_value"] = parse_api_amount(values["amount_value"], currency, pointer="#/amountValue")
    for name in ("from_to", "description"):
        if name in columns:
            columns[name] = columns[name] or ""
    return columns


def get_booking_account(company: Company, account_id: UUID) -> Account:
    """Return the account of a new transaction. Raises ValidationFailed with `unknown_id`."""
    account = Account.objects.for_company(company.id).filter(id=account_id).first()
    if account is None:
        raise build_unknown_id_error("#/accountId")
    return account


def check_assignee(company: Company, values: dict[str, Any]) -> None:
    """Check that the assignee is a member of the company. Raises ValidationFailed with `unknown_id`."""
    assignee_id = values.get("assigned_user_id")
    if assignee_id is None:
        return
    user_id = parse_id(assignee_id)
    if user_id is None or not Membership.objects.for_company(company.id).filter(user_id=user_id).exists():
        raise build_unknown_id_error("#/assignedUserId")


def delete_transaction(*, company: Company, context: AuditContext, transaction_id: UUID | str) -> None:
    """Delete a transaction. Raises NotFoundError, PreconditionFailed, MissingRateError."""
    with change_company(company, context=context) as change:
        row = change.lock(Transaction, transaction_id)
        if find_closed_transactions(company, [row.id]):
            raise PeriodClosed.for_company(company)
        entry = change.record(row, "transaction.deleted", before=snapshot_row(row))
        link_audit_entry(change, entry, (), partners=delete_transaction_rows(change, [row.id]).partner_ids)
        hooks.balances_changed.run(change=change, account_ids={row.account_id})


def delete_transactions(*, company: Company, context: AuditContext, ids: Mapping[str, UUID | None]) -> int:
    """Delete transactions, all or none, with one audit entry, and return how many there were.

    Args:
        ids: ids by their texts as sent; None for malformed ones.

    Raises:
        ValidationFailed: `unknown_id`.
        MissingRateError.
    """
    with change_company(company, context=context) as change:
        transaction_ids = get_transaction_ids(company, ids, pointer="#/transactionIds")
        if closed_ids := find_closed_transactions(company, transaction_ids):
            pointers = (f"#/transactionIds/{n}" for n, row_id in enumerate(ids.values()) if row_id in closed_ids)
            raise PeriodClosed.for_company(company, *pointers)
        account_ids = list_account_ids(company, transaction_ids)
        deletion = delete_transaction_rows(change, transaction_ids)
        after = {"deleted": deletion.deleted, "ids": [str(each) for each in transaction_ids[:100]]}
        entry = change.record_bulk("transactions.deleted", "transaction", after=after)
        link_audit_entry(change, entry, transaction_ids, partners=deletion.partner_ids)
        hooks.balances_changed.run(change=change, account_ids=account_ids)
    return deletion.deleted


def list_account_ids(company: Company, transaction_ids: list[UUID]) -> set[UUID]:
    """Return the ids of the accounts of transactions; one statement."""
    rows = Transaction.objects.for_company(company.id).filter(id__in=transaction_ids).order_by()
    return set(rows.values_list("account_id", flat=True).distinct())


class DeletionResult(NamedTuple):
    """How many transactions were deleted, and the other transactions whose legs were deleted with them."""

    deleted: int
    partner_ids: list[UUID]


def delete_transaction_rows(change: CompanyChange, ids: list[UUID]) -> DeletionResult:
    """Delete transactions with their categorizations; the other legs of their transfers are unlinked.

    Takes a constant number of statements. Raises MissingRateError.
    """
    if not ids:
        return DeletionResult(0, [])
    company = change.company
    hooks.transactions_deleted.run(change=change, transaction_ids=ids)
    partner_ids = find_partner_ids(company, ids)
    delete_postings(company=company, transaction_ids=ids)
    params: dict[str, Any] = {"company": company.id, "ids": ids}
    # Raw SQL: the ORM would read the rows before it deletes them.
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM ledger_categorization WHERE company_id = %(company)s "
            "AND (transaction_id = ANY(%(ids)s::uuid[]) OR counter_id IN (SELECT id FROM ledger_categorization "
            "WHERE company_id = %(company)s AND transaction_id = ANY(%(ids)s::uuid[])))",
            params,
        )
        cursor.execute(
            "DELETE FROM ledger_transaction WHERE company_id = %(company)s AND id = ANY(%(ids)s::uuid[])", params
        )
        count: int = cursor.rowcount
    if partner_ids:
        recompute_totals_and_postings(change, partner_ids)
    return DeletionResult(count, partner_ids)


def find_partner_ids(company: Company, ids: list[UUID]) -> list[UUID]:
    """Return the ids of transactions linked to the given ones, without those themselves."""
    legs = Categorization.objects.for_company(company.id).filter(IdIn("transaction_id", ids), counter__isnull=False)
    return sorted({*legs.values_list("counter__transaction_id", flat=True)}.difference(ids))
