"""What the balance column says of a whole table, held against its movements row by row."""

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from ledger.imports.calc.movements import Movement


@dataclass(frozen=True, slots=True)
class TableBalances:
    """What the balance column says of the whole table, where every step agrees with its row."""

    opening: Decimal
    closing: Decimal
    oldest_first: bool


@dataclass(slots=True)
class RunningBalanceCheck:
    """Holds each row's balance against the one before, row by row, so that no row need be kept.

    ``forward``: whether the rows may be in the order of time; ``backward``: whether the latest may come first.
    """

    first: Movement | None = None
    last: Movement | None = None
    first_day: date = date.max
    count: int = 0
    forward: bool = True
    backward: bool = True
    currencies: set[str] = field(default_factory=set)
    moves_behind_first: bool = False
    moves_before_last: bool = False

    def add(self, row: Movement) -> None:
        """Take the next row of the file."""
        self.currencies.add(row.currency)
        self.first_day = min(self.first_day, row.day)
        if row.pending:
            return
        before, self.last = self.last, row
        self.count += 1
        if row.balance is None:
            self.forward = self.backward = False
        if before is None or before.balance is None or row.balance is None:
            self.first = self.first or row
            return
        amount, amount_before = Decimal(row.amount), Decimal(before.amount)
        step = row.balance - before.balance
        self.forward = self.forward and step == amount and row.day >= before.day
        self.backward = self.backward and step == -amount_before and row.day <= before.day
        self.moves_behind_first = self.moves_behind_first or bool(amount)
        self.moves_before_last = self.moves_before_last or bool(amount_before)

    def find_balances(self) -> TableBalances | None:
        """Return the balances before and after all rows; None where a step does not agree, or one row has none.

        One row alone proves nothing.
        """
        first, last = self.first, self.last
        if self.count < 2 or len(self.currencies) > 1 or first is None or last is None:
            return None
        if first.balance is None or last.balance is None:
            return None
        if self.forward and self.moves_behind_first:
            return TableBalances(first.balance - Decimal(first.amount), last.balance, oldest_first=True)
        if self.backward and self.moves_before_last:
            return TableBalances(last.balance - Decimal(last.amount), first.balance, oldest_first=False)
        return None
