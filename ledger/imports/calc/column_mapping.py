"""How a table is read: which column says what, and how its values are written; kept as JSON in ``importSettings.csv``.

The JSON names are those of the API: ``columns`` by heading or position from 0, ``directionValues``, ``statusValues``,
``accountValues``, ``encoding``, ``separator``, ``decimalMark``, ``dateOrder``, ``skipAbove``, ``skipBelow``,
``flipSign``, ``currency``, ``signFromBalance``, ``unprovenSign``, ``minusMeans``.
``isKept`` marks settings that were kept for the account, ``answered`` has the paths of those given for this file.

A minus beside a direction, or in a column of debits or credits, ``repeats`` the direction (the amounts without one in
such a column are the other way then), or ``reverses`` it; beside a direction it may also ``decide`` alone.
"""

import json
from collections.abc import Callable, Sequence
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field, replace
from typing import Any

from ledger.accounts.calc import csv_settings
from ledger.imports.calc.amounts import DecimalMark
from ledger.imports.calc.dates import DateOrder
from ledger.money.calc.money import CURRENCIES

FIELDS = csv_settings.FIELDS
AMOUNT_FIELDS = ("amount", "debit", "credit")
STATUS_KINDS, DIRECTION_KINDS = csv_settings.STATUS_KINDS, csv_settings.DIRECTION_KINDS
MINUS_KINDS = csv_settings.MINUS_KINDS
MAX_VALUES = csv_settings.MAX_VALUES
SIGN_SETTINGS = {"flipSign", "signFromBalance", "minusMeans", "directionValues"}
MAX_HEADINGS_KEPT = 8 * 1024  # characters of the headings that are kept to find columns by their position


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """How the rows of a table are read. Columns are positions from 0."""

    columns: dict[str, int] = field(default_factory=dict)
    description: tuple[int, ...] = ()
    date_order: DateOrder = DateOrder.ISO
    decimal_mark: DecimalMark = DecimalMark.POINT
    flip_sign: bool = False
    sign_from_balance: bool = False
    unproven_sign: str = ""  # in or out: what the row is that has no neighbour to take its sign from
    minus_means: dict[str, str] = field(default_factory=dict)  # debit, credit or direction → one of MINUS_KINDS
    directions: dict[str, str] = field(default_factory=dict)  # value in small letters → in, out or leaveOut
    statuses: dict[str, str] = field(default_factory=dict)  # value in small letters → booked, pending or leaveOut
    accounts: tuple[str, ...] | None = None  # values of rows that are imported; None: all
    currency: str = ""  # of rows that tell none, and which of several a sign means
    is_minor: bool = False  # amounts are counted in cents

    @property
    def positions(self) -> dict[str, Any]:
        """The position of every mapped field; the description has a list."""
        return {**self.columns, **({"description": list(self.description)} if self.description else {})}

    def with_column(self, name: str, position: int | None) -> "ColumnMapping":
        """Return the mapping with a field in another column, or without it."""
        columns = {key: value for key, value in self.columns.items() if key != name}
        return replace(self, columns=columns if position is None else {**columns, name: position})


def mark_settings_as_kept(settings: Any) -> dict[str, Any]:
    """Return the settings of an account, marked as kept from an earlier file."""
    return {**settings, "isKept": True} if isinstance(settings, dict) else {}


