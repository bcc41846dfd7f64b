"""How a table is to be read, proven or asked: headings propose, cells veto, the balance column decides.

Of all readings that the cells allow, those stay under which the balances step by the amounts. Where more than one
reading is left, each is an option of a question.
"""

import re
from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ledger.calc.tables import Line, Lines
from ledger.importing.calc.columns import is_date_written
from ledger.importing.calc.mapping import AMOUNT_FIELDS, find_place, fold_value, normalize_settings
from ledger.importing.calc.questions import MAX_OPTIONS, Answer, Detection, Own, changed
from ledger.importing.calc.sign_search import SignSearch
from ledger.importing.calc.table import Table, find_table
from ledger.importing.calc.vocabulary import find_status, is_direction_column

SHORTEST_NUMBER = 4  # letters and digits of an account number
ASKED_WHEN_LOST = {"date", *AMOUNT_FIELDS, "direction", "fee", "currency", "status", "account"}
LONGEST_LABEL = 300  # characters of a title that are looked at


def detect(lines: Sequence[Line], *, settings: Any = None, own: Own | None = None) -> Detection:
    """Return how a file is read. ``settings`` are those that somebody gave, kept or answered: they are never changed.

    Reads at most the first 1,000 rows for columns, and all of them for dates and values.
    """
    given = normalize_settings(settings)
    return ValueSearch(find_given_table(lines, given), given, own or Own()).run()


def find_given_table(lines: Sequence[Line], given: dict[str, Any]) -> Table:
    """The table at the kept place, or where its headings stand in this file."""
    skip_below = given.get("skipBelow", 0)
    table = find_table(lines, skip_above=given.get("skipAbove"), skip_below=skip_below)
    if "skipAbove" not in given:
        return table
    names = [name for name in _flat(given.get("columns", {})) if isinstance(name, str)]
    if all(find_place(name, table.names) is not None for name in names) and (names or table.rows):
        return table
    other = find_table(lines, skip_below=skip_below)
    count = [sum(find_place(name, each.names) is not None for name in names) for each in (table, other)]
    return other if count[1] > count[0] else table


def _flat(columns: dict[str, Any]) -> list[Any]:
    return [each for value in columns.values() for each in (value if isinstance(value, list) else [value])]


def split_by_account(lines: Sequence[Line], *, settings: Any = None) -> tuple[dict[str, Lines], Lines]:
    """Return the rows of each account that a table names in a column or by its sections, and the rows of none.

    Names without a single row that has a day are no accounts. A file that names no account has no entries.
    """
    given = normalize_settings(settings)
    table = find_given_table(lines, given)
    search = ValueSearch(table, given, Own())
    search.read_given()
    if not search.account_names():
        return {}, table.rows[:0]
    place = None if table.sections else search.mapping.columns.get("account")
    written: dict[str, str] = {}
    places: dict[str, array[int]] = {}
    for place_of_line, line in enumerate(table.rows):
        label = table.get_account_label(line, place)
        name = written.setdefault(fold_value(label), label)
        places.setdefault(name, array("Q")).append(place_of_line)
    found = {name: table.rows.take(each) for name, each in places.items()}
    without_days = [name for name, rows in found.items() if not name or not any(map(_has_day, rows))]
    rest = sorted(place for name in without_days for place in places[name])
    return {name: rows for name, rows in found.items() if name not in without_days}, table.rows.take(rest)


def _has_day(line: Line) -> bool:
    return any(map(is_date_written, line.cells))


