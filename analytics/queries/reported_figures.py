"""What reports show of cash, receivables and payables: closings keep it, as it was when the month was closed.

The figures of a closing in the API have the balances of all accounts. Which accounts are cash, what is financing, and
the invoices of a closed month can change later.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from decimal import Decimal
from typing import Any

from analytics.queries.balances import ONE_DAY
from analytics.queries.cash_bridge import CashBridge, compute_cash_bridge
from analytics.queries.runway import Runway, compute_runway
from companies.models import Company
from ledger.calc.months import get_last_day_of_month
from ledger.money.calc.fx import RateLookupError, RateTable
from ledger.money.rates import get_rate_table
from planning.invoices.queries import DEFAULT_INTERVAL, compute_aging
from planning.models import InvoiceKind

MAX_STORED_MONTHS = 13  # of those that are closed at once: the latest, back to its month of last year

StoredFigures = dict[str, Any]
"""Amounts as text in the base currency: `cash` by part of the bridge, `runway` by field, the aging by bucket."""

AGING_KEYS: dict[InvoiceKind, str] = {"receivables": "aging", "payables": "payablesAging"}


def list_figures_to_report(company: Company, months: Sequence[date]) -> dict[date, StoredFigures]:
    """Return what the reports of the latest of these months show.

    Months that lack an exchange rate are left out, which does not prevent closing.
    """
    rates, stored_figures = get_rate_table(), {}
    for month in months[-MAX_STORED_MONTHS:]:
        try:
            stored_figures[month] = compute_figures_to_report(company, month, rates=rates)
        except RateLookupError:
            continue
    return stored_figures


def compute_figures_to_report(company: Company, month: date, *, rates: RateTable) -> StoredFigures:
    """Compute what the report of a month shows. Raises RateLookupError."""
    last_day = get_last_day_of_month(month)
    following_day = last_day + ONE_DAY
    bridge = compute_cash_bridge(company=company, start=month, end=last_day, today=following_day, rates=rates)
    runway = compute_runway(company=company, cash=bridge.closing, today=following_day, rates=rates)
    aging_by_kind = {
        kind: compute_aging(company, kind=kind, as_of=last_day, interval=DEFAULT_INTERVAL, rates=rates).total
        for kind in AGING_KEYS
    }
    return {
        "cash": {part: str(amount) for part, amount in list_bridge_amounts(bridge).items()},
        "runway": asdict(runway, dict_factory=to_text_values),
        **{
            AGING_KEYS[kind]: [str(amount) for amount in (aging.current, *aging.buckets)]
            for kind, aging in aging_by_kind.items()
        },
    }


def list_bridge_amounts(bridge: CashBridge) -> dict[str, Decimal]:
    """Return the amounts of a bridge by part, `opening` and `closing` included."""
    return {"opening": bridge.opening, **bridge.parts, "closing": bridge.closing}


def read_stored_aging(stored_figures: StoredFigures, kind: InvoiceKind) -> list[Decimal]:
    """Return the open amounts by bucket that a closing stores; empty where it stores none."""
    return [Decimal(text) for text in stored_figures.get(AGING_KEYS[kind], ())]


def read_stored_bridge(stored_figures: StoredFigures) -> dict[str, Decimal]:
    """Return the amounts of the bridge that a closing stores, by part; empty where it stores none."""
    return {part: Decimal(text) for part, text in stored_figures.get("cash", {}).items()}


def to_text_values(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return fields of a runway as JSON."""
    return {
        name: [str(each) for each in value] if isinstance(value, list) else None if value is None else str(value)
        for name, value in fields
    }


def read_stored_runway(stored_figures: StoredFigures) -> Runway:
    """Return the runway that a closing stores."""
    fields: dict[str, Any] = dict(stored_figures["runway"])
    months = [date.fromisoformat(text) for text in fields.pop("months")]
    amounts: dict[str, Any] = {name: None if text is None else Decimal(text) for name, text in fields.items()}
    return Runway(months=months, **amounts)
