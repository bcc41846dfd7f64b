"""Detect how a table is read: headings propose, cells veto, the balance column decides.

Of all readings that the cells allow, those remain under which the balances step by the amounts. If more
than one remains, each is an option of a question.
"""

import re
from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ledger.calc.delimited_text import Line, Lines
from ledger.imports.calc.account_numbers import find_stated_numbers, has_full_number, is_other_party_column
from ledger.imports.calc.column_mapping import (
    AMOUNT_FIELDS,
    find_column_position,
    fold_setting_value,
    normalize_csv_settings,
)
from ledger.imports.calc.columns import Column, is_date_like_cell
from ledger.imports.calc.detection_result import MAX_OPTIONS, AccountFacts, Answer, Detection, build_mapping_update
from ledger.imports.calc.headings import fold_heading
from ledger.imports.calc.other_party import OTHER_PARTIES, find_party_pair
from ledger.imports.calc.repeated_headings import RepeatedHeadingSearch
from ledger.imports.calc.table import Table, find_table
from ledger.imports.calc.table_faults import find_table_fault
from ledger.imports.calc.vocabulary import (
    find_status_meaning,
    is_booking_status,
    is_direction_column,
)
from ledger.transactions.fields import TRANSACTION_TEXTS

MIN_OWN_DIGITS = 6  # of an account number that all rows have
MIN_NUMBER_LENGTH = 4  # letters and digits of an account number
ASKED_WHEN_LOST = {"date", *AMOUNT_FIELDS, "direction", "fee", "currency", "status", "account"}
MAX_STATUSES = 12  # values of a column of statuses
MAX_LABEL_LENGTH = 300  # characters of a title that are looked at


def detect_mapping(lines: Sequence[Line], *, settings: Any = None, account: AccountFacts | None = None) -> Detection:
    """Return how a file is read. Given, kept or answered ``settings`` are never changed.

    Reads at most the first 1,000 rows for columns, and all of them for dates and values.
    """
    normalized_settings = normalize_csv_settings(settings)
    return ValueSearch(
        find_configured_table(lines, normalized_settings), normalized_settings, account or AccountFacts()
    ).run()


def find_configured_table(lines: Sequence[Line], normalized_settings: dict[str, Any]) -> Table:
    """Return the table at the kept position, or where its headings are in this file."""
    skip_below = normalized_settings.get("skipBelow", 0)
    table = find_table(lines, skip_above=normalized_settings.get("skipAbove"), skip_below=skip_below)
    if "skipAbove" not in normalized_settings:
        return table
    names = [name for name in list_configured_columns(normalized_settings.get("columns", {})) if isinstance(name, str)]
    if all(find_column_position(name, table.names) is not None for name in names) and (names or table.rows):
        return table
    detected_table = find_table(lines, skip_below=skip_below)
    known_counts = [
        sum(find_column_position(name, candidate.names) is not None for name in names)
        for candidate in (table, detected_table)
    ]
    return detected_table if known_counts[1] > known_counts[0] else table


def list_configured_columns(columns: dict[str, Any]) -> list[Any]:
    """Return the headings and positions of all columns of settings."""
    return [each for value in columns.values() for each in (value if isinstance(value, list) else [value])]


