"""Why a bank's file cannot be read."""

from typing import Any

from companies.errors import InvalidInputError, UnsupportedMediaTypeError


class StatementFormatUnknown(UnsupportedMediaTypeError):
    """The file is none of CAMT.052, 053 and 054, MT940, MT942, OFX, QIF and CSV, whatever its name says."""

    code = "statement_format_unknown"


class StatementUnreadable(InvalidInputError):
    """The file is broken; the detail names the line."""

    code = "statement_unreadable"


class CurrencyUnknown(InvalidInputError):
    """The statement, or a row of it, is in a currency that is none of the thirty."""

    code = "currency_unknown"


class ColumnsUnknown(InvalidInputError):
    """No columns of a day and an amount were found: import one alone on the page, or set importSettings.csv."""

    code = "columns_unknown"
    file = ""  # of an archive


class MappingAmbiguous(InvalidInputError):
    """The file can be read in several ways: answer each of `choices` in importSettings, and send the file again."""

    code = "mapping_ambiguous"

    def __init__(self, choices: list[dict[str, Any]]):
        super().__init__()
        self.files = list(dict.fromkeys(choice["file"] for choice in choices if choice["file"]))
        self.more = {"choices": choices}


class DateOrderUnknown(InvalidInputError):
    """The dates of the QIF file can be read in both orders: send dateOrder."""

    code = "date_order_unknown"
