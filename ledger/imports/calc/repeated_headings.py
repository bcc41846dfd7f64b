"""Ask which of several columns with one heading is meant, where their cells differ."""

from dataclasses import replace
from functools import partial

from ledger.imports.calc.column_mapping import AMOUNT_FIELDS, ColumnMapping, fold_setting_value
from ledger.imports.calc.columns import Column
from ledger.imports.calc.dates import find_date_orders
from ledger.imports.calc.detection_result import Answer
from ledger.imports.calc.headings import fold_heading
from ledger.imports.calc.sign_search import SignSearch
from ledger.imports.calc.vocabulary import find_status_meaning

# Fields that change what is stored. A single amount column is asked for where it is chosen.
ASKED_FIELDS = ("date", "debit", "credit", "currency", "direction", "status", "account", "counterparty")
# Headings that differ in a number alone are the same for these; names and accounts may go on in a second column.
NUMBERED_FIELDS = ("date", "currency", "direction", "status")
# Questions about the values of a column are asked once the column is known.
VALUE_QUESTIONS = {
    "date": "dateOrder",
    "currency": "currency",
    "direction": "directionValues",
    "status": "statusValues",
    "account": "accountValues",
}


class RepeatedHeadingSearch(SignSearch):
    """The step that asks for the columns of repeated headings."""

    def add_repeated_heading_questions(self) -> None:
        """Ask which column each field is where another one with the same heading says something else."""
        for name in ASKED_FIELDS:
            if self.is_column_certain(name):
                continue
            position = self.mapping.columns.get(name)
            role_columns = self.roles.get(name, []) if name == "status" and name not in self.pinned else []
            column = self.columns[position] if position is not None else next(iter(role_columns), None)
            if column is not None and (others := self.list_other_columns(name, column)):
                options: list[Answer] = [
                    (candidate.position, partial(self.with_repeated_column, name=name, column=candidate))
                    for candidate in (column, *others)
                ]
                self.open = [each for each in self.open if each[1] != VALUE_QUESTIONS.get(name)]
                self.add_question("column_repeated", f"columns.{name}", options)

    def is_column_certain(self, name: str) -> bool:
        """Whether the position of a column was given, the balance proves it, or a question asks for it already."""
        is_given = isinstance(self.given_settings.get("columns", {}).get(name), int)
        is_proven = name in AMOUNT_FIELDS and (self.is_proven or "sign" in self.result.proven_fields)
        return is_given or is_proven or self.is_question_open(f"columns.{name}")

    def list_other_columns(self, name: str, column: Column) -> list[Column]:
        """Return the columns with the same heading that may be the field too and differ in a row."""
        if not column.name:
            return []
        positions = [position for field, position in self.mapping.columns.items() if field != "valueDate"]
        mapped_positions = {*positions, *self.mapping.description}
        others = [
            candidate
            for candidate in self.columns
            if is_same_heading(candidate.name, column.name, is_numbered=name in NUMBERED_FIELDS)
            and candidate.position not in mapped_positions
            and candidate.filled
            and candidate.fits_field(name)
            and not (name == "currency" and self.is_currency_of_other_amount(candidate))
        ]
        return self.list_different_columns(column, others) if column.filled else []

    def is_currency_of_other_amount(self, column: Column) -> bool:
        """Whether a column of currencies stands behind a column of other amounts, such as the fees or the balance."""
        amounts = {self.mapping.columns[name] for name in AMOUNT_FIELDS if name in self.mapping.columns}
        before = column.position - 1
        return before >= 0 and before not in amounts and self.columns[before].is_number

    def list_different_columns(self, column: Column, others: list[Column]) -> list[Column]:
        """Return the columns that differ from one in a row with a day; the rows are read once."""
        day = self.mapping.columns.get("date", column.position)
        different_positions: set[int] = set()
        equal = others
        for line in self.table.rows if others else ():
            cells = [*line.cells, *[""] * (self.table.width - line.width)]
            if not any(map(str.isdigit, cells[day])):
                continue
            text = fold_setting_value(cells[column.position])
            different_positions |= {each.position for each in equal if fold_setting_value(cells[each.position]) != text}
            equal = [each for each in equal if each.position not in different_positions]
            if not equal:
                break
        return [each for each in others if each.position in different_positions]

    def with_repeated_column(self, mapping: ColumnMapping, name: str, column: Column) -> ColumnMapping:
        """Return the mapping with a field in another column, whose values are read by what they usually mean."""
        values = self.list_dated_values(column.position)
        if name == "date" and values:
            mapping = replace(mapping, date_order=find_date_orders(values)[0])
        if name == "status":
            known = {fold_setting_value(value): kind for value in values if (kind := find_status_meaning(value))}
            mapping = replace(mapping, statuses={**known, **mapping.statuses})
        return mapping.with_column(name, column.position)


def is_same_heading(heading: str, other: str, *, is_numbered: bool) -> bool:
    """Whether two headings are the same, or the same but for a number at the end where ``is_numbered``.

    >>> is_same_heading("Date 1", "DATE 2", is_numbered=True), is_same_heading("Name 1", "Name 2", is_numbered=False)
    (True, False)
    """
    headings = [fold_heading(heading), fold_heading(other)]
    if is_numbered:
        headings = [each.rstrip("0123456789").rstrip() for each in headings]
    return headings[0] == headings[1] and (bool(headings[0]) or not is_numbered)
