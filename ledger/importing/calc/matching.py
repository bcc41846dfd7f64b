"""What a file's entries are to a ledger: new, known, or the booking of what was pending. Plain values.

Nothing tells an entry for good: banks give one reference to several payments, other references in other formats, and
two coffees of a day are the same in every word. So entries and rows that could be one are counted against each other:
by account, day, amount and currency, and of these by reference, else by text, else between families of formats by
their number, for of one day the bank tells the same in each of its formats, where their texts do not contradict it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

from ledger.calc.letters import fold_words
from ledger.importing.calc.alike import MOST_COMPARED, Said, pairs
from ledger.importing.calc.entries import Entry

MOST_DAYS = 5  # between a pending entry and its booking
NEARBY = sorted(range(-MOST_DAYS, MOST_DAYS + 1), key=abs)
AFTERWARDS = range(MOST_DAYS + 1)  # nothing that is booked is announced again
Key = tuple[str, date, Decimal, str]


@dataclass(slots=True, eq=False)
class Row:
    """A stored transaction, as whatever brought it told it."""

    id: UUID
    account: str
    day: date
    amount: Decimal
    currency: str
    reference: str
    from_to: str
    description: str
    pending: bool = False
    format: str | None = None  # of the file in which a statement brought it
    corrected: "Row | None" = None  # as somebody has made it since
    taken: bool = False

    @property
    def words(self) -> str:
        return fold_words(self.from_to, self.description)

    @property
    def place(self) -> Key:
        return self.account, self.day, self.amount, self.currency


@dataclass(slots=True)
class Group:
    """The units of one entry: itself, or its single payments. Those that are neither new, nor booked by it, nor lapsed
    are there already."""

    account: str
    entry: Entry
    units: Sequence[Entry]
    new: list[Entry] = field(default_factory=list)
    booked: int = 0  # that were pending in the ledger until now
    lapsed: int = 0  # announced for days of which a final statement is there, that does not have them


@dataclass(slots=True)
class Sorted:
    """What is to be done with the entries of a file."""

    groups: list[Group]
    booked: list[tuple[Row, Entry]] = field(default_factory=list)  # pending rows, and what they became
    seen: set[UUID] = field(default_factory=set)  # pending rows that are pending still
    known: list[UUID] = field(default_factory=list)  # rows that the file has too


def family(format_: str | None) -> str | None:
    """What formats have in common that tell references in one way.

    >>> family("camt.052"), family("mt942"), family(None)
    ('camt', 'mt94', None)
    """
    return format_[:4] if format_ else None


def key(account: str, entry: Entry) -> Key:
    return account, entry.day, Decimal(entry.amount), entry.currency


def groups_of(account: str, entries: Iterable[Entry], *, details: bool) -> list[Group]:
    return [Group(account, each, each.parts if details and each.parts else (each,)) for each in entries]


class Stacks(defaultdict[Any, list[Row]]):
    """Rows by what they have in common, each given out once; one row may lie in several."""

    def __init__(self) -> None:
        super().__init__(list)

    def take(self, name: Any) -> Row | None:
        """A row of the name that nobody has taken; in constant time on the average."""
        rows = self.get(name)
        while rows:
            row = rows.pop()
            if not row.taken:
                row.taken = True
                return row
        return None

    def give_back(self, name: Any, row: Row) -> None:
        row.taken = False
        self[name].append(row)


Names = Iterator[tuple[Stacks, Any]]


class Ledger:
    """The rows that entries may be."""

    def __init__(self, rows: Iterable[Row], *, format_: str):
        self.referred, self.said, self.said_alone, self.elsewhere = Stacks(), Stacks(), Stacks(), Stacks()
        self.made = Stacks()  # by what somebody made of them
        self.pending = Near()
        self.booked: list[Row] = []  # by banks
        self.places: dict[Key, list[Row]] = defaultdict(list)
        mine = family(format_)
        for row in sorted(rows, key=lambda row: row.id, reverse=True):  # the oldest ones lie on top
            if row.pending:
                self.pending.add(row)
                continue
            place, said = row.place, row.words
            self.places[place].append(row)
            self.said[place, said].append(row)
            if row.reference:
                self.referred[place, row.reference].append(row)
            else:
                self.said_alone[place, said].append(row)
            if row.corrected:
                self.made[row.corrected.place, row.corrected.words].append(row)
            if row.format is not None:
                self.booked.append(row)
                if family(row.format) != mine:
                    self.elsewhere[place].append(row)

    def sort_out(self, groups: list[Group], *, settled: Mapping[str, date]) -> Sorted:
        """Matches every unit with at most one row, the surest pairs first. ``settled``: the day up to which an account
        has final statements; what was pending by then and is not in them has lapsed."""
        result = Sorted(groups)
        self.known(groups, result)
        booked = [group for group in groups if not group.entry.pending]
        announced = [group for group in groups if group.entry.pending]
        if self.pending:
            for found in self.bookings(booked):
                result.booked += [(row, unit) for unit, row in found]
                for group, count in leave(booked, found):
                    group.booked += count
        if announced:
            for rows, days in ((self.pending, NEARBY), (Near(self.booked), AFTERWARDS)):
                result.seen |= rows.match_other_forms(announced, days=days)
                found = list(rows.pairs(announced, days=days))
                result.seen |= {row.id for _, row in found if row.pending}
                leave(announced, found)
        for group in announced:
            unknown, until = group.new, settled.get(group.account, date.min)
            group.new = [unit for unit in unknown if unit.day > until]
            group.lapsed = len(unknown) - len(group.new)
        return result

    def list_possible(self, groups: Iterable[Group]) -> Iterator[Entry]:
        """Yield the new units that have the account, day, amount and currency of a row that none of them is."""
        left = {place: sum(not row.taken for row in rows) for place, rows in self.places.items()}
        for group in groups if left else ():
            for unit in group.new:
                place = key(group.account, unit)
                if left.get(place):
                    left[place] -= 1
                    yield unit

    def bookings(self, groups: list[Group]) -> Iterator[list[tuple[Entry, Row]]]:
        """What is booked with what was pending, the surest first."""
        yield list(self.pending.pairs(groups, days=NEARBY))
        for find in (self.pending.take_other_amount, self.pending.take_other_direction):
            units = [(group.account, unit) for group in groups for unit in group.new]
            yield [(unit, row) for account, unit in units if (row := find(account, unit))]

    def known(self, groups: list[Group], result: Sorted) -> None:
        """Leaves in each group what the ledger has not."""
        for group in groups:
            group.new = list(group.units)
        if not self.said:  # nothing is put together for an empty ledger
            return
        booked = [group for group in groups if not group.entry.pending]
        batches = [group for group in booked if group.entry.parts]
        single = [group for group in booked if not group.entry.parts] if batches else booked
        for names in (self.by_reference, self.by_text):
            match(single, names, result)
        for group in batches:  # a batch may share day, amount and reference with an entry that has no other form
            if not self.match_batch(group, result):
                match([group], self.by_reference, result)
                match([group], self.by_text, result)
        match(booked, self.by_what_was_made, result)
        if self.elsewhere:
            self.match_formats(booked, result)

    def by_reference(self, account: str, unit: Entry) -> Names:
        if unit.reference:
            yield self.referred, (key(account, unit), unit.reference)

    def by_text(self, account: str, unit: Entry) -> Names:
        """Where both have a reference, they are told apart by that alone."""
        stacks = self.said_alone if unit.reference else self.said
        yield stacks, (key(account, unit), fold_words(unit.from_to, unit.description))

    def by_what_was_made(self, account: str, unit: Entry) -> Names:
        if self.made:
            yield self.made, (key(account, unit), fold_words(unit.from_to, unit.description))

    def match_formats(self, groups: list[Group], result: Sorted) -> None:
        """Of one account, day and amount the bank tells as many in each of its formats; those that agree go first, and
        those whose texts contradict each other are two."""
        places: dict[Key, list[Entry]] = defaultdict(list)
        for group in groups:
            for unit in group.new:
                places[key(group.account, unit)].append(unit)
        found: set[int] = set()
        for place in places.keys() & self.elsewhere.keys():
            rows = [row for row in self.elsewhere[place] if not row.taken]
            for ours, theirs in alike(places[place], rows):
                number = min(len(ours), len(theirs))
                for row in taken_from(theirs, number):
                    row.taken = True
                    result.known.append(row.id)
                found.update(map(id, taken_from(ours, number)))
        for group in groups:
            group.new = [unit for unit in group.new if id(unit) not in found]

    def match_batch(self, group: Group, result: Sorted) -> bool:
        """Whether all of a batch is there, as its payments or as one; it is known then in both forms."""
        for form in (group.entry.parts, (group.entry,)):
            found: list[tuple[Stacks, Any, Row]] = []
            for unit in form:
                names = [*self.by_reference(group.account, unit), *self.by_text(group.account, unit)]
                taken = next(((stacks, name, row) for stacks, name in names if (row := stacks.take(name))), None)
                if taken is None:
                    break
                found.append(taken)
            else:
                group.new = []
                result.known += [row.id for _, _, row in found]
                return True
            for stacks, name, row in found:
                stacks.give_back(name, row)
        return False


def leave(groups: list[Group], found: Sequence[tuple[Entry, Row]]) -> list[tuple[Group, int]]:
    """Units that have been found are new no more; gives the groups of which some have, and how many."""
    ids = {id(unit) for unit, _ in found}
    changed = []
    for group in groups if ids else ():
        new = [unit for unit in group.new if id(unit) not in ids]
        if len(new) < len(group.new):
            changed.append((group, len(group.new) - len(new)))
            group.new = new
    return changed


class Near:
    """Rows that an entry may be although its day is another: by reference and amount, or by amount and text."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.referred, self.exact, self.said = Stacks(), Stacks(), Stacks()
        self.amounts: set[tuple[str, str, Decimal]] = set()
        for row in rows:
            self.add(row)

    def __bool__(self) -> bool:
        return bool(self.said)

    def add(self, row: Row) -> None:
        if row.reference:
            self.referred[row.account, row.currency, row.reference, row.amount > 0].append(row)
            self.exact[row.account, row.currency, row.amount, row.reference].append(row)
        self.said[row.account, row.currency, row.amount, row.words, row.day.toordinal()].append(row)
        self.amounts.add((row.account, row.currency, row.amount))

    def pairs(self, groups: list[Group], *, days: Sequence[int]) -> Iterator[tuple[Entry, Row]]:
        """Units and the rows that they are, the surest first: by reference and amount, then by amount and text, so many
        days from the unit's."""
        left: list[tuple[Entry, Any]] = []
        for group in groups:
            for unit in group.new:
                about = (group.account, unit.currency, Decimal(unit.amount))
                if unit.reference and (row := self.exact.take((*about, unit.reference))):
                    yield unit, row
                elif about in self.amounts:  # few are: nothing is put together for the others
                    left.append((unit, (*about, fold_words(unit.from_to, unit.description))))
        for distance in days:
            others = []
            for unit, said in left:
                if row := self.said.take((*said, unit.day.toordinal() + distance)):
                    yield unit, row
                else:
                    others.append((unit, said))
            left = others

    def match_other_forms(self, groups: list[Group], *, days: Sequence[int]) -> set[UUID]:
        """Take the rows of batches that were stored in their other form. Returns the ids of pending ones."""
        batches = [group for group in groups if group.entry.parts and len(group.new) == len(group.units)]
        return set().union(*(self.match_other_form(group, days=days) for group in batches))

    def match_other_form(self, group: Group, *, days: Sequence[int]) -> set[UUID]:
        """Take the rows of a batch that was stored in its other form, all of them or none: as its payments where it
        comes as one now, or as one. Returns the ids of those that are pending."""
        whole = len(group.units) == 1
        found: list[tuple[Stacks, Any, Row]] = []
        for unit in group.entry.parts if whole else (group.entry,):
            taken = self.take_unit(group.account, unit, days=days)
            if taken is None:
                for stacks, name, row in found:
                    stacks.give_back(name, row)
                return set()
            found.append(taken)
        group.new = []
        return {row.id for _, _, row in found if row.pending}

    def take_unit(self, account: str, unit: Entry, *, days: Sequence[int]) -> tuple[Stacks, Any, Row] | None:
        """A row that a unit is, with where it lay."""
        about = (account, unit.currency, Decimal(unit.amount))
        if about not in self.amounts:
            return None
        said = fold_words(unit.from_to, unit.description)
        names: list[tuple[Stacks, Any]] = [(self.exact, (*about, unit.reference))] if unit.reference else []
        names += [(self.said, (*about, said, unit.day.toordinal() + distance)) for distance in days]
        return next(((stacks, name, row) for stacks, name in names if (row := stacks.take(name))), None)

    def take_other_amount(self, account: str, unit: Entry) -> Row | None:
        """By its reference alone: what was announced was an estimate."""
        return self.by_reference(account, unit, came=Decimal(unit.amount) > 0)

    def take_other_direction(self, account: str, unit: Entry) -> Row | None:
        return self.by_reference(account, unit, came=Decimal(unit.amount) <= 0)

    def by_reference(self, account: str, unit: Entry, *, came: bool) -> Row | None:
        return self.referred.take((account, unit.currency, unit.reference, came))