def split_lines_by_account(
    lines: Sequence[Line], *, settings: Any = None, account: AccountFacts | None = None
) -> tuple[dict[str, Lines], Lines]:
    """Return the rows of each account that the table names in a column or by its sections, and the other rows.

    Labels without a single row with a date are no accounts.
    """
    normalized_settings = normalize_csv_settings(settings)
    table = find_configured_table(lines, normalized_settings)
    search = ValueSearch(table, normalized_settings, account or AccountFacts())
    search.read_given_settings()
    search.choose_date()
    search.drop_other_party_columns()
    if not search.list_account_names():
        return {}, table.rows[:0]
    position = None if table.sections else search.mapping.columns.get("account")
    label_by_value: dict[str, str] = {}
    positions: dict[str, array[int]] = {}
    for place_of_line, line in enumerate(table.rows):
        label = table.get_account_label(line, position)
        name = label_by_value.setdefault(fold_setting_value(label), label)
        positions.setdefault(name, array("Q")).append(place_of_line)
    lines_by_label = {name: table.rows.select_lines(each) for name, each in positions.items()}
    undated_labels = [name for name, rows in lines_by_label.items() if not name or not any(map(_has_day, rows))]
    rest = sorted(position for name in undated_labels for position in positions[name])
    return {name: rows for name, rows in lines_by_label.items() if name not in undated_labels}, table.rows.select_lines(
        rest
    )


def _has_day(line: Line) -> bool:
    return any(map(is_date_like_cell, line.cells))


