"""Booking, changing and removing single transactions by hand."""

from decimal import Decimal
from typing import Any, NoReturn
from uuid import UUID

from django.db import IntegrityError, connection, transaction

from companies.errors import Conflict, FieldErrors, unknown_id
from companies.follow_ups import follow_up
from companies.models import AuditEntry, Company, Membership, Stamp, record_change, snapshot
from ledger.calc.money import InvalidAmount, TooManyDecimals, parse_amount
from ledger.categorizing import SplitExceedsAmount, TransactionLinked
from ledger.models import Account, Categorization, Source, Transaction
from ledger.posting import LINES, unpost
from ledger.redating import redate
from ledger.totals import parts_changed

FIXED_BY_LINK = {"account_id", "amount_value", "amount_currency"}
FIXED_BY_INITIAL_BALANCE = FIXED_BY_LINK | {"date", "pending"}
DATES_DEPEND_ON = {"date", "amount_currency", "pending"}  # of computed dates and postings


class InitialBalanceFixed(Conflict):
    """Date and amount of an initial balance are changed with PUT accounts/{accountId}/initial_balance."""

    code = "transaction_is_initial_balance"


class ExternalIdTaken(Conflict):
    """The account has a transaction with this externalId."""

    code = "external_id_taken"


def book(*, company: Company, stamp: Stamp, values: dict[str, Any]) -> Transaction:
    """A new transaction; its currency is the account's where none is given. ``amount_value`` is text.

    Raises FieldErrors (unknown_id, invalid_decimal, too_many_decimals) and ExternalIdTaken.
    """
    account = account_of(company, values["account_id"])
    values = written(values, currency=values.get("amount_currency") or account.default_currency)
    check_assignee(company, values)
    row = Transaction(company=company, source=Source.MANUAL, **values).stamp_new(stamp)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError as error:
        raise_taken(error)
    record_change(stamp, row, "transaction.created", after=snapshot(row))
    return row


def change(*, row: Transaction, company: Company, stamp: Stamp, values: dict[str, Any]) -> Transaction:
    """Stores changed facts and what follows from them. Call with the row locked.

    Raises what ``book`` raises, and TransactionLinked, InitialBalanceFixed, SplitExceedsAmount, RateMissing.
    """
    values = written(
        {"amount_value": format(row.amount_value.normalize(), "f"), **values},
        currency=values.get("amount_currency") or row.amount_currency,
    )
    changed = {name for name, value in values.items() if getattr(row, name) != value}
    if "account_id" in changed:
        account_of(company, values["account_id"])
    if "assigned_user_id" in changed:
        check_assignee(company, values)
    if row.source == Source.INITIAL_BALANCE and changed & FIXED_BY_INITIAL_BALANCE:
        raise InitialBalanceFixed
    parts = list(Categorization.objects.of(company.id).filter(transaction=row))
    check_parts(parts, row=row, values=values, changed=changed)
    before = snapshot(row)
    try:
        with transaction.atomic():
            row.change(stamp, **values)
    except IntegrityError as error:
        raise_taken(error)
    if changed:
        after = snapshot(row)
        record_change(
            stamp,
            row,
            "transaction.updated",
            before={name: before[name] for name in changed},
            after={name: after[name] for name in changed},
        )
    if parts and changed & DATES_DEPEND_ON:
        redate(company=company, transaction_ids=[row.id], stamp=stamp)
    return row


def raise_taken(error: IntegrityError) -> NoReturn:
    """Raises ExternalIdTaken where that is what the database refused, else the error as it is."""
    if "external_id_once" in str(error):
        raise ExternalIdTaken from None
    raise error


def check_parts(parts: list[Categorization], *, row: Transaction, values: dict[str, Any], changed: set[str]) -> None:
    """Whether the parts still fit. Raises TransactionLinked, SplitExceedsAmount, FieldErrors (too_many_decimals)."""
    if any(part.counter_id for part in parts) and changed & FIXED_BY_LINK:
        raise TransactionLinked
    amount = values["amount_value"]
    if abs(row.categorized_value) > abs(amount) or row.categorized_value * amount < 0:
        raise SplitExceedsAmount
    if "amount_currency" in changed:
        for part in parts:
            for value in (*(getattr(part, line) for line in LINES), part.pass_through_tax):
                exact(format(value or Decimal(0), "f"), values["amount_currency"], pointer="#/amountCurrency")


def written(values: dict[str, Any], *, currency: str) -> dict[str, Any]:
    """The values as they are stored: the amount as a number of its currency, texts that are null as empty."""
    stored = {**values, "amount_currency": currency}
    stored["amount_value"] = exact(values["amount_value"], currency, pointer="#/amountValue")
    for name in ("from_to", "description"):
        if name in stored:
            stored[name] = stored[name] or ""
    return stored


def exact(text: str, currency: str, *, pointer: str) -> Decimal:
    """The amount written in the text. Raises FieldErrors."""
    try:
        return parse_amount(text, currency)
    except InvalidAmount:
        raise FieldErrors([(pointer, "invalid_decimal", "Must be a string such as -1234.56.")]) from None
    except TooManyDecimals:
        raise FieldErrors([(pointer, "too_many_decimals", f"{currency} has fewer decimals.")]) from None


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
    try:
        known = Membership.objects.of(company.id).filter(user_id=UUID(given)).exists()
    except ValueError:
        known = False
    if not known:
        raise unknown_id("#/assignedUserId")


def remove_one(*, row: Transaction, company: Company, stamp: Stamp) -> None:
    """Deletes one transaction. Call with the row locked."""
    record_change(stamp, row, "transaction.deleted", before=snapshot(row))
    remove(company=company, stamp=stamp, ids=[row.id])


def remove_many(*, company: Company, stamp: Stamp, ids: list[UUID]) -> int:
    """Deletes transactions; one row in the audit log. Returns how many there were."""
    count = remove(company=company, stamp=stamp, ids=ids)
    AuditEntry.objects.record(
        stamp,
        company_id=company.id,
        action="transactions.deleted",
        entity_type="transaction",
        entity_id=None,
        after={"deleted": count, "ids": [str(each) for each in ids[:100]]},
    )
    return count


def remove(*, company: Company, stamp: Stamp, ids: list[UUID]) -> int:
    """Deletes transactions with their parts; partners of linked ones are unlinked. Returns how many were there.

    A constant number of statements. Raises RateMissing.
    """
    if not ids:
        return 0
    follow_up("transactions_deleted", company=company, transaction_ids=ids, stamp=stamp)
    partners = reopen_partners(company=company, ids=ids)
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
        parts_changed(company=company, transaction_ids=partners, stamp=stamp)
    return count


def reopen_partners(*, company: Company, ids: list[UUID]) -> list[UUID]:
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
