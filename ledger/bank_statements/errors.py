"""Why a bank's file cannot be read."""

from typing import Any

from companies.errors import InvalidInputError, UnsupportedMediaTypeError


class StatementFormatUnknown(UnsupportedMediaTypeError):
    """The file is not CAMT.052, CAMT.053, CAMT.054, MT940, MT942, OFX, QIF or CSV."""

    code = "statement_format_unknown"


class StatementUnreadable(InvalidInputError):
    """The file is damaged. See the detail for the line."""

    code = "statement_unreadable"


class CurrencyUnknown(InvalidInputError):
    """The statement contains an unsupported currency."""

    code = "currency_unknown"


class ColumnsUnknown(InvalidInputError):
    """No date and amount columns found. Import one file on the import page, or set importSettings.csv."""

    code = "columns_unknown"
    file = ""  # of an archive


class MappingAmbiguous(InvalidInputError):
    """The file can be read in several ways. Answer each of `choices` in importSettings and send it again."""

    code = "mapping_ambiguous"

    def __init__(self, choices: list[dict[str, Any]]):
        super().__init__()
        self.files = list(dict.fromkeys(choice["file"] for choice in choices if choice["file"]))
        self.extensions = {"choices": choices}


class DateOrderUnknown(InvalidInputError):
    """The date order of the QIF file is unclear. Send dateOrder."""

    code = "date_order_unknown"
