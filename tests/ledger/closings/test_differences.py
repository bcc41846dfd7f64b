"""As reported, now, because; the chain of digests."""

import hashlib
import json
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from ledger.models import RateLoad
from ledger.money.rates import load_rates
from ledger.recognition.actions import rate_updates

pytestmark = pytest.mark.django_db


def test_nothing_differs_after_closing(transaction_ids, close_month, list_differences):
    close_month()
    assert list_differences() == []


def test_a_change_of_a_reopened_month_is_explained(
    api, books, bank, office, transaction_ids, close_month, reopen_month, list_differences
):
    close_month()
    reopen_month()
    late = books.create_transaction(bank, "-8.00", "2026-03-31")["id"]
    books.set_categorizations(late, {"categoryId": office, "plSplit": {"ga": -8}})
    [created] = api.get("events", {"type": "transaction.created", "limit": 100}).json()[-1:]
    [split] = api.get("events", {"type": "transaction.split"}).json()[-1:]
    result = {(each["figure"]): each for each in list_differences()}
    assert result == {
        "balance": {
            "figure": "balance",
            "accountId": bank,
            "was": -100,
            "is": -108,
            "difference": -8,
            "because": [created["id"]],
            "rates": False,
        },
        "outflow": {
            "figure": "outflow",
            "accountId": bank,
            "was": 100,
            "is": 108,
            "difference": 8,
            "because": [created["id"]],
            "rates": False,
        },
        "profitAndLoss": {
            "figure": "profitAndLoss",
            "categoryId": office,
            "plType": "ga",
            "was": 100,
            "is": 108,
            "difference": 8,
            "because": [split["id"]],
            "rates": False,
        },
    }
    close_month()
    assert list_differences() == []
    assert [each["difference"] for each in list_differences(version=1)] == [-8, 8, 8]


def test_undone_changes_are_no_difference(
    api, books, bank, transaction_ids, close_month, reopen_month, list_differences
):
    close_month()
    reopen_month()
    late = books.create_transaction(bank, "-8.00", "2026-03-31")["id"]
    assert len(list_differences()) == 2
    api.delete(f"transactions/{late}")
    assert list_differences() == []


def test_bulk_operations_are_one_entry(api, books, bank, transaction_ids, close_month, reopen_month, list_differences):
    close_month()
    reopen_month()
    rows = [{"accountId": bank, "date": "2026-03-02", "amountValue": "-1.00"} for _ in range(3)]
    api.post("transactions/import", {"transactions": rows})
    [imported] = api.get("events", {"type": "import.finished"}).json()
    assert {tuple(each["because"]) for each in list_differences()} == {(imported["id"],)}
    api.post("transactions/uncategorize", {"selection": {"mode": "all", "confirm": True}})
    [uncategorized] = api.get("events", {"type": "transactions.uncategorized"}).json()
    because = {each["figure"]: each["because"] for each in list_differences()}
    assert because["profitAndLoss"] == [uncategorized["id"]]


def test_balances_of_later_months_are_explained_too(
    api, books, bank, transaction_ids, close_month, reopen_month, list_differences
):
    close_month("2026-04")
    reopen_month("2026-03")
    books.create_transaction(bank, "-8.00", "2026-03-31")
    [difference] = list_differences("2026-04")
    assert (difference["figure"], difference["difference"]) == ("balance", -8)
    assert len(difference["because"]) == 1


def test_recurring_revenue_is_explained(api, transaction_ids, close_month, reopen_month, list_differences):
    customer = api.post("counterparties", {"type": "customer", "name": "Initech"}).json()["id"]
    subscription = api.post("subscriptions", {"customerId": customer}).json()["id"]
    close_month()
    reopen_month()
    body = {
        "subscriptionId": subscription,
        "effectiveDate": "2026-03-01",
        "committedDate": "2026-02-01",
        "amountValue": "10.00",
        "amountCurrency": "EUR",
    }
    api.post("subscription_events", body)
    [created] = api.get("events", {"type": "subscriptionEvent.created"}).json()
    result = {(each["mrrType"], each["movement"]): each for each in list_differences()}
    assert {key: each["is"] for key, each in result.items()} == {
        ("mrr", "new"): 10,
        ("mrr", "end"): 10,
        ("cmrr", "start"): 10,
        ("cmrr", "end"): 10,
    }
    assert {tuple(each["because"]) for each in result.values()} == {(created["id"],)}


@pytest.fixture
def dollars(api, books, office):
    account = books.create_account(name="Dollars", defaultCurrency="USD")
    paid = books.create_transaction(account, "-100.00", "2026-03-15", amountCurrency="USD")["id"]
    books.set_categorizations(paid, {"categoryId": office, "plSplit": {"ga": -100}})
    return account


