"""Store the story's movements: import them, then categorize invoices, split payments and link transfers."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

from companies.maintenance.progress_bar import ProgressCallback
from demo.books import DemoBooks
from demo.story import Movement, read_rows
from ledger.bulk.planner_statistics import analyze_tables
from ledger.calc.months import add_months, get_first_day_of_month
from ledger.categorization.actions.bulk_categorization import categorize_transactions
from ledger.categorization.actions.counterparties import create_counterparty
from ledger.categorization.actions.split import CategorizationInput, replace_categorizations
from ledger.imports import import_body
from ledger.imports.actions.imports import import_transactions
from ledger.models import Transaction
from ledger.recognition.service_periods import RecognitionRule
from ledger.transactions.actions import transfers
from ledger.transactions.queries.selections import build_id_selection

FILLED_TABLES = ("ledger_transaction", "ledger_categorization", "ledger_posting", "ledger_subscriptionevent")
StoredMovements = Sequence[tuple[Movement, UUID]]


def create_demo_counterparties(*, books: DemoBooks) -> None:
    """Create the counterparties that no subscription has created."""
    for row in read_rows("counterparties"):
        values: dict[str, str | int] = {"type": row["type"], "name": row["name"]}
        if row["paymentTerms"]:
            values["payment_terms"] = int(row["paymentTerms"])
        create_counterparty(**books.scope, values=values)
    books.load_ids()


def store_movements(*, books: DemoBooks, movements: Sequence[Movement], report_progress: ProgressCallback) -> None:
    """Store all movements with their categorizations."""
    for number, movement in enumerate(movements):
        if movement.is_categorized_later or movement.invoice:
            movement.external_id = f"invoice-{movement.invoice}" if movement.invoice else f"bank-{number}"
    for start in range(0, len(movements), import_body.MAX_IMPORT_ITEMS):
        report_progress("Importing transactions", 0.05 + 0.25 * start / len(movements))
        items = [build_import_item(each, books) for each in movements[start : start + import_body.MAX_IMPORT_ITEMS]]
        import_transactions(**books.scope, request=import_body.TransactionImportRequest(items=items))
    analyze_tables(*FILLED_TABLES)  # planner statistics, within this transaction
    rows = Transaction.objects.for_company(books.company.id).exclude(external_id=None)
    ids = dict(rows.values_list("external_id", "id"))
    stored = [(each, ids[each.external_id]) for each in movements if each.is_categorized_later]
    report_progress("Categorizing invoices", 0.34)
    categorize_invoices(books, [each for each in stored if each[0].tax or each[0].service_months])
    report_progress("Splitting payments", 0.52)
    split_payments(books, [each for each in stored if each[0].is_split])
    link_transfers(books, [each for each in stored if each[0].transfer], report_progress)


def build_import_item(movement: Movement, books: DemoBooks) -> import_body.TransactionImportItem:
    account = books.accounts[movement.account]
    is_categorized = bool(movement.category) and not movement.is_categorized_later
    counterparty_id = books.counterparty_ids.get(movement.party) if is_categorized else None
    return import_body.TransactionImportItem(
        account_id=str(account.id),
        date=movement.day,
        amount_value=f"{movement.amount:.2f}",
        amount_currency=account.default_currency,
        from_to=movement.party,
        description=movement.text,
        external_id=movement.external_id,
        pending=movement.pending,
        category_id=str(books.category_ids[movement.category]) if is_categorized else None,
        counterparty=import_body.ImportCounterparty(str(counterparty_id)) if counterparty_id else None,
    )


def categorize_invoices(books: DemoBooks, stored: StoredMovements) -> None:
    """Categorize invoices with tax or a service period; those of one counterparty, tax and period in one call."""
    ids_by_treatment: dict[tuple[str, str, Decimal, date | None, int], list[UUID]] = defaultdict(list)
    for movement, row_id in stored:
        month = get_first_day_of_month(movement.day) if movement.service_months else None
        key = (movement.category, movement.party, movement.tax, month, movement.service_months)
        ids_by_treatment[key].append(row_id)
    for (category, party, tax, month, service_months), ids in ids_by_treatment.items():
        counterparty_id = books.counterparty_ids.get(party)
        rule = RecognitionRule()
        if month:
            rule = RecognitionRule("servicePeriod", month, add_months(month, service_months) - timedelta(days=1))
        categorize_transactions(
            **books.scope, selection=build_id_selection(ids), category_id=books.category_ids[category], rule=rule,
            pass_through_tax=tax or None, counterparty=(counterparty_id, None) if counterparty_id else None,
        )  # fmt: skip


def split_payments(books: DemoBooks, stored: StoredMovements) -> None:
    """Split payments that belong to several departments."""
    for movement, row_id in stored:
        parts = [part.split() for part in movement.category.split(";")]
        party_id = books.counterparty_ids[movement.party]
        inputs = [
            CategorizationInput(str(place), books.category_ids[key], {line: Decimal(amount)}, counterparty_id=party_id)
            for place, (key, line, amount) in enumerate(parts)
        ]
        replace_categorizations(**books.scope, transaction_id=row_id, inputs=inputs)


def link_transfers(books: DemoBooks, stored: StoredMovements, report_progress: ProgressCallback) -> None:
    """Link the two legs of each transfer, where both have happened."""
    legs_by_transfer: dict[int, dict[bool, UUID]] = defaultdict(dict)
    for movement, row_id in stored:
        legs_by_transfer[movement.transfer][movement.amount > 0] = row_id
    for number, legs in enumerate(legs_by_transfer.values()):
        report_progress("Linking transfers", 0.6 + 0.35 * number / len(legs_by_transfer))
        if len(legs) == 2:
            transfers.link_transfer(
                **books.scope, source_id=legs[False], source_categorization_id=None, target_id=legs[True]
            )