def drop_settings_of_other_layout(settings: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return kept settings without signs and missing columns where they are those of a table with other headings.

    >>> settings = {"isKept": True, "headings": ["Date", "Amount"], "flipSign": True, "columns": {"fee": None}}
    >>> sorted(drop_settings_of_other_layout(settings, ["Date", "Amount"]))
    ['columns', 'flipSign', 'headings', 'isKept']
    >>> sorted(drop_settings_of_other_layout(settings, ["Day", "Amount", "Fee"]))
    ['columns', 'headings', 'isKept']
    """
    columns = settings.get("columns", {})
    headings = settings.get("headings", [])
    known_names = {fold_setting_value(name) for name in names}
    column_names = [value for value in columns.values() if isinstance(value, str)]
    is_same = (
        [fold_setting_value(name) for name in headings if name] == [fold_setting_value(name) for name in names if name]
        if headings
        else all(fold_setting_value(name) in known_names for name in column_names)
    )
    if is_same or not settings.get("isKept"):
        return settings
    answered = settings.get("answered", ())
    other_settings = {name: value for name, value in settings.items() if name not in SIGN_SETTINGS or name in answered}
    columns_present = {
        name: value for name, value in columns.items() if value is not None or f"columns.{name}" in answered
    }
    return {**other_settings, "columns": columns_present}


def fold_setting_value(text: str) -> str:
    """Return a value as it is compared: without case and surrounding spaces."""
    return " ".join(text.split()).casefold()


# ---------------------------------------------------------------------------------------------- settings, as JSON


def normalize_csv_settings(settings: Any) -> dict[str, Any]:
    """Return settings by their current names, without what cannot be used; earlier shapes are read too.

    >>> normalize_csv_settings({"headings": 3, "columns": {"from_to": "Name"}, "decimalSign": "comma"})
    {'columns': {'counterparty': 'Name'}, 'decimalMark': 'comma', 'skipAbove': 2}
    """
    if not isinstance(settings, dict):
        return {}
    normalized = {name: value for name, read in _READERS.items() if (value := read(settings)) is not None}
    if _is_count(settings.get("headings")) and settings["headings"]:  # the line of the headings, as it was kept once
        normalized.setdefault("skipAbove", settings["headings"] - 1)
    return normalized


def _read_columns(settings: AnyMapping[str, Any]) -> dict[str, Any] | None:
    if not isinstance(settings.get("columns"), dict):
        return None
    columns = {
        csv_settings.EARLIER_NAMES.get(str(name), str(name)): value for name, value in settings["columns"].items()
    }
    return {name: value for name, value in columns.items() if name in FIELDS and _is_place(value)}


def _read_mark(settings: AnyMapping[str, Any]) -> str | None:
    mark_setting = settings.get("decimalMark", settings.get("decimalSign"))
    mark = csv_settings.MARK_SIGNS.get(str(mark_setting), mark_setting)
    return str(mark) if mark in list(DecimalMark) else None


def _read_order(settings: AnyMapping[str, Any]) -> str | None:
    order = csv_settings.EARLIER_ORDERS.get(str(settings.get("dateOrder")), settings.get("dateOrder"))
    return str(order) if order in list(DateOrder) else None


def _read_kinds(settings: AnyMapping[str, Any], name: str, kinds: Sequence[str]) -> dict[str, list[str]] | None:
    value = settings.get(name)
    return {kind: _to_texts(value.get(kind)) for kind in kinds} if isinstance(value, dict) else None


def drop_empty_left_out(values: dict[str, list[str]] | None) -> dict[str, list[str]] | None:
    """Return the values of a direction column by kind, without those that are left out where there are none."""
    return values and {kind: texts for kind, texts in values.items() if texts or kind != "leaveOut"}


def _read_minus(settings: AnyMapping[str, Any]) -> dict[str, str] | None:
    value = settings.get("minusMeans")
    if not isinstance(value, dict):
        return None
    return {name: value[name] for name, kinds in MINUS_KINDS.items() if value.get(name) in kinds}


def _read_if(name: str, test: Callable[[Any], bool]) -> Callable[[AnyMapping[str, Any]], Any]:
    return lambda settings: settings[name] if test(settings.get(name)) else None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= csv_settings.MAX_LINES


def _is_place(value: Any) -> bool:
    if isinstance(value, list):
        return all(_is_place(each) and not isinstance(each, list) and each is not None for each in value)
    return value is None or isinstance(value, str) or _is_count(value)


def _to_texts(value: Any) -> list[str]:
    return [str(each) for each in value][:MAX_VALUES] if isinstance(value, list) else []


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


_READERS: dict[str, Callable[[AnyMapping[str, Any]], Any]] = {
    "columns": _read_columns,
    "decimalMark": _read_mark,
    "dateOrder": _read_order,
    "flipSign": _read_if("flipSign", lambda value: isinstance(value, bool)),
    "signFromBalance": _read_if("signFromBalance", lambda value: isinstance(value, bool)),
    "unprovenSign": _read_if("unprovenSign", lambda value: value in DIRECTION_KINDS),
    "minusMeans": _read_minus,
    "skipAbove": _read_if("skipAbove", _is_count),
    "skipBelow": _read_if("skipBelow", _is_count),
    "headings": lambda settings: (
        [str(each) for each in settings["headings"]] if isinstance(settings.get("headings"), list) else None
    ),
    "directionValues": lambda settings: drop_empty_left_out(
        _read_kinds(settings, "directionValues", csv_settings.DIRECTION_VALUE_KINDS)
    ),
    "statusValues": lambda settings: _read_kinds(settings, "statusValues", STATUS_KINDS),
    "accountValues": lambda settings: (
        _to_texts(settings["accountValues"]) if isinstance(settings.get("accountValues"), list) else None
    ),
    "otherAccountValues": lambda settings: (
        _to_texts(settings["otherAccountValues"]) if isinstance(settings.get("otherAccountValues"), list) else None
    ),
    "isKept": _read_if("isKept", lambda value: value is True),
    "answered": lambda settings: (
        _to_texts(settings["answered"]) if isinstance(settings.get("answered"), list) else None
    ),
    "encoding": _read_if("encoding", _is_text),
    "separator": _read_if("separator", _is_text),
    "currency": _read_if("currency", lambda value: value in CURRENCIES),
}


def to_csv_settings(mapping: ColumnMapping, names: Sequence[str], *, has_headings: bool) -> dict[str, Any]:
    """Return what is worth keeping for the next file, as JSON.

    Columns are kept by heading where that names one column alone, else by position beside the headings of the table.
    The sign that no balance shows is that of one row of this file, and is not kept.
    """

    def to_column_reference(position: int) -> str | int:
        return names[position] if has_headings and names[position] and names.count(names[position]) == 1 else position

    columns: dict[str, Any] = {name: to_column_reference(position) for name, position in mapping.columns.items()}
    if mapping.description:
        columns["description"] = [to_column_reference(position) for position in mapping.description]
    for name in ("fee", "status", "account", "direction"):
        columns.setdefault(name, None)
    settings: dict[str, Any] = {
        "columns": columns,
        "dateOrder": mapping.date_order.value,
        "decimalMark": mapping.decimal_mark.value,
        "flipSign": mapping.flip_sign,
    }
    optional_settings = {
        "signFromBalance": mapping.sign_from_balance,
        "minusMeans": mapping.minus_means,
        "directionValues": mapping.directions
        and drop_empty_left_out(_group_by_kind(mapping.directions, csv_settings.DIRECTION_VALUE_KINDS)),
        "statusValues": mapping.statuses and _group_by_kind(mapping.statuses, STATUS_KINDS),
    }
    settings |= {name: value for name, value in optional_settings.items() if value}
    if mapping.accounts is not None:
        settings["accountValues"] = list(mapping.accounts)
    if has_headings and len(json.dumps(list(names))) <= MAX_HEADINGS_KEPT:
        settings["headings"] = list(names)
    return settings


def _group_by_kind(values: AnyMapping[str, str], kinds: Sequence[str]) -> dict[str, list[str]]:
    return {kind: [value for value, each in values.items() if each == kind][:MAX_VALUES] for kind in kinds}


def find_column_position(value: Any, names: Sequence[str], kept_headings: Sequence[str] = ()) -> int | None:
    """Return the position of a column that was kept by heading or position; None if this table does not have it.

    Of several columns with one heading the one at the kept position counts, or the same one in their order.

    >>> find_column_position("Amount", ["Date", "Amount"]), find_column_position("Sum", ["Date", "Amount"])
    (1, None)
    >>> find_column_position(2, ["Id", "Amount", "Text", "Amount"], ["Amount", "Text", "Amount"])
    3
    """
    if isinstance(value, str):
        positions = [position for position, name in enumerate(names) if name.casefold() == value.casefold()]
        if len(positions) == 1:
            return positions[0]
        return names.index(value) if value in names and len(positions) != 0 and not kept_headings else None
    if not _is_count(value):
        return None
    position: int = value
    if not kept_headings or position >= len(kept_headings):
        return position if position < len(names) else None
    name = kept_headings[position]
    if position < len(names) and names[position] == name:
        return position
    nth = list(kept_headings[:position]).count(name)
    positions = [each for each, known in enumerate(names) if known == name]
    return positions[nth] if name and nth < len(positions) else None
