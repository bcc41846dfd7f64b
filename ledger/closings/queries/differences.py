"""What has changed in the figures of a month since it was closed, and which audit entries changed it."""

from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from companies.models import Company
from ledger.calc.months import add_months
from ledger.closings.calc.figures import ChangedFigure, Figure, FigureKey, compare_figures
from ledger.closings.queries.figures import compute_figures
from ledger.models import Closing, RateLoad
from ledger.money.rates import get_rate_table


class Difference(NamedTuple):
    """A figure that has changed since it was reported, with the audit entries that touched its rows."""

    change: ChangedFigure
    because: list[UUID]  # in the order of commits
    rates: bool  # exchange rates arrived late


def list_closing_differences(company: Company, closing: Closing) -> list[Difference]:
    """Return the figures of a closing that differ from those of the books now, with what changed them.

    Raises:
        RateLookupError: a currency has no exchange rate.
    """
    was = [Figure.from_json(each) for each in closing.figures]
    now = compute_figures(company, [closing.month], rates=get_rate_table())[closing.month]
    changes = compare_figures(was, now)
    if not changes:
        return []
    touches = list_figure_touches(company, closing)
    late_rates = RateLoad.objects.filter(id__gt=closing.rates_version).exists()
    return [attach_causing_entries(change, closing.month, touches, late_rates=late_rates) for change in changes]


class FigureTouch(NamedTuple):
    """A change of a figure's rows on a day: by an audit entry, or by exchange rates."""

    kind: str
    subject_id: str
    label: str
    month: date
    rates: bool
    number: int | None
    entry_id: UUID | None


# Raw SQL: changes and their audit entries are joined by token, without a foreign key.
_TOUCHES = """
    SELECT DISTINCT f.kind, f.subject_id::text, CASE WHEN f.kind = 'result' THEN f.label ELSE '' END,
           date_trunc('month', f.day)::date, f.rates, e.number, e.entry_id
      FROM ledger_figurechange AS f
      LEFT JOIN ledger_changeentry AS e ON e.company_id = %(company)s AND e.token = f.token
     WHERE f.company_id = %(company)s AND f.kind <> 'month' AND f.day < %(following)s
       AND (e.number > %(log_number)s OR f.rates)
     ORDER BY e.number
"""


def list_figure_touches(company: Company, closing: Closing) -> list[FigureTouch]:
    """Return the changes of figures up to the end of the month since it was closed, in the order of commits."""
    values: dict[str, Any] = {
        "company": company.id,
        "following": add_months(closing.month, 1),
        "log_number": closing.log_number,
    }
    with connection.cursor() as cursor:
        cursor.execute(_TOUCHES, values)
        return [FigureTouch(*row) for row in cursor.fetchall()]


def attach_causing_entries(
    change: ChangedFigure, month: date, touches: Sequence[FigureTouch], *, late_rates: bool
) -> Difference:
    """Return a changed figure with its audit entries; those of balances and recurring revenue accumulate."""
    relevant = [touch for touch in touches if is_relevant_touch(touch, change.key, month)]
    because = list(dict.fromkeys(touch.entry_id for touch in relevant if touch.entry_id))
    is_rate_change = not because or any(touch.rates for touch in relevant)
    return Difference(change, because, rates=late_rates and is_rate_change)


def is_relevant_touch(touch: FigureTouch, key: FigureKey, month: date) -> bool:
    """Whether the change touched rows that the figure of the month is made of."""
    match key.figure:
        case "balance":
            return touch.kind == "day" and touch.subject_id == key.account_id
        case "inflow" | "outflow":
            is_whole_account = touch.kind == "account"  # from its first month on
            is_same_month = touch.kind == "day" and touch.month == month
            return (is_whole_account or is_same_month) and touch.subject_id == key.account_id
        case "profitAndLoss":
            is_same_line = (touch.subject_id, touch.label) == (key.category_id, key.pl_type)
            return touch.kind == "result" and touch.month == month and is_same_line
    return touch.kind == "event"
