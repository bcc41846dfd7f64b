"""Errors of rows of a table, as the API returns them."""

from django.utils.translation import gettext as _

from ledger.bulk.request_bodies import Fault
from ledger.imports.calc.named_columns import RowFault


def build_row_error(fault: RowFault, *, items: str) -> Fault:
    """Return (pointer, code, detail) of what is wrong with a row; the detail names its line.

    Args:
        items: the API name of what the rows are, as it stands in pointers.
    """
    detail = _("Line {line}: {reason}").format(line=fault.line, reason=_(fault.message).format(**fault.values))
    return f"#/{items}/{fault.position}/{fault.field}", fault.code, detail
