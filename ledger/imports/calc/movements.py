"""What a row of a table is: a movement, a cell that cannot be read, or a row that is left out."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from ledger.imports.calc.amounts import UnreadableValueError


@dataclass(slots=True)
class Movement:
    """A row as it would be stored; ``amount`` is plain text with its sign, ``currency`` empty where none is told."""

    line: int
    day: date
    amount: str
    currency: str = ""
    pending: bool = False
    balance: Decimal | None = None


@dataclass(slots=True)
class BadCell:
    """Why a row cannot be read: the field, and why with its values."""

    line: int
    field: str
    error: UnreadableValueError


@dataclass(slots=True)
class LeftOutRow:
    """A row that is no movement, with the reason: ``footer``, ``balance``, ``status``, ``account``, ``empty``."""

    line: int
    reason: str


Read = Movement | BadCell | LeftOutRow
