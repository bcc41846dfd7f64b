"""What the balance column proves: the amounts under which each balance is the one before it plus the row's amount."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from ledger.importing.calc.amounts import DecimalMark
from ledger.importing.calc.balances import AGREED, Amounts, BalanceSteps, StepReading, build_steps, count_signs
from ledger.importing.calc.columns import Column
from ledger.importing.calc.mapping import fold_value


@dataclass
class Steps:
    """The steps of a balance column, of all readings; ``before`` is the column of balances before each row."""

    balance: Column
    groups: Sequence[Column]
    mark: DecimalMark
    days: Sequence[date | None]
    before: Column | None = None
    is_before: bool = False
    steps: BalanceSteps = field(init=False)
    reading: StepReading | None = field(init=False, default=None)  # the one under which the amounts are proven

    def __post_init__(self) -> None:
        balances = self.balance.balances(self.mark)
        keys = [tuple(fold_value(column.cells[row]) for column in self.groups) for row in range(len(balances))]
        before = self.before.balances(self.mark) if self.before else None
        self.steps = build_steps(
            list(map(to_decimal, balances)),
            self.days,
            keys,
            before=list(map(to_decimal, before)) if before else None,
            is_before=self.is_before,
        )

    def prove(self, amounts: Amounts) -> bool:
        """Whether the steps are as large as the amounts, whatever their signs; keeps the reading that shows it."""
        if self.steps.best_share(amounts) < AGREED:
            return False
        self.reading = self.steps.read(amounts)
        return True

    def compare(self, amounts: Amounts) -> tuple[int, int]:
        """How many amounts are their steps, and how many are the steps with the other sign."""
        return count_signs(self.reading.steps, amounts) if self.reading else (0, 0)

    def find_kinds(self, amounts: Amounts, direction: Column) -> dict[str, set[str]]:
        """Which ways the balance goes at the rows of each value of a direction column. A minus is a value of its own
        for nobody: rows with one are left out where the value has others."""
        plain: dict[str, set[str]] = {}
        minus: dict[str, set[str]] = {}
        for row, (step, amount) in enumerate(zip(self.reading.steps if self.reading else (), amounts, strict=False)):
            if step and amount and abs(step) == abs(amount):
                kinds = plain if amount > 0 else minus
                kinds.setdefault(fold_value(direction.cells[row]), set()).add("in" if step > 0 else "out")
        return {**minus, **plain}


def to_decimal(amount: str | None) -> Decimal | None:
    return Decimal(amount) if amount is not None else None


def decimals(column: Column, mark: DecimalMark) -> Amounts:
    return list(map(to_decimal, column.amounts(mark)))


def join_pair(debit: Column, credit: Column, mark: DecimalMark) -> Amounts:
    """The amounts of both columns with their signs, whichever sign they are written with."""
    out, came = decimals(debit, mark), decimals(credit, mark)
    return [abs(b) if b else -abs(a) if a else None for a, b in zip(out, came, strict=True)]


def with_fee(amounts: Amounts, fees: Amounts) -> Amounts:
    """Amounts less their fees, whichever sign fees are written with."""
    negative = sum(fee < 0 for fee in fees if fee)
    turned = negative * 2 > sum(1 for fee in fees if fee)
    return [
        amount + (fee if turned else -fee) if amount is not None and fee is not None else amount
        for amount, fee in zip(amounts, fees, strict=True)
    ]
