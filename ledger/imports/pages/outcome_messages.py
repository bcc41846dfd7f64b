"""Messages about a finished import of a table."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from companies.pages.amount_formats import format_count
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger import hooks
from ledger.hooks import InvoicePayments
from ledger.imports.actions.imports import TransactionImportOutcome
from ledger.imports.calc.running_balance import BalanceFault
from ledger.imports.pages.reported_balances import format_reported_balance
from ledger.imports.row_errors import format_balance_fault
from ledger.models import Account, ImportBatch


def format_import_outcome(
    page: CompanyPage, outcome: TransactionImportOutcome, account: Account, balance_fault: BalanceFault | None
) -> str:
    """Describe what an import did, and why it reconciled nothing."""
    count, bad = outcome.count, outcome.bad
    sentence = ngettext(
        "{count} transaction imported into {account}.", "{count} transactions imported into {account}.", count
    )
    parts = [sentence.format(count=format_count(count), account=account.name)]
    if booked := len(outcome.booked):
        booked_sentence = ngettext(
            "{count} pending transaction is now booked.", "{count} pending transactions are now booked.", booked
        )
        parts.append(booked_sentence.format(count=format_count(booked)))
    if known := len(outcome.known_items):
        known_sentence = ngettext("{count} duplicate skipped.", "{count} duplicates skipped.", known)
        parts.append(known_sentence.format(count=format_count(known)))
    if old := outcome.skipped_before_data_start:
        early_sentence = ngettext(
            "{count} before the data start date skipped.", "{count} before the data start date skipped.", old
        )
        parts.append(early_sentence.format(count=format_count(old)))
    if closed := outcome.skipped_closed:
        closed_sentence = ngettext("{count} in a closed month left out.", "{count} in closed months left out.", closed)
        parts.append(closed_sentence.format(count=format_count(closed)))
    if bad:
        parts.append(
            ngettext("{count} row with errors skipped.", "{count} rows with errors skipped.", bad).format(
                count=format_count(bad)
            )
        )
    if reported := format_reported_balance(page, outcome.reported_balance):
        parts.append(reported)
    elif fault := format_balance_fault(balance_fault):
        parts.append(fault)
    return " ".join(parts) + describe_import_payments(page, [outcome.batch])


def count_import_payments(page: CompanyPage, import_ids: Sequence[UUID]) -> dict[UUID, InvoicePayments]:
    """Return the invoices that imports paid, by import; empty without the permission to read them."""
    if not import_ids or not page.has_permission(Permission.PLANNING_READ):
        return {}
    payments: dict[UUID, InvoicePayments] = {}
    for counts in hooks.count_import_payments.run(company_id=page.company.id, import_ids=import_ids):
        payments |= counts
    return payments


def describe_import_payments(page: CompanyPage, batches: Iterable[ImportBatch | None]) -> str:
    """Return which invoices imports paid, as a sentence behind others; empty if none."""
    counts = count_import_payments(page, [batch.id for batch in batches if batch]).values()
    total = InvoicePayments(sum(each.paid for each in counts), sum(each.partly_paid for each in counts))
    text = format_import_payments(total)
    return f" {text}." if text else ""


def format_import_payments(payments: InvoicePayments | None) -> str:
    """Format numbers of invoices, such as: 3 invoices paid, 1 partly paid. Empty if there are none."""
    if not payments or not any(payments):
        return ""
    if not payments.paid:
        text = ngettext("{count} invoice partly paid", "{count} invoices partly paid", payments.partly_paid)
        return text.format(count=format_count(payments.partly_paid))
    text = ngettext("{count} invoice paid", "{count} invoices paid", payments.paid)
    texts = [text.format(count=format_count(payments.paid))]
    if payments.partly_paid:
        texts.append(_("{count} partly paid").format(count=format_count(payments.partly_paid)))
    return ", ".join(texts)


def find_other_currency(rows: Iterable[Any], account: Account) -> str:
    """Return the currency of all rows where it is not the account's; empty where one is, or there are several."""
    currencies = {row.amount_currency or account.default_currency for row in rows}
    return currencies.pop() if len(currencies) == 1 and account.default_currency not in currencies else ""
