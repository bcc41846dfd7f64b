"""Storing the story's movements: imported like any others, then categorized by invoice, split and linked."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from uuid import UUID

from analytics.demonstration.story.movement import Movement, Tax
from companies.models import Company, Stamp
from companies.running.progress import Tell, silent
from ledger.bulk.statistics import gather
from ledger.importing.bodies import MOST_ITEMS, CounterpartyRef, Item, Request
from ledger.importing.imports import import_transactions
from ledger.models import Account, Category, Counterparty, Transaction
from ledger.purposes import counterparties
from ledger.purposes.categorizing import categorize
from ledger.purposes.splitting import Given, replace_parts
from ledger.recognition.dating import Rule
from ledger.transactions import transfers
from ledger.transactions.selections import of_ids

AUTHORITIES = {"Tax office", "Social security", "Innovation agency"}
OWNERS = {"Foundry Ventures"}
SELECTED = 10_000  # as many as the API takes in one selection

FILLED = (
    "ledger_transaction",
    "ledger_categorization",
    "ledger_posting",
    "ledger_subscription",
    "ledger_subscriptionevent",
)


class Books:
    """The company's accounts, categories and counterparties under the names that the story uses."""

    def __init__(self, *, company: Company, stamp: Stamp, accounts: Mapping[str, Account], tell: Tell = silent):
        self.company, self.stamp, self.accounts, self.tell = company, stamp, accounts, tell
        rows = Category.objects.of(company.id).exclude(system_key=None).values_list("system_key", "id")
        self.categories: dict[str, UUID] = {str(key): row_id for key, row_id in rows}
        found = Counterparty.objects.of(company.id).exclude(external_id=None).values_list("external_id", "id")
        self.customers: dict[str | None, UUID] = dict(found)
        self.vendors: dict[str, UUID] = {}

    def counterparty(self, movement: Movement) -> UUID | None:
        """With whom it is; a vendor is entered when it is first met."""
        if movement.customer:
            return self.customers.get(movement.customer.external_id)
        name = movement.vendor
        if name is None:
            return None
        if name not in self.vendors:
            kind = "authority" if name in AUTHORITIES else "owner" if name in OWNERS else "vendor"
            added = counterparties.add(company=self.company, stamp=self.stamp, values={"type": kind, "name": name})
            self.vendors[name] = added.id
        return self.vendors[name]

    # ------------------------------------------------------------------------------------------ storing

    def store(self, movements: Sequence[Movement]) -> None:
        """All of them, with what they were for."""
        for number, movement in enumerate(movements):
            if movement.later:
                movement.external_id = f"bank-{number}"
        for start in range(0, len(movements), MOST_ITEMS):
            self.tell("Importing transactions", 0.05 + 0.25 * start / len(movements))
            items = [self.item(each) for each in movements[start : start + MOST_ITEMS]]
            import_transactions(company=self.company, stamp=self.stamp, request=Request(items=items))
        gather(*FILLED)  # in this transaction still
        later = [each for each in movements if each.later]
        ids = self.stored_ids()
        self.tell("Categorizing invoices", 0.34)
        self.invoice((each, ids[each.external_id]) for each in later if each.tax)
        self.tell("Splitting payments", 0.52)
        self.split([(each, ids[each.external_id]) for each in later if each.parts])
        self.link([(each, ids[each.external_id]) for each in later if each.pair])

    def stored_ids(self) -> dict[str | None, UUID]:
        rows = Transaction.objects.of(self.company.id).exclude(external_id=None)
        return dict(rows.values_list("external_id", "id"))

    def item(self, movement: Movement) -> Item:
        account = self.accounts[movement.account]
        known = movement.category is not None and not movement.later
        counterparty = self.counterparty(movement) if known else None
        return Item(
            account_id=str(account.id),
            date=movement.day,
            amount_value=f"{movement.amount:.2f}",
            amount_currency=account.default_currency,
            from_to=movement.who,
            description=movement.text,
            external_id=movement.external_id,
            pending=movement.pending,
            category_id=str(self.categories[movement.category]) if known and movement.category else None,
            counterparty=CounterpartyRef(str(counterparty)) if counterparty else None,
        )

    # ------------------------------------------------------------------------------------------ what they were for

    def invoice(self, stored: Iterable[tuple[Movement, UUID]]) -> None:
        """Invoices with tax or for a period: those of one tax and period are one act, whoever paid."""
        alike: dict[tuple[str, Tax], list[UUID]] = defaultdict(list)
        for movement, row_id in stored:
            if movement.tax and movement.category:
                alike[movement.category, movement.tax].append(row_id)
        for (category, tax), ids in alike.items():
            rule = Rule("servicePeriod", *tax.period) if tax.period else Rule()
            for start in range(0, len(ids), SELECTED):
                categorize(
                    company=self.company,
                    stamp=self.stamp,
                    selection=of_ids(ids[start : start + SELECTED]),
                    category_id=self.categories[category],
                    rule=rule,
                    pass_through_tax=tax.amount or None,
                )

    def split(self, stored: Sequence[tuple[Movement, UUID]]) -> None:
        """Payments that are for several departments."""
        for movement, row_id in stored:
            counterparty = self.counterparty(movement)
            given = [
                Given(str(place), self.categories[category], {line: amount}, counterparty_id=counterparty)
                for place, ((category, line), amount) in enumerate(movement.parts.items())
            ]
            replace_parts(company=self.company, stamp=self.stamp, transaction_id=row_id, given=given)

    def link(self, stored: Sequence[tuple[Movement, UUID]]) -> None:
        """The two legs of each transfer, where both have happened."""
        pairs: dict[str | None, dict[bool, UUID]] = defaultdict(dict)
        for movement, row_id in stored:
            pairs[movement.pair][movement.amount > Decimal(0)] = row_id
        for number, legs in enumerate(pairs.values()):
            self.tell("Linking transfers", 0.6 + 0.35 * number / len(pairs))
            if len(legs) == 2:
                transfers.link(
                    company=self.company, stamp=self.stamp, source_id=legs[False], source_part_id=None,
                    target_id=legs[True],
                )  # fmt: skip
