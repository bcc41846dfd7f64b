"""Errors and checks of settlements, shared by whatever changes one of their sides."""

import datetime as dt
from collections.abc import Collection, Iterable
from decimal import Decimal
from uuid import UUID

from django.utils.translation import gettext as _

from companies.errors import ConflictError, InvalidInputError, ValidationFailed
from companies.models import AuditContext, Company
from ledger.models import Transaction, TransactionIsInitialBalance
from ledger.transactions.actions.transactions import OccurrenceSettled, SettlesTooMuch, WrongDirection
from planning.calc.recurrence import is_occurrence
from planning.models import PlannedTransaction, Settlement
from planning.planned_transactions.queries.settlements import load_payment, sum_settled_by_occurrence

ZERO = Decimal(0)
MAX_WRITE_OFF_AHEAD = dt.timedelta(days=366)


class NotAnOccurrence(InvalidInputError):
    """The planned transaction has no occurrence on this date."""

    code = "not_an_occurrence"


class OccurrenceSkipped(ConflictError):
    """The occurrence is skipped. Restore it before settling it."""

    code = "occurrence_skipped"


class NothingOpen(ConflictError):
    """Nothing is open. Undo a settlement or write-off first."""

    code = "nothing_open"


class OccurrenceNotSettled(ConflictError):
    """The occurrence is not settled."""

    code = "occurrence_not_settled"


class TransactionPending(ConflictError):
    """The transaction is pending. It can settle an occurrence once it is booked."""

    code = "transaction_pending"


UNSUITABLE_TRANSACTION_ERRORS = (OccurrenceSkipped, WrongDirection, TransactionPending, TransactionIsInitialBalance)


def check_occurrence(planned: PlannedTransaction, original_date: dt.date) -> None:
    """Check that a planned transaction takes place on a date.

    Raises:
        NotAnOccurrence, OccurrenceSkipped.
    """
    if not is_occurrence(planned.recurrence_rule(), original_date):
        raise NotAnOccurrence(pointer="#/date")
    override = planned.overrides.get(original_date)
    if override is not None and override.skipped:
        raise OccurrenceSkipped


def check_write_off_date(planned: PlannedTransaction, date: dt.date, *, today: dt.date) -> None:
    """Check that a write-off counts from no day before the invoice date, and not from more than a year ahead.

    Raises:
        ValidationFailed: `out_of_range`.
    """
    last = today + MAX_WRITE_OFF_AHEAD
    message = ""
    if date > last:
        message = _("Must not be after {day}.").format(day=last.isoformat())
    elif planned.invoice_date is not None and date < planned.invoice_date:
        message = _("Must not be before the invoice date, {day}.").format(day=planned.invoice_date.isoformat())
    if message:
        raise ValidationFailed([("#/date", "out_of_range", message)])


def check_invoice_date(planned: PlannedTransaction) -> None:
    """Check that a changed invoice date is not after a write-off of the invoice.

    Raises:
        ValidationFailed: `out_of_range`.
    """
    rows = Settlement.objects.for_company(planned.company_id).filter(planned=planned.id, date__lt=planned.invoice_date)
    first = rows.order_by("date").values_list("date", flat=True).first()
    if first is not None:
        message = _("Must not be after the write-off of {day}.").format(day=first.isoformat())
        raise ValidationFailed([("#/invoiceDate", "out_of_range", message)])


def get_planned_amount(planned: PlannedTransaction, original_date: dt.date) -> Decimal:
    """Return the planned amount of an occurrence, with its override."""
    override = planned.overrides.get(original_date)
    overridden = override.amount_value if override is not None else None
    return planned.amount_value if overridden is None else overridden


def compute_open_amount(planned: PlannedTransaction, original_date: dt.date, rows: Iterable[Settlement]) -> Decimal:
    """Return what is open of an occurrence."""
    return get_planned_amount(planned, original_date) - sum((row.amount_value for row in rows), start=ZERO)


def check_transaction_can_settle(planned: PlannedTransaction, original_date: dt.date, transaction: Transaction) -> None:
    """Check that a transaction is booked and in the direction of the plan, or may pay a credit note.

    Raises:
        TransactionIsInitialBalance, TransactionPending, WrongDirection.
    """
    if transaction.is_initial:
        raise TransactionIsInitialBalance
    if transaction.pending:
        raise TransactionPending
    amount = get_planned_amount(planned, original_date)
    if transaction.amount_value * amount <= 0 and not (
        transaction.amount_value * amount < 0 and is_offset_by_credit_note(planned, amount)
    ):
        raise WrongDirection


def is_offset_by_credit_note(planned: PlannedTransaction, amount: Decimal) -> bool:
    """Whether an invoice is a credit note, or its counterparty has an open invoice in the other direction.

    Then one payment of the difference settles both.
    """
    if not planned.is_invoice or planned.counterparty_id is None:
        return False
    opposite = PlannedTransaction.objects.for_company(planned.company_id).invoices()
    opposite = opposite.filter(counterparty=planned.counterparty_id)
    opposite = opposite.filter(amount_value__lt=0) if amount > 0 else opposite.filter(amount_value__gt=0)
    return planned.is_credit_note or opposite.exists()


def check_transactions_cover_settlements(company_id: UUID, transaction_ids: Collection[UUID | None]) -> None:
    """Check that transactions are at least as large as what they settle.

    Raises:
        SettlesTooMuch: one is not.
    """
    ids = [each for each in transaction_ids if each is not None]
    for transaction in Transaction.objects.for_company(company_id).filter(id__in=ids):
        payment = load_payment(transaction)
        if payment.remaining * payment.amount < 0:
            raise SettlesTooMuch


def check_settled_occurrences(planned: PlannedTransaction) -> None:
    """Check that a changed planned transaction still has its settled occurrences, and at least what is settled.

    Raises:
        OccurrenceSettled: a settled occurrence no longer takes place.
        SettlesTooMuch: more is settled than is planned now.
    """
    rule = planned.recurrence_rule()
    for (_planned_id, day), settled in sum_settled_by_occurrence(planned.company_id, [planned.id]).items():
        override = planned.overrides.get(day)
        if not is_occurrence(rule, day) or (override is not None and override.skipped):
            raise OccurrenceSettled
        amount = get_planned_amount(planned, day)
        if amount * settled < 0 or abs(settled) > abs(amount):
            raise SettlesTooMuch(_("More is already settled. Unsettle it first."))


def check_settling_transaction(
    *, company: Company, transaction: Transaction, changed: set[str], context: AuditContext
) -> None:
    """Check that an edited transaction still covers what it settles, in the same direction and currency.

    Raises:
        WrongDirection, OccurrenceSettled, SettlesTooMuch.
    """
    if not changed & {"amount_value", "amount_currency"}:
        return
    rows = Settlement.objects.for_company(company.id).filter(transaction=transaction.id)
    if not rows.exists():
        return
    if "amount_currency" in changed:
        raise OccurrenceSettled(_("It settles a planned transaction. Unsettle that first."))
    payment = load_payment(transaction)
    if transaction.amount_value * (payment.amount - payment.remaining) <= 0:
        raise WrongDirection(
            _("It settles a planned transaction in the other direction. Unsettle that first."),
            pointer="#/amountValue",
        )
    if payment.remaining * payment.amount < 0:
        raise SettlesTooMuch(_("It settles more than this. Unsettle that first."))
