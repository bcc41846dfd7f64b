"""What pages say of a transaction in a closed month."""

from typing import NamedTuple

from django.urls import reverse
from django.utils.translation import gettext as _

from companies.closed_periods import is_day_closed
from companies.locales import get_current_locale
from companies.pages.context import CompanyPage
from companies.permissions import Permission
from ledger.calc.months import format_month
from ledger.models import Transaction


class ClosedMonth(NamedTuple):
    """That the month of a transaction is closed; the URL of its closing is empty for readers who may not see it."""

    text: str
    url: str


class ClosedMonthLabels:
    """Finds the closed months of transactions on a page."""

    def __init__(self, page: CompanyPage) -> None:
        """Build the URL that those of closings start with; reversing one for each row takes as long as the row."""
        self.company = page.company
        self.url = (
            reverse("closings", args=[page.company.id]) if page.has_permission(Permission.FINANCIALS_READ) else ""
        )

    def find_closed_month(self, row: Transaction) -> ClosedMonth | None:
        """Return the closed month of a transaction; None for pending ones and those of open months."""
        if row.pending or not is_day_closed(self.company, row.date):
            return None
        text = _("{month} is closed").format(month=get_current_locale().format_month(row.date, full=True))
        return ClosedMonth(text, self.url and f"{self.url}/{format_month(row.date)}")
