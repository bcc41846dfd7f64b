"""What a search over readings starts with: the columns of a table, what somebody gave, and how dates are written."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

from ledger.importing.calc.balances import Amounts, find_time_order
from ledger.importing.calc.columns import Column, build_columns, find_constants, find_roles, find_sample, names_balance
from ledger.importing.calc.dates import DateOrder, find_day, find_mixed, find_orders
from ledger.importing.calc.mapping import AMOUNT_FIELDS, Mapping, find_place, fold_value
from ledger.importing.calc.proofs import Steps
from ledger.importing.calc.questions import MAX_OPTIONS, Answer, Detection, FileFault, Option, Own, Question, changed
from ledger.importing.calc.rows import RowReader
from ledger.importing.calc.table import Table

LATE_DATES = ("started", "created", "available", "kauf", "purchase")


class Search:
    """One search over the readings of a table; each step decides a part of the mapping or asks."""

    def __init__(self, table: Table, given: dict[str, Any], own: Own):
        self.table, self.given, self.own = table, given, own
        self.sample = find_sample(table)
        self.columns = build_columns(table, self.sample)
        self.constants = find_constants([line.cells for line in self.sample])
        self.roles = find_roles(self.columns)
        self.result = Detection(table, Mapping())
        self.open: list[tuple[str, str, list[Answer]]] = []
        self.taken: set[int] = set()
        self.pinned: dict[str, int | None] = {}
        self.steps: Steps | None = None
        self.is_proven = False
        self.orders: list[DateOrder] = []

    @property
    def mapping(self) -> Mapping:
        return self.result.mapping

    @mapping.setter
    def mapping(self, value: Mapping) -> None:
        self.result.mapping = value

    def put(self, name: str, place: int | None) -> None:
        self.mapping = self.mapping.with_column(name, place)
        if place is not None:
            self.taken.add(place)

    def free(self, columns: Sequence[Column]) -> list[Column]:
        return [column for column in columns if column.place not in self.taken]

    def role(self, name: str) -> list[Column]:
        return self.free(self.roles.get(name, []))

    def told(self, place: int) -> str | int:
        name = self.table.names[place]
        return name if name and self.table.names.count(name) == 1 else place

    def ask(self, question: str, path: str, options: list[Answer]) -> None:
        self.open.append((question, path, options[:MAX_OPTIONS]))

    def is_asked(self, path: str) -> bool:
        return any(each == path for _, each, _ in self.open)

    def finish(self) -> Detection:
        """The questions, each option with the whole mapping as it would be with that answer."""
        self.result.questions = [
            Question(question, path, [Option(value, change(self.mapping)) for value, change in options])
            for question, path, options in self.open
        ]
        return self.result

    def ask_column(self, question: str, name: str, columns: Sequence[Column], *, none: bool = False) -> None:
        """Which column a field is, with the mapping that follows from each."""
        places: list[tuple[Any, int | None]] = [(self.told(each.place), each.place) for each in columns]
        if none:
            places.append((None, None))
        options: list[Answer] = [
            (value, partial(Mapping.with_column, name=name, place=place)) for value, place in places
        ]
        self.ask(question, f"columns.{name}", options)

    def read_given(self) -> None:
        names, kept_headings = self.table.names, self.given.get("headings", ())
        for name, value in self.given.get("columns", {}).items():
            if value is None or value == []:
                self.pinned[name] = None
                continue
            if name == "description":
                self.read_description(value if isinstance(value, list) else [value])
            elif (place := find_place(value, names, kept_headings)) is None:
                self.result.lost.append(name)
            else:
                self.pinned[name] = place
                self.result.kept.append(name)
                self.put(name, place)
        self.read_values()

    def read_description(self, values: list[Any]) -> None:
        places = [find_place(each, self.table.names, self.given.get("headings", ())) for each in values]
        if found := tuple(place for place in places if place is not None):
            self.mapping = replace(self.mapping, description=found)
            self.taken.update(found)
            self.pinned["description"] = found[0]
        (self.result.lost if None in places else self.result.kept).append("description")

    def read_values(self) -> None:
        """What is given besides columns."""
        mapping = self.mapping
        if "flipSign" in self.given:
            mapping = replace(mapping, flip_sign=self.given["flipSign"])
        if "signFromBalance" in self.given:
            mapping = replace(mapping, sign_from_balance=self.given["signFromBalance"])
        for name, attribute in (("minusMeans", "minus_means"), ("unprovenSign", "unproven_sign")):
            if name in self.given:
                mapping = replace(mapping, **{attribute: self.given[name]})
        if "accountValues" in self.given:
            mapping = replace(mapping, accounts=tuple(self.given["accountValues"]))
        directions, statuses = (
            {fold_value(text): kind for kind, texts in self.given.get(name, {}).items() for text in texts}
            for name in ("directionValues", "statusValues")
        )
        mapping = replace(mapping, directions=directions, statuses=statuses)
        self.mapping = mapping

    @property
    def has_given_amount(self) -> bool:
        return any(self.pinned.get(name) is not None for name in AMOUNT_FIELDS)

    def choose_date(self) -> None:
        if "date" not in self.pinned:
            named = self.role("date") + self.role("valueDate")
            found = named or [each for each in self.free(self.columns) if each.is_date_only]
            found = found or [each for each in self.free(self.columns) if each.is_date]
            if found:
                self.put("date", choose_booking_date(found).place)
                if len(found) > 1 and not named:
                    self.result.assumed.append("date")
        if "valueDate" not in self.pinned:
            started = [each for each in self.role("date") if is_named_started(each)]
            if found := self.role("valueDate") or started:
                self.put("valueDate", found[0].place)
        self.choose_order()

    def choose_order(self) -> None:
        place = self.mapping.columns.get("date")
        if "dateOrder" in self.given:
            self.mapping = replace(self.mapping, date_order=DateOrder(self.given["dateOrder"]))
            return
        if place is None:
            return
        texts = dict.fromkeys(
            cells[place] for line in self.table.rows if place < len(cells := line.cells) and cells[place]
        )
        orders = find_orders(texts)
        if len(orders) > 1 and (mixed := find_mixed(texts)):
            self.refuse_mixed_dates(place, mixed)
        other = next((each for each in self.columns if each.place == self.mapping.columns.get("valueDate")), None)
        if len(orders) > 1 and other is not None:
            orders = [order for order in find_orders(other.distinct) if order in orders] or orders
        self.mapping = replace(self.mapping, date_order=orders[0])
        self.orders = orders
        if len(orders) > 1 and not self.result.refused:
            self.ask(
                "date_order",
                "dateOrder",
                [(str(each), changed(date_order=each)) for each in orders],
            )

    def refuse_mixed_dates(self, place: int, mixed: tuple[str, str]) -> None:
        """Dates with the day first beside others with the month first: no order reads them all."""
        lines = dict.fromkeys(mixed, 0)
        for line in reversed(self.table.rows):
            if place < len(cells := line.cells) and cells[place] in lines:
                lines[cells[place]] = line.number
        (text, line_number), (other, other_line) = sorted(lines.items(), key=lambda pair: pair[1])
        self.result.refused = FileFault(
            "date_orders_mixed",
            "Line {line} has “{text}” and line {other_line} “{other}”: write all dates in one order.",
            {"line": str(line_number), "text": text, "other_line": str(other_line), "other": other},
        )

    def find_days(self) -> list[date | None]:
        """The day of each row of the sample; none where it depends on an open question which row is older."""
        place = self.mapping.columns.get("date")
        if place is None:
            return [None] * len(self.sample)
        cells = self.columns[place].cells
        days = [[find_day(cell, order) for cell in cells] for order in self.orders or [self.mapping.date_order]]
        return days[0] if len(set(map(find_time_order, days))) == 1 else [None] * len(cells)

    def read_sample(self, mapping: Mapping) -> Amounts:
        """The amounts of the sample as a mapping reads them; None where it reads none."""
        reader = RowReader(replace(self.table, rows=self.sample), mapping, self.own.currency)
        is_amount = [row not in self.columns[0].balance_rows for row in range(len(self.sample))]
        return [reader.find_amount(line) if known else None for line, known in zip(self.sample, is_amount, strict=True)]

    def all_values(self, place: int) -> list[str]:
        """The values of a column in all movements, without case, in their order."""
        found: dict[str, None] = {}
        columns = self.mapping.columns
        date_places = {columns.get("date", 0), columns.get("valueDate", columns.get("date", 0))}
        for line in self.table.rows:
            cells = line.cells
            days = [cells[each] for each in date_places if each < len(cells)]
            if place < len(cells) and any(sign.isdigit() for day in days for sign in day):
                value = fold_value(cells[place])
                if value not in found and not names_balance(cells, self.constants):
                    found[value] = None
        return list(found)

    def table_values(self, place: int) -> list[str]:
        """The values of a column as they are written, each once."""
        found: dict[str, str] = {}
        for line in self.table.rows:
            cells = line.cells
            if place < len(cells) and cells[place]:
                found.setdefault(fold_value(cells[place]), cells[place])
        return list(found.values())


def is_named_started(column: Column) -> bool:
    """Whether the heading names the day of a payment rather than the day on which it was booked."""
    return column.name.casefold().startswith(LATE_DATES)


def choose_booking_date(columns: Sequence[Column]) -> Column:
    """The column of days on which rows were booked, even where pending rows have none yet; else the fullest."""
    most = max(len(each.filled) for each in columns)
    full = [each for each in columns if len(each.filled) == most]
    if any(map(is_named_started, full)):
        booked = [each for each in columns if not is_named_started(each) and 2 * len(each.filled) >= most]
        return (booked or full)[0]
    return full[0]
