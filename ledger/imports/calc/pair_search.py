"""Find two columns of money out and money in: by their headings, or because each row fills one of them."""

from collections.abc import Iterator
from functools import cached_property, partial
from itertools import combinations, product

from ledger.imports.calc.balance_proof import BalanceProof, join_debit_and_credit
from ledger.imports.calc.column_mapping import ColumnMapping
from ledger.imports.calc.columns import Column, has_complementary_amounts
from ledger.imports.calc.detection_result import Answer
from ledger.imports.calc.headings import fold_heading
from ledger.imports.calc.mapping_search import MappingSearch
from ledger.imports.calc.vocabulary import find_direction_hint

PAIR_FIELDS = {
    "amount",
    "net",
    "gross",
    "debit",
    "credit",
    "number",
    "fee",
    "tax",
}  # charges and refunds are among these
Pair = tuple[Column, Column]


class PairSearch(MappingSearch):
    """The steps that find a debit and a credit column."""

    def list_number_columns(self) -> list[Column]:
        return [each for each in self.list_unused(self.columns) if each.is_number]

    def find_debit_credit_pair_by_headings(self) -> Pair | None:
        """Return the columns of debit and credit; the other one of a pair has amounts where the first has none.

        A heading such as Payments means money out beside receipts and money in beside purchases: it names no side.
        """
        debit, credit = self.list_role_columns("debit"), self.list_role_columns("credit")
        for debit_column in debit:
            for credit_column in credit:
                if has_complementary_amounts(debit_column, credit_column, min_share=0.5):
                    return debit_column, credit_column
        numbers = [
            column
            for column in self.list_number_columns()
            if not column.fields or column.fields[0][0] in ("amount", "number")
        ]
        for known_column, is_debit in [(each, True) for each in debit] + [(each, False) for each in credit]:
            if find_heading_direction_hint(known_column):
                continue
            for other_column in numbers:
                if (
                    other_column is not known_column
                    and has_complementary_amounts(known_column, other_column)
                    and len(other_column.filled) < len(other_column.cells)
                ):
                    return (known_column, other_column) if is_debit else (other_column, known_column)
        return self.find_pair_of_unreadable_side(debit, credit)

    def find_pair_of_unreadable_side(self, debit: list[Column], credit: list[Column]) -> Pair | None:
        """Return one side beside a column that a heading names for the other, with cells that are no amounts and only
        where the first is empty: those rows are refused then, not left out."""
        sides = [(each, "debit") for each in credit] + [(each, "credit") for each in debit]
        unreadable = [
            (name, column)
            for column in self.list_unused(self.columns)
            for name in ("debit", "credit")
            if (name, 3) in column.fields[:1] and bool(column.filled) and not column.fits_field(name)
        ]
        for (known, side), (name, column) in product(sides, unreadable):
            if name == side and not known.filled_rows & column.filled_rows:
                return (column, known) if name == "debit" else (known, column)
        return None

    def iterate_undecided_debit_credit_pairs(self) -> Iterator[Pair]:
        """Yield pairs of columns of which each row fills one, and no heading says for sure which is money out."""
        for pair in self.possible_debit_credit_pairs:
            if not any(column.position in self.used_positions for column in pair):
                yield pair

    @cached_property
    def possible_debit_credit_pairs(self) -> list[Pair]:
        """The pairs among all columns of the table, which are compared once."""
        columns = [
            column
            for column in self.columns
            if column.is_number
            and (not column.fields or column.fields[0][0] in PAIR_FIELDS)
            and column.rows_with_amount
        ]
        return [
            pair
            for pair in combinations(columns, 2)
            if has_complementary_amounts(*pair) and is_possible_debit_credit_pair(*pair)
        ]

    def order_pair_by_heading_hints(self, pair: Pair) -> Pair | None:
        """Return (debit, credit) where the words of the headings tell it, as of purchases and payments."""
        hints = [find_heading_direction_hint(column) for column in pair]
        if hints == ["out", "in"]:
            return pair
        return (pair[1], pair[0]) if hints == ["in", "out"] else None

    def set_debit_and_credit_columns(self, pair: Pair) -> None:
        self.set_column("debit", pair[0].position)
        self.set_column("credit", pair[1].position)

    def choose_debit_and_credit(self, pair: Pair, steps: BalanceProof | None = None) -> None:
        """Decide which of two columns is money out: by the steps of a balance, by the headings, or ask."""
        hinted = self.order_pair_by_heading_hints(pair) or (None if self.is_card_account else order_pair_by_signs(pair))
        proven = None if steps is None or self.is_card_account else order_pair_by_balance(pair, steps)
        if (proven or hinted) and (not proven or not hinted or proven == hinted):
            self.set_debit_and_credit_columns(proven or hinted or pair)
            return
        self.set_debit_and_credit_columns(pair)
        options: list[Answer] = [
            (
                self.get_column_reference(debit.position),
                partial(with_debit_and_credit, debit=debit.position, credit=credit.position),
            )
            for debit, credit in (pair, (pair[1], pair[0]))
        ]
        self.add_question("debit_column", "columns.debit", options)

    def complete_debit_credit_pair(self) -> None:
        """Add the other column where the settings name one side alone, and each row fills one of both."""
        named = [name for name in ("debit", "credit") if self.pinned.get(name) is not None]
        if len(named) != 1 or self.pinned.get("amount") is not None:
            return
        other = "credit" if named == ["debit"] else "debit"
        given = self.columns[self.pinned[named[0]] or 0]
        candidates = [
            column
            for column in [*self.list_role_columns(other), *self.list_number_columns()]
            if (not column.fields or column.fields[0][0] in PAIR_FIELDS) and has_complementary_amounts(given, column)
        ]
        if candidates and other not in self.pinned:
            self.set_column(other, candidates[0].position)


