"""Which amounts are money out, and whether fees are inside them."""

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import product

from ledger.imports.calc.amounts import find_amount_sign
from ledger.imports.calc.balance_proof import to_decimals
from ledger.imports.calc.balance_steps import Amounts
from ledger.imports.calc.column_mapping import AMOUNT_FIELDS, MINUS_KINDS, ColumnMapping
from ledger.imports.calc.columns import Column
from ledger.imports.calc.dates import is_date_like
from ledger.imports.calc.detection_result import Answer, build_mapping_update
from ledger.imports.calc.direction_search import DirectionSearch
from ledger.imports.calc.opening_proof import OpeningProof, prove_opening
from ledger.imports.calc.signs import find_minus_meaning, is_plus_partial
from ledger.imports.calc.table import SAMPLE_ROWS
from ledger.imports.calc.table_rows import RowReader


class SignSearch(DirectionSearch):
    """The steps that choose directions, signs and fees."""

    def choose_direction_and_sign(self) -> None:
        if self.is_question_open("columns.direction"):
            return
        position = self.mapping.columns.get("amount")
        if position is None:
            self.choose_pair_signs()
        elif not self.choose_direction(self.columns[position]):
            self.choose_sign(self.columns[position])

    def choose_pair_signs(self) -> None:
        """What a minus means in columns of debits and credits that have amounts with and without one, and whether the
        balance goes the way that the headings say."""
        self.drop_contradicted_minus()
        self.drop_contradicted_flip_sign()
        pair: list[str] = [name for name in ("debit", "credit") if name in self.mapping.columns]
        signs = {name: self.count_amounts_by_sign(name) for name in pair}
        given = self.mapping.minus_means
        mixed = [name for name in pair if name not in given and all(signs[name])]
        possible_meanings = [
            {**given, **dict(zip(mixed, kinds, strict=True))}
            for kinds in product(*(MINUS_KINDS[name] for name in mixed))
        ]
        proven = [way for way in possible_meanings if self.agrees_with_balance(replace(self.mapping, minus_means=way))]
        is_contrary = (
            self.steps is not None and not proven and any(self.steps.compare(self.read_sample_amounts(self.mapping)))
        )
        if len(proven) == 1:
            self.mapping = replace(self.mapping, minus_means=proven[0])
        else:
            self.add_minus_question(name for name in mixed if is_contrary or not find_minus_meaning(*signs[name]))
        if proven and not self.is_card_account and "flipSign" not in self.given_settings:
            self.result.proven_fields.append("sign")
        elif not proven and not mixed and not self.is_question_open("columns.debit"):
            self.add_pair_signs_question(signs)

    def drop_contradicted_flip_sign(self) -> None:
        """Drop a kept flipSign where the balance proves the signs as they are."""
        unchanged = replace(self.mapping, flip_sign=False)
        is_contradicted = self.mapping.flip_sign and not self.is_card_account and self.agrees_with_balance(unchanged)
        if is_contradicted and self.drop_setting_if_kept("flipSign"):
            self.mapping = unchanged

    def count_amounts_by_sign(self, name: str) -> tuple[int, int]:
        """Return how many amounts of rows with a date are (negative, positive). Totals at the end have no date."""
        amounts = to_decimals(self.columns[self.mapping.columns[name]], self.mapping.decimal_mark)
        if "date" in self.mapping.columns:
            days = self.columns[self.mapping.columns["date"]].cells
            amounts = [amount for amount, day in zip(amounts, days, strict=True) if is_date_like(day)]
        known_amounts = [amount for amount in amounts if amount]
        negative = sum(amount < 0 for amount in known_amounts)
        return negative, len(known_amounts) - negative

    def add_minus_question(self, names: Iterable[str]) -> None:
        for name in names:
            options: list[Answer] = [
                (kind, partial(with_minus_meaning, name=name, kind=kind)) for kind in MINUS_KINDS[name]
            ]
            self.add_question("minus_means", f"minusMeans.{name}", options)

    def add_pair_signs_question(self, signs: dict[str, tuple[int, int]]) -> None:
        """Ask where the balance goes against the headings, and where all credits have a minus that nothing explains."""
        same, opposite = self.steps.compare(self.read_sample_amounts(self.mapping)) if self.steps else (0, 0)
        has_minus = any(negative for negative, _ in signs.values())
        if opposite and not self.is_card_account and not has_minus and "flipSign" not in self.given_settings:
            self.add_sign_flip_question()
        negative, positive = signs.get("credit", (0, 0))
        if negative and not positive and not same + opposite and "credit" not in self.mapping.minus_means:
            self.add_minus_question(["credit"])

    def add_sign_flip_question(self, *, from_balance: bool = False) -> None:
        self.add_question(
            "sign",
            "flipSign",
            [(flip, build_mapping_update(flip_sign=flip, sign_from_balance=from_balance)) for flip in (False, True)],
        )

    def choose_sign(self, column: Column) -> None:
        """The signs of one column of amounts: its own where it has any, those of the balance, or asked."""
        amounts = self.read_sample_amounts(replace(self.mapping, flip_sign=False))
        signed = any(map(find_amount_sign, column.distinct))
        is_shown = self.steps is not None and self.steps.prove(amounts) and not self.is_order_open
        same, opposite = self.steps.compare(amounts) if is_shown and self.steps else (0, 0)
        given = self.given_settings.get("flipSign")
        if same + opposite and (not signed or (same and opposite)):
            self.choose_sign_from_balance(amounts, given=given, against=opposite if given is False else same)
        elif given is not None:
            self.drop_contradicted_flip_sign()
            if self.mapping.sign_from_balance and not signed:
                self.choose_unproven_sign(self.find_opening_proof(amounts))
        elif same and (not (self.is_mostly_positive(column) and self.account.is_card_account) or self.is_debt_negative):
            self.result.proven_fields.append("sign")
        elif not signed and self.has_missing_balance():
            self.mapping = replace(self.mapping, sign_from_balance=True)  # what it does not show is refused
        elif (not signed or same or opposite or self.has_two_readings(column)) and not self.choose_sign_from_opening(
            column, amounts, signed=signed
        ):
            self.add_sign_flip_question()

    def choose_sign_from_opening(self, column: Column, amounts: Amounts, *, signed: bool) -> bool:
        """Whether the balance of the account before the file shows the signs, which are taken then."""
        proof = self.find_opening_proof(amounts)
        if proof is None or is_plus_partial(column.filled) or not (signed or len(self.table.rows) == 1):
            return False
        if signed:
            self.mapping = replace(self.mapping, flip_sign=(proof.step > 0) != (proof.amount > 0))
        else:
            self.mapping = replace(self.mapping, sign_from_balance=True, unproven_sign=proof.direction)
        self.result.proven_fields.append("sign")
        return True

    def find_opening_proof(self, amounts: Amounts) -> OpeningProof | None:
        """Hold the oldest row against the balance of the account before its day; None where that shows nothing."""
        columns, find_opening = self.mapping.columns, self.account.find_balance_before
        if find_opening is None or "balance" not in columns or len(self.table.rows) > len(self.sample):
            return None
        balances = self.columns[columns["balance"]].balances(self.mapping.decimal_mark)
        rows = [
            (day, Decimal(balance), amount)
            for day, balance, amount in zip(self.list_sample_days(), balances, amounts, strict=True)
            if balance is not None and amount
        ]
        reading = self.steps.reading if self.steps else None
        ends = rows[:1] + rows[1:][-1:]
        if reading is not None and not reading.is_open:
            ends = rows[-1:] if reading.is_backward else rows[:1]
        proofs = [
            proof
            for day, balance, amount in ends
            if day is not None
            and (opening := find_opening(day)) is not None
            and (proof := prove_opening(opening, balance, amount, may_be_owed=self.is_card_account))
        ]
        return proofs[0] if len(proofs) == 1 else None

    @property
    def is_debt_negative(self) -> bool:
        """Whether every balance agrees with its row and none is above zero: what is owed on a card has a minus then."""
        if self.steps is None:
            return False
        balances = [balance for balance in self.steps.balance.balances(self.mapping.decimal_mark) if balance]
        is_agreed = self.steps.steps.find_best_share(self.read_sample_amounts(self.mapping)) == 1
        return is_agreed and all(Decimal(balance) <= 0 for balance in balances) and any(map(Decimal, balances))

    def has_two_readings(self, column: Column) -> bool:
        """Whether signs that are written may mean the other way: those of a card, those of money in alone, or those
        against a heading."""
        return (
            (self.is_card_account and self.is_mostly_positive(column))
            or is_plus_partial(column.filled)
            or self.is_one_sided(column)
        )

    def choose_sign_from_balance(self, amounts: Amounts, *, given: bool | None, against: int) -> None:
        """Take the signs of the steps. ``against``: how many of them are against the sign that somebody gave."""
        is_kept = self.is_setting_kept("flipSign")
        is_given = given is not None and not is_kept and not against and not self.mapping.sign_from_balance
        if (is_given and not self.is_card_account) or self.given_settings.get("signFromBalance") is False:
            return
        proof = self.find_opening_proof(amounts)
        is_owed = bool(given) if given is not None else proof is not None and proof.is_owed
        if self.is_card_account and given is None and proof is None and not self.is_debt_negative:
            self.add_sign_flip_question(from_balance=True)
        if given and is_kept and not self.is_card_account and not self.agrees_with_balance(self.mapping):
            self.drop_kept_setting("flipSign")
        self.mapping = replace(self.mapping, sign_from_balance=True, flip_sign=self.is_card_account and is_owed)
        self.result.proven_fields.append("sign")
        self.choose_unproven_sign(proof)

    def choose_unproven_sign(self, proof: OpeningProof | None) -> None:
        """Take the sign of the row at the end of the balances from the balance before it, or ask for it."""
        rows = self.table.rows
        is_short = len(rows) <= 2 * SAMPLE_ROWS
        ends = (
            rows if is_short else rows.select_lines([*range(SAMPLE_ROWS), *range(len(rows) - SAMPLE_ROWS, len(rows))])
        )
        reader = RowReader(replace(self.table, rows=ends), self.mapping, self.account.currency)
        if self.mapping.unproven_sign or self.has_missing_balance() or not reader.needs_unproven_sign():
            return
        if proof is not None:
            self.mapping = replace(self.mapping, unproven_sign=proof.direction)
        else:
            options: list[Answer] = [(kind, build_mapping_update(unproven_sign=kind)) for kind in ("out", "in")]
            self.add_question("unproven_sign", "unprovenSign", options)

    def has_missing_balance(self) -> bool:
        """Whether some rows have a balance and others none, so that nothing shows the signs of those."""
        positions = [
            self.mapping.columns[name] for name in ("balance", "balanceBefore") if name in self.mapping.columns
        ]
        if not positions:
            return False
        amounts = self.columns[self.mapping.columns["amount"]].amounts(self.mapping.decimal_mark)
        cells = [cell for cell, amount in zip(self.columns[positions[0]].cells, amounts, strict=True) if amount]
        return sum(map(bool, cells)) > 1 and not all(cells)

    def is_one_sided(self, column: Column) -> bool:
        """Whether a heading says that amounts are all in or all out, and their signs say something else."""
        name = column.fields[0][0] if column.fields else ""
        negative, positive = self.count_amounts_by_sign("amount")
        return (name == "debit" and positive > 0) or (name == "credit" and negative > 0)

    def is_mostly_positive(self, column: Column) -> bool:
        """Whether a third of the amounts or more are positive: those may be the charges of a card."""
        amounts = [amount for amount in to_decimals(column, self.mapping.decimal_mark) if amount]
        return sum(amount > 0 for amount in amounts) * 3 >= len(amounts)

    def choose_fee(self) -> None:
        """Ask whether fees are inside the amounts, unless the balance shows that they are."""
        fees = [
            column
            for column in self.list_role_columns("fee")
            if self.is_in_own_currency(column) and any(to_decimals(column, self.mapping.decimal_mark))
        ]
        positions = [self.mapping.columns[name] for name in AMOUNT_FIELDS if name in self.mapping.columns]
        if not fees or not positions or "fee" in self.pinned or "fee" in self.mapping.columns:
            return
        if self.is_question_open("columns.amount") or self.are_fees_inside_amounts(fees):
            return
        amount = self.columns[positions[0]]
        if amount in self.roles.get("net", []) and self.has_gross_column(amount):
            return
        self.add_column_question("fee", "fee", fees, none=True)

    def are_fees_inside_amounts(self, fees: Iterable[Column]) -> bool:
        """Whether the balance changes by the amounts alone in all rows with a fee that it shows; it must show one of
        each column."""
        if self.steps is None or self.steps.reading is None:
            return False
        steps, amounts = self.steps.reading.steps, self.read_sample_amounts(self.mapping)
        for fee in fees:
            comparisons = [
                abs(step) == abs(amount)
                for step, amount, charge in zip(
                    steps, amounts, to_decimals(fee, self.mapping.decimal_mark), strict=True
                )
                if charge and step is not None and amount is not None
            ]
            if not comparisons or not all(comparisons):
                return False
        return True

    def is_in_own_currency(self, fee: Column) -> bool:
        """Whether a fee can be taken off the amounts, as far as headings tell."""
        currency = self.mapping.currency or self.account.currency
        return not fee.heading_currencies or currency in fee.heading_currencies

    def has_gross_column(self, net: Column) -> bool:
        """Whether another column has the amount before fees, so that this one is net of them."""
        return any(each is not net for each in self.roles.get("gross", []) + self.roles.get("amount", []))


def with_minus_meaning(mapping: ColumnMapping, name: str, kind: str) -> ColumnMapping:
    return replace(mapping, minus_means={**mapping.minus_means, name: kind})
