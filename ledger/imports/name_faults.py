"""Names in tables that no record may have."""

import re
from collections.abc import Iterable, Mapping
from typing import Protocol

from companies.names import TRIMMED_NAME_PATTERN
from ledger.imports.calc.named_columns import RowFault

NAME_PATTERN = re.compile(TRIMMED_NAME_PATTERN)
NAME_MESSAGE = "Must be a single line without control characters."


class TableRow(Protocol):
    """A row as it was read from a table."""

    @property
    def position(self) -> int: ...

    @property
    def line(self) -> int: ...


def find_name_faults(rows: Iterable[TableRow], attributes: Mapping[str, str]) -> list[RowFault]:
    """Return faults of names with line breaks or control characters.

    Args:
        attributes: column → attribute of a row.
    """
    return [
        RowFault(row.position, row.line, column, "invalid_characters", NAME_MESSAGE, {})
        for row in rows
        for column, attribute in attributes.items()
        if (text := getattr(row, attribute).strip()) and not NAME_PATTERN.match(text)
    ]
