"""One movement of a file, whatever its format."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class Entry:
    """One movement as the bank tells it; ``amount`` is plain text with its sign, minus is money out.

    ``parts`` are its single payments, where they carry amounts that add up to it. ``line`` is where it stands,
    ``category_id`` the category that its row names.
    """

    day: date
    amount: str
    currency: str
    from_to: str = ""
    description: str = ""
    notes: str = ""
    reference: str = ""
    pending: bool = False
    line: int = 0
    parts: tuple["Entry", ...] = ()
    category_id: str = ""
