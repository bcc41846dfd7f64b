"""Booking, changing and removing single transactions by hand."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.utils.translation import gettext as _

from companies.changing import Change, changing
from companies.errors import FieldErrors, Invalid, unknown_id
from companies.models import Company, Membership, Stamp, id_from, snapshot
from ledger import hooks
from ledger.calc.money import too_fine
from ledger.models import TOLD, Account, Categorization, InitialBalanceFixed, Source, Transaction, TransactionLinked
from ledger.money.amounts import amount_in
from ledger.recognition.posting import unpost
from ledger.recognition.redating import redate
from ledger.recognition.totals import parts_changed
from ledger.transactions.selections import known_ids
from ledger.transactions.touching import touched


class OtherDirection(Invalid):
    """Money in settles what is expected to come in, money out what is expected to go out."""

    code = "wrong_direction"


FIXED_BY_LINK = {"account_id", "amount_value", "amount_currency"}
FIXED_BY_INITIAL_BALANCE = FIXED_BY_LINK | {"date", "pending"}
BALANCES_DEPEND_ON = FIXED_BY_INITIAL_BALANCE
DATES_DEPEND_ON = {"date", "amount_currency", "pending"}  # of computed dates and postings


def book(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> Transaction:
    """A new transaction; its currency is the account's where none is given. ``amount_value`` is text.

    It settles what is planned with its amount. Raises FieldErrors (unknown_id, invalid_decimal, too_many_decimals) and
    ExternalIdTaken.
    """
    with changing(company, stamp=stamp) as change:
        account = account_of(company, values["account_id"])
        values = written(values, currency=values.get("amount_currency") or account.default_currency)
        check_assignee(company, values)
        row = change.store(Transaction(company=company, source=Source.MANUAL, **values))
        hooks.transaction_created.run(company=company, transaction=row, stamp=stamp)
        change.record(row, "transaction.created", after=snapshot(row))
        hooks.transactions_booked.run(change=change, rows=Transaction.objects.of(company.id).filter(id=row.id))
        hooks.balances_changed.run(change=change, account_ids={account.id})
    return row


def change(*, company: Company, stamp: Stamp, transaction_id: UUID | str, values: dict[str, Any]) -> Transaction:
    """Stores changed facts and what follows from them: one that is booked settles what is planned, one that is pending
    again settles nothing.

    Raises Missing, Stale, what ``book`` raises, and TransactionLinked, InitialBalanceFixed, SplitExceedsAmount,
    NoRate, OtherDirection.
    """
    with changing(company, stamp=stamp) as change:
        row = change.locked(Transaction, transaction_id)
        currency = values.get("amount_currency") or row.amount_currency
        values = written({"amount_value": format(row.amount_value.normalize(), "f"), **values}, currency=currency)
        changed = {name for name, value in values.items() if getattr(row, name) != value}
        account_ids = {row.account_id}
        if "account_id" in changed:
            account_of(company, values["account_id"])
        if "assigned_user_id" in changed:
            check_assignee(company, values)
        if row.is_initial and changed & FIXED_BY_INITIAL_BALANCE:
            raise InitialBalanceFixed
        parts = list(Categorization.objects.of(company.id).filter(transaction=row))
        if row.categorizations_auto_assigned and changed & {"amount_value", "amount_currency"}:
            values["categorized_value"] = values["amount_value"]  # what nobody decided follows
        else:
            check_parts(parts, currency=currency, changed=changed)
        keep_as_told(row, changed)
        before = snapshot(row)
        row.change(stamp, **values)
        if parts and changed & DATES_DEPEND_ON:
            redate(change, [row.id])
        if changed:
            hooks.transaction_updated.run(company=company, transaction=row, changed=changed, stamp=stamp)
            change.record(row, "transaction.updated", before=before, after=snapshot(row))
        if "pending" in changed:
            settle_anew(change, row)
        hooks.balances_changed.run(
            change=change,
            account_ids=account_ids | {row.account_id} if changed & BALANCES_DEPEND_ON else (),
        )
    return row


def keep_as_told(row: Transaction, changed: set[str]) -> None:
    """Before somebody first corrects what an import told."""
    if row.import_batch_id and row.as_told is None and changed.intersection(TOLD):
        row.as_told = row.told
        row.save(update_fields=["as_told"])


def settle_anew(change: Change, row: Transaction) -> None:
    """What is booked settles what is planned with its amount; what is pending settles nothing."""
    if row.pending:
        hooks.transactions_pending.run(company=change.company, transaction_ids=[row.id], stamp=change.stamp)
    else:
        rows = Transaction.objects.of(change.company.id).filter(id=row.id)
        hooks.transactions_booked.run(change=change, rows=rows)


def check_parts(parts: list[Categorization], *, currency: str, changed: set[str]) -> None:
    """Whether the parts still fit; their sum the database checks. Raises TransactionLinked, FieldErrors."""
    if any(part.counter_id for part in parts) and changed & FIXED_BY_LINK:
        raise TransactionLinked
    if "amount_currency" in changed:
        stored = (value for part in parts for value in (*part.split.values(), part.pass_through_tax) if value)
        if any(too_fine(value, currency) for value in stored):
            raise FieldErrors(
                [
                    (
                        "#/amountCurrency",
                        "too_many_decimals",
                        _("{currency} has fewer decimals.").format(currency=currency),
                    )
                ]
            )


def written(values: dict[str, Any], *, currency: str) -> dict[str, Any]:
    """The values as they are stored: the amount as a number of its currency, texts that are null as empty."""
    stored = {**values, "amount_currency": currency}
    stored["amount_value"] = amount_in(values["amount_value"], currency, pointer="#/amountValue")
    for name in ("from_to", "description"):
        if name in stored:
            stored[name] = stored[name] or ""
    return stored


def account_of(company: Company, account_id: UUID) -> Account:
    account = Account.objects.of(company.id).filter(id=account_id).first()
    if account is None:
        raise unknown_id("#/accountId")
    return account


def check_assignee(company: Company, values: dict[str, Any]) -> None:
    """An assigned user is a member of the company."""
    given = values.get("assigned_user_id")
    if given is None:
        return
    user_id = id_from(given)
    if user_id is None or not Membership.objects.of(company.id).filter(user_id=user_id).exists():
        raise unknown_id("#/assignedUserId")


def remove_one(*, company: Company, stamp: Stamp, transaction_id: UUID | str) -> None:
    """Deletes one transaction. Raises Missing, Stale, NoRate."""
    with changing(company, stamp=stamp) as change:
        row = change.locked(Transaction, transaction_id)
        entry = change.record(row, "transaction.deleted", before=snapshot(row))
        touched(change, entry, (), partners=remove(change, [row.id]).partners)
        hooks.balances_changed.run(change=change, account_ids={row.account_id})


def remove_many(*, company: Company, stamp: Stamp, ids: Mapping[str, UUID | None]) -> int:
    """Deletes transactions, all or none; one row in the audit log. Returns how many there were.

    ``ids`` by their texts, as they came. Raises FieldErrors (unknown_id), NoRate.
    """
    with changing(company, stamp=stamp) as change:
        known = known_ids(company, ids, pointer="#/transactionIds")
        account_ids = find_account_ids(company, known)
        removed = remove(change, known)
        after = {"deleted": removed.deleted, "ids": [str(each) for each in known[:100]]}
        entry = change.record_many("transactions.deleted", "transaction", after=after)
        touched(change, entry, known, partners=removed.partners)
        hooks.balances_changed.run(change=change, account_ids=account_ids)
    return removed.deleted


def find_account_ids(company: Company, transaction_ids: list[UUID]) -> set[UUID]:
    """The accounts of transactions; one statement."""
    rows = Transaction.objects.of(company.id).filter(id__in=transaction_ids).order_by()
    return set(rows.values_list("account_id", flat=True).distinct())


class Removed(NamedTuple):
    """How many transactions were deleted, and the others whose legs went with theirs."""

    deleted: int
    partners: list[UUID]


def remove(change: Change, ids: list[UUID]) -> Removed:
    """Deletes transactions with their parts; partners of linked ones are unlinked.

    A constant number of statements. Raises NoRate.
    """
    if not ids:
        return Removed(0, [])
    company = change.company
    hooks.transactions_deleted.run(company=company, transaction_ids=ids, stamp=change.stamp)
    partners = partners_of(company, ids)
    unpost(company=company, transaction_ids=ids)
    names: dict[str, Any] = {"company": company.id, "ids": ids}
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM ledger_categorization WHERE company_id = %(company)s "
            "AND (transaction_id = ANY(%(ids)s::uuid[]) OR counter_id IN (SELECT id FROM ledger_categorization "
            "WHERE company_id = %(company)s AND transaction_id = ANY(%(ids)s::uuid[])))",
            names,
        )
        cursor.execute(
            "DELETE FROM ledger_transaction WHERE company_id = %(company)s AND id = ANY(%(ids)s::uuid[])", names
        )
        count: int = cursor.rowcount
    if partners:
        parts_changed(change, partners)
    return Removed(count, partners)


def partners_of(company: Company, ids: list[UUID]) -> list[UUID]:
    """The transactions at the other end of links of the given ones, themselves left out."""
    with connection.cursor() as cursor:
        cursor.execute(_PARTNERS, {"company": company.id, "ids": ids})
        found = {partner for (partner,) in cursor.fetchall()}
    return sorted(found.difference(ids))


# One array: as many parameters as ids would take longer to write than the database needs to answer.
_PARTNERS = """
    SELECT other.transaction_id
      FROM ledger_categorization AS leg
      JOIN ledger_categorization AS other ON other.company_id = leg.company_id AND other.id = leg.counter_id
     WHERE leg.company_id = %(company)s AND leg.transaction_id = ANY(%(ids)s::uuid[])
"""
