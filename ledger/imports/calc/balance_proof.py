"""What the balance column proves: the amounts by which each balance differs from the one before."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from ledger.imports.calc.amounts import DecimalMark
from ledger.imports.calc.balance_steps import (
    AGREED,
    Amounts,
    BalanceSteps,
    StepReading,
    build_steps,
    count_matching_signs,
)
from ledger.imports.calc.column_mapping import fold_setting_value
from ledger.imports.calc.columns import Column

Reading = tuple[dict[str, Column], Amounts]  # columns by field, and the amounts that they say


@dataclass
class BalanceProof:
    """The steps of a balance column, of all readings; ``before`` is the column of balances before each row."""

    balance: Column
    groups: Sequence[Column]
    decimal_mark: DecimalMark
    days: Sequence[date | None]
    before: Column | None = None
    is_before: bool = False
    steps: BalanceSteps = field(init=False)
    reading: StepReading | None = field(init=False, default=None)  # the one under which the amounts are proven

    def __post_init__(self) -> None:
        balances = self.balance.balances(self.decimal_mark)
        keys = [tuple(fold_setting_value(column.cells[row]) for column in self.groups) for row in range(len(balances))]
        previous_row = self.before.balances(self.decimal_mark) if self.before else None
        self.steps = build_steps(
            list(map(to_decimal, balances)),
            self.days,
            keys,
            before=list(map(to_decimal, previous_row)) if previous_row else None,
            is_before=self.is_before,
        )

    def prove(self, amounts: Amounts) -> bool:
        """Whether the steps are as large as the amounts, whatever their signs; keeps the reading that shows it."""
        if self.steps.find_best_share(amounts) < AGREED:
            return False
        self.reading = self.steps.read(amounts)
        return True

    def compare(self, amounts: Amounts) -> tuple[int, int]:
        """How many amounts are their steps, and how many are the steps with the other sign."""
        return count_matching_signs(self.reading.steps, amounts) if self.reading else (0, 0)

    def find_directions_by_value(self, amounts: Amounts, direction: Column) -> dict[str, set[str]]:
        """Which ways the balance goes at the rows of each value of a direction column. A minus is a value of its own
        for nobody: rows with one are left out where the value has others."""
        plain: dict[str, set[str]] = {}
        minus: dict[str, set[str]] = {}
        for row, (step, amount) in enumerate(zip(self.reading.steps if self.reading else (), amounts, strict=False)):
            if step and amount and abs(step) == abs(amount):
                kinds = plain if amount > 0 else minus
                kinds.setdefault(fold_setting_value(direction.cells[row]), set()).add("in" if step > 0 else "out")
        return {**minus, **plain}


def to_decimal(amount: str | None) -> Decimal | None:
    return Decimal(amount) if amount is not None else None


def to_decimals(column: Column, decimal_mark: DecimalMark) -> Amounts:
    return list(map(to_decimal, column.amounts(decimal_mark)))


def join_debit_and_credit(debit: Column, credit: Column, decimal_mark: DecimalMark) -> Amounts:
    """Return the signed amounts of both columns, whichever sign they are written with."""
    debit_amounts, credit_amounts = to_decimals(debit, decimal_mark), to_decimals(credit, decimal_mark)
    return [abs(b) if b else -abs(a) if a else None for a, b in zip(debit_amounts, credit_amounts, strict=True)]


def subtract_fees(amounts: Amounts, fees: Amounts) -> Amounts:
    """Return amounts less their fees, whichever sign fees are written with."""
    negative = sum(fee < 0 for fee in fees if fee)
    is_negative = negative * 2 > sum(1 for fee in fees if fee)
    return [
        amount + (fee if is_negative else -fee) if amount is not None and fee is not None else amount
        for amount, fee in zip(amounts, fees, strict=True)
    ]


def read_amounts(columns: dict[str, Column], decimal_mark: DecimalMark) -> Amounts:
    """Return what one column of amounts, or a debit and a credit column, say."""
    if "amount" in columns:
        return to_decimals(columns["amount"], decimal_mark)
    return join_debit_and_credit(columns["debit"], columns["credit"], decimal_mark)


def find_best_reading(steps: BalanceProof, readings: Iterable[Reading], *, is_named: bool) -> Reading | None:
    """Return the reading by which the steps of a balance are proven in the most rows; None where none is.

    A balance that no heading names must step by the amounts of more than half of its rows.
    """
    best: tuple[int, float, int] = (0, 0.0, 0)
    result: Reading | None = None
    count = sum(1 for text in steps.balance.cells if text)
    for reading in readings:
        matched, share = steps.steps.find_best_match(reading[1])
        rank = matched, share, sum(1 for amount in reading[1] if amount)
        if share >= AGREED and (is_named or 2 * matched > count - 1) and rank > best:
            best, result = rank, reading
    return result
