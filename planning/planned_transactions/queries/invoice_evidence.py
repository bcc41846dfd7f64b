"""Matches of transactions to invoices, by their numbers, references, parties and amounts."""

import datetime as dt
from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.fields.json import KT

from companies.models import Company
from planning.calc.invoice_matching import BankTransaction, InvoiceMatch, OpenInvoice, match_invoices
from planning.calc.settlement_matching import BookedTransaction, OpenOccurrence, SettlementMatch
from planning.models import InvoiceFile, PlannedTransaction, SettledBy

# Those of BankTransaction, and three texts; the first names its party.
BANK_COLUMNS = (
    *("id", "date", "amount_value", "amount_currency", "account_id"),
    *("from_to", "description", "notes"),
)


class InvoiceFacts(NamedTuple):
    """What identifies an invoice in bank texts."""

    invoice_date: dt.date
    party: str
    numbers: tuple[str, ...]
    references: tuple[str, ...]

    @property
    def is_named(self) -> bool:
        """Whether it has a number or a reference."""
        return bool(self.numbers or self.references)


def load_invoice_facts(company: Company, *, plans: QuerySet[PlannedTransaction]) -> dict[UUID, InvoiceFacts]:
    """Return the facts of those planned transactions that are invoices, by id. Two statements.

    Invoices have an invoice date and no recurrence.
    """
    rows = plans.filter(frequency=None, invoice_date__isnull=False, settled_by=SettledBy.TRANSACTION)
    # KT, because values_list() with the path to a key of JSON leaves a cycle that holds the request and its body.
    number = KT("external_data__invoice_number")
    values = list(
        rows.values_list("id", "invoice_date", "counterparty__name", number, "external_invoice_id", "external_id")
    )
    if not values:
        return {}
    payment_references = dict(
        InvoiceFile.objects.for_company(company.id)
        .filter(payment_reference__isnull=False, planned__in=[planned_id for planned_id, *_ in values])
        .values_list("planned_id", "payment_reference")
    )
    return {
        planned_id: InvoiceFacts(
            invoice_date,
            party or "",
            (number,) if number else (),
            tuple(filter(None, (*external_ids, payment_references.get(planned_id)))),
        )
        for planned_id, invoice_date, party, number, *external_ids in values
    }


def find_first_invoice_day(facts: Collection[InvoiceFacts]) -> dt.date | None:
    """Return the earliest invoice date of invoices with a number or a reference; None if there is none."""
    return min((each.invoice_date for each in facts if each.is_named), default=None)


def find_invoice_matches(
    occurrences: Iterable[OpenOccurrence],
    transactions: Iterable[BankTransaction],
    *,
    facts: dict[UUID, InvoiceFacts],
    max_days: int,
    dismissed: Collection[tuple[UUID, UUID, dt.date]] = (),
) -> list[InvoiceMatch]:
    """Match transactions to the occurrences that are invoices. Dismissed pairs are left out.

    Args:
        max_days: largest distance of the two dates for evidence other than a number or a reference.
    """
    invoices = [
        OpenInvoice(
            occurrence.planned_id,
            occurrence.original_date,
            occurrence.date,
            Decimal(occurrence.amount),
            occurrence.currency,
            occurrence.account_id,
            *facts[occurrence.planned_id][1:],
        )
        for occurrence in occurrences
        if occurrence.planned_id in facts
    ]
    return match_invoices(invoices, transactions, max_days=max_days, dismissed=dismissed) if invoices else []


def iter_bank_transactions(rows: Any) -> Iterator[BankTransaction]:
    """Yield the transactions of a queryset with their texts."""
    for row_id, day, amount, currency, account_id, *texts in rows.values_list(*BANK_COLUMNS):
        yield BankTransaction(row_id, day, amount, currency, account_id, texts[0] or "", "\n".join(filter(None, texts)))


def to_settlement_match(match: InvoiceMatch) -> SettlementMatch:
    """Return the match as that of an occurrence and a transaction; of several invoices the first stands for all."""
    settlements = tuple((invoice_to_open_occurrence(invoice), amount) for invoice, amount in match.settlements)
    occurrence, row = settlements[0][0], match.transaction
    total = sum((invoice.amount for invoice, _ in match.settlements), start=Decimal(0))
    return SettlementMatch(
        occurrence,
        to_booked_transaction(row),
        abs((row.date - occurrence.date).days),
        row.amount - total,
        match.evidence,
        match.is_ambiguous,
        settlements if len(settlements) > 1 else (),
    )


def invoice_to_open_occurrence(invoice: OpenInvoice) -> OpenOccurrence:
    """Return an invoice as an occurrence."""
    return OpenOccurrence(
        invoice.planned_id,
        invoice.original_date,
        invoice.due_date,
        invoice.amount,
        invoice.currency,
        invoice.account_id,
    )


def to_booked_transaction(row: BankTransaction) -> BookedTransaction:
    """Return a transaction without its texts."""
    return BookedTransaction(row.id, row.date, row.amount, row.currency, row.account_id)


def filter_named_rows(rows: Any, *, since: dt.date | None, window: tuple[dt.date, dt.date]) -> Any:
    """Filter transactions of a window, and all since the first invoice that texts could name."""
    in_window = Q(date__range=window)
    return rows.filter(in_window if since is None else in_window | Q(date__gte=since))
