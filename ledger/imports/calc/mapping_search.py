"""The base of a detection: the columns of a table, the given settings, and the date columns."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

from ledger.imports.calc.balance_proof import BalanceProof
from ledger.imports.calc.balance_steps import Amounts, find_time_order
from ledger.imports.calc.card_files import is_card_table
from ledger.imports.calc.column_mapping import (
    AMOUNT_FIELDS,
    ColumnMapping,
    drop_settings_of_other_layout,
    find_column_position,
    fold_setting_value,
)
from ledger.imports.calc.columns import (
    Column,
    build_table_columns,
    find_column_roles,
    find_constant_positions,
    is_balance_or_total_row,
    select_sample_rows,
)
from ledger.imports.calc.currencies import count_currency_decimals
from ledger.imports.calc.date_columns import choose_booking_date, is_named_booking_day, is_named_payment_day
from ledger.imports.calc.dates import DateOrder, find_bank_date, find_date_orders, find_mixed_date_orders
from ledger.imports.calc.decimal_marks import count_most_decimals
from ledger.imports.calc.detection_result import (
    MAX_OPTIONS,
    AccountFacts,
    Answer,
    AnswerOption,
    Detection,
    FileFault,
    MappingQuestion,
    build_mapping_update,
)
from ledger.imports.calc.table import Table
from ledger.imports.calc.table_rows import RowReader
from ledger.money.calc.money import CURRENCIES

STORED_MONEY_FIELDS = ("amount", "debit", "credit", "net", "gross", "fee", "balance", "balanceBefore")
MAX_CURRENCY_DECIMALS = max(map(count_currency_decimals, CURRENCIES))  # of an account that is not known


class MappingSearch:
    """A search for the mapping of a table; each step decides a part of it or asks a question."""

    def __init__(self, table: Table, given_settings: dict[str, Any], account: AccountFacts):
        self.table, self.given_settings, self.account = (
            table,
            drop_settings_of_other_layout(given_settings, table.names),
            account,
        )
        self.sample = select_sample_rows(table)
        self.columns = build_table_columns(table, self.sample)
        self.constants = find_constant_positions([line.cells for line in self.sample])
        self.roles = find_column_roles(self.columns)
        self.result = Detection(table, ColumnMapping())
        self.open: list[tuple[str, str, list[Answer]]] = []
        self.used_positions: set[int] = set()
        self.pinned: dict[str, int | None] = {}
        self.steps: BalanceProof | None = None
        self.is_proven = False
        self.orders: list[DateOrder] = []

    @property
    def mapping(self) -> ColumnMapping:
        return self.result.mapping

    @mapping.setter
    def mapping(self, value: ColumnMapping) -> None:
        self.result.mapping = value

    @property
    def is_card_account(self) -> bool:
        """Whether the account is a card, or the file seems to be of one: its balance may be what is owed."""
        return self.account.is_card_account or is_card_table(self.table)

    def set_column(self, name: str, position: int | None) -> None:
        self.mapping = self.mapping.with_column(name, position)
        if position is not None:
            self.used_positions.add(position)

    def list_unused(self, columns: Sequence[Column]) -> list[Column]:
        return [column for column in columns if column.position not in self.used_positions]

    def list_role_columns(self, name: str) -> list[Column]:
        return self.list_unused(self.roles.get(name, []))

    def get_column_reference(self, position: int) -> str | int:
        name = self.table.names[position]
        return name if name and self.table.names.count(name) == 1 else position

    def add_question(self, question: str, path: str, options: list[Answer]) -> None:
        self.open.append((question, path, options[:MAX_OPTIONS]))

    def is_question_open(self, path: str) -> bool:
        return any(each == path for _, each, _ in self.open)

    def build_detection(self) -> Detection:
        """Return the result; each option has the whole mapping that follows from it."""
        self.result.questions = [
            MappingQuestion(question, path, [AnswerOption(value, change(self.mapping)) for value, change in options])
            for question, path, options in self.open
        ]
        return self.result

    def add_column_question(self, question: str, name: str, columns: Sequence[Column], *, none: bool = False) -> None:
        """Ask which column a field is, with the mapping that follows from each."""
        positions: list[tuple[Any, int | None]] = [
            (self.get_column_reference(column.position), column.position) for column in columns
        ]
        if none:
            positions.append((None, None))
        options: list[Answer] = [
            (value, partial(ColumnMapping.with_column, name=name, position=position)) for value, position in positions
        ]
        self.add_question(question, f"columns.{name}", options)

    def read_given_settings(self) -> None:
        names, kept_headings = self.table.names, self.given_settings.get("headings", ())
        for name, value in self.given_settings.get("columns", {}).items():
            if value is None or value == []:
                self.pinned[name] = None
                continue
            if name == "description":
                self.read_description(value if isinstance(value, list) else [value])
            elif (position := find_column_position(value, names, kept_headings)) is None:
                self.result.lost_fields.append(name)
            else:
                self.pinned[name] = position
                self.result.kept_fields.append(name)
                self.set_column(name, position)
        self.apply_given_settings()

    def read_description(self, values: list[Any]) -> None:
        positions = [
            find_column_position(value, self.table.names, self.given_settings.get("headings", ())) for value in values
        ]
        if known_positions := tuple(position for position in positions if position is not None):
            self.mapping = replace(self.mapping, description=known_positions)
            self.used_positions.update(known_positions)
            self.pinned["description"] = known_positions[0]
        (self.result.lost_fields if None in positions else self.result.kept_fields).append("description")

    def apply_given_settings(self) -> None:
        """Apply given settings other than columns."""
        mapping = self.mapping
        if "flipSign" in self.given_settings:
            mapping = replace(mapping, flip_sign=self.given_settings["flipSign"])
        if "signFromBalance" in self.given_settings:
            mapping = replace(mapping, sign_from_balance=self.given_settings["signFromBalance"])
        for name, attribute in (("minusMeans", "minus_means"), ("unprovenSign", "unproven_sign")):
            if name in self.given_settings:
                mapping = replace(mapping, **{attribute: self.given_settings[name]})
        if "accountValues" in self.given_settings:
            mapping = replace(mapping, accounts=tuple(self.given_settings["accountValues"]))
        directions, statuses = (
            {
                fold_setting_value(text): kind
                for kind, texts in self.given_settings.get(name, {}).items()
                for text in texts
            }
            for name in ("directionValues", "statusValues")
        )
        mapping = replace(mapping, directions=directions, statuses=statuses)
        self.mapping = mapping

    def is_setting_kept(self, path: str) -> bool:
        """Whether a setting was kept for the account, and nobody gave it for this file."""
        return self.given_settings.get("isKept", False) and path not in self.given_settings.get("answered", ())

    def drop_kept_setting(self, name: str) -> None:
        """Read the file without a kept setting that it contradicts, and say so."""
        self.given_settings = {key: value for key, value in self.given_settings.items() if key != name}
        self.result.changed_settings.append(name)

    def drop_setting_if_kept(self, name: str) -> bool:
        """Drop a setting that the balance contradicts if it was kept, and return whether it was. One given for this
        file counts: the balance of a card may be what is owed."""
        if not self.is_setting_kept(name):
            return False
        self.drop_kept_setting(name)
        return True

    @property
    def has_given_amount(self) -> bool:
        return any(self.pinned.get(name) is not None for name in AMOUNT_FIELDS)

    def list_money_columns(self) -> list[Column]:
        """Return the columns of amounts and balances that settings name, else those that headings name."""
        if self.has_given_amount:
            positions = {self.pinned.get(name) for name in (*AMOUNT_FIELDS, "fee", "balance")}
            return [each for each in self.columns if each.position in positions]
        return [each for name in STORED_MONEY_FIELDS for each in self.roles.get(name, [])]

    def count_possible_decimals(self, columns: Sequence[Column]) -> int:
        """Return the most decimals of the currencies that amounts may be in."""
        if not self.account.currency:
            return MAX_CURRENCY_DECIMALS
        currency_columns = [each for each in self.columns if each.is_currency or each in self.roles.get("currency", [])]
        currencies = {self.account.currency, self.given_settings.get("currency", self.account.currency)}
        return count_most_decimals(columns, currencies=currencies, currency_columns=currency_columns)

    def choose_date(self) -> None:
        if "date" not in self.pinned:
            named_columns = self.list_role_columns("date") + self.list_role_columns("valueDate")
            candidates = named_columns or [each for each in self.list_unused(self.columns) if each.is_date_only]
            candidates = candidates or [each for each in self.list_unused(self.columns) if each.is_date]
            if candidates:
                self.set_column("date", choose_booking_date(candidates).position)
                if len(candidates) > 1 and not named_columns:
                    self.result.assumed.append("date")
        if "valueDate" not in self.pinned:
            others = [
                column
                for column in self.list_role_columns("date")
                if is_named_payment_day(column) or self.has_booked_date
            ]
            if candidates := self.list_role_columns("valueDate") or others:
                self.set_column("valueDate", candidates[0].position)
        self.choose_date_order()

    @property
    def has_booked_date(self) -> bool:
        """Whether the heading of the chosen column says that its days are those of the booking."""
        position = self.mapping.columns.get("date")
        return position is not None and is_named_booking_day(self.columns[position])

    def choose_date_order(self) -> None:
        position = self.mapping.columns.get("date")
        order = self.given_settings.get("dateOrder")
        if order and self.is_setting_kept("dateOrder") and not self.has_dates_in_order(DateOrder(order)):
            self.drop_kept_setting("dateOrder")
        if "dateOrder" in self.given_settings:
            self.mapping = replace(self.mapping, date_order=DateOrder(self.given_settings["dateOrder"]))
            return
        if position is None:
            return
        texts = self.list_column_texts(position)
        orders = find_date_orders(texts)
        if len(orders) > 1 and (mixed := find_mixed_date_orders(texts)):
            self.refuse_mixed_dates(position, mixed)
        other = next((each for each in self.columns if each.position == self.mapping.columns.get("valueDate")), None)
        if len(orders) > 1 and other is not None:
            orders = [order for order in find_date_orders(other.distinct) if order in orders] or orders
        self.mapping = replace(self.mapping, date_order=orders[0])
        self.orders = orders
        if len(orders) > 1 and not self.result.fault:
            self.add_question(
                "date_order",
                "dateOrder",
                [(str(each), build_mapping_update(date_order=each)) for each in orders],
            )

    def has_dates_in_order(self, order: DateOrder) -> bool:
        """Whether no other order reads more of the dates."""
        positions = [self.mapping.columns[name] for name in ("date", "valueDate") if name in self.mapping.columns]
        texts = [text for position in positions for text in self.list_column_texts(position)]
        counts = {each: sum(find_bank_date(text, each) is not None for text in texts) for each in DateOrder}
        return counts[order] == max(counts.values())

    def list_column_texts(self, position: int) -> list[str]:
        """Return the texts of a column in all rows, each once."""
        rows = (line.cells for line in self.table.rows)
        return list(dict.fromkeys(cells[position] for cells in rows if position < len(cells) and cells[position]))

    def refuse_mixed_dates(self, position: int, mixed: tuple[str, str]) -> None:
        """Dates with the day first beside others with the month first: no order reads them all."""
        lines = dict.fromkeys(mixed, 0)
        for line in reversed(self.table.rows):
            if position < len(cells := line.cells) and cells[position] in lines:
                lines[cells[position]] = line.number
        (text, line_number), (other, other_line) = sorted(lines.items(), key=lambda pair: pair[1])
        self.result.fault = FileFault(
            "date_orders_mixed",
            "Line {line} has “{text}” and line {other_line} has “{other}”. Use one date format.",
            {"line": str(line_number), "text": text, "other_line": str(other_line), "other": other},
        )

    def list_sample_days(self) -> list[date | None]:
        """The day of each row of the sample; none where it depends on an open question which row is older."""
        position = self.mapping.columns.get("date")
        if position is None:
            return [None] * len(self.sample)
        cells = self.columns[position].cells
        days = [[find_bank_date(cell, order) for cell in cells] for order in self.orders or [self.mapping.date_order]]
        return days[0] if len(set(map(find_time_order, days))) == 1 else [None] * len(cells)

    def read_sample_amounts(self, mapping: ColumnMapping) -> Amounts:
        """The amounts of the sample as a mapping reads them; None where it reads none."""
        reader = RowReader(replace(self.table, rows=self.sample), mapping, self.account.currency)
        is_amount = [row not in self.columns[0].balance_rows for row in range(len(self.sample))]
        return [reader.find_amount(line) if known else None for line, known in zip(self.sample, is_amount, strict=True)]

    def list_movement_values(self, position: int) -> list[str]:
        """Return the values of a column in all movements, without case, in their order."""
        return self.collect_movement_values([position])[position]

    def collect_movement_values(
        self, positions: Sequence[int], *, max_values: int | None = None
    ) -> dict[int, list[str]]:
        """Return the values of columns in all movements, without case, in their order; the rows are read once.

        ``max_values``: a column with more is read no further.
        """
        values: dict[int, dict[str, None]] = {position: {} for position in positions}
        columns = self.mapping.columns
        date_places = {columns.get("date", 0), columns.get("valueDate", columns.get("date", 0))}
        unread = list(positions)
        for line in self.table.rows:
            cells = line.cells
            days = [cells[each] for each in date_places if each < len(cells)]
            if not any(sign.isdigit() for day in days for sign in day):
                continue
            new_values = {
                position: value
                for position in unread
                if position < len(cells) and (value := fold_setting_value(cells[position])) not in values[position]
            }
            if not new_values or is_balance_or_total_row(cells, self.constants):
                continue
            for position, value in new_values.items():
                values[position][value] = None
            if max_values is not None and not (unread := [each for each in unread if len(values[each]) <= max_values]):
                break
        return {position: list(each) for position, each in values.items()}

    def list_dated_values(self, position: int) -> list[str]:
        """Return the values of a column as written, each once, of rows with a date."""
        return self.collect_dated_values([position])[position]

    def collect_dated_values(self, positions: Sequence[int]) -> dict[int, list[str]]:
        """Return the values of columns as written, each once, of rows with a date; the rows are read once."""
        values: dict[int, dict[str, str]] = {position: {} for position in positions}
        date_place = self.mapping.columns.get("date")
        for line in self.table.rows if positions else ():
            cells = line.cells
            day = "0" if date_place is None else "".join(cells[date_place : date_place + 1])
            if not any(map(str.isdigit, day)):
                continue
            for position in positions:
                if position < len(cells) and cells[position]:
                    values[position].setdefault(fold_setting_value(cells[position]), cells[position])
        return {position: list(each.values()) for position, each in values.items()}
