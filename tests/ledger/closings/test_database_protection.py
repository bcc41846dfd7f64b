"""The database refuses what would change a closed figure, whoever sends the statement."""

import pytest
from django.db import IntegrityError, transaction

from tests.ledger.closings.conftest import run_statement

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]

STATEMENTS = [
    "UPDATE ledger_transaction SET amount_value = amount_value - 1, categorized_value = amount_value - 1",
    "UPDATE ledger_transaction SET pending = true",
    "UPDATE ledger_transaction SET date = date + 40",
    "DELETE FROM ledger_posting",
    "DELETE FROM ledger_categorization",
    "UPDATE ledger_posting SET base_amount = base_amount + 1",
    "UPDATE ledger_monthresult SET base_amount = base_amount + 1",
    "DELETE FROM ledger_daymovement",
    "UPDATE ledger_monthmovement SET amount = 0",
    "UPDATE ledger_categorization SET ga = NULL, no = value",
    "UPDATE companies_company SET closed_through = NULL",
    "UPDATE companies_company SET closed_through = '2026-01-31'",
    "UPDATE companies_company SET base_currency = 'USD'",
    "UPDATE ledger_closing SET figures = '[]'",
    "DELETE FROM ledger_closing",
    "UPDATE ledger_monthresult SET count = 0",
    "ALTER TABLE ledger_closing ENABLE TRIGGER closing_never_emptied; TRUNCATE ledger_closing CASCADE",
    "ALTER TABLE ledger_reopening ENABLE TRIGGER reopening_never_emptied; TRUNCATE ledger_reopening",
]

TRUNCATED = [
    *("ledger_daymovement", "ledger_monthmovement", "ledger_monthresult", "ledger_posting"),
    *("ledger_categorization", "ledger_transaction", "ledger_subscriptionevent"),
]


def test_the_database_refuses(closed_month):
    for statement in STATEMENTS:
        with pytest.raises(IntegrityError), transaction.atomic():
            run_statement(statement)


def test_the_database_does_not_empty_tables_of_figures(closed_month):
    for table in TRUNCATED:
        statement = (
            f"ALTER TABLE {table} ENABLE TRIGGER closed_{table.partition('_')[2]}_never_emptied; TRUNCATE {table}"
        )
        with pytest.raises(IntegrityError, match="closed through 2026-03-31"), transaction.atomic():
            run_statement(f"{statement} CASCADE")


def test_reopenings_are_not_taken_away(closed_month, reopen_month):
    reopen_month()
    for statement in ("DELETE FROM ledger_reopening", "UPDATE ledger_reopening SET reason = ''"):
        with pytest.raises(IntegrityError), transaction.atomic():
            run_statement(statement)


def test_rows_of_open_months_stay_free_in_the_database(closed_month):
    run_statement("UPDATE ledger_transaction SET amount_value = -7 WHERE date > '2026-03-31'")
