"""One category for many transactions, taking it back, and who still waits, over HTTP."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from companies.models import AuditEntry
from ledger.bulk.planner_statistics import analyze_tables
from ledger.models import Categorization, Posting, Transaction
from ledger.recognition.actions.postings import find_posting_differences
from tests.ledger.conftest import get_error_codes, list_month_results, list_pl_amounts

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]


CONFIRMATION_REQUIRED = ("confirmation_required", {"#/selection/confirm": "confirmation_required"})


def select_by_ids(*ids):
    return {"mode": "ids", "ids": list(ids)}


def test_bulk_categorization_assigns_whole_amounts_to_one_category(api, books, bank, acme):
    one, two, three = (books.create_transaction(bank, amount) for amount in ("-10.00", "-20.00", "-30.00"))
    books.set_categorizations(one["id"], {"categoryId": books.get_category_id("support"), "plSplit": {"cogs": -1}})
    body = {"selection": select_by_ids(one["id"], two["id"], one["id"]), "categoryId": books.get_category_id("hosting")}
    answer = api.post("transactions/categorize", body | {"usingDateRule": {"type": "previousMonth"}})
    assert answer.json() == {"success": True, "affected": 2}
    assert list_month_results(acme) == {("2026-02", "cogs"): -30}
    assert [list_pl_amounts(part) for part in books.list_categorizations(one["id"])] == [{"cogs": -10}]
    assert [each["id"] for each in api.get("transactions", {"open": "true"}).json()] == [three["id"]]
    entry = AuditEntry.objects.for_company(acme.id).get(action="transactions.categorized")
    assert entry.after["selection"] == select_by_ids(one["id"], two["id"])


def test_bulk_selection_may_be_filter_with_excluded_ids(api, books, bank, acme):
    rows = [books.create_transaction(bank, "-10.00", description=f"Nimbus {n}") for n in range(3)]
    books.create_transaction(bank, "-5.00")
    selection = {"mode": "filter", "filter": {"q": "nimbus", "open": True}, "excludedIds": [rows[0]["id"]]}
    body = {"selection": selection, "categoryId": books.get_category_id("hosting"), "passThroughTax": -1.5}
    assert api.post("transactions/categorize", body).json() == {"success": True, "affected": 2}
    (entry,) = api.get("audit_log", {"limit": 1}).json()
    excluded = {"excludedIds": [rows[0]["id"]]}
    assert entry["after"]["selection"] == {"mode": "filter", "filter": {"q": "nimbus", "open": True}} | excluded
    assert list_month_results(acme) == {("2026-03", "cogs"): -17}
    assert books.list_categorizations(rows[1]["id"])[0]["passThroughTax"] == -1.5


def test_bulk_postings_are_converted_like_single_ones(api, books, set_exchange_rates, acme):
    """Amounts whose base value has no end of decimals, one of nothing and one that is pending."""
    set_exchange_rates(USD="1.0857", JPY="161.37", GBP="0.83337")
    rows = []
    for currency, amounts in {
        "USD": ("-99999999999.99", "0.01", "0.00"),
        "JPY": ("7", "-1"),
        "EUR": ("3.33",),
    }.items():
        account = books.create_account(defaultCurrency=currency)
        rows += [books.create_transaction(account, amount, "2026-03-05") for amount in amounts]
        rows.append(books.create_transaction(account, "5", pending=True))
    ids = [row["id"] for row in rows]
    for row in rows:
        part = {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": float(row["amountValue"])}}
        assert books.set_categorizations(row["id"], part).status_code == 200
    single = list_postings()
    body = {"selection": select_by_ids(*ids), "categoryId": books.get_category_id("hosting")}
    assert api.post("transactions/categorize", body).json()["affected"] == len(ids)
    assert list_postings() == single
    assert len(single) == 5
    assert not find_posting_differences(acme.id)


def test_bulk_categorization_without_rate_fails_and_stores_nothing(api, books, set_exchange_rates):
    row = books.create_transaction(books.create_account(defaultCurrency="GBP"), "-10.00")
    body = {"selection": select_by_ids(row["id"]), "categoryId": books.get_category_id("hosting")}
    refused = api.post("transactions/categorize", body)
    assert (refused.status_code, refused.json()["code"]) == (409, "rate_missing")
    assert not Categorization.objects.exists()


def list_postings():
    rows = Posting.objects.values_list("categorization_id", "pl_type", "month", "category_id", "amount", "base_amount")
    owners = dict(Categorization.objects.values_list("id", "transaction_id"))
    return sorted((owners[part], *values) for part, *values in rows)


def test_bulk_selection_of_all_needs_confirmation(api, books, bank):
    for _ in range(2):
        books.create_transaction(bank)
    body = {"categoryId": books.get_category_id("hosting")}
    refused = api.post("transactions/categorize", body | {"selection": {"mode": "all"}})
    assert (refused.json()["code"], get_error_codes(refused)) == CONFIRMATION_REQUIRED
    assert not Categorization.objects.exists()
    done = api.post("transactions/categorize", body | {"selection": {"mode": "all", "confirm": True}})
    assert done.json()["affected"] == 2


@pytest.mark.parametrize("act", ["categorize", "uncategorize"])
@pytest.mark.parametrize("filters", [{}, {"q": ""}])
def test_bulk_selection_with_empty_filter_needs_confirmation(api, books, bank, act, filters):
    for _ in range(2):
        books.set_categorizations(
            books.create_transaction(bank)["id"],
            {"categoryId": books.get_category_id("support"), "plSplit": {"cogs": -1}},
        )
    selection = {"mode": "filter", "filter": filters}
    body = {"selection": selection} | ({"categoryId": books.get_category_id("hosting")} if act == "categorize" else {})
    for sent in (selection, selection | {"confirm": False}, selection | {"excludedIds": []}):
        refused = api.post(f"transactions/{act}", body | {"selection": sent})
        assert (refused.status_code, refused.json()["code"], get_error_codes(refused)) == (400, *CONFIRMATION_REQUIRED)
    assert Categorization.objects.filter(cogs=-1).count() == 2
    done = api.post(f"transactions/{act}", body | {"selection": selection | {"confirm": True}})
    assert done.json()["affected"] == 2


def test_invalid_bulk_categorization_is_rejected_and_nothing_is_stored(api, books, bank):
    made = books.create_transaction(bank)
    for change, pointer, code in [
        ({"selection": {"mode": "some"}}, "#/selection/mode", "invalid_choice"),
        ({"selection": {"mode": "ids"}}, "#/selection/ids", "required"),
        ({"selection": {"mode": "ids", "ids": ["x"]}}, "#/selection/ids/0", "unknown_id"),
        ({"selection": {"mode": "ids", "ids": [7]}}, "#/selection/ids", "invalid_value"),
        ({"selection": {"mode": "ids", "ids": ["x"] * 10_001}}, "#/selection/ids", "too_many_ids"),
        ({"selection": {"mode": "filter"}}, "#/selection/filter", "required"),
        (
            {"selection": {"mode": "filter", "filter": {"color": "red"}}},
            "#/selection/filter/color",
            "unknown_parameter",
        ),
        ({"selection": {"mode": "filter", "filter": {"sort": "date"}}}, "#/selection/filter/sort", "unknown_parameter"),
        (
            {"selection": {"mode": "filter", "filter": {"minAmount": 5}}},
            "#/selection/filter/minAmount",
            "invalid_filter",
        ),
        ({"categoryId": "00000000-0000-7000-8000-000000000000"}, "#/categoryId", "unknown_id"),
        ({"plType": "ga"}, "#/plType", "pl_type_not_allowed"),
        ({"counterparty": {"id": "00000000-0000-7000-8000-000000000000"}}, "#/counterparty/id", "unknown_id"),
        ({"passThroughTax": 1}, "#/passThroughTax", "wrong_sign"),
        ({"passThroughTax": -0.001}, "#/passThroughTax", "too_many_decimals"),
    ]:
        body = {"selection": select_by_ids(made["id"]), "categoryId": books.get_category_id("hosting")} | change
        answer = api.post("transactions/categorize", body)
        assert answer.status_code == 400, change
        assert get_error_codes(answer) == {pointer: code}, change
        assert not Categorization.objects.exists(), change


def test_bulk_tax_above_one_amount_is_rejected_and_nothing_is_stored(api, books, bank):
    ids = [books.create_transaction(bank, amount)["id"] for amount in ("-10.00", "-1.00")]
    body = {"selection": select_by_ids(*ids), "categoryId": books.get_category_id("hosting"), "passThroughTax": -2}
    answer = api.post("transactions/categorize", body)
    assert (answer.status_code, answer.json()["code"]) == (400, "split_exceeds_amount")
    assert not Categorization.objects.exists()


def test_bulk_category_with_several_lines_needs_a_line(api, books, bank, acme):
    made = books.create_transaction(bank)
    category = api.post("categories", {"name": "People", "plTypes": ["pd", "ga"]}).json()["id"]
    body = {"selection": select_by_ids(made["id"]), "categoryId": category}
    assert get_error_codes(api.post("transactions/categorize", body)) == {"#/plType": "pl_type_needed"}
    assert not Categorization.objects.exists()
    assert api.post("transactions/categorize", body | {"plType": "pd"}).json()["affected"] == 1
    assert list_month_results(acme) == {("2026-03", "pd"): -100}


def test_uncategorizing_reopens_transactions(api, books, bank, acme):
    ids = [books.create_transaction(bank)["id"] for _ in range(3)]
    body = {"selection": select_by_ids(*ids[:2]), "categoryId": books.get_category_id("hosting")}
    api.post("transactions/categorize", body)
    answer = api.post("transactions/uncategorize", {"selection": select_by_ids(*ids)})
    assert answer.json() == {"success": True, "affected": 2, "countersCreated": 0, "countersSkipped": 0}
    assert list_month_results(acme) == {}
    assert Transaction.objects.filter(categorized_value=0).count() == 3
    again = api.post("transactions/uncategorize", {"selection": {"mode": "all", "confirm": True}})
    assert again.json()["affected"] == 0


def test_categorization_status_lists_open_ids_in_requested_order(api, books, bank):
    closed, one, two = (books.create_transaction(bank, amount)["id"] for amount in ("-10.00", "-20.00", "30.50"))
    api.post(
        "transactions/categorize", {"selection": select_by_ids(closed), "categoryId": books.get_category_id("hosting")}
    )
    unknown = "00000000-0000-7000-8000-000000000000"
    answer = api.post("transactions/categorization_status", {"transactionIds": [two, unknown, closed, "x", one, two]})
    assert answer.json() == {
        "openTransactionIds": [two, one],
        "amountsById": {
            two: {"value": 30.5, "currency": "EUR"},
            closed: {"value": -10, "currency": "EUR"},
            one: {"value": -20, "currency": "EUR"},
        },
    }


def test_categorization_status_is_allowed_for_readers(acme, make_api):
    reader = make_api(acme, "transactions:read")
    assert reader.post("transactions/categorization_status", {"transactionIds": []}).status_code == 200
    many = {"transactionIds": [f"00000000-0000-7000-8000-{n:012}" for n in range(10_001)]}
    assert get_error_codes(reader.post("transactions/categorization_status", many)) == {
        "#/transactionIds": "too_many_ids"
    }
    assert reader.post("transactions/uncategorize", {}).status_code == 403


def count_statements(api, books, bank, count):
    """How many statements it takes to categorize, ask for and uncategorize so many transactions."""
    rows = [{"accountId": bank, "date": "2026-01-05", "fromTo": str(count), "amountValue": "-1.00"}] * count
    batch = api.post("transactions/import", {"transactions": rows}).json()["importId"]
    ids = [str(each) for each in Transaction.objects.filter(import_batch=batch).values_list("id", flat=True)]
    selection = select_by_ids(*ids)
    counts = []
    for path, body in (
        ("categorize", {"selection": selection, "categoryId": books.get_category_id("hosting")}),
        ("categorization_status", {"transactionIds": ids}),
        ("uncategorize", {"selection": selection}),
    ):
        analyze_tables("ledger_transaction", "ledger_posting")  # as after a commit
        with CaptureQueriesContext(connection) as captured:
            assert api.post(f"transactions/{path}", body).status_code == 200
        counts.append(sum(not query["sql"].startswith("ANALYZE") for query in captured))
    return counts


def test_bulk_categorization_queries_do_not_grow_with_rows(api, books, bank):
    count_statements(api, books, bank, 1)  # rates are in memory from now on
    assert count_statements(api, books, bank, 1000) == count_statements(api, books, bank, 10_000)


def test_bulk_categorization_reads_grow_linearly(api, books, bank):
    """Also where the database knows nothing yet of its tables, as after the first import into a new one.
    With some hundred rows it takes any index: so few are read in no time."""
    reset_statistics("ledger_transaction", "ledger_categorization")
    rows = [{"accountId": bank, "date": "2026-03-05", "amountValue": "-1", "fromTo": f"Name {n}"} for n in range(2000)]
    assert api.post("transactions/import", {"transactions": rows}).json()["count"] == 2000
    before = count_index_reads()
    body = {"selection": {"mode": "all", "confirm": True}, "categoryId": books.get_category_id("hosting")}
    assert api.post("transactions/categorize", body).json()["affected"] == 2000
    assert count_index_reads() - before < 10 * 2000


def test_foreign_keys_are_checked_by_index_where_the_table_was_small(api, books, bank):
    """A connection keeps the plan that it made for a table of one row, which PostgreSQL knew."""
    reset_statistics("ledger_transaction", "ledger_categorization", "ledger_posting")
    body = {"selection": {"mode": "all", "confirm": True}, "categoryId": books.get_category_id("hosting")}
    for part, count in enumerate((1, 1, 2000)):
        rows = [{"accountId": bank, "date": "2026-03-05", "amountValue": "-1", "fromTo": str(part)}] * count
        assert api.post("transactions/import", {"transactions": rows}).json()["count"] == count
        analyze_tables("ledger_transaction")  # as after a commit
        if part == 1:
            analyze_tables("ledger_categorization")
        before = count_index_reads()
        assert api.post("transactions/categorize", body).status_code == 200
    assert count_index_reads() - before < 20 * 2000


def reset_statistics(*tables: str) -> None:
    """The database sees the tables as if they were new: what it gathered while other tests ran is no measure."""
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(tables)} CASCADE")
        for table in tables:  # a column's statistics go with its type, even where that stays the same
            cursor.execute("SELECT attname FROM pg_stats WHERE tablename = %s", [table])
            for (column,) in cursor.fetchall():
                cursor.execute(
                    f"ALTER TABLE {table} ALTER COLUMN {column} TYPE {get_column_type(cursor, table, column)}"
                )


def get_column_type(cursor, table: str, column: str) -> str:
    cursor.execute(
        "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = %s::regclass AND attname = %s",
        [table, column],
    )
    return str(cursor.fetchone()[0])


def count_index_reads() -> int:
    """How many rows of parts this transaction has got from their indexes so far."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_stat_get_xact_tuples_fetched('ledger_categorization'::regclass) + coalesce(sum("
            "pg_stat_get_xact_tuples_returned(indexrelid)), 0) FROM pg_index WHERE indrelid = "
            "'ledger_categorization'::regclass"
        )
        return int(cursor.fetchone()[0])
