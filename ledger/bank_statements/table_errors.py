"""Why a CSV file is refused whatever is answered: units, decimal marks, orders of dates, currencies, tables."""

from companies.errors import InvalidInputError
from ledger.bank_statements.errors import StatementUnreadable
from ledger.bank_statements.queries.statement_accounts import CurrencyDiffers
from ledger.imports.calc.detection_result import FileFault
from ledger.imports.table_items import describe_reader_error


class AmountUnitUnsupported(InvalidInputError):
    """A heading means thousands, or cents although amounts have decimals. Export full amounts."""

    code = "amount_unit_unsupported"


class DecimalMarksMixed(InvalidInputError):
    """The file mixes decimal points and commas. Use one for all amounts."""

    code = "decimal_marks_mixed"


class DateOrdersMixed(InvalidInputError):
    """The file mixes dates with the day first and the month first. Use one order."""

    code = "date_orders_mixed"


BY_CODE: dict[str, type[InvalidInputError]] = {
    error.code: error
    for error in (AmountUnitUnsupported, DecimalMarksMixed, DateOrdersMixed, CurrencyDiffers, StatementUnreadable)
}


def raise_detection_fault(refused: FileFault | None) -> None:
    """Raises the error that a detection found."""
    if refused is not None:
        raise BY_CODE[refused.code](describe_reader_error(refused))
