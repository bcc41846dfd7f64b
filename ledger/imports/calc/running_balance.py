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


@dataclass(frozen=True, slots=True)
class BalanceFault:
    """The line of a file in which its balance column does not add up, or is empty."""

    line: int
    is_empty: bool


@dataclass(slots=True)
class OrderedSteps:
    """The steps of the balance from row to row, as one order of the rows has them."""

    days_agree: bool = True
    matched: int = 0
    first_fault: int = 0  # the first line of the file whose balance is not the one before plus its amount
    last_fault: int = 0

    def add(self, *, matches: bool, days_agree: bool, line: int) -> None:
        """Take the next step, which the row of a line makes."""
        self.days_agree = self.days_agree and days_agree
        self.matched += matches
        if not matches:
            self.first_fault, self.last_fault = self.first_fault or line, line

    @property
    def agrees(self) -> bool:
        return self.days_agree and not self.first_fault


@dataclass(slots=True)
class RunningBalanceCheck:
    """Holds each row's balance against the one before, row by row, so that no row need be kept.

    ``forward`` has the steps if the rows are in the order of time, ``backward`` if the latest comes first.
    """

    first: Movement | None = None
    last: Movement | None = None
    first_day: date = date.max
    count: int = 0
    forward: OrderedSteps = field(default_factory=OrderedSteps)
    backward: OrderedSteps = field(default_factory=OrderedSteps)
    empty_line: int = 0  # the first one without a balance
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
            self.empty_line = self.empty_line or row.line
        if before is None or before.balance is None or row.balance is None:
            self.first = self.first or row
            return
        amount, amount_before = Decimal(row.amount), Decimal(before.amount)
        step = row.balance - before.balance
        self.forward.add(matches=step == amount, days_agree=row.day >= before.day, line=row.line)
        self.backward.add(matches=step == -amount_before, days_agree=row.day <= before.day, line=before.line)
        self.moves_behind_first = self.moves_behind_first or bool(amount)
        self.moves_before_last = self.moves_before_last or bool(amount_before)

    def find_balances(self) -> TableBalances | None:
        """Return the balances before and after all rows; None where a step does not agree, or one row has none.

        One row alone proves nothing.
        """
        first, last = self.first, self.last
        if self.count < 2 or len(self.currencies) > 1 or first is None or last is None:
            return None
        if self.empty_line or first.balance is None or last.balance is None:
            return None
        if self.forward.agrees and self.moves_behind_first:
            return TableBalances(first.balance - Decimal(first.amount), last.balance, oldest_first=True)
        if self.backward.agrees and self.moves_before_last:
            return TableBalances(last.balance - Decimal(last.amount), first.balance, oldest_first=False)
        return None

    def find_fault(self) -> BalanceFault | None:
        """Return the oldest row that does not add up in the order that fits best, else the first without a balance."""
        if self.count < 2 or len(self.currencies) > 1 or self.find_balances():
            return None
        steps = max((self.forward, self.backward), key=lambda each: (each.days_agree, each.matched))
        fault_line = steps.first_fault if steps is self.forward else steps.last_fault
        line = fault_line or self.empty_line
        return BalanceFault(line, is_empty=not fault_line) if line else None
