"""Why a CSV file is refused whatever is answered: units, decimal marks, orders of dates and currencies."""

from companies.errors import Invalid
from ledger.importing.calc.questions import FileFault
from ledger.importing.items import told
from ledger.statements.accounts import CurrencyDiffers


class AmountUnitUnsupported(Invalid):
    """A heading says that amounts are in thousands, or in cents although they have decimals."""

    code = "amount_unit_unsupported"


class DecimalMarksMixed(Invalid):
    """Some amounts have a decimal point and others a decimal comma; the detail names two lines."""

    code = "decimal_marks_mixed"


class DateOrdersMixed(Invalid):
    """Some dates have the day first and others the month; the detail names two lines."""

    code = "date_orders_mixed"


BY_CODE: dict[str, type[Invalid]] = {
    error.code: error for error in (AmountUnitUnsupported, DecimalMarksMixed, DateOrdersMixed, CurrencyDiffers)
}


def check_refused(refused: FileFault | None) -> None:
    """Raises the error that a detection found."""
    if refused is not None:
        raise BY_CODE[refused.code](told(refused))