def load(text):
    load_rates(data=text.encode(), source="test", now=datetime.now(tz=UTC))
    RateLoad.objects.exclude(source="test").update(revalued_time=datetime.now(tz=UTC))
    rate_updates.convert_results_to_new_rates(now=datetime.now(tz=UTC))


def test_late_rates_are_stored_and_figures_stay_as_reported(api, dollars, close_month, list_differences):
    close_month()
    before = api.get("closings/2026-03").json()["figures"]
    load("Date,USD\n2026-03-13,2\n2026-03-31,4\n")
    result = {each["figure"]: each for each in list_differences()}
    assert (result["balance"]["is"], result["outflow"]["is"], result["profitAndLoss"]["is"]) == (-25, 50, 50)
    assert {(tuple(each["because"]), each["rates"]) for each in result.values()} == {((), True)}
    assert api.get("closings/2026-03").json()["figures"] == before
    months = {"startMonth": "2026-03", "endMonth": "2026-04"}
    [now] = api.post("data/profitAndLoss", months).json()
    [reported] = api.post("data/profitAndLoss", months | {"asReported": True}).json()
    assert now["actual"] == 50
    assert reported["actual"] == next(each["value"] for each in before if each["figure"] == "profitAndLoss")


def test_profit_and_loss_as_reported(api, books, bank, office, transaction_ids, close_month, reopen_month):
    books.set_categorizations(transaction_ids[1], {"categoryId": office, "plSplit": {"ga": -40}})
    close_month()
    query = {"startMonth": "2026-03", "endMonth": "2026-04", "asReported": True, "comparison": "previousPeriod"}
    rows = {row["month"]: row for row in api.post("data/profitAndLoss", query).json()}
    assert (rows["2026-03"]["actual"], rows["2026-04"]["actual"]) == (100, 40)
    assert rows["2026-04"]["comparisonActual"] == 100


def test_the_chain_is_verified_by_what_the_api_answers(api, books, bank, transaction_ids, close_month, reopen_month):
    books.create_transaction(bank, "0.10", "2026-03-31")
    close_month("2026-04")
    reopen_month("2026-04")
    close_month("2026-04")
    previous = None
    closings = [
        api.get("closings/2026-03").json(),
        *(api.get("closings/2026-04", {"version": n}).json() for n in (1, 2)),
    ]
    for closing in closings:
        document = {
            "companyId": str(api.company.id),
            "month": closing["month"],
            "version": closing["version"],
            "figures": closing["figures"],
            "previousDigest": previous,
        }
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert hashlib.sha256(text.encode()).hexdigest() == closing["digest"]
        assert closing["previousDigest"] == previous
        previous = closing["digest"]


def check():
    out = StringIO()
    call_command("rebuild_derived", "--check", stdout=out, stderr=out)
    return out.getvalue()


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE ledger_closing SET figures = jsonb_set(figures, '{0,value}', '\"1.00\"') WHERE month = '2026-03-01'",
        "UPDATE ledger_closing SET digest = repeat('0', 64) WHERE month = '2026-03-01'",
        "DELETE FROM ledger_closing WHERE month = '2026-03-01'",
    ],
)
def test_the_check_finds_what_was_altered_by_hand(transaction_ids, close_month, tampering):
    close_month("2026-04")
    assert "All derived tables are correct." in check()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE ledger_closing DISABLE TRIGGER ALL")
        cursor.execute(tampering)
        cursor.execute("ALTER TABLE ledger_closing ENABLE TRIGGER ALL")
    with pytest.raises(CommandError):
        check()


def test_derived_tables_are_rebuilt_while_months_are_closed(transaction_ids, dollars, close_month, list_differences):
    close_month()
    call_command("rebuild_derived", stdout=StringIO(), stderr=StringIO())
    assert list_differences() == []
    assert "All derived tables are correct." in check()


def test_values_are_exact_for_large_amounts(api, books, bank, office, close_month, list_differences):
    books.create_transaction(bank, "999999999999999.99", "2026-03-01")
    close_month()
    text = api.get("closings/2026-03").content.decode()
    assert "999999999999999.99" in text
    assert list_differences() == []


def test_rates_that_came_before_a_version_are_no_reason_for_what_came_later(
    api, books, dollars, office, close_month, reopen_month, list_differences
):
    close_month()
    load("Date,USD\n2026-03-13,2\n2026-03-31,4\n")
    RateLoad.objects.update(revalued_time=datetime.now(tz=UTC))
    reopen_month()
    close_month()
    assert list_differences() == []
    reopen_month()
    late = books.create_transaction(dollars, "-8.00", "2026-03-30", amountCurrency="USD")["id"]
    books.set_categorizations(late, {"categoryId": office, "plSplit": {"ga": -8}})
    assert {each["rates"] for each in list_differences()} == {False}
    assert {each["figure"]: each["rates"] for each in list_differences(version=1)} == {
        "balance": False,
        "outflow": False,  # converted when they are read; an entry touched them
        "profitAndLoss": True,
    }
