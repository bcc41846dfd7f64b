"""What a file tells of its amounts beside the rows: their currency and their unit, in headings and above the table."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from ledger.calc.delimited_text import Line
from ledger.imports.calc.amounts import DecimalMark, UnreadableValueError, is_amount_text, parse_bank_money
from ledger.imports.calc.column_mapping import AMOUNT_FIELDS, ColumnMapping
from ledger.imports.calc.currencies import (
    choose_currency,
    find_heading_currencies,
    find_named_currencies,
    intersect_currency_candidates,
)
from ledger.imports.calc.detection_result import FileFault
from ledger.imports.calc.heading_units import AmountUnit, find_heading_unit, find_noted_unit
from ledger.imports.calc.headings import find_heading_fields, fold_heading
from ledger.imports.calc.table import SAMPLE_ROWS, Table
from ledger.imports.calc.vocabulary import find_balance_phrase_kind
from ledger.money.calc.money import CURRENCIES

LOOKED_AT = 40  # lines above the headings
ACCOUNT_LABELS = {"account", "balance"}
ACCOUNT_NUMBERS = {"account number", "account no", "card number", "iban number"}
WORDS_LIKE_CODES = {"ALL", "TOP"}
LONGEST_NOTE = 100  # characters of a cell above the headings that are looked at
_TITLE = re.compile(r"(?:\b(?:in|en|em|w|v|i) |\()([A-Z]{3})(?:\)|$)")
_AT_ENDS = re.compile(r"(?<![^\W_])[A-Z]{3}$|^[A-Z]{3}(?= ?-?[0-9])|[^\W\d_]{0,3}[$€£¥₽₺]")


def find_amount_currencies(table: Table, mapping: ColumnMapping) -> tuple[str, ...]:
    """The currencies that the headings of the amounts may name; none where they name none."""
    headings = (find_heading_currencies(table.names[position]) for position in _list_amount_positions(mapping))
    return intersect_currency_candidates(each for each in headings if each)


def _list_amount_positions(mapping: ColumnMapping) -> list[int]:
    return [mapping.columns[name] for name in AMOUNT_FIELDS if name in mapping.columns]


def find_heading_currency_fault(table: Table, mapping: ColumnMapping) -> FileFault | None:
    """Why debits and credits cannot be read: their headings name different currencies."""
    named = [find_heading_currencies(table.names[position]) for position in _list_amount_positions(mapping)]
    known = [each for each in named if each]
    if len(known) > 1 and not set.intersection(*map(set, known)):
        return FileFault(
            "currency_differs",
            "The amount columns have several currencies: {currencies}.",
            {"currencies": ", ".join(each[0] for each in known)},
        )
    return None


def find_account_currencies(table: Table, mapping: ColumnMapping, own: str) -> tuple[str, ...]:
    """The currencies that the heading of the balance, or lines above the table, may name for the whole account."""
    position = mapping.columns.get("balance", mapping.columns.get("balanceBefore"))
    if position is not None and (heading_currencies := find_heading_currencies(table.names[position])):
        return heading_currencies
    noted = list(_iterate_labelled_currencies(table.above[-LOOKED_AT:]))
    if any(own in each for each in noted):
        return (own,)
    return intersect_currency_candidates(noted)


def _iterate_labelled_currencies(lines: Sequence[Line]) -> Iterator[tuple[str, ...]]:
    """The currencies of labelled cells, behind their labels or below them, and of titles such as "Postings in USD"."""
    rows = [line.cells for line in lines]
    for number, row in enumerate(rows):
        below = rows[number + 1] if number + 1 < len(rows) else []
        for position, cell in enumerate(row):
            label, _, inside = cell[:LONGEST_NOTE].partition(":")
            fields = {name for name, sure in find_heading_fields(label.strip("# "))} if label else set()
            beside = [inside.strip(), *row[position + 1 : position + 3], *below[position : position + 1]]
            if "currency" in fields:
                yield from filter(None, (find_named_currencies(text) for text in beside if text))
            elif ACCOUNT_LABELS & fields or fold_heading(label) in ACCOUNT_NUMBERS or find_balance_phrase_kind(label):
                yield from filter(None, map(_find_currencies_at_end, [label, *beside]))
            elif match := _TITLE.search(cell[:LONGEST_NOTE]):
                yield find_named_currencies(match[1]) if match[1] in CURRENCIES else ()


def _find_currencies_at_end(text: str) -> tuple[str, ...]:
    """What the code or the sign at an end of an account's number or of a balance may mean."""
    codes = [match[0] for match in _AT_ENDS.finditer(text[:LONGEST_NOTE].strip("() "))]
    return next((find_named_currencies(each) for each in codes if each not in WORDS_LIKE_CODES), ())


