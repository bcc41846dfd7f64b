"""What the balance column proves: the amounts under which each balance is the one before it plus the row's amount."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby, pairwise

from ledger.importing.calc.amounts import DecimalMark
from ledger.importing.calc.columns import Column
from ledger.importing.calc.mapping import Mapping, fold_value

AGREED = 0.9  # the share of steps that must agree
Amounts = list[Decimal | None]


@dataclass
class Steps:
    """By how much a balance column changes at each row, read from the oldest row or from the newest."""

    balance: Column
    groups: Sequence[Column]
    mark: DecimalMark
    forward: Amounts = field(init=False)
    backward: Amounts = field(init=False)
    order: str = ""

    def __post_init__(self) -> None:
        values = decimals(self.balance, self.mark)
        count = len(values)
        self.forward, self.backward = [None] * count, [None] * count
        names = [tuple(fold_value(column.cells[row]) for column in self.groups) for row in range(count)]
        rows = sorted((row for row in range(count) if values[row] is not None), key=lambda row: names[row])
        for _, each in groupby(rows, key=lambda row: names[row]):
            of_group = list(each)
            for before, row in pairwise(of_group):
                step = values[row] - values[before]  # type: ignore[operator]
                self.forward[row], self.backward[before] = step, -step

    def shares(self, amounts: Amounts) -> dict[str, float]:
        """The share of steps that are as large as the amounts, in each order of rows."""
        found = {}
        for order, steps in (("forward", self.forward), ("backward", self.backward)):
            pairs = [
                (abs(step), abs(amount))
                for step, amount in zip(steps, amounts, strict=True)
                if step is not None and amount is not None
            ]
            pairs = [pair for pair in pairs if pair != (0, 0)]
            found[order] = sum(a == b for a, b in pairs) / len(pairs) if pairs else 0.0
        return found

    def prove(self, amounts: Amounts) -> bool:
        """Whether the steps are as large as the amounts, whatever their signs; keeps the order of rows."""
        shares = self.shares(amounts)
        order = max(shares, key=lambda name: shares[name])
        if shares[order] < AGREED:
            return False
        self.order = order
        return True

    def signed(self, amounts: Amounts) -> list[int]:
        """1 for each row whose amount has the sign of its step, -1 for each that has the other."""
        steps = self.backward if self.order == "backward" else self.forward
        return [
            1 if step == amount else -1
            for step, amount in zip(steps, amounts, strict=True)
            if step and amount and abs(step) == abs(amount)
        ]

    def sign_of(self, column: Column, mapping: Mapping, columns: Sequence[Column]) -> str | None:
        """``same`` or ``turned`` where all amounts have one relation to their steps, ``mixed`` for others; None where
        the steps say nothing."""
        amounts = decimals(column, self.mark)
        if (place := mapping.columns.get("fee")) is not None:
            found = with_fee(amounts, decimals(columns[place], self.mark))
            amounts = found if self.prove(found) else amounts
        if not self.prove(amounts):
            return None
        signs = self.signed(amounts)
        if not signs:
            return None
        share = signs.count(1) / len(signs)
        if share >= AGREED:
            return "same"
        return "turned" if share <= 1 - AGREED else "mixed"

    def directions(self, amount: Column, direction: Column) -> dict[str, str]:
        """What each value of a direction column means, where its rows all step one way."""
        amounts = decimals(amount, self.mark)
        if not self.prove(amounts):
            return {}
        steps = self.backward if self.order == "backward" else self.forward
        seen: dict[str, set[str]] = {}
        for row, (step, size) in enumerate(zip(steps, amounts, strict=True)):
            if step and size and abs(step) == abs(size):
                seen.setdefault(fold_value(direction.cells[row]), set()).add(
                    "in" if (step > 0) == (size > 0) else "out"
                )
        return {value: kinds.pop() for value, kinds in seen.items() if len(kinds) == 1}


def decimals(column: Column, mark: DecimalMark) -> Amounts:
    return [Decimal(amount) if amount is not None else None for amount in column.amounts(mark)]


def join_pair(debit: Column, credit: Column, mark: DecimalMark) -> Amounts:
    """The amounts of both columns with their signs, whichever sign they are written with."""
    out, came = decimals(debit, mark), decimals(credit, mark)
    return [abs(b) if b else -abs(a) if a else None for a, b in zip(out, came, strict=True)]


def prove_single(steps: Steps, column: Column) -> bool:
    amounts = decimals(column, steps.mark)
    return any(amounts) and steps.prove(amounts)


def prove_pair(steps: Steps, debit: Column, credit: Column) -> str:
    """``sign`` where debits lower the balance, ``size`` where they raise what is owed; empty where nothing agrees."""
    amounts = join_pair(debit, credit, steps.mark)
    if not steps.prove(amounts):
        return ""
    signs = steps.signed(amounts)
    return "sign" if signs and signs.count(1) >= AGREED * len(signs) else "size"


def with_fee(amounts: Amounts, fees: Amounts) -> Amounts:
    """Amounts less their fees, whichever sign fees are written with."""
    negative = sum(fee < 0 for fee in fees if fee)
    turned = negative * 2 > sum(1 for fee in fees if fee)
    return [
        amount + (fee if turned else -fee) if amount is not None and fee is not None else amount
        for amount, fee in zip(amounts, fees, strict=True)
    ]


def prove_fee(steps: Steps, column: Column, fee: Column) -> bool:
    """Whether the steps are the amounts less the fees beside them."""
    fees = decimals(fee, steps.mark)
    return any(fees) and steps.prove(with_fee(decimals(column, steps.mark), fees))
