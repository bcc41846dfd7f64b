"""Store the scenario's movements: import them, then categorize invoices, split payments and link transfers."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from uuid import UUID

from companies.maintenance.progress_bar import ProgressCallback, ignore_progress
from companies.models import AuditContext, Company
from demo.scenario.movements import InvoiceTax, Movement
from ledger.bulk.planner_statistics import analyze_tables
from ledger.categorization.actions import counterparties
from ledger.categorization.actions.bulk_categorization import categorize_transactions
from ledger.categorization.actions.split import CategorizationInput, replace_categorizations
from ledger.imports.actions.imports import import_transactions
from ledger.imports.import_body import (
    MAX_IMPORT_ITEMS,
    ImportCounterparty,
    TransactionImportItem,
    TransactionImportRequest,
)
from ledger.models import Account, Category, Counterparty, Transaction
from ledger.recognition.service_periods import RecognitionRule
from ledger.transactions.actions import transfers
from ledger.transactions.queries.selections import build_id_selection

AUTHORITIES = {"Tax office", "Social security", "Innovation agency"}
OWNERS = {"Foundry Ventures"}
MAX_SELECTION = 10_000  # the API's limit of one selection

FILLED_TABLES = (
    "ledger_transaction",
    "ledger_categorization",
    "ledger_posting",
    "ledger_subscription",
    "ledger_subscriptionevent",
)


class TransactionWriter:
    """Writes movements to the company's accounts; looks up categories and counterparties by the scenario's names."""

    def __init__(
        self,
        *,
        company: Company,
        context: AuditContext,
        accounts: Mapping[str, Account],
        tell: ProgressCallback = ignore_progress,
    ):
        self.company, self.context, self.accounts, self.tell = company, context, accounts, tell
        rows = Category.objects.for_company(company.id).exclude(system_key=None).values_list("system_key", "id")
        self.categories: dict[str, UUID] = {str(key): row_id for key, row_id in rows}
        customer_rows = (
            Counterparty.objects.for_company(company.id).exclude(external_id=None).values_list("external_id", "id")
        )
        self.customers: dict[str | None, UUID] = dict(customer_rows)
        self.vendors: dict[str, UUID] = {}

    def get_counterparty_id(self, movement: Movement) -> UUID | None:
        """Return the counterparty of a movement; a vendor is created when first used."""
        if movement.customer:
            return self.customers.get(movement.customer.external_id)
        name = movement.vendor
        if name is None:
            return None
        if name not in self.vendors:
            kind = "authority" if name in AUTHORITIES else "owner" if name in OWNERS else "vendor"
            vendor = counterparties.create_counterparty(
                company=self.company, context=self.context, values={"type": kind, "name": name}
            )
            self.vendors[name] = vendor.id
        return self.vendors[name]

    # ------------------------------------------------------------------------------------------ storing

    def store_movements(self, movements: Sequence[Movement]) -> None:
        """Store all movements with their categorizations."""
        for number, movement in enumerate(movements):
            if movement.is_categorized_later:
                movement.external_id = f"bank-{number}"
        for start in range(0, len(movements), MAX_IMPORT_ITEMS):
            self.tell("Importing transactions", 0.05 + 0.25 * start / len(movements))
            items = [self.build_import_item(each) for each in movements[start : start + MAX_IMPORT_ITEMS]]
            import_transactions(
                company=self.company, context=self.context, request=TransactionImportRequest(items=items)
            )
        analyze_tables(*FILLED_TABLES)  # planner statistics, within this transaction
        movements_to_categorize = [each for each in movements if each.is_categorized_later]
        ids = self.list_stored_ids()
        self.tell("Categorizing invoices", 0.34)
        self.categorize_invoices((each, ids[each.external_id]) for each in movements_to_categorize if each.tax)
        self.tell("Splitting payments", 0.52)
        self.split_payments([(each, ids[each.external_id]) for each in movements_to_categorize if each.parts])
        self.link_transfers([(each, ids[each.external_id]) for each in movements_to_categorize if each.pair])

    def list_stored_ids(self) -> dict[str | None, UUID]:
        rows = Transaction.objects.for_company(self.company.id).exclude(external_id=None)
        return dict(rows.values_list("external_id", "id"))

    def build_import_item(self, movement: Movement) -> TransactionImportItem:
        account = self.accounts[movement.account]
        is_categorized = movement.category is not None and not movement.is_categorized_later
        counterparty = self.get_counterparty_id(movement) if is_categorized else None
        return TransactionImportItem(
            account_id=str(account.id),
            date=movement.day,
            amount_value=f"{movement.amount:.2f}",
            amount_currency=account.default_currency,
            from_to=movement.counterparty_name,
            description=movement.text,
            external_id=movement.external_id,
            pending=movement.pending,
            category_id=str(self.categories[movement.category]) if is_categorized and movement.category else None,
            counterparty=ImportCounterparty(str(counterparty)) if counterparty else None,
        )

    # ------------------------------------------------------------------------------------------ categorizations

    def categorize_invoices(self, stored_movements: Iterable[tuple[Movement, UUID]]) -> None:
        """Categorize invoices with tax or a service period; those of one tax and period in one call."""
        ids_by_tax: dict[tuple[str, InvoiceTax], list[UUID]] = defaultdict(list)
        for movement, row_id in stored_movements:
            if movement.tax and movement.category:
                ids_by_tax[movement.category, movement.tax].append(row_id)
        for (category, tax), ids in ids_by_tax.items():
            rule = RecognitionRule("servicePeriod", *tax.period) if tax.period else RecognitionRule()
            for start in range(0, len(ids), MAX_SELECTION):
                categorize_transactions(
                    company=self.company,
                    context=self.context,
                    selection=build_id_selection(ids[start : start + MAX_SELECTION]),
                    category_id=self.categories[category],
                    rule=rule,
                    pass_through_tax=tax.amount or None,
                )

    def split_payments(self, stored_movements: Sequence[tuple[Movement, UUID]]) -> None:
        """Split payments that belong to several departments."""
        for movement, row_id in stored_movements:
            counterparty = self.get_counterparty_id(movement)
            parts = [
                CategorizationInput(str(place), self.categories[category], {line: amount}, counterparty_id=counterparty)
                for place, ((category, line), amount) in enumerate(movement.parts.items())
            ]
            replace_categorizations(company=self.company, context=self.context, transaction_id=row_id, inputs=parts)

    def link_transfers(self, stored_movements: Sequence[tuple[Movement, UUID]]) -> None:
        """Link the two legs of each transfer, where both have happened."""
        pairs: dict[str | None, dict[bool, UUID]] = defaultdict(dict)
        for movement, row_id in stored_movements:
            pairs[movement.pair][movement.amount > Decimal(0)] = row_id
        for number, legs in enumerate(pairs.values()):
            self.tell("Linking transfers", 0.6 + 0.35 * number / len(pairs))
            if len(legs) == 2:
                transfers.link_transfer(
                    company=self.company, context=self.context, source_id=legs[False], source_categorization_id=None,
                    target_id=legs[True],
                )  # fmt: skip
