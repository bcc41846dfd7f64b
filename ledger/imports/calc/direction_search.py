"""Which values of a direction column are money in and money out, and what a minus beside them means."""

from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from ledger.accounts.calc.csv_settings import DIRECTION_VALUE_KINDS
from ledger.imports.calc.amounts import find_amount_sign
from ledger.imports.calc.balance_proof import to_decimals
from ledger.imports.calc.balance_steps import Amounts
from ledger.imports.calc.column_mapping import MINUS_KINDS, ColumnMapping, drop_empty_left_out, fold_setting_value
from ledger.imports.calc.columns import MAX_DIRECTIONS, Column, has_letters
from ledger.imports.calc.currency_search import CurrencySearch
from ledger.imports.calc.detection_result import MAX_OPTIONS, Answer, build_mapping_update
from ledger.imports.calc.vocabulary import (
    find_direction_hint,
    find_directions,
    find_letter_hints,
    has_possible_directions,
    is_direction_column,
)
from ledger.transactions.fields import TRANSACTION_TEXTS

MAX_COMBINED = 2  # unknown values of which every combination is an option; two rows tell no more apart
MAX_GUESSED = 3  # values of a column that may have directions although nothing says so
NAMES_OTHERS = {
    "counterparty",
    "counterpartyAccount",
    "reference",
    "category",
    *(text.name for text in TRANSACTION_TEXTS),
}
OPPOSITE = {"in": "out", "out": "in"}


