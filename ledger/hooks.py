"""Hooks of the ledger: what it announces to planning, analytics and its own upper packages (see companies.hooks)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from companies.hooks import Hook

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from companies.change import CompanyChange
    from companies.models import AuditContext, Company
    from companies.pages.context import CompanyPage
    from ledger.imports.calc.entries import Entry
    from ledger.imports.calc.entry_groups import StoredTransaction
    from ledger.imports.calc.running_balance import TableBalances
    from ledger.imports.import_body import TransactionImportRequest
    from ledger.inbox.pages.inbox import InboxOffer, UndoForm
    from ledger.models import Account, Category, Closing, Counterparty, File, ImportBatch, Transaction
    from ledger.subscriptions.actions.subscription_events import SubscriptionEventChanges
    from ledger.transactions.pages.search import SearchGroup


@Hook
def transaction_created(*, company: Company, transaction: Transaction, context: AuditContext) -> None:
    """One transaction was created by hand or by API."""


@Hook
def transaction_updated(
    *, company: Company, transaction: Transaction, changed: set[str], context: AuditContext
) -> None:
    """A person or an app changed a transaction; ``changed`` names the columns."""


@Hook
def transactions_booked(*, change: CompanyChange, rows: QuerySet[Transaction]) -> None:
    """New booked transactions are stored, or pending ones became booked."""


@Hook
def pending_transactions_matched(
    *, change: CompanyChange, batch: ImportBatch, pairs: Sequence[tuple[StoredTransaction, Entry]]
) -> None:
    """An imported table has the bookings of pending transactions, which are to become booked."""


@Hook
def find_other_page_row_ids(
    *, company: Company, request: TransactionImportRequest, rows: Sequence[StoredTransaction]
) -> frozenset[UUID]:
    """Return the ids of stored rows that no row of a table can be: a page that ends where the table begins, or begins
    where it ends, brought them.
    """
    return frozenset()


class ReportedBalance(NamedTuple):
    """The closing balance that a bank reported for a day, and the balance of the ledger at its end."""

    day: date
    reported: Decimal
    calculated: Decimal
    currency: str


@Hook
def table_balances_proven(
    *,
    change: CompanyChange,
    batch: ImportBatch,
    account_id: UUID,
    request: TransactionImportRequest,
    balances: TableBalances,
    opens_account: bool,
) -> ReportedBalance | None:
    """A table was imported whose balance column proves its rows. ``opens_account``: the opening balance of the table
    becomes the account's.
    """
    return None


@Hook
def transactions_pending(*, change: CompanyChange, transaction_ids: list[UUID]) -> None:
    """Booked transactions became pending again."""


@Hook
def transactions_deleted(*, change: CompanyChange, transaction_ids: list[UUID]) -> None:
    """Transactions are about to be deleted."""


@Hook
def list_settlements_to_restore(*, company_id: UUID, transaction_ids: list[UUID]) -> dict[UUID, list[dict[str, str]]]:
    """Return what transactions settle as JSON, by transaction id, for ``transactions_restored``."""
    return {}


@Hook
def transactions_restored(*, change: CompanyChange, settlements: Mapping[UUID, list[dict[str, str]]]) -> list[str]:
    """Deleted transactions with these settlements are back; return the names of what they no longer settle."""
    return []


@Hook
def balances_changed(*, change: CompanyChange, account_ids: Collection[UUID | str]) -> None:
    """Amounts, dates or accounts of transactions changed, or transactions were stored or deleted."""


@Hook
def import_undo_started(*, change: CompanyChange, batch: ImportBatch) -> None:
    """An import is about to be undone; its transactions are still there."""


@Hook
def import_undone(*, change: CompanyChange, batch: ImportBatch) -> None:
    """An import was undone; its transactions are deleted."""


@Hook
def account_deleted(*, account: Account, context: AuditContext) -> None:
    """An account is about to be deleted."""


@Hook
def category_lines_changed(*, company: Company, category: Category, context: AuditContext) -> None:
    """A category lost P&L lines."""


@Hook
def category_replaced(*, company: Company, category_id: UUID, replacement_id: UUID, context: AuditContext) -> None:
    """A category is about to be replaced by another one and deleted."""


@Hook
def counterparty_type_changed(*, counterparty: Counterparty, context: AuditContext) -> None:
    """A counterparty changed between customer, vendor and employee."""


@Hook
def counterparty_merged(*, company: Company, source: Counterparty, target: Counterparty, context: AuditContext) -> None:
    """A counterparty is about to be merged into another one and deleted."""


@Hook
def subscription_events_changed(*, company: Company, context: AuditContext, changed: SubscriptionEventChanges) -> None:
    """Subscription events were stored, changed or deleted."""


@Hook
def count_planned_uses(company_id: UUID) -> Any:
    """Return an expression that counts the planned transactions of an annotated category."""


@Hook
def list_category_uses(company_id: UUID, category_id: UUID) -> Iterable[tuple[int, str]]:
    """Return what uses a category: (how many, such as "3 rules")."""
    return ()


@Hook
def list_counterparty_uses(company_id: UUID, counterparty_id: UUID) -> Iterable[tuple[int, str]]:
    """Return what uses a counterparty: (how many, such as "3 rules")."""
    return ()


@Hook
def list_invoice_dates(*, company_id: UUID, transaction_ids: list[UUID]) -> dict[UUID, date]:
    """Return the invoice date of what a transaction settled, by transaction id."""
    return {}


@Hook
def list_settled_counterparties(*, company_id: UUID, transaction_ids: list[UUID]) -> dict[UUID, UUID]:
    """Return the counterparty of what a transaction settled, by transaction id; those of several left out."""
    return {}


class InvoicePayments(NamedTuple):
    """How many invoices were paid, and how many in part."""

    paid: int = 0
    partly_paid: int = 0


@Hook
def count_import_payments(*, company_id: UUID, import_ids: Sequence[UUID]) -> dict[UUID, InvoicePayments]:
    """Return the invoices that the transactions of imports pay, by import."""
    return {}


@Hook
def list_settled_occurrences(*, company_id: UUID, transaction_ids: list[UUID]) -> dict[UUID, list[Any]]:
    """Return what a transaction settles, by transaction id: planned_id, date, name, amount and currency."""
    return {}


@Hook
def build_planned_file_lookup(company_id: UUID) -> Any:
    """Return an expression for the id of the planned transaction that was made from an annotated file."""


@Hook
def render_file_panels(page: CompanyPage, file: File) -> str:
    """Return HTML that the page of a file shows beside its data."""
    return ""


class InvoicesToPlan(NamedTuple):
    """What invoice files are to the company, and the form that creates their receivables and payables."""

    party_names: dict[UUID, str]  # the customer or vendor, by file; without those of which neither side is the company
    file_ids: list[UUID]  # those of which a receivable or payable can be created
    address: str  # that takes each of them as `file`


@Hook
def find_invoices_to_plan(page: CompanyPage, files: Sequence[File]) -> InvoicesToPlan | None:
    """Return what can be created of invoice files; None if the user may see no receivables and payables."""
    return None


@Hook
def list_inbox_notices(page: CompanyPage) -> Iterable[tuple[str, str]]:
    """Return what else needs attention on the inbox page: (text, address)."""
    return ()


@Hook
def list_inbox_offers(page: CompanyPage) -> Iterable[InboxOffer]:
    """Return what can be confirmed in one press on the inbox page."""
    return ()


@Hook
def list_search_groups(page: CompanyPage, text: str) -> Iterable[SearchGroup]:
    """Return what else the search of a company finds, as far as the user may see it."""
    return ()


@Hook
def find_inbox_undo(page: CompanyPage) -> UndoForm | None:
    """Return how to undo what was just done on the inbox page, if this app did it."""
    return None


@Hook
def count_overdue_occurrences(*, company: Company, due_through: date, today: date) -> int:
    """Return how many occurrences of planned transactions are overdue today and were due up to a day."""
    return 0


@Hook
def build_planned_currency_queries(company_id: UUID) -> Iterable[QuerySet[Any, Any]]:
    """Return queries of one column: the currencies of what is planned and still open."""
    return ()


@Hook
def list_recurring_rows(company: Company, first: date, last: date) -> Iterable[tuple[str, Any]]:
    """Return (`mrr` or `cmrr`, row of recurring revenue) for the months from `first` to `last`."""
    return ()


@Hook
def list_figures_to_report(company: Company, months: Sequence[date]) -> dict[date, dict[str, Any]]:
    """Return what the reports of months show of cash and receivables, as their closings store it."""
    return {}


@Hook
def list_plans_to_report(company: Company, months: Sequence[date]) -> dict[date, list[dict[str, Any]]]:
    """Return the plan that the reports of months show, as their closings store it."""
    return {}


class ReportDifference(NamedTuple):
    """An amount of a report beside the figures of its closing: as reported, now, and the page of what is behind it."""

    label: str
    was: Decimal
    now: Decimal
    url: str  # empty where the user may not open the page


@Hook
def list_report_differences(page: CompanyPage, closing: Closing) -> Iterable[ReportDifference]:
    """Return what the report of a closed month shows beside its figures and is another amount now, as far as the user
    may see it. Raises RateLookupError.
    """
    return ()
