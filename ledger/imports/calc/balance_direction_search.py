"""Find out whether a column such as Dr/Cr beside a balance says which way the amount goes, or the balance."""

from dataclasses import replace

from ledger.imports.calc.amount_search import MAX_TRIED, AmountSearch
from ledger.imports.calc.amounts import find_amount_sign
from ledger.imports.calc.balance_proof import BalanceProof, to_decimals
from ledger.imports.calc.balance_steps import AGREED, Amounts
from ledger.imports.calc.column_mapping import AMOUNT_FIELDS, ColumnMapping, fold_setting_value
from ledger.imports.calc.columns import MAX_DIRECTIONS, Column
from ledger.imports.calc.row_amounts import sign_balance_text
from ledger.imports.calc.vocabulary import find_directions, has_possible_directions


class BalanceDirectionSearch(AmountSearch):
    """The step that decides what a direction beside a balance belongs to: both readings are held against the steps
    of the balance."""

    def choose_balance_and_amounts(self) -> None:
        self.apply_given_balance_direction()
        column = self.find_only_direction_column()
        if column is None:
            super().choose_balance_and_amounts()
            return
        balance = self.list_role_columns("balance")[0]
        kinds = find_directions(column.values, column.name)
        signed = apply_balance_direction(balance, column, kinds)
        amount_kinds, balance_kinds = (
            self.find_amount_directions(balance, column, kinds),
            self.find_step_directions(signed),
        )
        is_signed = self.has_signed_amounts(balance)
        if is_signed and not self.has_exact_steps(signed):
            super().choose_balance_and_amounts()
            return
        is_of_balance = bool(balance_kinds) and (is_signed or not amount_kinds or "direction" in self.pinned)
        if is_of_balance:
            self.replace_column(balance, signed)
            self.set_column("balanceDirection", column.position)
        super().choose_balance_and_amounts()
        is_of_amount = bool(amount_kinds) and (not balance_kinds or amount_kinds == balance_kinds)
        is_open = not is_of_balance and not is_of_amount and "direction" not in self.pinned
        if is_open and self.follows_balance(column, balance):
            self.add_direction_question(column, balance, kinds, is_proven=bool(balance_kinds))

    def apply_given_balance_direction(self) -> None:
        """Read the balance with the direction that the settings name for it."""
        position, balance_place = self.pinned.get("balanceDirection"), self.mapping.columns.get("balance")
        if position is not None and balance_place is not None:
            column, balance = self.columns[position], self.columns[balance_place]
            kinds = find_directions(column.values, column.name)
            self.replace_column(balance, apply_balance_direction(balance, column, kinds))

    def find_only_direction_column(self) -> Column | None:
        """Return the only direction column of a table with a balance and one column of amounts."""
        balances = self.list_role_columns("balance")
        if (
            not balances
            or self.find_debit_credit_pair_by_headings()
            or self.pinned.get("direction") is not None
            or self.has_given_amount
        ):
            return None
        directions = [
            column
            for column in self.list_unused(self.columns)
            if column.fits_field("direction") and is_possible_direction_column(column)
        ]
        return directions[0] if len(directions) == 1 else None

    def follows_balance(self, column: Column, balance: Column) -> bool:
        """Whether a column stands behind the balance, and no amount between them."""
        positions = [self.mapping.columns[name] for name in AMOUNT_FIELDS if name in self.mapping.columns]
        return balance.position < column.position and not any(
            balance.position < position < column.position for position in positions
        )

    def has_signed_amounts(self, balance: Column) -> bool:
        columns = [each for each in self.list_single_amount_candidates() if each.position != balance.position]
        return bool(columns) and any(map(find_amount_sign, columns[0].distinct))

    def has_exact_steps(self, signed: Column) -> bool:
        """Whether a balance with signs steps by the amounts, with their signs."""
        steps = self.build_balance_proof(signed)
        for amounts in self.list_amounts(signed):
            same, opposite = steps.compare(amounts) if steps.prove(amounts) else (0, 0)
            if same and not opposite:
                return True
        return False

    def build_balance_proof(self, balance: Column) -> BalanceProof:
        return BalanceProof(balance, self.find_account_columns(), self.mapping.decimal_mark, self.list_sample_days())

    def list_amounts(self, balance: Column) -> list[Amounts]:
        columns = [each for each in self.list_single_amount_candidates() if each.position != balance.position]
        return [to_decimals(each, self.mapping.decimal_mark) for each in columns[:MAX_TRIED]]

    def find_amount_directions(self, balance: Column, column: Column, kinds: dict[str, str]) -> list[str | None]:
        """Return the direction of each row, where the balance steps as the directions say; empty where it does not."""
        steps = self.build_balance_proof(balance)
        for amounts in self.list_amounts(balance):
            shown = steps.find_directions_by_value(amounts, column) if steps.prove(amounts) else {}
            if shown and all(shown_kinds == {kinds.get(value)} for value, shown_kinds in shown.items()):
                return [kinds.get(fold_setting_value(cell)) for cell in column.cells]
        return []

    def find_step_directions(self, signed: Column) -> list[str | None]:
        """Return which way a balance with signs steps at each row; empty where it does not step by the amounts."""
        steps = self.build_balance_proof(signed)
        for amounts in self.list_amounts(signed):
            if steps.steps.find_best_share(amounts) >= AGREED and steps.prove(amounts) and steps.reading:
                return [None if not step else "in" if step > 0 else "out" for step in steps.reading.steps]
        return []

    def replace_column(self, old: Column, new: Column) -> None:
        self.columns[old.position] = new
        self.roles = {name: [new if each is old else each for each in columns] for name, columns in self.roles.items()}

    def add_direction_question(
        self, column: Column, balance: Column, kinds: dict[str, str], *, is_proven: bool
    ) -> None:
        """Ask whether the direction is that of the amounts, or none of theirs."""
        directions = {**kinds, **self.mapping.directions}

        def assign_direction_to_amount(mapping: ColumnMapping) -> ColumnMapping:
            return replace(mapping.with_column("direction", column.position), directions=directions)

        def assign_direction_to_balance(mapping: ColumnMapping) -> ColumnMapping:
            mapping = mapping.with_column("direction", None).with_column("balanceBefore", None)
            mapping = mapping.with_column("balance", balance.position).with_column("balanceDirection", column.position)
            return replace(mapping, sign_from_balance=is_proven)

        self.mapping = assign_direction_to_amount(self.mapping)
        self.add_question(
            "direction_column",
            "columns.direction",
            [
                (self.get_column_reference(column.position), assign_direction_to_amount),
                (None, assign_direction_to_balance),
            ],
        )


def is_possible_direction_column(column: Column) -> bool:
    """Whether a column says for its rows whether money came in or went out, as far as its words tell."""
    if column.is_currency or not column.is_text or len(column.values) > MAX_DIRECTIONS:
        return False
    known = find_directions(column.values, column.name)
    is_named = any(name == "direction" for name, _ in column.fields)
    return bool(column.values) and (
        len(known) == len(column.values) or is_named or has_possible_directions(column.values)
    )


def apply_balance_direction(balance: Column, direction: Column, kinds: dict[str, str]) -> Column:
    """Return a balance column with a minus where the direction beside it means money owed."""
    cells = [
        sign_balance_text(cell, kinds.get(fold_setting_value(value), ""))
        for cell, value in zip(balance.cells, direction.cells, strict=True)
    ]
    return Column(balance.position, balance.name, cells, balance.balance_rows)