def match(groups: list[Group], names: Callable[[str, Entry], Names], result: Sorted) -> None:
    """Takes a row for each unit that has one of its name."""
    for group in groups:
        left = []
        for unit in group.new:
            row = next((row for stacks, name in names(group.account, unit) if (row := stacks.take(name))), None)
            if row:
                result.known.append(row.id)
            else:
                left.append(unit)
        group.new = left


Told = TypeVar("Told", Row, Entry)


def alike(units: list[Entry], rows: list[Row]) -> Iterator[tuple[list[Entry], list[Row]]]:
    """Those of both that say the same in the words of their formats, the surest first; all where they are very many."""
    ours, theirs = by_texts(units), by_texts(rows)
    if len(ours) * len(theirs) > MOST_COMPARED:
        yield units, rows
        return
    of_ours, of_theirs = [*ours.values()], [*theirs.values()]
    for one, other in pairs([Said.of(*texts) for texts in ours], [Said.of(*texts) for texts in theirs]):
        yield of_ours[one], of_theirs[other]


def taken_from(each: list[Told], number: int) -> list[Told]:
    """So many of them, which they are no more."""
    taken = each[:number]
    del each[:number]
    return taken


def by_texts(each: Iterable[Told]) -> dict[tuple[str, str], list[Told]]:
    found: dict[tuple[str, str], list[Told]] = defaultdict(list)
    for one in each:
        found[one.from_to, one.description].append(one)
    return found


def wanted(groups: Iterable[Group]) -> dict[Key, Any]:
    """What rows must have in common with an entry to be looked at."""
    return dict.fromkeys(key(group.account, unit) for group in groups for unit in (group.entry, *group.entry.parts))