class DirectionSearch(CurrencySearch):
    """The steps that choose the direction column of one column of amounts."""

    def choose_direction(self, amount: Column) -> bool:
        """Choose the direction column; false where there is none, or where the amounts' own signs say the same."""
        if "direction" in self.pinned:
            position = self.pinned["direction"]
            direction_columns = [] if position is None else [self.columns[position]]
        else:
            direction_columns = self.find_direction_columns(amount)
        if not direction_columns:
            return False
        column = direction_columns[0]
        values = self.list_movement_values(column.position)
        words = find_directions(values, column.name)
        known = {**words, **self.mapping.directions}
        for other in direction_columns[1:]:
            known |= find_directions(self.list_movement_values(other.position), other.name)
        hints = find_letter_hints(values, column.name)
        amounts = to_decimals(amount, self.mapping.decimal_mark)
        if "direction" not in self.pinned:
            if is_direction_redundant(amounts, column, {**hints, **known}) and any(
                map(find_amount_sign, amount.distinct)
            ):
                return False
            if len(direction_columns) > 1:
                self.add_column_question("direction_column", "direction", direction_columns)
        kinds = self.steps.find_directions_by_value(amounts, column) if self.steps and not self.is_order_open else {}
        if any(len(each) > 1 for each in kinds.values()) and "direction" not in self.pinned:
            return False  # the balance goes both ways at rows of one value
        self.set_column("direction", column.position)
        shown = {value: next(iter(each)) for value, each in kinds.items() if len(each) == 1}
        known = self.drop_contradicted_directions(words, shown) or known
        self.choose_direction_meanings(values, known, shown, hints)
        self.choose_minus_meaning(amounts)
        return True

    def drop_contradicted_directions(self, words: dict[str, str], shown: AnyMapping[str, str]) -> dict[str, str]:
        """Drop kept meanings where the balance contradicts one and no word contradicts the balance.

        Returns: the meanings that balance and words show instead; empty if nothing was dropped.
        """
        given = self.mapping.directions
        is_contradicted = (
            not self.is_card_account
            and any(given.get(value, kind) != kind for value, kind in shown.items())
            and all((words.get(value) or find_direction_hint(value) or kind) == kind for value, kind in shown.items())
        )
        if not is_contradicted or not self.drop_setting_if_kept("directionValues"):
            return {}
        self.mapping = replace(self.mapping, directions={})
        return {**shown, **words}

    def find_direction_columns(self, amount: Column) -> list[Column]:
        """The columns that headings name for directions, or whose values are; several only where they differ."""
        named_columns = self.list_role_columns("direction")
        signed = any(map(find_amount_sign, amount.distinct))
        free = [
            column
            for column in self.list_unused(self.columns)
            if not NAMES_OTHERS & {name for name, _ in column.fields[:1]}
        ]
        test = is_direction_column if signed else has_possible_directions
        unnamed = [each for each in free if each.is_text and len(each.values) <= MAX_DIRECTIONS and test(each.values)]
        signs = [each for each in free if set(each.distinct) and set(each.distinct) <= {"+", "-"}]
        result = named_columns or unnamed or signs
        if not result and not signed and not self.steps:
            result = self.guess_direction_column(free)
        different = [each for each in result[1:] if each in named_columns and each.cells != result[0].cells]
        return result[:1] + different[: MAX_OPTIONS - 1]

    def guess_direction_column(self, columns: Sequence[Column]) -> list[Column]:
        """Return the first column that may have directions although nothing says so."""
        values = self.collect_movement_values([each.position for each in columns], max_values=MAX_GUESSED)
        return [each for each in columns if self.may_hold_directions(each, values[each.position])][:1]

    def may_hold_directions(self, column: Column, values: Sequence[str]) -> bool:
        """Whether a column repeats two or three values, which may be directions: under an unknown heading any, under
        another one letters of which two are a pair."""
        is_named_otherwise = bool(column.fields) and column.fields[0][0] not in ("debit", "credit")
        if column.has_garbled_amounts or (is_named_otherwise and not find_letter_hints(values)):
            return False
        if not 2 <= len(values) <= MAX_GUESSED or len(column.cells) - len(column.balance_rows) <= len(values):
            return False
        if not any(
            other is not column and (other.is_text or any(map(has_letters, other.distinct))) for other in self.columns
        ):
            return False  # it is the only text
        is_flag = all(value.isdigit() for value in values if value) and set(values) != {"1", "2"}
        return not is_flag and not column.is_date and not column.is_currency and not column.has_decimals

    @property
    def is_order_open(self) -> bool:
        return self.steps is not None and self.steps.reading is not None and self.steps.reading.is_open

    def choose_direction_meanings(
        self, values: Sequence[str], known: dict[str, str], shown: AnyMapping[str, str], hints: AnyMapping[str, str]
    ) -> None:
        """What the values mean: by the balance where that agrees with the words, by the words without one.

        ``hints``: what letters are likely to mean that are not certain.
        """
        given = self.mapping.directions
        usual = {value: find_direction_hint(value) for value in values}
        meanings = {value: kind for value, kind in {**usual, **known}.items() if kind}
        contrary = [value for value, kind in shown.items() if meanings.get(value, kind) != kind and value not in given]
        if (
            contrary
            and self.account.is_card_account
            and all(meanings.get(value) == OPPOSITE[kind] for value, kind in shown.items())
        ):
            shown = {value: meanings[value] for value in shown}  # the balance of a card is what is owed
        elif contrary or (shown and self.is_card_account and not any(value in meanings for value in shown)):
            # The balance is what is owed, or the words mean the other way.
            guess = {**meanings, **{value: OPPOSITE[kind] for value, kind in shown.items()}}
            self.add_direction_meanings_question(values, {**given}, guess)
            return
        if shown:
            self.result.proven_fields.append("direction")
        known = {**shown, **known}
        self.add_direction_meanings_question(values, known, {**hints, **meanings, **known})

    def add_direction_meanings_question(
        self, values: Sequence[str], known_kinds: dict[str, str], guess: AnyMapping[str, str]
    ) -> None:
        """Ask for the values that are not known; the guess comes first, then its opposite."""
        self.mapping = replace(self.mapping, directions=known_kinds)
        unknown = [value for value in values if value not in known_kinds]
        if not unknown:
            return
        first = tuple(guess.get(value) or "out" for value in unknown)
        possible_meanings = [first, tuple(OPPOSITE[kind] for kind in first)]
        if len(unknown) <= MAX_COMBINED:
            possible_meanings += product(("out", "in"), repeat=len(unknown))
        else:
            possible_meanings += [("out",) * len(unknown), ("in",) * len(unknown)]
        possible_meanings += [("leaveOut",) * len(unknown)] if known_kinds else []
        options: list[Answer] = []
        for way in dict.fromkeys(possible_meanings):
            whole = {**known_kinds, **dict(zip(unknown, way, strict=True))}
            value = drop_empty_left_out(
                {kind: [text for text, each in whole.items() if each == kind] for kind in DIRECTION_VALUE_KINDS}
            )
            options.append((value, build_mapping_update(directions=whole)))
        self.add_question("direction_values", "directionValues", options)

    def choose_minus_meaning(self, amounts: Amounts) -> None:
        """What a minus beside a direction means: what the balance shows, nothing where all agree, else asked."""
        self.drop_contradicted_minus()
        if "direction" in self.mapping.minus_means or not any(amount and amount < 0 for amount in amounts):
            return
        column = self.columns[self.mapping.columns["direction"]]
        if is_direction_redundant(amounts, column, self.mapping.directions):
            return
        meanings_by_kind = {kind: {**self.mapping.minus_means, "direction": kind} for kind in MINUS_KINDS["direction"]}
        proven = [
            kind
            for kind, way in meanings_by_kind.items()
            if self.agrees_with_balance(replace(self.mapping, minus_means=way))
        ]
        if len(proven) == 1:
            self.mapping = replace(self.mapping, minus_means=meanings_by_kind[proven[0]])
            return
        self.add_question(
            "minus_means",
            "minusMeans.direction",
            [(kind, build_mapping_update(minus_means=meanings_by_kind[kind])) for kind in proven or meanings_by_kind],
        )

    def drop_contradicted_minus(self) -> None:
        """Drop a kept meaning of the minus sign where the balance proves another one."""
        given = self.mapping.minus_means
        if not given or self.is_card_account or self.agrees_with_balance(self.mapping):
            return
        possible_meanings = [
            dict(zip(given, kinds, strict=True)) for kinds in product(*(MINUS_KINDS[name] for name in given))
        ]
        is_contradicted = any(
            self.agrees_with_balance(replace(self.mapping, minus_means=way)) for way in possible_meanings
        )
        if is_contradicted and self.drop_setting_if_kept("minusMeans"):
            self.mapping = replace(self.mapping, minus_means={})

    def agrees_with_balance(self, mapping: ColumnMapping) -> bool:
        """Whether all amounts that the balance shows are as a mapping reads them."""
        if self.steps is None or self.is_order_open:
            return False
        same, opposite = self.steps.compare(self.read_sample_amounts(mapping))
        return same > 0 and opposite == 0


def is_direction_redundant(amounts: Amounts, direction: Column, known: AnyMapping[str, str]) -> bool:
    """Whether no amount has another sign than its direction, so that one of them says nothing new."""
    return not any(
        amount and known.get(fold_setting_value(value)) == ("out" if amount > 0 else "in")
        for amount, value in zip(amounts, direction.cells, strict=True)
    )
