"""Match the entries of a file with stored transactions: new, known, or the booking of a pending one. Plain
values.

Nothing identifies an entry reliably: banks use one reference for several payments, other references in
other formats, and two coffees on a day are equal in every word. So entries and rows that could be one are
counted against each other: by account, day, amount and currency, and of these by reference, else by text,
else between families of formats by their number, since a bank reports the same day in each of its formats,
unless their texts contradict each other.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

from ledger.imports.calc.entries import Entry
from ledger.imports.calc.entry_groups import EntryGroup, MatchKey, StoredTransaction, build_match_key, fold_entry_words
from ledger.imports.calc.matching_similarity import MAX_COMPARED_PAIRS, PaymentTexts, iterate_similar_pairs

MAX_BOOKING_DAYS = 5  # between a pending entry and its booking
NEARBY_DAYS = sorted(range(-MAX_BOOKING_DAYS, MAX_BOOKING_DAYS + 1), key=abs)
LATER_DAYS = range(MAX_BOOKING_DAYS + 1)  # nothing that is booked is announced again


@dataclass(slots=True)
class MatchResult:
    """What to do with the entries of a file."""

    groups: list[EntryGroup]
    booked: list[tuple[StoredTransaction, Entry]] = field(default_factory=list)  # pending rows, and what they became
    still_pending_ids: set[UUID] = field(default_factory=set)  # pending rows that are pending still
    known_ids: list[UUID] = field(default_factory=list)  # rows that the file has too


def get_format_family(format_: str | None) -> str | None:
    """Return the family of formats that use the same references; None for no file.

    >>> get_format_family("camt.052"), get_format_family("mt942"), get_format_family(None)
    ('camt', 'mt94', None)
    """
    return format_[:4] if format_ else None


class RowPool(defaultdict[Any, list[StoredTransaction]]):
    """Rows by a common name. Each row is returned once, even if it is under several names."""

    def __init__(self) -> None:
        super().__init__(list)

    def take_row(self, pool_name: Any) -> StoredTransaction | None:
        """Return an unmatched row of the name and mark it as matched; amortized constant time."""
        rows = self.get(pool_name)
        while rows:
            row = rows.pop()
            if not row.is_matched:
                row.is_matched = True
                return row
        return None

    def put_back_row(self, name: Any, row: StoredTransaction) -> None:
        row.is_matched = False
        self[name].append(row)


PoolNames = Iterator[tuple[RowPool, Any]]


class EntryMatcher:
    """The stored rows that entries may match."""

    def __init__(self, rows: Iterable[StoredTransaction], *, format_: str, has_unique_ids: bool = False):
        """``has_unique_ids``: references are ids of single rows, so that a row of another day with one is the same."""
        self.rows_by_reference, self.rows_by_text, self.rows_by_text_without_reference, self.rows_of_other_formats = (
            RowPool(),
            RowPool(),
            RowPool(),
            RowPool(),
        )
        self.has_unique_ids = has_unique_ids
        self.rows_by_unique_id = RowPool()
        self.rows_by_correction = RowPool()  # by what somebody made of them
        self.pending = NearbyRows()
        self.booked: list[StoredTransaction] = []  # by banks
        self.rows_by_key: dict[MatchKey, list[StoredTransaction]] = defaultdict(list)
        own_family = get_format_family(format_)
        for row in sorted(rows, key=lambda row: row.id, reverse=True):  # the oldest ones lie on top
            if row.pending:
                self.pending.add(row)
                continue
            match_key, text = row.match_key, row.words
            self.rows_by_key[match_key].append(row)
            self.rows_by_text[match_key, text].append(row)
            if row.reference:
                self.rows_by_reference[match_key, row.reference].append(row)
                if has_unique_ids:
                    id_key = row.account, row.currency, row.amount, row.reference
                    self.rows_by_unique_id[id_key, row.day.toordinal()].append(row)
            else:
                self.rows_by_text_without_reference[match_key, text].append(row)
            if row.corrected:
                self.rows_by_correction[row.corrected.match_key, row.corrected.words].append(row)
            if row.format is not None:
                self.booked.append(row)
                if get_format_family(row.format) != own_family:
                    self.rows_of_other_formats[match_key].append(row)

    def match_entries(self, groups: list[EntryGroup], *, final_days: Mapping[str, date]) -> MatchResult:
        """Match every unit with at most one row, the most certain pairs first.

        Args:
            settled: by account, the last day with final statements; what was pending by then and is missing in them
                has lapsed.
        """
        result = MatchResult(groups)
        self.remove_known_units(groups, result)
        booked = [group for group in groups if not group.entry.pending]
        announced = [group for group in groups if group.entry.pending]
        if self.pending:
            for pairs in self.iterate_pending_row_matches(booked):
                result.booked += [(row, unit) for unit, row in pairs]
                for group, count in remove_matched_units(booked, pairs):
                    group.booked += count
        if announced:
            for rows, days in ((self.pending, NEARBY_DAYS), (NearbyRows(self.booked), LATER_DAYS)):
                result.still_pending_ids |= rows.match_batches_in_other_form(announced, days=days)
                pairs = list(rows.iterate_nearby_matches(announced, days=days))
                result.still_pending_ids |= {row.id for _, row in pairs if row.pending}
                remove_matched_units(announced, pairs)
        for group in announced:
            unknown, final_day = group.new, final_days.get(group.account, date.min)
            group.new = [unit for unit in unknown if unit.day > final_day]
            group.lapsed = len(unknown) - len(group.new)
        return result

    def list_possible_duplicates(self, groups: Iterable[EntryGroup]) -> Iterator[Entry]:
        """Yield new units with the account, day, amount and currency of a row that matches none of them."""
        unmatched_counts = {
            match_key: sum(not row.is_matched for row in rows) for match_key, rows in self.rows_by_key.items()
        }
        for group in groups if unmatched_counts else ():
            for unit in group.new:
                match_key = build_match_key(group.account, unit)
                if unmatched_counts.get(match_key):
                    unmatched_counts[match_key] -= 1
                    yield unit

    def iterate_pending_row_matches(self, groups: list[EntryGroup]) -> Iterator[list[tuple[Entry, StoredTransaction]]]:
        """Yield pairs of booked units and pending rows, the most certain first."""
        yield list(self.pending.iterate_nearby_matches(groups, days=NEARBY_DAYS))
        for find_row in (self.pending.take_row_with_other_amount, self.pending.take_row_with_other_direction):
            units = [(group.account, unit) for group in groups for unit in group.new]
            yield [(unit, row) for account, unit in units if (row := find_row(account, unit))]

    def remove_known_units(self, groups: list[EntryGroup], result: MatchResult) -> None:
        """Keep only the units in each group that are not stored."""
        for group in groups:
            group.new = list(group.units)
        if not self.rows_by_text:  # nothing is put together for an empty ledger
            return
        booked = [group for group in groups if not group.entry.pending]
        batches = [group for group in booked if group.entry.parts]
        single = [group for group in booked if not group.entry.parts] if batches else booked
        for names in (self.iterate_pools_by_reference, self.iterate_pools_by_text, self.iterate_pools_by_unique_id):
            match_units(single, names, result)
        for group in batches:  # a batch may share day, amount and reference with an entry that has no other form
            if not self.match_batch(group, result):
                match_units([group], self.iterate_pools_by_reference, result)
                match_units([group], self.iterate_pools_by_text, result)
        match_units(booked, self.iterate_pools_by_correction, result)
        if self.rows_of_other_formats:
            self.match_across_formats(booked, result)

    def iterate_pools_by_reference(self, account: str, unit: Entry) -> PoolNames:
        if unit.reference:
            yield self.rows_by_reference, (build_match_key(account, unit), unit.reference)

    def iterate_pools_by_text(self, account: str, unit: Entry) -> PoolNames:
        """Yield the text of a unit; if both have a reference, only the reference decides."""
        stacks = self.rows_by_text_without_reference if unit.reference else self.rows_by_text
        yield stacks, (build_match_key(account, unit), fold_entry_words(unit))

    def iterate_pools_by_unique_id(self, account: str, unit: Entry) -> PoolNames:
        """Yield the id of a unit on days around its own, where ids are those of single rows."""
        if self.has_unique_ids and unit.reference:
            id_key = account, unit.currency, Decimal(unit.amount), unit.reference
            for days in NEARBY_DAYS:
                yield self.rows_by_unique_id, (id_key, unit.day.toordinal() + days)

    def iterate_pools_by_correction(self, account: str, unit: Entry) -> PoolNames:
        if self.rows_by_correction:
            yield (
                self.rows_by_correction,
                (build_match_key(account, unit), fold_entry_words(unit)),
            )

    def match_across_formats(self, groups: list[EntryGroup], result: MatchResult) -> None:
        """Match by number: a bank reports as many entries of one account, day and amount in each of its formats.

        Those with agreeing texts go first; those with contradicting texts are different.
        """
        units_by_key: dict[MatchKey, list[Entry]] = defaultdict(list)
        for group in groups:
            for unit in group.new:
                units_by_key[build_match_key(group.account, unit)].append(unit)
        matched_units: set[int] = set()
        for match_key in units_by_key.keys() & self.rows_of_other_formats.keys():
            rows = [row for row in self.rows_of_other_formats[match_key] if not row.is_matched]
            for own_units, stored_rows in iterate_similar_units(units_by_key[match_key], rows):
                number = min(len(own_units), len(stored_rows))
                for row in pop_first_items(stored_rows, number):
                    row.is_matched = True
                    result.known_ids.append(row.id)
                matched_units.update(map(id, pop_first_items(own_units, number)))
        for group in groups:
            group.new = [unit for unit in group.new if id(unit) not in matched_units]

    def match_batch(self, group: EntryGroup, result: MatchResult) -> bool:
        """Whether a whole batch is stored, as its payments or as one; then it is known in both forms."""
        for form in (group.entry.parts, (group.entry,)):
            taken_rows: list[tuple[RowPool, Any, StoredTransaction]] = []
            for unit in form:
                names = [
                    *self.iterate_pools_by_reference(group.account, unit),
                    *self.iterate_pools_by_text(group.account, unit),
                ]
                match = next(((stacks, name, row) for stacks, name in names if (row := stacks.take_row(name))), None)
                if match is None:
                    break
                taken_rows.append(match)
            else:
                group.new = []
                result.known_ids += [row.id for _, _, row in taken_rows]
                return True
            for stacks, name, row in taken_rows:
                stacks.put_back_row(name, row)
        return False


def remove_matched_units(
    groups: list[EntryGroup], pairs: Sequence[tuple[Entry, StoredTransaction]]
) -> list[tuple[EntryGroup, int]]:
    """Remove matched units from the new ones; return the groups that changed, with how many were removed."""
    ids = {id(unit) for unit, _ in pairs}
    changed_groups = []
    for group in groups if ids else ():
        new = [unit for unit in group.new if id(unit) not in ids]
        if len(new) < len(group.new):
            changed_groups.append((group, len(group.new) - len(new)))
            group.new = new
    return changed_groups


class NearbyRows:
    """Rows that an entry may match although its day differs: by reference and amount, or by amount and text."""

    def __init__(self, rows: Iterable[StoredTransaction] = ()) -> None:
        self.rows_by_reference, self.rows_by_exact_reference, self.rows_by_text = RowPool(), RowPool(), RowPool()
        self.amounts: set[tuple[str, str, Decimal]] = set()
        for row in rows:
            self.add(row)

    def __bool__(self) -> bool:
        return bool(self.rows_by_text)

    def add(self, row: StoredTransaction) -> None:
        if row.reference:
            self.rows_by_reference[row.account, row.currency, row.reference, row.amount > 0].append(row)
            self.rows_by_exact_reference[row.account, row.currency, row.amount, row.reference].append(row)
        self.rows_by_text[row.account, row.currency, row.amount, row.words, row.day.toordinal()].append(row)
        self.amounts.add((row.account, row.currency, row.amount))

    def iterate_nearby_matches(
        self, groups: list[EntryGroup], *, days: Sequence[int]
    ) -> Iterator[tuple[Entry, StoredTransaction]]:
        """Yield units with the rows they match, the most certain first: by reference and amount, then by amount and
        text, at most ``days`` apart.
        """
        unmatched: list[tuple[Entry, Any]] = []
        for group in groups:
            for unit in group.new:
                amount_key = (group.account, unit.currency, Decimal(unit.amount))
                if unit.reference and (row := self.rows_by_exact_reference.take_row((*amount_key, unit.reference))):
                    yield unit, row
                elif amount_key in self.amounts:  # few are: nothing is put together for the others
                    unmatched.append((unit, (*amount_key, fold_entry_words(unit))))
        for distance in days:
            still_unmatched = []
            for unit, text_key in unmatched:
                if row := self.rows_by_text.take_row((*text_key, unit.day.toordinal() + distance)):
                    yield unit, row
                else:
                    still_unmatched.append((unit, text_key))
            unmatched = still_unmatched

    def match_batches_in_other_form(self, groups: list[EntryGroup], *, days: Sequence[int]) -> set[UUID]:
        """Match batches that were stored in their other form. Returns the ids of pending rows."""
        batches = [group for group in groups if group.entry.parts and len(group.new) == len(group.units)]
        return set().union(*(self.match_batch_in_other_form(group, days=days) for group in batches))

    def match_batch_in_other_form(self, group: EntryGroup, *, days: Sequence[int]) -> set[UUID]:
        """Match a batch that was stored in its other form, completely or not at all: as single payments where it
        comes as one, or as one. Returns the ids of pending rows.
        """
        is_single = len(group.units) == 1
        taken_rows: list[tuple[RowPool, Any, StoredTransaction]] = []
        for unit in group.entry.parts if is_single else (group.entry,):
            match = self.take_row_for_unit(group.account, unit, days=days)
            if match is None:
                for stacks, name, row in taken_rows:
                    stacks.put_back_row(name, row)
                return set()
            taken_rows.append(match)
        group.new = []
        return {row.id for _, _, row in taken_rows if row.pending}

    def take_row_for_unit(
        self, account: str, unit: Entry, *, days: Sequence[int]
    ) -> tuple[RowPool, Any, StoredTransaction] | None:
        """Return a row that a unit matches, with its pool and name."""
        amount_key = (account, unit.currency, Decimal(unit.amount))
        if amount_key not in self.amounts:
            return None
        text = fold_entry_words(unit)
        names: list[tuple[RowPool, Any]] = (
            [(self.rows_by_exact_reference, (*amount_key, unit.reference))] if unit.reference else []
        )
        names += [(self.rows_by_text, (*amount_key, text, unit.day.toordinal() + distance)) for distance in days]
        return next(((stacks, name, row) for stacks, name in names if (row := stacks.take_row(name))), None)

    def take_row_with_other_amount(self, account: str, unit: Entry) -> StoredTransaction | None:
        """Match by reference alone: the announced amount was an estimate."""
        return self.take_row_by_reference(account, unit, is_incoming=Decimal(unit.amount) > 0)

    def take_row_with_other_direction(self, account: str, unit: Entry) -> StoredTransaction | None:
        return self.take_row_by_reference(account, unit, is_incoming=Decimal(unit.amount) <= 0)

    def take_row_by_reference(self, account: str, unit: Entry, *, is_incoming: bool) -> StoredTransaction | None:
        return self.rows_by_reference.take_row((account, unit.currency, unit.reference, is_incoming))


def match_units(groups: list[EntryGroup], names: Callable[[str, Entry], PoolNames], result: MatchResult) -> None:
    """Match each unit with a row of one of its names."""
    for group in groups:
        unmatched = []
        for unit in group.new:
            row = next((row for stacks, name in names(group.account, unit) if (row := stacks.take_row(name))), None)
            if row:
                result.known_ids.append(row.id)
            else:
                unmatched.append(unit)
        group.new = unmatched


TextSource = TypeVar("TextSource", StoredTransaction, Entry)


def iterate_similar_units(
    units: list[Entry], rows: list[StoredTransaction]
) -> Iterator[tuple[list[Entry], list[StoredTransaction]]]:
    """Yield lists of units and rows with agreeing texts, the most certain first; all of them if there are very many."""
    units_by_text, rows_by_text = group_by_texts(units), group_by_texts(rows)
    if len(units_by_text) * len(rows_by_text) > MAX_COMPARED_PAIRS:
        yield units, rows
        return
    unit_lists, row_lists = [*units_by_text.values()], [*rows_by_text.values()]
    for unit_position, row_position in iterate_similar_pairs(
        [PaymentTexts.from_texts(*texts) for texts in units_by_text],
        [PaymentTexts.from_texts(*texts) for texts in rows_by_text],
    ):
        yield unit_lists[unit_position], row_lists[row_position]


def pop_first_items(items: list[TextSource], number: int) -> list[TextSource]:
    """Remove and return the first items of a list."""
    first_items = items[:number]
    del items[:number]
    return first_items


def group_by_texts(items: Iterable[TextSource]) -> dict[tuple[str, str], list[TextSource]]:
    """Return items by their texts."""
    items_by_texts: dict[tuple[str, str], list[TextSource]] = defaultdict(list)
    for item in items:
        items_by_texts[item.from_to, item.description].append(item)
    return items_by_texts


def list_match_keys(groups: Iterable[EntryGroup]) -> dict[MatchKey, Any]:
    """Return the keys that rows must have to be compared."""
    return dict.fromkeys(
        build_match_key(group.account, unit) for group in groups for unit in (group.entry, *group.entry.parts)
    )
