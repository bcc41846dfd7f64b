"""The new entries of statements in the form that imports take."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from ledger.imports.calc.entries import Entry
from ledger.imports.import_body import TransactionImportItem
from ledger.models import Account
from ledger.transactions.fields import OTHER_TEXTS


class BankImportItem(TransactionImportItem, gc=False, rename="camel"):
    """An entry as imports store it."""

    bank_reference: str | None = None


class MatchedStatement(Protocol):
    """A statement whose entries have been matched with the ledger."""

    account: Account

    def list_new_entries(self) -> Iterator[Entry]: ...


class NewStatementItems:
    """The new entries as imports store them, each made when its turn comes: a file may have 100,000."""

    def __init__(self, statements: Sequence[MatchedStatement], *, count: int):
        self.statements, self.count = statements, count

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[BankImportItem]:
        for matched in self.statements:
            account = str(matched.account.id)
            for entry in matched.list_new_entries():
                yield BankImportItem(
                    account_id=account,
                    date=entry.day,
                    amount_value=entry.amount,
                    amount_currency=entry.currency,
                    from_to=entry.from_to,
                    description=entry.description,
                    notes=entry.notes or None,
                    pending=entry.pending,
                    bank_reference=entry.reference or None,
                    category_id=entry.category_id or None,
                    **build_text_values(entry),
                )


def build_text_values(entry: Entry) -> dict[str, Any]:
    """Return column -> value of an entry's OTHER_TEXTS."""
    return {text.column: value or None for text, value in zip(OTHER_TEXTS, entry.texts, strict=True)}