def order_pair_by_balance(pair: Pair, steps: BalanceProof) -> Pair | None:
    """Return (debit, credit) as the balance goes; None where it goes both ways or its order is open."""
    same, opposite = steps.compare(join_debit_and_credit(*pair, steps.decimal_mark))
    if bool(same) == bool(opposite) or (steps.reading is not None and steps.reading.is_open):
        return None
    return pair if same else (pair[1], pair[0])


def find_heading_direction_hint(column: Column) -> str:
    """What a heading usually means that can mean both, in the plural too; empty where it says nothing.

    >>> find_heading_direction_hint(Column(0, "Purchases", []))
    'out'
    >>> find_heading_direction_hint(Column(0, "Withdrawals", []))
    ''
    """
    text = fold_heading(column.name)
    return find_direction_hint(text) or find_direction_hint(text.removesuffix("s")) or ""


def is_possible_debit_credit_pair(first: Column, second: Column) -> bool:
    """Whether two columns may be money out and money in: of one currency, and with a minus in all of one or in none."""
    currencies = first.heading_currencies, second.heading_currencies
    is_one_currency = not any(currencies) or bool(set(currencies[0]) & set(currencies[1]))
    has_no_minus = not first.has_minus and not second.has_minus
    return is_one_currency and (has_no_minus or order_pair_by_signs((first, second)) is not None)


def order_pair_by_signs(pair: Pair) -> Pair | None:
    """Return (debit, credit) of two columns without headings if all amounts of one have a minus and none of the other.

    A number under a heading may be something else.
    """
    if any(column.name for column in pair):
        return None
    for debit, credit in (pair, (pair[1], pair[0])):
        if debit.amount_signs == {"-"} and "-" not in credit.amount_signs:
            return debit, credit
    return None


def with_debit_and_credit(mapping: ColumnMapping, debit: int, credit: int) -> ColumnMapping:
    return mapping.with_column("debit", debit).with_column("credit", credit)
