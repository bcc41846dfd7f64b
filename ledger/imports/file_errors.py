"""Errors of a whole file: not readable, too large, or not one table."""

from companies.errors import InvalidInputError, TooLargeError, UnsupportedMediaTypeError


class UnreadableTable(UnsupportedMediaTypeError):
    """The file is not a table. Upload a CSV or Excel file."""

    code = "unreadable_table"


class UnreadableCell(UnreadableTable):
    """A cell has a formula without its result. Open the workbook in your spreadsheet and save it."""


class TooManyRows(TooLargeError):
    """The file has too many rows for one import. Split it."""

    code = "too_many_rows"


class TableTooLarge(TooLargeError):
    """A row or cell of the table exceeds a limit, which the detail names with the line."""

    code = "table_too_large"


class SeveralSheets(InvalidInputError):
    """Several sheets contain transactions. Save each as a separate file."""

    code = "several_sheets"
