"""Questions about a table that its file does not answer: field → (label, choices)."""

from django.utils.translation import gettext_lazy as _

from ledger.imports.calc.amounts import DecimalMark
from ledger.imports.calc.dates import DateOrder

TABLE_QUESTIONS = {
    "dateOrder": (
        _("Order of the dates"),
        {
            DateOrder.DAY_FIRST.value: _("Day first: 31/01/2026"),
            DateOrder.MONTH_FIRST.value: _("Month first: 01/31/2026"),
            DateOrder.ISO.value: _("Year first: 2026-01-31"),
        },
    ),
    "decimalMark": (
        _("Decimal mark"),
        {DecimalMark.POINT.value: _("Point: 1,234.50"), DecimalMark.COMMA.value: _("Comma: 1.234,50")},
    ),
}
