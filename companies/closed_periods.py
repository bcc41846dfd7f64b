"""Closed periods: the last closed day of a company, and the error for changes of closed months.

Triggers of the database (ledger/migrations/closed_months.sql) refuse whatever would change a figure of a closed
month. Actions check before, so that the error can name the fields.
"""

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any, Self

from django.utils.translation import gettext as _

from companies.errors import ConflictError
from companies.models import Company

TRIGGER_NAME = "closing_period_closed"  # the name under which the triggers raise
MAX_POINTERS = 1000


class PeriodClosed(ConflictError):
    """The period is closed. Reopen it, or use a date in an open month."""

    code = "period_closed"

    def __init__(
        self,
        detail: str | None = None,
        *,
        closed_through: date | None = None,
        pointers: Iterable[str] = (),
        names_open_month: bool = False,
        days: Iterable[date] = (),
    ):
        super().__init__(detail)
        self.pointers = list(pointers)[:MAX_POINTERS]
        self.days = sorted(days)  # closed ones, one for each row of a file
        extensions: dict[str, Any] = {"closedThrough": closed_through.isoformat() if closed_through else None}
        if names_open_month and closed_through:
            extensions["firstOpenMonth"] = (closed_through + timedelta(days=1)).isoformat()[:7]
        self.extensions: Mapping[str, Any] = extensions

    @classmethod
    def for_company(
        cls, company: Company, *pointers: str, names_open_month: bool = False, days: Iterable[date] = ()
    ) -> Self:
        """Build the error of a company; with the first open month where a recognition period begins too early."""
        detail = None
        if names_open_month and company.closed_through:
            month = (company.closed_through + timedelta(days=1)).isoformat()[:7]
            detail = _("The recognition period begins in a closed month. The first open month is {month}.")
            detail = detail.format(month=month)
        return cls(
            detail,
            closed_through=company.closed_through,
            pointers=pointers,
            names_open_month=names_open_month,
            days=days,
        )


def is_day_closed(company: Company, day: date | None) -> bool:
    """Whether the day lies in a closed month of the company."""
    return day is not None and company.closed_through is not None and day <= company.closed_through


def check_period_open_for_days(company: Company, days: Iterable[tuple[str, date | None]]) -> None:
    """Raise PeriodClosed for the days, each with its pointer, that lie in closed months."""
    if company.closed_through is None:
        return
    pointers = [pointer for pointer, day in days if is_day_closed(company, day)]
    if pointers:
        raise PeriodClosed.for_company(company, *pointers)
