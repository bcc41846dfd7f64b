"""One transaction of a bank file, whatever its format."""

import io
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import overload

from ledger.transactions.fields import OTHER_TEXTS

NO_TEXTS = ("",) * len(OTHER_TEXTS)
SEPARATOR = b"\xff"  # no text in UTF-8 has this byte


@dataclass(frozen=True, slots=True)
class Entry:
    """One movement as the bank tells it; ``amount`` is plain text with its sign, minus is money out.

    ``parts`` are its single payments, where they carry amounts that add up to it. ``line`` is where it stands,
    ``category_id`` the category that its row names, ``texts`` the values of OTHER_TEXTS, where a table has them.
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
    texts: tuple[str, ...] = NO_TEXTS


class EntryList(Sequence[Entry]):
    """Entries without parts in about a third of their memory, for a file may have 100,000; each is made when read."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        texts, currencies = io.BytesIO(), {}  # type: tuple[io.BytesIO, dict[str, int]]
        self._days, self._lines, self._ends = array("i"), array("I"), array("Q", [0])
        self._pending, self._currency_places = bytearray(), array("H")
        for entry in entries:
            values = (entry.amount, entry.from_to, entry.description, entry.notes, entry.reference, entry.category_id)
            texts.write(SEPARATOR.join(map(str.encode, (*values, *entry.texts))))
            self._ends.append(texts.tell())
            self._days.append(entry.day.toordinal())
            self._lines.append(entry.line)
            self._pending.append(entry.pending)
            self._currency_places.append(currencies.setdefault(entry.currency, len(currencies)))
        self._texts, self._currencies = texts.getvalue(), list(currencies)

    def __len__(self) -> int:
        return len(self._days)

    @overload
    def __getitem__(self, position: int) -> Entry: ...

    @overload
    def __getitem__(self, position: slice) -> list[Entry]: ...

    def __getitem__(self, position: int | slice) -> Entry | list[Entry]:
        if isinstance(position, slice):
            return [self[each] for each in range(*position.indices(len(self)))]
        position = range(len(self))[position]
        packed = self._texts[self._ends[position] : self._ends[position + 1]]
        amount, from_to, description, notes, reference, category_id, *texts = map(bytes.decode, packed.split(SEPARATOR))
        return Entry(
            get_entry_day(self._days[position]),
            amount,
            self._currencies[self._currency_places[position]],
            from_to,
            description,
            notes,
            reference,
            bool(self._pending[position]),
            self._lines[position],
            category_id=category_id,
            texts=tuple(texts),
        )


@lru_cache(maxsize=1 << 12)
def get_entry_day(ordinal: int) -> date:
    """The day of a number, one object for all entries of it."""
    return date.fromordinal(ordinal)
