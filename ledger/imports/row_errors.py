"""Errors of rows of a table that is imported."""

from django.utils.translation import gettext as _

from ledger.bulk.request_bodies import Fault
from ledger.calc.zip_files import ZIP_BEGINS
from ledger.imports.calc.named_columns import NamedTable, RowFault
from ledger.imports.calc.running_balance import BalanceFault
from ledger.imports.file_errors import UnreadableTable


def build_row_error(fault: RowFault, *, items: str) -> Fault:
    """Return (pointer, code, detail) of what is wrong with a row; the detail names its line.

    Args:
        items: the API name of what the rows are, as it stands in pointers.
    """
    detail = _("Line {line}: {reason}").format(line=fault.line, reason=_(fault.message).format(**fault.values))
    return f"#/{items}/{fault.position}/{fault.field}", fault.code, detail


def check_rows_exist(table: NamedTable) -> None:
    """Check that there are rows below the headings. Raises UnreadableTable."""
    if not table.rows:
        raise UnreadableTable(_("The file has headings but no rows."))


def check_row_widths(table: NamedTable, content: bytes) -> None:
    """Check that no row of delimited text has more cells than headings; cells of workbooks cannot shift.

    Raises:
        UnreadableTable: names the line.
    """
    line = None if content.startswith(ZIP_BEGINS) else table.find_surplus_line()
    if line is not None:
        detail = _("Line {line} has more cells than headings. Put values with separators in quotation marks.")
        raise UnreadableTable(detail.format(line=line))


def format_balance_fault(fault: BalanceFault | None) -> str:
    """Say why the account is not reconciled with the balance column; empty without a fault."""
    if fault is None:
        return ""
    message = _("The balance column does not add up in line {line}. The account will not be reconciled.")
    if fault.is_empty:
        message = _("The balance column is empty in line {line}. The account will not be reconciled.")
    return message.format(line=fault.line)
