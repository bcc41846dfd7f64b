"""What late exchange rates may change in closed months is all that their setting opens, also for psql."""

from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction

from ledger.models import Posting, RecurringRevenueMonth
from ledger.money.rates import load_rates
from tests.ledger.closings.conftest import run_statement
from tests.ledger.closings.test_differences import dollars, load
from tests.ledger.closings.test_protection import event, subscription

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]
assert dollars  # fixtures
assert subscription

ANNOUNCED = "SET LOCAL tidebook.rates = 'on'; "


@pytest.fixture
def closed_month(api, transaction_ids, dollars, close_month):
    """Close March with a payment in euros and one in dollars."""
    close_month()


RESULTS = {
    "a base amount that no rate gives": "UPDATE ledger_posting SET base_amount = base_amount - 1",
    "a base amount of the base currency": "UPDATE ledger_posting SET base_amount = -99 WHERE base_amount = -100",
    "an amount": "UPDATE ledger_posting SET amount = amount - 1",
    "an amount and what it gives": "UPDATE ledger_posting SET amount = 2 * amount, base_amount = 2 * base_amount",
    "the line": "UPDATE ledger_posting SET pl_type = 'pd'",
    "the month": "UPDATE ledger_posting SET month = '2026-04-01'",
    "a posting that goes": "DELETE FROM ledger_posting",
    "a posting that comes": """
        INSERT INTO ledger_posting (company_id, categorization_id, pl_type, month, category_id, amount, base_amount)
        SELECT company_id, categorization_id, 'pd', month, category_id, 1, 1 FROM ledger_posting LIMIT 1""",
    "a categorization that goes": "DELETE FROM ledger_categorization",
    "a transaction that goes": "DELETE FROM ledger_transaction WHERE date < '2026-04-01'",
    "a monthly result": "UPDATE ledger_monthresult SET base_amount = base_amount - 1",
    "a monthly result that goes": "DELETE FROM ledger_monthresult",
    "a balance": "UPDATE ledger_daymovement SET amount = amount - 1",
}


def test_setting_of_rates_opens_nothing_else(closed_month):
    for statement in RESULTS.values():
        with pytest.raises(IntegrityError, match="closed through 2026-03-31"), transaction.atomic():
            run_statement(ANNOUNCED + statement)


def test_amounts_of_closed_postings_stay_without_a_difference_too(closed_month):
    with pytest.raises(IntegrityError, match="closed through"), transaction.atomic():
        run_statement("UPDATE ledger_posting SET amount = 2 * amount")


def test_results_are_not_changed_after_a_conversion_in_the_same_transaction(closed_month, list_differences):
    load("Date,USD\n2026-03-13,2\n")
    conversion = "UPDATE ledger_posting SET base_amount = -50 WHERE amount = -100 AND base_amount <> -100; "
    for change in ("UPDATE ledger_monthresult SET base_amount = base_amount - 1", "DELETE FROM ledger_posting"):
        for order in (f"{ANNOUNCED}{conversion} SET LOCAL tidebook.rates = 'off'; {change}", ANNOUNCED + change):
            with pytest.raises(IntegrityError, match="closed through"), transaction.atomic():
                run_statement(order)


def test_late_rate_converts_a_closed_posting(closed_month, list_differences):
    load("Date,USD\n2026-03-13,2\n")
    assert sorted(Posting.objects.values_list("amount", "base_amount")) == [(-100, -100), (-100, -50)]
    assert {each["rates"] for each in list_differences()} == {True}


def test_rebuild_converts_closed_months_at_rates_that_nothing_was_converted_with(closed_month, list_differences):
    load_rates(data=b"Date,USD\n2026-03-13,4\n", source="test", now=datetime.now(tz=UTC))
    call_command("rebuild_derived", stdout=StringIO(), stderr=StringIO())
    assert sorted(Posting.objects.values_list("amount", "base_amount")) == [(-100, -100), (-100, -25)]


def test_rebuild_changes_no_closed_result_that_was_altered_by_hand(closed_month):
    with transaction.atomic():
        run_statement("UPDATE ledger_transaction SET notes = ''")  # no check is pending any more
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE ledger_posting DISABLE TRIGGER USER")
            cursor.execute("UPDATE ledger_posting SET base_amount = -7 WHERE amount = -100 AND base_amount = -100")
            cursor.execute("ALTER TABLE ledger_posting ENABLE TRIGGER USER")
        with pytest.raises(CommandError, match="1 companies failed"):
            call_command("rebuild_derived", stdout=StringIO(), stderr=StringIO())
        transaction.set_rollback(True)


# ---------------------------------------------------------------------------------------------- recurring revenue


