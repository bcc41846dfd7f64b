"""Read subscription events from a table: one row an event, or one row a subscription with its start and end."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from ledger.calc.delimited_text import Line
from ledger.imports.calc.amounts import DecimalMark
from ledger.imports.calc.dates import DateOrder, find_date_orders
from ledger.imports.calc.headings import fold_heading
from ledger.imports.calc.named_columns import (
    NamedColumns,
    NamedRowReader,
    NamedTable,
    RowFault,
    find_distinct_decimal_marks,
    find_named_table,
)
from ledger.subscriptions.calc.event_headings import (
    ACTIVE_STATUSES,
    CANCEL_WORDS,
    CHANGE_WORDS,
    ENDED_STATUSES,
    FIELDS_BY_HEADING,
    INTERVALS,
    LEFT_OUT_STATUSES,
    START_WORDS,
)

AmountInterval = Literal["month", "quarter", "year"]
QuantityMode = Literal["multiply", "ignore"]
AMOUNT_FIELDS = ("mrr", "arr", "amount")
CUSTOMER_FIELDS = ("customer", "customerExternalId")
DATE_FIELDS = ("eventDate", "endDate")
FIXED_INTERVALS: dict[str, tuple[str, int]] = {"mrr": ("month", 1), "arr": ("year", 1)}
MAX_TEXT_LENGTH = 200
MAX_INTERVAL_COUNT, MAX_QUANTITY = 1000, 1_000_000
CHOSEN_FIELDS = ("customer", "eventDate", "amount")  # whose column can be chosen where no heading names it


@dataclass(frozen=True, slots=True)
class TableEvent:
    """An event of the table: from `date` on the subscription has this amount per interval; 0 ends it.

    Without an external id of the subscription, customer and product name it. `currency` is None where the file states
    none.
    """

    position: int
    line: int
    customer: str
    customer_external_id: str
    product: str
    product_external_id: str
    subscription_external_id: str
    date: dt.date
    amount: Decimal
    currency: str | None
    interval: str
    interval_count: int
    external_id: str
    is_cancellation: bool = False


@dataclass(slots=True)
class EventRows:
    """What a table says: its events, how many rows count for nothing, and what is wrong."""

    events: list[TableEvent] = field(default_factory=list)
    left_out: int = 0
    faults: list[RowFault] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class EventTableReading:
    """How the rows are read: what the file proves, or a person chose."""

    date_order: DateOrder
    decimal_mark: DecimalMark
    default_currency: str
    interval: AmountInterval | None = None  # of amounts without one
    quantity: QuantityMode = "ignore"


class EventTable(NamedTable):
    """A table of subscription events."""

    __slots__ = ()

    @property
    def missing(self) -> list[str]:
        """The fields without a column that every table needs."""
        missing = [] if any(name in self.columns for name in CUSTOMER_FIELDS) else ["customer"]
        if "eventDate" not in self.columns:
            missing.append("eventDate")
        return missing if self.amount_field else [*missing, "amount"]

    @property
    def amount_field(self) -> str | None:
        """The field with the price: MRR where the table has it."""
        return find_amount_field(self.columns)

    @property
    def repeated_headings(self) -> list[str]:
        """Headings that several columns have and that name a field."""
        return self.list_repeated_headings(FIELDS_BY_HEADING)

    @property
    def needs_interval(self) -> bool:
        """Whether nothing in the table says for how long its amounts are."""
        return self.amount_field == "amount" and "interval" not in self.columns

    @property
    def needs_quantity(self) -> bool:
        """Whether amounts may be those of one unit: a quantity other than 1 stands beside them."""
        return self.amount_field == "amount" and any(text.strip() != "1" for text in self.list_texts(["quantity"]))

    def find_date_orders(self) -> list[DateOrder]:
        """Return the orders of day and month in which the dates can be read."""
        return find_date_orders(self.list_texts(DATE_FIELDS))

    def find_date_fault(self) -> RowFault | None:
        """Return what is wrong with the first date that contradicts one before it."""
        return self.find_contradicting_date(DATE_FIELDS)

    def find_decimal_marks(self) -> list[DecimalMark]:
        """Return the decimal marks with which the amounts can be read; one where both mean the same amounts."""
        return find_distinct_decimal_marks(self.list_texts([self.amount_field]) if self.amount_field else [])


def find_amount_field(columns: NamedColumns) -> str | None:
    """Return the first field of AMOUNT_FIELDS that has a column."""
    return next((name for name in AMOUNT_FIELDS if name in columns), None)


def find_event_table(lines: Sequence[Line], chosen_columns: Mapping[str, str] | None = None) -> EventTable:
    """Return the table below the line whose headings name the most fields.

    Args:
        chosen_columns: field → heading of its column, for columns that no heading names.

    >>> lines = [Line(1, ["Customer", "Date", "MRR", "Who"]), Line(2, ["Globex", "2026-01-01", "50", "x"])]
    >>> find_event_table(lines).missing, dict(find_event_table(lines, {"customer": "Who"}).columns.positions)
    ([], {'customer': 3, 'eventDate': 1, 'mrr': 2})
    """
    table = find_named_table(lines, FIELDS_BY_HEADING)
    positions = dict(table.columns.positions)
    for name, heading in (chosen_columns or {}).items():
        if heading in table.headings:
            position = list(table.headings).index(heading)
            positions = {field: place for field, place in positions.items() if place != position} | {name: position}
    if "id" in map(fold_heading, table.headings) and "endDate" in positions:
        move_id_column(table.headings, positions)
    return EventTable(table.headings, NamedColumns(positions, table.columns.currencies), table.rows)


def move_id_column(headings: Sequence[str], positions: dict[str, int]) -> None:
    """In a table with one row a subscription, the column "id" is that of the subscription."""
    position = [fold_heading(heading) for heading in headings].index("id")
    if positions.get("externalId") == position and "subscriptionExternalId" not in positions:
        del positions["externalId"]
        positions["subscriptionExternalId"] = position


def read_event_rows(table: EventTable, reading: EventTableReading) -> EventRows:
    """Read every row: its events, none, or faults. Events are in order of time where the file's order is proven.

    Of two events of a subscription on one day the later one counts; a file that runs from the latest day to the
    first is read from its end.
    """
    result = EventRows()
    events_by_row: list[list[TableEvent]] = []
    for position, line in enumerate(table.rows):
        reader = EventRowReader(table.columns, position, line, reading)
        events = reader.read()
        if reader.faults:
            result.faults += reader.faults
        elif not events:
            result.left_out += 1
        else:
            events_by_row.append(events)
    if is_latest_first([events[0].date for events in events_by_row]):
        events_by_row.reverse()
    result.events = [event for events in events_by_row for event in events]
    return result


def is_latest_first(days: Sequence[dt.date]) -> bool:
    """Whether days run from the latest to the first.

    >>> is_latest_first([dt.date(2026, 2, 1), dt.date(2026, 1, 1)]), is_latest_first([dt.date(2026, 1, 1)] * 2)
    (True, False)
    """
    return len(set(days)) > 1 and all(first >= second for first, second in pairwise(days))


class EventRowReader(NamedRowReader):
    """Reads one row of a table of subscription events."""

    def __init__(self, columns: NamedColumns, position: int, line: Line, reading: EventTableReading):
        super().__init__(columns, position, line, reading.date_order, reading.decimal_mark, reading.default_currency)
        self.reading = reading

    def read(self) -> list[TableEvent]:
        """Return the events of the row: one, or start and end; none where it counts for nothing or is wrong."""
        if self.is_left_out():
            return []
        is_cancel = self.read_is_cancel()
        amount, currency = self.read_price(is_cancel=is_cancel)
        interval, interval_count = ("month", 1) if is_cancel else self.read_interval()
        texts = {name: self.read_text(name, max_length=MAX_TEXT_LENGTH) for name in TEXT_FIELDS}
        if not texts["customer"] and not texts["customerExternalId"]:
            self.add_missing("customer")
        day, end = self.read_date("eventDate", required=True), self.read_date("endDate")
        self.check_end(day, end)
        if self.faults or day is None or amount is None:
            return []
        event = TableEvent(
            self.position, self.line, texts["customer"], texts["customerExternalId"], texts["product"],
            texts["productExternalId"], texts["subscriptionExternalId"], day, amount, currency, interval,
            interval_count, texts["externalId"], is_cancel,
        )  # fmt: skip
        return [event] if end is None else [event, build_end(event, end)]

    def is_left_out(self) -> bool:
        """Whether the status says that the subscription is not paid for."""
        status = fold_heading(self.get_cell("status"))
        if status in LEFT_OUT_STATUSES:
            return True
        if status and status not in ACTIVE_STATUSES and status not in ENDED_STATUSES:
            self.add_fault("status", "invalid_choice", "“{text}” is not a known status.", text=status[:40])
        return False

    def read_is_cancel(self) -> bool:
        """Whether the kind of the event is an end."""
        text = self.get_cell("kind")
        kind = fold_heading(text)
        if kind and kind not in START_WORDS | CHANGE_WORDS | CANCEL_WORDS:
            self.add_fault("kind", "invalid_choice", "“{text}” is not a known kind of event.", text=text[:40])
        return kind in CANCEL_WORDS

    def read_price(self, *, is_cancel: bool) -> tuple[Decimal | None, str | None]:
        """Return the amount per interval and its currency; 0 for an end, whatever amount stands beside it."""
        name = find_amount_field(self.columns) or "amount"
        if is_cancel:
            return Decimal(0), self.read_currency(name)
        amount, currency = self.read_amount(name)
        if amount is None:
            return None, None
        if amount < 0:
            self.add_fault(name, "negative_amount", "The amount of a subscription must not be negative.")
        is_unit_price = name == "amount" and self.reading.quantity == "multiply"
        quantity = self.read_whole_number("quantity", max_value=MAX_QUANTITY) if is_unit_price else 1
        return amount * quantity, currency

    def read_whole_number(self, name: str, *, max_value: int) -> int:
        """Return a whole number from 1 to `max_value`; 1 where the cell is empty or wrong."""
        text = self.get_cell(name).strip()
        if not text:
            return 1
        if not (text.isascii() and text.isdecimal()) or not 1 <= int(text[:9]) <= max_value:
            self.add_fault(name, "invalid_value", "“{text}” is not a whole number above 0.", text=text[:40])
            return 1
        return int(text)

    def read_interval(self) -> tuple[str, int]:
        """Return the billing interval and how many of them an amount is for."""
        name = find_amount_field(self.columns) or "amount"
        if name in FIXED_INTERVALS:
            return FIXED_INTERVALS[name]
        text = self.get_cell("interval")
        if not text:
            if self.reading.interval is None:
                self.add_missing("interval")
            return INTERVALS[self.reading.interval or "month"]
        if (interval := INTERVALS.get(fold_heading(text))) is None:
            self.add_fault("interval", "invalid_choice", "“{text}” is not a known billing interval.", text=text[:40])
            return "month", 1
        count = interval[1] * self.read_whole_number("intervalCount", max_value=MAX_INTERVAL_COUNT)
        if count > MAX_INTERVAL_COUNT:
            self.add_fault("intervalCount", "invalid_value", "The billing interval is too long.")
        return interval[0], count

    def check_end(self, day: dt.date | None, end: dt.date | None) -> None:
        if day and end and end < day:
            self.add_fault("endDate", "end_before_start", "The end date must not be before the event date.")
        if end is None and fold_heading(self.get_cell("status")) in ENDED_STATUSES and "endDate" in self.columns:
            self.add_fault("endDate", "required", "A subscription that has ended needs its end date.")


TEXT_FIELDS = (
    "customer", "customerExternalId", "product", "productExternalId", "subscriptionExternalId", "externalId",
)  # fmt: skip


def build_end(event: TableEvent, end: dt.date) -> TableEvent:
    """Return the event that ends the subscription of a row."""
    external_id = f"{event.external_id[:195]}:end" if event.external_id else ""
    return replace(event, date=end, amount=Decimal(0), interval="month", interval_count=1, external_id=external_id)