def find_unit_of_amounts(table: Table, mapping: ColumnMapping) -> tuple[AmountUnit, str]:
    """(the unit in which amounts are counted, the heading or line that tells it)."""
    positions = _list_amount_positions(mapping)
    for position in positions:
        if (unit := find_heading_unit(table.names[position])) is not AmountUnit.WHOLE:
            return unit, table.names[position]
    for line in table.above[-LOOKED_AT:]:
        for cell in line.cells:
            if (unit := find_noted_unit(cell)) is not AmountUnit.WHOLE:
                return unit, cell
    return AmountUnit.WHOLE, ""


def find_unit_fault(table: Table, mapping: ColumnMapping) -> FileFault | None:
    """Why amounts cannot be taken in the unit that a heading tells: thousands, or cents with decimals."""
    unit, heading = find_unit_of_amounts(table, mapping)
    if unit is AmountUnit.THOUSANDS:
        return FileFault(
            "amount_unit_unsupported",
            "“{heading}” means thousands. Export the file with full amounts.",
            {"heading": heading[:60]},
        )
    if unit is AmountUnit.MINOR and (text := _find_amount_with_decimals(table, mapping)):
        return FileFault(
            "amount_unit_unsupported",
            "“{heading}” means cents, but “{text}” has decimals. Correct one of them.",
            {"heading": heading[:60], "text": text[:40]},
        )
    return None


def _find_amount_with_decimals(table: Table, mapping: ColumnMapping) -> str:
    """The first amount that is no whole number."""
    for line in table.rows[:SAMPLE_ROWS]:
        cells = line.cells
        for position in _list_amount_positions(mapping):
            text = cells[position] if position < len(cells) else ""
            if ("." in text or "," in text) and any(is_amount_text(text, mark) for mark in DecimalMark):
                return text
    return ""


def complete_mapping(
    table: Table, mapping: ColumnMapping, *, own: str, stated: str = ""
) -> tuple[ColumnMapping, FileFault | None]:
    """(the mapping with the currency and the unit that the file tells, why it cannot be read so).

    ``own`` is the account's currency, ``stated`` what somebody chose.
    """
    is_minor = find_unit_of_amounts(table, mapping)[0] is AmountUnit.MINOR
    mapping = replace(mapping, is_minor=is_minor, currency=stated)
    if refused := find_unit_fault(table, mapping):
        return mapping, refused
    if refused := find_heading_currency_fault(table, mapping):
        return mapping, refused
    candidates = find_amount_currencies(table, mapping)
    if candidates:
        return replace(
            mapping, currency=choose_currency(candidates, own_currency=own, stated_currency=stated) or stated
        ), None
    if stated or "currency" in mapping.columns or list_cell_currencies(table, mapping):
        return mapping, None
    candidates = find_account_currencies(table, mapping, own)
    if candidates and own and own not in candidates:
        return mapping, FileFault(
            "currency_differs",
            "The file is in {currency}, the account in {own}. Choose an account in {currency}.",
            {"currency": " / ".join(candidates[:3]), "own": own},
        )
    return mapping, None


def list_cell_currencies(table: Table, mapping: ColumnMapping) -> list[tuple[str, ...]]:
    """What the signs beside the first amounts, or in the column of currencies, may mean, each once."""
    currencies_of_cells: dict[tuple[str, ...], None] = {}
    position, positions = mapping.columns.get("currency"), _list_amount_positions(mapping)
    for line in table.rows[:SAMPLE_ROWS]:
        cells = line.cells
        if position is not None and position < len(cells):
            currencies_of_cells[find_named_currencies(cells[position])] = None
        for text in {cells[each] for each in positions if each < len(cells)}:
            with suppress(UnreadableValueError):
                currencies_of_cells[parse_bank_money(text, mapping.decimal_mark).currencies] = None
    return [currencies for currencies in currencies_of_cells if currencies]


def find_unclear_currencies(table: Table, mapping: ColumnMapping, own: str) -> tuple[str, ...]:
    """The currencies that a sign of the file may mean, where the account's, and what was stated, is none of them."""
    signs = [find_amount_currencies(table, mapping), *list_cell_currencies(table, mapping)]
    unclear = [
        currencies
        for currencies in signs
        if currencies and choose_currency(currencies, own_currency=own, stated_currency=mapping.currency) is None
    ]
    return intersect_currency_candidates(unclear)
