"""The settings that say how CSV files are read: their names, and what is wrong with those that cannot be used."""

from collections.abc import Callable, Container, Iterator
from typing import Any, NamedTuple

from ledger.calc.encodings import CODEC_BY_NAME
from ledger.money.calc.money import CURRENCIES
from ledger.transactions.fields import TRANSACTION_TEXTS

FIELDS = (
    "date", "valueDate", "amount", "debit", "credit", "direction", "balance", "balanceBefore", "balanceDirection",
    "fee", "currency", "counterparty", "counterpartyAccount", "description", "reference", "status", "account",
    "category", *(text.name for text in TRANSACTION_TEXTS),
)  # fmt: skip
STATUS_KINDS = ("booked", "pending", "leaveOut")
DIRECTION_KINDS = ("in", "out")
DIRECTION_VALUE_KINDS = (*DIRECTION_KINDS, "leaveOut")
MINUS_KINDS = {
    "debit": ("repeats", "reverses"),
    "credit": ("repeats", "reverses"),
    "direction": ("repeats", "reverses", "decides"),
}
DECIMAL_MARKS = ("point", "comma")
DATE_ORDERS = ("iso", "dayFirst", "monthFirst")
EARLIER_NAMES = {"from_to": "counterparty", "external_id": "reference"}
EARLIER_ORDERS = {"yearFirst": "iso", "ymd": "iso", "dmy": "dayFirst", "mdy": "monthFirst"}
MARK_SIGNS = {".": "point", ",": "comma"}
MAX_LINES = 999_999  # that are skipped
MAX_VALUES = 200  # of a column of statuses, directions or accounts
LONGEST_TEXT = 8 * 1024  # characters of a heading or a value
MAX_COLUMNS = 250
MAX_DESCRIPTIONS = 20


class SettingFault(NamedTuple):
    """A member that cannot be used: its path below the settings, a code, and why."""

    path: tuple[str | int, ...]
    code: str
    detail: str


def list_setting_faults(settings: dict[str, Any]) -> list[SettingFault]:
    """Return every member that is unknown, of the wrong type, or has a value that does not exist.

    >>> [(fault.path, fault.code) for fault in list_setting_faults({"flipSign": "true", "decimalMark": "x", "a": 1})]
    [(('flipSign',), 'invalid_value'), (('decimalMark',), 'invalid_choice'), (('a',), 'unknown_field')]
    """
    return [fault for name, value in settings.items() for fault in _CHECKS.get(name, _check_unknown)((name,), value)]


Path = tuple[str | int, ...]
Check = Callable[[Path, Any], Iterator[SettingFault]]


def is_unknown_setting(fault: SettingFault) -> bool:
    """Return whether a fault is a setting of an unknown name, as another program may keep for itself."""
    return fault.code == "unknown_field" and len(fault.path) == 1


def _check_unknown(path: Path, _value: Any) -> Iterator[SettingFault]:
    yield SettingFault(path, "unknown_field", "Unknown setting.")


def _check_flag(path: Path, value: Any) -> Iterator[SettingFault]:
    if not isinstance(value, bool):
        yield SettingFault(path, "invalid_value", "Must be true or false.")


def _check_count(max_count: int) -> Check:
    def check(path: Path, value: Any) -> Iterator[SettingFault]:
        if not isinstance(value, int) or isinstance(value, bool):
            yield SettingFault(path, "invalid_value", "Must be a whole number.")
        elif not 0 <= value <= max_count:
            yield SettingFault(path, "out_of_range", f"Must be from 0 to {max_count:,}.")

    return check


def _check_choice(*choices: str, earlier: Container[str] = ()) -> Check:
    def check(path: Path, value: Any) -> Iterator[SettingFault]:
        if not isinstance(value, str) or (value not in choices and value not in earlier):
            yield SettingFault(path, "invalid_choice", f"Must be one of {', '.join(choices)}.")

    return check


def _check_encoding(path: Path, value: Any) -> Iterator[SettingFault]:
    if not isinstance(value, str) or value.lower() not in CODEC_BY_NAME:
        yield SettingFault(path, "invalid_choice", f"Must be one of {', '.join(CODEC_BY_NAME)}.")


