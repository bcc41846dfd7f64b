"""Categorizations that are recognized in closed months, and transfers that lie there."""

from collections.abc import Collection, Iterable
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from companies.closed_periods import PeriodClosed, is_day_closed
from companies.models import Company, IdIn
from ledger.models import Categorization, Posting


def find_recognized_in_closed_months(company: Company, transaction_ids: Collection[UUID]) -> set[UUID]:
    """Return the transactions with a categorization that is recognized in a closed month; one statement at most."""
    if company.closed_through is None or not transaction_ids:
        return set()
    postings = Posting.objects.for_company(company.id).filter(month__lte=company.closed_through)
    categorizations = list_categorizations(company, transaction_ids)
    recognized = categorizations.filter(Exists(postings.filter(categorization_id=OuterRef("id"))))
    return set(recognized.values_list("transaction_id", flat=True))


def find_legs_in_closed_months(company: Company, transaction_ids: Collection[UUID]) -> set[UUID]:
    """Return the transactions that are legs of transfers of which either leg lies in a closed month."""
    if company.closed_through is None or not transaction_ids:
        return set()
    own_leg = Q(transaction__date__lte=company.closed_through, transaction__pending=False)
    other_leg = Q(counter__transaction__date__lte=company.closed_through, counter__transaction__pending=False)
    legs = list_categorizations(company, transaction_ids).filter(own_leg | other_leg, counter__isnull=False)
    return set(legs.values_list("transaction_id", flat=True))


def list_categorizations(company: Company, transaction_ids: Collection[UUID]) -> QuerySet[Categorization]:
    """Return the categorizations of some transactions."""
    return Categorization.objects.for_company(company.id).filter(IdIn("transaction_id", list(transaction_ids)))


def check_period_open_for_categorizations(
    company: Company, transaction_ids: Collection[UUID], selection: Any = None
) -> None:
    """Raise PeriodClosed if categorizations or transfers of the transactions count in closed months.

    Two statements; none where nothing is closed.

    Args:
        selection: of a bulk action, whose ids the pointers name.
    """
    if company.closed_through is None or not transaction_ids:
        return
    closed_ids = find_recognized_in_closed_months(company, transaction_ids)
    closed_ids |= find_legs_in_closed_months(company, transaction_ids)
    if closed_ids:
        raise PeriodClosed.for_company(company, *list_closed_transaction_pointers(closed_ids, selection))


def check_period_open_for_selection(company: Company, rows: Any, selection: dict[str, Any]) -> None:
    """Raise PeriodClosed if selected transactions have categorizations or transfers that count in closed months."""
    if company.closed_through is not None:
        check_period_open_for_categorizations(company, list(rows.order_by().values_list("id", flat=True)), selection)


def has_closed_days(company: Company, rows: Any) -> bool:
    """Whether some of the transactions are dated in closed months."""
    return company.closed_through is not None and rows.filter(date__lte=company.closed_through).exists()


def list_closed_transaction_pointers(closed_ids: Collection[UUID], selection: Any) -> Iterable[str]:
    """Return JSON pointers to the closed transactions in a bulk action: one for each id, else to the selection."""
    if selection is None:
        return ()
    if selection["mode"] != "ids":
        return ("#/selection",)
    return [f"#/selection/ids/{n}" for n, row_id in enumerate(selection["ids"].values()) if row_id in closed_ids]


def check_period_open_for_recognition(company: Company, starts: Iterable[tuple[str, date]]) -> None:
    """Raise PeriodClosed, naming the first open month, for recognition periods that begin in a closed month.

    Args:
        starts: pairs of a JSON pointer and the first day of the period.
    """
    closed_pointers = [pointer for pointer, start in starts if is_day_closed(company, start)]
    if closed_pointers:
        raise PeriodClosed.for_company(company, *closed_pointers, names_open_month=True)


def get_first_open_day(company: Company) -> date | None:
    """Return the first day of the first open month; None if nothing is closed."""
    return company.closed_through + timedelta(days=1) if company.closed_through else None
