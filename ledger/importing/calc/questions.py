"""What a detection finds: the mapping, what proves it, and what only a person knows."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ledger.importing.calc.mapping import Mapping
from ledger.importing.calc.table import Table

MAX_OPTIONS = 6


@dataclass(frozen=True, slots=True)
class Own:
    """What is known of the account that a file goes to."""

    currency: str = ""
    is_card: bool = False
    number: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """One answer to a question: the value of the settings' field, and the mapping that follows from it."""

    value: Any
    mapping: Mapping


@dataclass(frozen=True, slots=True)
class Question:
    """What only a person knows: ``field`` is the path in the settings that answers it, such as ``columns.fee``."""

    question: str
    field: str
    options: list[Option]


@dataclass(frozen=True, slots=True)
class FileFault:
    """Why no answer makes a file readable: a code of the API, and why with its values."""

    code: str
    why: str
    values: dict[str, str]


Answer = tuple[Any, Callable[[Mapping], Mapping]]  # the value, and what becomes of a mapping with it


def changed(**values: Any) -> Callable[[Mapping], Mapping]:
    """What sets attributes of a mapping."""
    return lambda mapping: replace(mapping, **values)


def chain(first: Callable[[Mapping], Mapping], then: Callable[[Mapping], Mapping]) -> Callable[[Mapping], Mapping]:
    return lambda mapping: then(first(mapping))


@dataclass(slots=True)
class Detection:
    """How a table is read: what of it the balance column proves, what is assumed, and what is to be asked."""

    table: Table
    mapping: Mapping
    proven: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)  # fields that are read as the last time
    refused: FileFault | None = None
    lost: list[str] = field(default_factory=list)  # kept fields whose column is not there any more