def _check_separator(path: Path, value: Any) -> Iterator[SettingFault]:
    if not isinstance(value, str) or len(value) != 1 or value in '\r\n"\0':
        yield SettingFault(path, "invalid_value", "Must be one character, such as a semicolon.")


def _check_texts(path: Path, value: Any) -> Iterator[SettingFault]:
    if not isinstance(value, list):
        yield SettingFault(path, "invalid_value", "Must be a list of strings.")
        return
    if len(value) > MAX_VALUES:
        yield SettingFault(path, "too_long", f"Must have at most {MAX_VALUES} items.")
        return
    for position, text in enumerate(value):
        if not isinstance(text, str) or len(text) > LONGEST_TEXT:
            yield SettingFault((*path, position), "invalid_value", f"Must be a string up to {LONGEST_TEXT} characters.")


def _check_kinds(*kinds: str) -> Check:
    def check(path: Path, value: Any) -> Iterator[SettingFault]:
        if not isinstance(value, dict):
            yield SettingFault(path, "invalid_value", f"Must be an object with {', '.join(kinds)}.")
            return
        for name, texts in value.items():
            yield from (_check_texts if name in kinds else _check_unknown)((*path, name), texts)

    return check


def _check_minus(path: Path, value: Any) -> Iterator[SettingFault]:
    if not isinstance(value, dict):
        yield SettingFault(path, "invalid_value", f"Must be an object of {', '.join(MINUS_KINDS)}.")
        return
    for name, kind in value.items():
        check = _check_choice(*MINUS_KINDS[name]) if name in MINUS_KINDS else _check_unknown
        yield from check((*path, name), kind)


def _check_columns(path: Path, value: Any) -> Iterator[SettingFault]:
    if not isinstance(value, dict):
        yield SettingFault(path, "invalid_value", "Must be an object with columns.")
        return
    for name, column in value.items():
        if EARLIER_NAMES.get(name, name) not in FIELDS:
            yield from _check_unknown((*path, name), column)
        elif name == "description" and isinstance(column, list):
            if len(column) > MAX_DESCRIPTIONS:
                yield SettingFault((*path, name), "too_long", f"Must have at most {MAX_DESCRIPTIONS} items.")
                continue
            for position, description in enumerate(column):
                yield from _check_column((*path, name, position), description)
        elif column is not None:
            yield from _check_column((*path, name), column)


def _check_column(path: Path, value: Any) -> Iterator[SettingFault]:
    is_position = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MAX_COLUMNS
    if not is_position and not (isinstance(value, str) and 0 < len(value) <= LONGEST_TEXT):
        yield SettingFault(path, "invalid_value", "Must be a heading or a position, starting at 0.")


def _check_headings(path: Path, value: Any) -> Iterator[SettingFault]:
    """The headings that are kept, or in an earlier shape the line on which they stand."""
    if not isinstance(value, list):
        yield from _check_count(MAX_LINES)(path, value)
    elif len(value) > MAX_COLUMNS or not all(isinstance(each, str) for each in value):
        yield SettingFault(path, "invalid_value", f"Must be a list of at most {MAX_COLUMNS} strings.")


_CHECKS: dict[str, Check] = {
    "columns": _check_columns,
    "decimalMark": _check_choice(*DECIMAL_MARKS, earlier=MARK_SIGNS),
    "decimalSign": _check_choice(*DECIMAL_MARKS, earlier=MARK_SIGNS),
    "dateOrder": _check_choice(*DATE_ORDERS, earlier=EARLIER_ORDERS),
    "flipSign": _check_flag,
    "signFromBalance": _check_flag,
    "unprovenSign": _check_choice(*DIRECTION_KINDS),
    "minusMeans": _check_minus,
    "skipAbove": _check_count(MAX_LINES),
    "skipBelow": _check_count(MAX_LINES),
    "headings": _check_headings,
    "directionValues": _check_kinds(*DIRECTION_VALUE_KINDS),
    "statusValues": _check_kinds(*STATUS_KINDS),
    "accountValues": _check_texts,
    "otherAccountValues": _check_texts,
    "encoding": _check_encoding,
    "separator": _check_separator,
    "currency": _check_choice(*CURRENCIES),
}