class ValueSearch(SignSearch):
    """The steps that choose statuses, accounts and texts, and the order of all steps."""

    def run(self) -> Detection:
        self.read_given()
        self.choose_date()
        self.choose_marks()
        self.choose_balance_and_amounts()
        self.choose_currency()
        self.choose_direction_and_sign()
        self.choose_fee()
        self.choose_status()
        self.choose_account()
        self.choose_texts()
        self.ask_lost()
        return self.finish()

    def choose_status(self) -> None:
        if "status" in self.pinned:
            if self.pinned["status"] is None:
                return
            column = self.columns[self.pinned["status"]]
        else:
            found = self.role("status") or [
                each
                for each in self.free(self.columns)
                if each.is_words
                and not each.fields
                and 1 < len(each.values) <= 12
                and all(map(find_status, each.values))
                and not is_direction_column(each.values)
            ]
            if not found:
                return
            column = found[0]
        values = self.all_values(column.place)
        known = dict(self.mapping.statuses)
        known |= {value: kind for value in values if value not in known and (kind := find_status(value))}
        unknown = [value for value in values if value not in known]
        if "status" not in self.pinned and len(values) == 1 and unknown:
            return  # one value says nothing of which rows count
        self.put("status", column.place)
        self.mapping = replace(self.mapping, statuses=known)
        if unknown:
            options: list[Answer] = []
            for kind in ("booked", "pending", "leaveOut"):
                whole = {**known, **dict.fromkeys(unknown, kind)}
                value = {
                    each: [text for text, is_kind in whole.items() if is_kind == each]
                    for each in ("booked", "pending", "leaveOut")
                }
                options.append((value, changed(statuses=whole)))
            self.ask("status_values", "statusValues", options)

    def choose_account(self) -> None:
        if self.mapping.accounts is not None:
            if "account" not in self.pinned and not self.table.sections and (found := self.role("account")):
                self.put("account", found[0].place)
            return
        names = self.account_names()
        if len(names) < 2:
            return
        own = [name for name in names if self.own.number and names_number(name, self.own.number)]
        if own:
            self.mapping = replace(self.mapping, accounts=tuple(own))
            self.result.proven.append("account")
            return
        options: list[Answer] = [([name], changed(accounts=(name,))) for name in names[: MAX_OPTIONS - 1]]
        options.append((names, changed(accounts=tuple(names))))
        self.ask("account_values", "accountValues", options)

    def account_names(self) -> list[str]:
        """The accounts that the table has, of its sections or of a column, which is the account's then."""
        if self.table.sections:
            return self.table.section_names
        place = self.pinned.get("account")
        if "account" in self.pinned and place is None:
            return []
        found = [self.columns[place]] if place is not None else self.role("account")
        values = self.table_values(found[0].place) if found else []
        if values:
            self.put("account", found[0].place)
        return values

    def choose_texts(self) -> None:
        complete = "date" in self.pinned and self.has_given_amount
        if complete:
            return
        for name in ("counterparty", "counterpartyAccount", "reference", "category", "notes"):
            if name not in self.pinned and (found := self.role(name)):
                self.put(name, found[0].place)
        if "description" not in self.pinned:
            found = [each for each in self.role("description") if each.filled]
            if not found:
                words = [
                    each
                    for each in self.free(self.columns)
                    if each.is_words and not set(dict(each.fields)) & {"category", "status", "account"}
                ]
                found = sorted(words, key=lambda each: -sum(map(len, each.filled)) / max(len(each.cells), 1))[:1]
            found.sort(key=lambda each: each.place)
            self.mapping = replace(self.mapping, description=tuple(each.place for each in found))
            self.taken.update(self.mapping.description)

    def ask_lost(self) -> None:
        """What was kept and is not there any more: the column that seems to be it now, or none."""
        for name in self.result.lost:
            if name == "description" or self.is_asked(f"columns.{name}"):
                continue
            place = self.mapping.columns.get(name)
            found = (
                [self.columns[place]]
                if place is not None
                else [each for each in self.free(self.columns) if each.allows(name)]
            )
            if name not in ASKED_WHEN_LOST and place is not None:
                self.result.assumed.append(name)
                continue
            if not found and name in ("date", *AMOUNT_FIELDS):
                continue
            self.ask_column("column_gone", name, found[: MAX_OPTIONS - 1], none=name not in ("date", "amount"))


def names_number(label: str, number: str) -> bool:
    """Whether a cell or the title of a section has the number of an account, blanks and case aside.

    >>> names_number("Girokonto DE89 3704 0044", "de8937040044"), names_number("Konto 1234567", "234567")
    (True, False)
    """
    signs = [sign for sign in number if sign.isalnum()]
    if len(signs) < SHORTEST_NUMBER:
        return False
    found = re.search(
        r"(?<![0-9A-Za-z])" + r"[\W_]?".join(re.escape(sign) for sign in signs) + r"(?![0-9A-Za-z])",
        label[:LONGEST_LABEL],
        re.IGNORECASE,
    )
    return found is not None
