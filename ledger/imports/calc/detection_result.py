"""The result of a detection: the mapping, what proves it, and open questions."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any

from ledger.imports.calc.column_mapping import ColumnMapping
from ledger.imports.calc.table import Table

MAX_OPTIONS = 6


@dataclass(frozen=True, slots=True)
class AccountFacts:
    """What is known about the account that a file goes to."""

    currency: str = ""
    is_card_account: bool = False
    number: str = ""
    company_numbers: tuple[str, ...] = ()  # of all accounts of the company
    find_balance_before: Callable[[date], Decimal | None] | None = None  # None for an account without transactions


@dataclass(frozen=True, slots=True)
class AnswerOption:
    """One answer to a question: the value of the settings' field, and the mapping that follows."""

    value: Any
    mapping: ColumnMapping


@dataclass(frozen=True, slots=True)
class MappingQuestion:
    """An open question; ``field`` is the path in the settings that answers it, such as ``columns.fee``."""

    question: str
    field: str
    options: list[AnswerOption]


@dataclass(frozen=True, slots=True)
class FileFault:
    """Why no answer makes a file readable: a code of the API, and a message with its values."""

    code: str
    message: str
    values: dict[str, str]


Answer = tuple[Any, Callable[[ColumnMapping], ColumnMapping]]  # the value, and what becomes of a mapping with it


def build_mapping_update(**values: Any) -> Callable[[ColumnMapping], ColumnMapping]:
    """Return a function that sets attributes of a mapping."""
    return lambda mapping: replace(mapping, **values)


def combine_updates(
    first: Callable[[ColumnMapping], ColumnMapping], then: Callable[[ColumnMapping], ColumnMapping]
) -> Callable[[ColumnMapping], ColumnMapping]:
    """Return a function that applies both updates."""
    return lambda mapping: then(first(mapping))


@dataclass(slots=True)
class Detection:
    """How a table is read: what the balance column proves, what is assumed, and open questions."""

    table: Table
    mapping: ColumnMapping
    proven_fields: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    questions: list[MappingQuestion] = field(default_factory=list)
    kept_fields: list[str] = field(default_factory=list)  # fields that are read as the last time
    fault: FileFault | None = None
    lost_fields: list[str] = field(default_factory=list)  # kept fields whose column is not there any more
    changed_settings: list[str] = field(default_factory=list)  # kept settings that this file contradicts