@pytest.fixture
def recurring_revenue(api, transaction_ids, subscription, close_month):
    """Close March with recurring revenue in euros and dollars."""
    for amount, currency in (("10.00", "EUR"), ("30.00", "USD")):
        body = event(subscription, "2026-03-05", amountValue=amount, amountCurrency=currency)
        assert api.post("subscription_events", body).status_code == 201
    close_month()


RECURRING = {
    "movement": "UPDATE ledger_recurringmonth SET new = new + 1",
    "count": "UPDATE ledger_recurringmonth SET new_count = new_count + 1",
    "month that goes": "DELETE FROM ledger_recurringmonth",
    "month that moves": "UPDATE ledger_recurringmonth SET month = '2026-02-01' WHERE month = '2026-03-01'",
    "month that comes": """
        INSERT INTO ledger_recurringmonth SELECT company_id, basis, '2026-02-01', new, new_count, reactivate,
               reactivate_count, upgrade, upgrade_count, downgrade, downgrade_count, cancel, cancel_count,
               currency, currency_count FROM ledger_recurringmonth WHERE month = '2026-03-01'""",
    "older rates": "UPDATE ledger_recurringbook SET rates_version = 0",
    "no rates": "DELETE FROM ledger_recurringbook",
}


def test_recurring_revenue_of_closed_months_stays(recurring_revenue):
    for announced in ["", ANNOUNCED]:
        for statement in RECURRING.values():
            with pytest.raises(IntegrityError, match="closed through 2026-03-31"), transaction.atomic():
                run_statement(announced + statement)


def test_recurring_revenue_of_open_months_is_free(recurring_revenue):
    run_statement("UPDATE ledger_recurringmonth SET new = new + 1 WHERE month > '2026-03-31'")


def test_late_rates_convert_recurring_revenue_of_closed_months_once(api, recurring_revenue, list_differences):
    load("Date,USD\n2026-03-31,4\n")
    found = {(each["mrrType"], each["movement"]): each for each in list_differences()}
    assert {(each["is"], each["rates"]) for each in found.values()} == {(7.5, True)}
    for statement in ("UPDATE ledger_recurringmonth SET new = new + 1", "DELETE FROM ledger_recurringmonth"):
        with pytest.raises(IntegrityError, match="closed through"), transaction.atomic():
            run_statement(ANNOUNCED + statement)


def test_stale_recurring_revenue_is_computed_again_while_months_are_closed(
    api, recurring_revenue, subscription, list_differences
):
    customer = api.post("counterparties", {"type": "customer", "name": "Other"}).json()["id"]
    other = api.post("subscriptions", {"customerId": customer}).json()["id"]
    assert api.post("subscription_events", event(other, "2026-04-01")).status_code == 201
    run_statement("UPDATE ledger_recurringbook SET stale = true")
    body = {"mrrType": "mrr", "startMonth": "2026-04", "endMonth": "2026-04"}
    [row] = api.post("data/monthlyData", body).json()
    assert row["new"] == 10
    assert list_differences() == []
    call_command("rebuild_derived", stdout=StringIO(), stderr=StringIO())
    assert RecurringRevenueMonth.objects.filter(month="2026-04-01", basis="mrr").exists()


# ---------------------------------------------------------------------------------------------- other settings


def test_notes_of_changed_figures_are_written_by_triggers_only(closed_month, reopen_month, books):
    reopen_month()
    account = books.create_account(name="Till")
    books.create_transaction(account, "-8.00", "2026-03-30")
    for statement in (
        "UPDATE ledger_figurechange SET amount = 0",
        "DELETE FROM ledger_figurechange",
        "UPDATE ledger_changeentry SET token = ''",
        "DELETE FROM ledger_changeentry",
        """INSERT INTO ledger_figurechange (company_id, id, token, kind, subject_id, label, day, rates)
           SELECT id, gen_random_uuid(), 'x', 'result', id, 'ga', '2026-03-01', true FROM companies_company""",
    ):
        with pytest.raises(IntegrityError, match=r"notes of changed figures|append-only"), transaction.atomic():
            run_statement(statement)


@pytest.mark.parametrize("change", ["system_status = 'sandbox'", "demonstration = '{}'"])
def test_no_company_becomes_one_that_may_be_emptied(acme, closed_month, change):
    statement = f"UPDATE companies_company SET {change} WHERE id = '{acme.id}'"
    with pytest.raises(IntegrityError, match="only a new company"), transaction.atomic():
        run_statement(statement)
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        run_statement(f"SET LOCAL tidebook.deleted_company = '{acme.id}'; DELETE FROM companies_auditentry")


def test_no_date_of_deletion_opens_closings(closed_month):
    run_statement("UPDATE companies_company SET system_deletion_scheduled_time = '2020-01-01'")
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        run_statement("DELETE FROM ledger_closing")
