"""What is actual beside what was planned: the variance, and whether it is good for the result."""

from datetime import date

import pytest

from tests.analytics.queries.test_revenue_and_expenses import book_categorized, create_plan_item
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db
MONTH = {"startMonth": "2026-11", "endMonth": "2026-11"}


def list_variances(query_data, **more):
    rows = query_data("profitAndLoss", **MONTH, **more)
    return {row["plType"]: (row["variance"], row["favourable"]) for row in rows}


def test_variance_is_actual_minus_planned(api, query_data, books, bank, set_today):
    set_today(date(2026, 11, 26))
    for line, key, actual, planned, variance, favourable in [
        ("revenue", "revenueRecurring", "1200.00", 1000, 200, True),
        ("revenue", "revenueRecurring", "900.00", 1000, -100, False),
        ("cogs", "hosting", "-120.00", 100, 20, False),
        ("ga", "officeAndAdmin", "-80.50", 100, -19.5, True),
        ("no", "interest", "-40.00", -30, -10, False),
        ("no", "interest", "-20.00", -30, 10, True),
        ("revenue", "revenueRecurring", "1000.00", 1000, 0, None),
        ("revenue", "revenueRecurring", "1000.00", None, None, None),
    ]:
        with undo_changes():
            book_categorized(books, bank, actual, "2026-11-25", key, line)
            if planned is not None:
                create_plan_item(api, books, key, line, "2026-11", planned)
            assert list_variances(query_data) == {line: (variance, favourable)}


def test_variance_of_neutral_line_has_no_favourable_flag(api, query_data, books, bank, set_today):
    set_today(date(2026, 11, 26))
    category = api.post("categories", {"name": "Neutral", "plTypes": ["neutral"]}).json()["id"]
    row = books.create_transaction(bank, "70.00", "2026-11-05")["id"]
    assert books.set_categorizations(row, {"categoryId": category, "plSplit": {"neutral": 70}}).status_code == 200
    amount = {"type": "fixed", "amount": {"value": 50, "currency": "EUR"}}
    item = {"month": "2026-11", "plType": "neutral", "categoryId": category, "frequency": 1, "amount": amount}
    assert api.post("plan_items", item).status_code == 201
    assert list_variances(query_data) == {"neutral": (20, None)}


def test_current_month_is_compared_with_full_month_plan(api, query_data, books, bank, set_today):
    """Salaries are paid on the 25th: the month is at 102 %, not at 117.9 % of a plan by days."""
    set_today(date(2026, 11, 26))
    book_categorized(books, bank, "-10200.00", "2026-11-25", "officeAndAdmin", "ga")
    create_plan_item(api, books, "officeAndAdmin", "ga", "2026-11", 10000)
    (row,) = query_data("profitAndLoss", **MONTH)
    assert (row["planned"], row["percentage"], row["variance"], row["favourable"]) == (10_000, 102, 200, False)
    (row,) = query_data("profitAndLoss", **MONTH, toDate=True)
    assert row["planned"] == 8666.67
