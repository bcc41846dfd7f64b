"""In which currency and unit the amounts are: told by a column, a sign, a heading or the lines above, else asked."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ledger.imports.calc.balance_direction_search import BalanceDirectionSearch
from ledger.imports.calc.column_mapping import AMOUNT_FIELDS, ColumnMapping
from ledger.imports.calc.columns import Column
from ledger.imports.calc.currencies import count_currency_decimals, find_named_currencies
from ledger.imports.calc.decimal_marks import has_excess_decimals
from ledger.imports.calc.detection_result import Answer, build_mapping_update, combine_updates
from ledger.imports.calc.file_currency import complete_mapping, find_amount_currencies, find_unclear_currencies
from ledger.imports.calc.headings import fold_heading
from ledger.imports.calc.movements import Movement
from ledger.imports.calc.table_rows import RowReader

MIN_QUALIFIER_LENGTH = 3  # letters of a word that two headings share


class CurrencySearch(BalanceDirectionSearch):
    """The steps that choose the column of currencies, and what tells the currency where there is none."""

    def choose_currency(self) -> None:
        if len(find_amount_currencies(self.table, self.mapping)) != 1:
            self.choose_currency_column()
        given_currency = self.given_settings.get("currency", "")
        self.mapping, refused = complete_mapping(
            self.table, self.mapping, own=self.account.currency, stated=given_currency
        )
        self.result.fault = self.result.fault or refused
        if not self.is_question_open("columns.currency") and not self.is_question_open("columns.amount"):
            self.add_currency_question()

    def add_currency_question(self) -> None:
        """Which of several currencies a sign means, where the account's is none of them."""
        unclear = find_unclear_currencies(self.table, self.mapping, self.account.currency)
        storable = [code for code in unclear if self.can_store_in_currency(code)]
        if len(storable) == 1 and len(unclear) > 1:
            self.mapping = replace(self.mapping, currency=storable[0])
        elif unclear:
            options: list[Answer] = [(code, build_mapping_update(currency=code)) for code in storable or unclear]
            self.add_question("currency", "currency", options)

    def can_store_in_currency(self, code: str) -> bool:
        """Whether the amounts of rows in a currency have no more decimals than it."""
        reader = RowReader(
            replace(self.table, rows=self.sample), replace(self.mapping, currency=code), self.account.currency
        )
        decimals = count_currency_decimals(code)
        return not any(
            isinstance(row, Movement) and row.currency == code and has_excess_decimals(row.amount, decimals)
            for row in reader.read_rows()
        )

    def choose_currency_column(self) -> None:
        """Choose the column with the currency of the amounts; ask where several columns differ.

        A column of original currencies is that of an original amount, where the table has one.
        """
        if "currency" in self.pinned and not self.is_kept_currency_column_doubtful():
            return
        currency_columns, originals = self.find_currency_columns(), self.list_original_currency_columns()
        if not self.is_question_open("columns.amount"):
            self.choose_currency_of_amount(currency_columns, originals)
        elif len(currency_columns) == 1 and not originals:
            self.set_column("currency", currency_columns[0].position)
        elif currency_columns or originals:
            self.add_currency_column_to_amount_answers(currency_columns, originals)

    def choose_currency_of_amount(self, currency_columns: Sequence[Column], originals: Sequence[Column]) -> None:
        positions = [self.mapping.columns[name] for name in AMOUNT_FIELDS if name in self.mapping.columns]
        named_alike = [
            column
            for column in [*currency_columns, *originals]
            if positions and self.has_same_qualifier(positions[0], column)
        ]
        if len(named_alike) == 1:
            self.set_column("currency", named_alike[0].position)
        elif currency_columns:
            different = [each for each in currency_columns if each.cells != currency_columns[0].cells]
            near = [each for each in currency_columns if positions and each.position == positions[0] + 1]
            self.set_column("currency", (near[0] if different and len(near) == 1 else currency_columns[0]).position)
            if different and len(near) != 1:
                self.add_column_question("currency_column", "currency", [currency_columns[0], *different])
        elif originals and not self.has_original_amount() and self.has_foreign_currency(originals[0]):
            self.set_column("currency", originals[0].position)
            self.add_column_question("currency_column", "currency", originals[:1], none=True)

    def find_currency_columns(self) -> list[Column]:
        """Columns of currencies by heading or values, without those of original amounts, and of fees only if alone."""
        named = self.list_role_columns("currency")
        unnamed = [each for each in self.list_unused(self.columns) if each.is_currency and not each.is_number]
        currency_columns = named or [each for each in unnamed if not is_heading_of_field(each, "original")]
        return [each for each in currency_columns if not is_heading_of_field(each, "fee")] or currency_columns

    def list_original_currency_columns(self) -> list[Column]:
        currency_columns = [
            column for column in self.list_role_columns("original") if column.is_currency and not column.is_number
        ]
        return [each for each in currency_columns if not is_heading_of_field(each, "fee")]

    def has_original_amount(self) -> bool:
        """Whether a column other than the amount has amounts in the original currency."""
        taken = {self.mapping.columns.get(name) for name in AMOUNT_FIELDS}
        return any(each.is_number and each.position not in taken for each in self.roles.get("original", []))

    def has_foreign_currency(self, column: Column) -> bool:
        return any(self.account.currency not in find_named_currencies(text) for text in column.distinct)

    def is_kept_currency_column_doubtful(self) -> bool:
        """Whether a kept column has original currencies, which now differ from those of another column."""
        position = self.pinned["currency"]
        if (
            position is None
            or not self.is_setting_kept("columns.currency")
            or not is_heading_of_field(self.columns[position], "original")
        ):
            return False
        others = [each for each in self.find_currency_columns() if each.cells != self.columns[position].cells]
        if others:
            self.mapping = self.mapping.with_column("currency", None)
        return bool(others)

    def has_same_qualifier(self, amount: int, currency: Column) -> bool:
        """Whether the headings of an amount and a currency share a word, as "Source amount" and "Source currency"."""
        words = [set(fold_heading(name).split()) for name in (self.table.names[amount], currency.name)]
        return any(len(word) > MIN_QUALIFIER_LENGTH for word in set.intersection(*words))

    def add_currency_column_to_amount_answers(
        self, currency_columns: Sequence[Column], originals: Sequence[Column]
    ) -> None:
        """Let each answer to the question of the amount have the currency that belongs to it."""
        position = next(position for position, each in enumerate(self.open) if each[1] == "columns.amount")
        question, path, options = self.open[position]
        with_own = partial(self.with_matching_currency_column, currency_columns=currency_columns, originals=originals)
        self.open[position] = (
            question,
            path,
            [(value, combine_updates(change, with_own)) for value, change in options],
        )
        self.mapping = with_own(self.mapping)

    def with_matching_currency_column(
        self, mapping: ColumnMapping, currency_columns: Sequence[Column], originals: Sequence[Column]
    ) -> ColumnMapping:
        position = mapping.columns["amount"]
        named_alike = [each for each in [*currency_columns, *originals] if self.has_same_qualifier(position, each)]
        candidates = (
            named_alike
            or (originals if is_heading_of_field(self.columns[position], "original") else currency_columns)
            or currency_columns
        )
        behind = [each for each in candidates if each.position > position]
        return mapping.with_column("currency", (behind or candidates[-1:])[0].position) if candidates else mapping


def is_heading_of_field(column: Column, name: str) -> bool:
    """Whether the heading of a column names a field among others."""
    return any(field == name for field, _ in column.fields)
