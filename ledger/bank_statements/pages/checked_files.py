"""Uploaded bank files of a review, and what importing each of them would do."""

from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from ledger.bank_statements.actions.statement_results import StatementImportResult, StatementOutcome
from ledger.bank_statements.items import BankImportItem, NewStatementItems
from ledger.bank_statements.pages.statement_messages import format_entry_counts, list_balance_faults
from ledger.bank_statements.parsers import formats
from ledger.imports.pages.csv_import import ROWS_SHOWN
from ledger.imports.pages.new_account import ProposedAccount
from ledger.models import Account

STATEMENTS_SHOWN = 50  # of one file


@dataclass(frozen=True, slots=True)
class UploadedStatement:
    """An uploaded file to import. Its content is read when needed and not kept: files can be large."""

    upload_id: UUID
    name: str
    account: Account | None  # where the file names none, or one that nobody has

    @property
    def query_items(self) -> list[tuple[str, str]]:
        """The query items of the file in the URL."""
        return [("upload", f"{self.upload_id} {self.name}"), ("account", str(self.account.id) if self.account else "")]


@dataclass(frozen=True, slots=True)
class StatementCheck:
    """What importing a file would do, or why it is rejected."""

    file: UploadedStatement
    received: StatementImportResult | None = None
    refusal: str = ""
    proposed_account: ProposedAccount | None = None  # where it names none, or one that nobody has
    is_waiting: bool = False  # a person is asked how to read it once the others are imported
    lacks_account: bool = False  # it names none, and none was chosen
    asks_date_order: bool = False

    @property
    def is_refused(self) -> bool:
        return bool(self.refusal) and not self.is_waiting

    @property
    def has_date_order(self) -> bool:
        """Whether the order of day and month can be chosen: in QIF."""
        outcomes = self.received.statements if self.received else []
        return self.asks_date_order or any(outcome.statement.format == formats.QIF for outcome in outcomes)

    @property
    def needs_account_choice(self) -> bool:
        """Whether its account may have to be chosen."""
        return bool(self.refusal or self.file.account)

    @property
    def shown_outcomes(self) -> list[StatementOutcome]:
        return self.received.statements[:STATEMENTS_SHOWN] if self.received else []

    @property
    def entry_counts_text(self) -> str:
        """What happens to its entries, in a line."""
        return ", ".join(format_entry_counts(self.received)) if self.received else ""

    @property
    def first_rows(self) -> list[BankImportItem]:
        """Its first new entries."""
        received = self.received
        return (
            list(islice(NewStatementItems(received.statements, count=received.count), ROWS_SHOWN)) if received else []
        )

    @property
    def balance_faults(self) -> list[str]:
        """Why its accounts are not reconciled, each named if there are several."""
        return list_balance_faults(self.received) if self.received else []

    @property
    def hidden_outcome_count(self) -> int:
        return max(len(self.received.statements) - STATEMENTS_SHOWN, 0) if self.received else 0