class ValueSearch(RepeatedHeadingSearch):
    """The steps that choose statuses, accounts and texts, and the order of all steps."""

    def run(self) -> Detection:
        self.read_given_settings()
        self.choose_date()
        self.drop_other_party_columns()
        self.choose_decimal_mark()
        self.choose_balance_and_amounts()
        self.choose_currency()
        self.choose_direction_and_sign()
        self.choose_fee()
        self.choose_status()
        self.choose_account()
        self.choose_texts()
        self.add_repeated_heading_questions()
        self.add_missing_columns_question()
        self.refuse_table()
        return self.build_detection()

    def refuse_table(self) -> None:
        is_proven = "amount" in self.result.proven_fields or self.steps is not None
        fault = find_table_fault(self.table, self.mapping, own_currency=self.account.currency, is_proven=is_proven)
        self.result.fault = self.result.fault or fault

    def drop_other_party_columns(self) -> None:
        """Take columns of account numbers for the other parties' where they cannot be the own account's."""
        if "account" in self.pinned or self.table.sections:
            return
        stated_numbers = find_stated_numbers(self.table.above)
        has_counterparty = any(column.filled for column in self.roles.get("counterparty", []))
        account_columns = self.list_role_columns("account")
        values_by_position = self.collect_dated_values([column.position for column in account_columns])
        for column in account_columns:
            if is_other_party_column(
                column.name,
                values_by_position[column.position],
                own_number=self.account.number,
                company_numbers=self.account.company_numbers,
                stated=stated_numbers,
                has_empty=len(column.filled) + len(column.balance_rows) < len(column.cells),
                has_counterparty=has_counterparty,
            ):
                self.roles["account"].remove(column)
                self.roles.setdefault("counterpartyAccount", []).append(column)
        self.prefer_account_numbers()

    def prefer_account_numbers(self) -> None:
        """Let a column of account numbers stand before one of names that tells no more accounts apart."""
        account_columns = self.list_role_columns("account")
        numbers = [column for column in account_columns if column.filled and all(map(has_full_number, column.filled))]
        if (
            numbers
            and numbers[0] is not account_columns[0]
            and len(numbers[0].values) >= len(account_columns[0].values)
        ):
            self.roles["account"].remove(numbers[0])
            self.roles["account"].insert(0, numbers[0])

    def choose_status(self) -> None:
        if "status" in self.pinned:
            if self.pinned["status"] is None:
                return
            column = self.columns[self.pinned["status"]]
        else:
            candidates = self.list_role_columns("status") or [
                column
                for column in self.list_unused(self.columns)
                if column.is_text and (is_status_column(column) or has_booking_statuses(column))
            ]
            if not candidates:
                return
            column = candidates[0]
        values = self.list_movement_values(column.position)
        known_statuses = dict(self.mapping.statuses)
        known_statuses |= {
            value: kind for value in values if value not in known_statuses and (kind := find_status_meaning(value))
        }
        unknown = [value for value in values if value not in known_statuses]
        if "status" not in self.pinned and len(values) == 1 and unknown:
            return  # one value says nothing of which rows count
        self.set_column("status", column.position)
        self.mapping = replace(self.mapping, statuses=known_statuses)
        if unknown:
            options: list[Answer] = []
            for kind in ("booked", "pending", "leaveOut"):
                statuses = {**known_statuses, **dict.fromkeys(unknown, kind)}
                value = {
                    kind: [text for text, is_kind in statuses.items() if is_kind == kind]
                    for kind in ("booked", "pending", "leaveOut")
                }
                options.append((value, build_mapping_update(statuses=statuses)))
            self.add_question("status_values", "statusValues", options)

    def choose_account(self) -> None:
        if self.mapping.accounts is not None:
            if (
                "account" not in self.pinned
                and not self.table.sections
                and (account_columns := self.list_role_columns("account"))
            ):
                self.set_column("account", account_columns[0].position)
            self.add_new_accounts_question(self.mapping.accounts)
            return
        names = self.list_account_names()
        if len(names) < 2:
            return
        own = [name for name in names if self.account.number and has_account_number(name, self.account.number)]
        if own:
            self.mapping = replace(self.mapping, accounts=tuple(own))
            self.result.proven_fields.append("account")
            return
        options: list[Answer] = [([name], build_mapping_update(accounts=(name,))) for name in names[: MAX_OPTIONS - 1]]
        options.append((names, build_mapping_update(accounts=tuple(names))))
        self.add_question("account_values", "accountValues", options)

    def add_new_accounts_question(self, kept_accounts: tuple[str, ...]) -> None:
        """Ask for accounts that the file has and the kept choice does not know: their rows are not dropped silently."""
        if not self.is_setting_kept("accountValues"):
            return
        others = self.given_settings.get("otherAccountValues")
        known = {fold_setting_value(name) for name in (*kept_accounts, *(others or ()))}
        new = [
            name
            for name in self.list_account_names()
            if fold_setting_value(name) not in known and (others is not None or has_full_number(name))
        ]
        if new:
            options = [[*kept_accounts, *new], list(kept_accounts)]
            self.add_question(
                "account_values",
                "accountValues",
                [(names, build_mapping_update(accounts=tuple(names))) for names in options],
            )

    def list_account_names(self) -> list[str]:
        """Return the accounts in the table, from its sections or a column, which becomes the account column."""
        if self.table.sections:
            return self.table.section_names
        position = self.pinned.get("account")
        if "account" in self.pinned and position is None:
            return []
        account_columns = [self.columns[position]] if position is not None else self.list_role_columns("account")
        values = self.list_dated_values(account_columns[0].position) if account_columns else []
        if values:
            self.set_column("account", account_columns[0].position)
        return values

    def choose_texts(self) -> None:
        is_complete = "date" in self.pinned and self.has_given_amount
        if is_complete:
            return
        self.choose_counterparty()
        for name in ("counterpartyAccount", "reference", "category", *(text.name for text in TRANSACTION_TEXTS)):
            if name not in self.pinned and (description_columns := self.list_role_columns(name)):
                self.set_column(name, description_columns[0].position)
        if "description" not in self.pinned:
            description_columns = [column for column in self.list_role_columns("description") if column.filled]
            if not description_columns:
                word_columns = [
                    column
                    for column in self.list_unused(self.columns)
                    if column.is_text and not set(dict(column.fields)) & {"category", "status", "account"}
                ]
                varied = [column for column in word_columns if not is_own_number(column)]
                description_columns = sorted(
                    varied or word_columns, key=lambda each: -sum(map(len, each.filled)) / max(len(each.cells), 1)
                )[:1]
            description_columns.sort(key=lambda each: each.position)
            description_columns += self.list_note_columns()
            self.mapping = replace(self.mapping, description=tuple(column.position for column in description_columns))
            self.used_positions.update(self.mapping.description)

    def list_note_columns(self) -> list[Column]:
        """All columns of notes where there are several: they say what the payment was for."""
        columns = self.roles.get("notes", [])
        if len(columns) < 2 or "notes" in self.pinned:
            return []
        self.set_column("notes", None)
        return columns

    def choose_counterparty(self) -> None:
        """Choose the column of the other party, or that of the payee where the payer has one too."""
        if "counterparty" in self.pinned:
            return
        pair = find_party_pair(self.table.names)
        if pair and all(
            self.columns[position].fits_field("counterparty") and position not in self.used_positions
            for position in pair
        ):
            self.set_column("counterparty", pair[1])
            self.used_positions.add(pair[0])
            return
        candidates = self.list_role_columns("counterparty")
        others = [each for each in candidates if fold_heading(each.name) in OTHER_PARTIES]
        varied = [each for each in candidates if len(each.distinct) != 1]
        if result := others or varied or candidates:
            self.set_column("counterparty", result[0].position)

    def add_missing_columns_question(self) -> None:
        """Ask for kept columns that are missing: the column that seems to replace it, or none."""
        for name in self.result.lost_fields:
            if name == "description":
                self.add_missing_description_question()
                continue
            if self.is_question_open(f"columns.{name}"):
                continue
            position = self.mapping.columns.get(name)
            candidates = (
                [self.columns[position]]
                if position is not None
                else [each for each in self.list_unused(self.columns) if each.fits_field(name)]
            )
            if (name not in ASKED_WHEN_LOST or name in ("direction", "status")) and position is not None:
                self.result.assumed.append(name)
                continue
            if not candidates and name in ("date", *AMOUNT_FIELDS):
                continue
            self.add_column_question(
                "column_gone", name, candidates[: MAX_OPTIONS - 1], none=name not in ("date", "amount")
            )

    def add_missing_description_question(self) -> None:
        """Ask for the column of a text that replaces a kept one, beside those that are still there."""
        remaining = self.mapping.description
        if remaining and "description" not in self.pinned:
            self.result.assumed.append("description")
            return
        texts = [each for each in self.list_unused(self.columns) if each.is_text]
        candidates = [each for each in texts if each.fits_field("description")]
        column_choices = [*((*remaining, each.position) for each in candidates[: MAX_OPTIONS - 1]), remaining]
        options: list[Answer] = [
            (list(map(self.get_column_reference, way)) or None, build_mapping_update(description=way))
            for way in column_choices
        ]
        self.add_question("column_gone", "columns.description", options)


def is_status_column(column: Column) -> bool:
    """Whether a column without a known heading has several words that are all statuses."""
    is_unnamed = not column.fields and 1 < len(column.values) <= MAX_STATUSES
    return is_unnamed and all(map(find_status_meaning, column.values)) and not is_direction_column(column.values)


def has_booking_statuses(column: Column) -> bool:
    """Whether a column says only which rows are booked, as one of notes may."""
    return 0 < len(column.values) <= MAX_STATUSES and all(map(is_booking_status, column.values))


def is_own_number(column: Column) -> bool:
    """Whether all rows have one number, as that of the account."""
    texts = list(column.distinct)
    return len(texts) == 1 and len(column.filled) > 1 and sum(sign.isdigit() for sign in texts[0]) >= MIN_OWN_DIGITS


def has_account_number(label: str, number: str) -> bool:
    """Whether a cell or a section title contains an account number, ignoring spaces and case.

    >>> has_account_number("Girokonto DE89 3704 0044", "de8937040044")
    True
    >>> has_account_number("Konto 1234567", "234567")
    False
    """
    signs = [sign for sign in number if sign.isalnum()]
    if len(signs) < MIN_NUMBER_LENGTH:
        return False
    match = re.search(
        r"(?<![0-9A-Za-z])" + r"[\W_]?".join(re.escape(sign) for sign in signs) + r"(?![0-9A-Za-z])",
        label[:MAX_LABEL_LENGTH],
        re.IGNORECASE,
    )
    return match is not None
