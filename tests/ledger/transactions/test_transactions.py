"""Transactions over HTTP: booking, reading, changing, deleting, listing."""

import base64
import json
from urllib.parse import parse_qs, parse_qsl, urlsplit
from uuid import uuid4

import pytest

from companies.models import AuditEntry
from ledger.models import DayMovement, Transaction
from ledger.transactions import representation
from ledger.transactions.filter_fields import MAX_VALUES_PER_FILTER
from tests.ledger.conftest import get_error_codes

pytestmark = pytest.mark.django_db
MAX_REQUEST_LINE = 8190  # as config/gunicorn has it

FIELDS = [
    "id", "companyId", "accountId", "date", "fromTo", "description", "amountValue", "amountCurrency",
    "categorizationsAutoAssigned", "excludeFromAutoCategorization", "notes", "source", "assignedUserId",
    "bankProviderATransactionId", "bankProviderBTransactionId", "paymentProviderBalanceTransactionId",
    "paymentProviderInvoiceId", "paymentProviderCreditNoteId", "paymentProviderPaymentIntentId",
    "paymentProviderBillingEmail", "crmProviderPortalId", "crmProviderInvoiceId",
    "crmProviderCategorizationResolved", "accountingProviderAExpenseNumber", "accountingProviderAInvoiceNumber",
    "expenseProviderAExpenseId", "createdVendorId", "integrationId", "pending", "createdTime", "createdUserId",
    "lastUpdatedTime", "lastUpdatedUserId", "settlements", "categorizations", "externalId", "importId",
]  # fmt: skip


def test_transaction_is_returned_as_created_with_every_field(books, bank, api):
    made = books.create_transaction(
        bank, "-12.50", fromTo="Café", description="Two coffees", notes="with Jo", externalId="x1"
    )
    assert sorted(made) == sorted(FIELDS)
    assert made["amountValue"] == "-12.50"
    assert made["amountCurrency"] == "EUR"
    assert made["date"] == "2026-03-15"
    assert made["source"] == "manual"
    assert made["pending"] is False
    assert made["categorizations"] == {}
    assert made["createdUserId"] == made["lastUpdatedUserId"] == f"apiKey:{api.key[4:40]}"
    assert made["createdTime"].endswith("Z")
    assert made["importId"] is None
    assert made["externalId"] == "x1"
    assert books.get_transaction(made["id"]) == made


def test_transaction_deleted_during_read_is_not_found(books, bank, api, monkeypatch):
    row, read = books.create_transaction(bank)["id"], representation.list_transaction_dicts

    def read_late(rows, **more):
        rows.delete()
        return read(rows, **more)

    monkeypatch.setattr(representation, "list_transaction_dicts", read_late)
    assert api.get(f"transactions/{row}").status_code == 404


def test_amounts_have_the_decimals_of_their_currency(books):
    yen = books.create_account(defaultCurrency="JPY")
    assert books.create_transaction(yen, "-1200")["amountValue"] == "-1200"
    assert books.create_transaction(yen, "12.5", amountCurrency="USD")["amountValue"] == "12.50"


def test_provider_data_is_returned_by_field_name(books, bank):
    made = books.create_transaction(bank)
    Transaction.objects.filter(id=made["id"]).update(
        provider_data={"bankProviderATransactionId": "b-1", "crmProviderCategorizationResolved": True}
    )
    read = books.get_transaction(made["id"])
    assert read["bankProviderATransactionId"] == "b-1"
    assert read["crmProviderCategorizationResolved"] is True
    assert read["createdVendorId"] is None


def test_invalid_transaction_names_fields_and_stores_nothing(api, bank):
    for change, pointer, code in [
        ({"accountId": None}, "#/accountId", "must_not_be_null"),
        ({"accountId": "x"}, "#/accountId", "unknown_id"),
        ({"accountId": "00000000-0000-7000-8000-000000000000"}, "#/accountId", "unknown_id"),
        ({"date": "2026-02-30"}, "#/date", "invalid_date"),
        ({"date": "15.03.2026"}, "#/date", "invalid_value"),
        ({"amountValue": 12}, "#/amountValue", "invalid_decimal"),
        ({"amountValue": "1e3"}, "#/amountValue", "invalid_decimal"),
        ({"amountValue": "1.234"}, "#/amountValue", "too_many_decimals"),
        ({"amountValue": "1.0", "amountCurrency": "JPY"}, "#/amountValue", "too_many_decimals"),
        ({"amountCurrency": "XXX"}, "#/amountCurrency", "invalid_choice"),
        ({"pending": "yes"}, "#/pending", "invalid_value"),
        ({"description": "a\0b"}, "#/description", "invalid_characters"),
        ({"assignedUserId": "nobody"}, "#/assignedUserId", "unknown_id"),
    ]:
        body = {"accountId": bank, "date": "2026-03-15", "amountValue": "-1.00"} | change
        answer = api.post("transactions", body)
        assert answer.status_code == 400, answer.content
        assert get_error_codes(answer)[pointer] == code, change
        assert not Transaction.objects.exists(), change


def test_external_id_is_unique_within_account_and_free_after_deletion(api, books, bank, savings):
    first = books.create_transaction(bank, externalId="e1")
    books.create_transaction(savings, externalId="e1")
    body = {"accountId": bank, "date": "2026-03-15", "amountValue": "1", "externalId": "e1"}
    refused = api.post("transactions", body)
    assert (refused.status_code, refused.json()["code"]) == (409, "external_id_taken")
    assert Transaction.objects.count() == 2
    assert api.delete(f"transactions/{first['id']}").json() == {"success": True}
    assert api.post("transactions", body).status_code == 201


def test_update_changes_only_sent_fields_and_resource_can_be_sent_back(api, books, bank):
    made = books.create_transaction(bank, description="Before", notes="kept")
    path = f"transactions/{made['id']}"
    changed = api.put(path, {"description": "After", "pending": True, "nonsense": 1})
    assert changed.status_code == 200, changed.content
    assert changed.json()["description"] == "After"
    assert changed.json()["notes"] == "kept"
    assert changed["Ignored-Fields"] == "nonsense"
    whole = api.put(path, changed.json())
    assert "Ignored-Fields" not in whole.headers
    assert whole.json() == changed.json()
    assert api.put(path, {}).json() == changed.json()


def test_update_moves_account_balances(api, books, bank, savings, acme):
    made = books.create_transaction(bank, "-100.00")
    path = f"transactions/{made['id']}"
    api.put(path, {"amountValue": "-60.00", "date": "2026-04-01", "accountId": savings})
    (row,) = DayMovement.objects.for_company(acme.id).exclude(count=0)
    assert (str(row.account_id), str(row.date), row.amount, row.outflow) == (savings, "2026-04-01", -60, 60)
    api.put(path, {"pending": True})
    assert not DayMovement.objects.for_company(acme.id).exclude(count=0).exists()


def test_new_currency_must_fit_the_amount(api, books, bank):
    made = books.create_transaction(bank, "-100.50")
    refused = api.put(f"transactions/{made['id']}", {"amountCurrency": "JPY"})
    assert get_error_codes(refused) == {"#/amountValue": "too_many_decimals"}
    assert books.get_transaction(made["id"]) == made
    assert api.put(f"transactions/{made['id']}", {"amountCurrency": "JPY", "amountValue": "-100"}).status_code == 200


def test_initial_balance_allows_only_text_edits_and_deletion(api, books, bank):
    opened = api.put(f"accounts/{bank}/initial_balance", {"date": "2026-01-01", "amountValue": "500.00"})
    row = opened.json()["transaction"]
    assert sorted(row) == sorted(FIELDS)
    path = f"transactions/{row['id']}"
    for change in ({"amountValue": "1.00"}, {"date": "2026-01-02"}, {"pending": True}):
        refused = api.put(path, change)
        assert (refused.status_code, refused.json()["code"]) == (409, "transaction_is_initial_balance")
    assert books.get_transaction(row["id"]) == row
    assert api.put(path, {"notes": "counted by hand"}).status_code == 200
    assert api.delete(path).json() == {"success": True}
    assert api.get(f"accounts/{bank}/initial_balance").json() == {"transaction": None}


def test_batch_delete_deletes_all_or_nothing(api, books, bank, acme):
    ids = [books.create_transaction(bank)["id"] for _ in range(3)]
    unknown = "00000000-0000-7000-8000-000000000000"
    refused = api.post("transactions/batch_delete", {"transactionIds": [ids[0], unknown, "x"]})
    assert get_error_codes(refused) == {"#/transactionIds/1": "unknown_id", "#/transactionIds/2": "unknown_id"}
    assert Transaction.objects.count() == 3
    done = api.post("transactions/batch_delete", {"transactionIds": [*ids[:2], ids[0]]})
    assert done.json() == {"success": True, "deletedCount": 2}
    assert Transaction.objects.count() == 1
    assert sum(row.amount for row in DayMovement.objects.for_company(acme.id)) == -100
    assert AuditEntry.objects.for_company(acme.id).filter(action="transactions.deleted").count() == 1


def test_batch_delete_is_limited_to_ten_thousand(api):
    answer = api.post("transactions/batch_delete", {"transactionIds": ["x"] * 10_001})
    assert get_error_codes(answer) == {"#/transactionIds": "too_many_ids"}


# ---------------------------------------------------------------------------------------------- the list


@pytest.fixture
def transactions(books, bank, savings, api):
    """Ten transactions on two accounts, some with equal dates and amounts."""
    made = [
        books.create_transaction(bank, amount, date, description=text)
        for amount, date, text in [
            ("-10.00", "2026-01-05", "Rent 100%"),
            ("20.00", "2026-01-05", "Invoice_7"),
            ("-10.00", "2026-02-01", "rent"),
            ("5.00", "2026-02-01", "refund"),
            ("0.00", "2026-02-28", "nothing"),
            ("-700.00", "2026-03-01", "machine"),
            ("20.00", "2026-03-01", "Invoice 8"),
        ]
    ]
    made.append(books.create_transaction(savings, "3.00", "2026-03-02", fromTo="Ümlaut GmbH", notes="RENT back"))
    made.append(books.create_transaction(savings, "-4", "2026-03-03", amountCurrency="JPY"))
    made.append(books.create_transaction(savings, "-1.00", "2026-03-04", pending=True))
    return made


def list_transactions(api, **params):
    answer = api.get("transactions", params)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_transaction_list_is_sorted_and_filtered(api, transactions):
    ids = [each["id"] for each in transactions]
    for params, expected in [
        ({}, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
        ({"sort": "date"}, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ({"sort": "amount"}, [5, 0, 2, 8, 9, 4, 7, 3, 1, 6]),
        ({"sort": "-amount"}, [6, 1, 3, 7, 4, 9, 8, 2, 0, 5]),
        ({"startDate": "2026-03-01"}, [9, 8, 7, 6, 5]),
        ({"endDate": "2026-01-05"}, [1, 0]),
        ({"currency": "JPY"}, [8]),
        ({"minAmount": "-5", "maxAmount": "4.5"}, [9, 8, 7, 4]),
        ({"direction": "in", "maxAmount": "5.00"}, [7, 3]),
        ({"direction": "out", "startDate": "2026-02-15"}, [9, 8, 5]),
        ({"pending": "true"}, [9]),
        ({"pending": "false", "startDate": "2026-03-03"}, [8]),
        ({"open": "false"}, [4]),
        ({"transfer": "true"}, []),
        ({"source": "manual", "limit": "1"}, [9]),
        ({"source": "import"}, []),
        ({"q": "rent"}, [7, 2, 0]),
        ({"q": "100%"}, [0]),
        ({"q": "e_7"}, [1]),
        ({"q": "ümlaut"}, [7]),
        ({"q": "%"}, [0]),
        ({"updatedSince": "2100-01-01T00:00:00Z"}, []),
        ({"updatedSince": "2100-01-01T00:00:00+19:45"}, []),  # further than any zone, and PostgreSQL, goes
        ({"importId": "00000000-0000-7000-8000-000000000000"}, []),
        ({"accountId": "00000000-0000-7000-8000-000000000000"}, []),
    ]:
        assert [ids.index(each["id"]) for each in list_transactions(api, **params)] == expected


def test_filters_accept_several_accounts_and_categories(api, books, transactions, bank, savings):
    assert len(list_transactions(api, accountId=savings)) == 3
    assert len(list_transactions(api, accountId=[savings, bank])) == 10
    books.set_categorizations(
        transactions[0]["id"], {"categoryId": books.get_category_id("officeAndAdmin"), "plSplit": {"ga": -10}}
    )
    books.set_categorizations(
        transactions[1]["id"], {"categoryId": books.get_category_id("revenueOther"), "plSplit": {"revenue": 5}}
    )
    keys = [books.get_category_id("officeAndAdmin"), books.get_category_id("revenueOther")]
    assert [each["id"] for each in list_transactions(api, categoryId=keys)] == [
        transactions[1]["id"],
        transactions[0]["id"],
    ]
    assert [each["id"] for each in list_transactions(api, plType="ga")] == [transactions[0]["id"]]
    assert [each["id"] for each in list_transactions(api, open="false", startDate="2026-01-05")] == [
        transactions[4]["id"],
        transactions[0]["id"],
    ]


def test_unknown_and_malformed_filters_are_refused(api, transactions):
    for name, value, code in [
        ("nonsense", "1", "unknown_parameter"),
        ("startDate", "5.1.2026", "invalid_filter"),
        ("accountId", "x", "invalid_filter"),
        ("plType", "profit", "invalid_filter"),
        ("currency", "eur", "invalid_filter"),
        ("minAmount", "ten", "invalid_filter"),
        ("direction", "up", "invalid_filter"),
        ("assignedBy", "zz", "invalid_filter"),
        ("assignedBy", "rule:", "invalid_filter"),
        ("pending", "1", "invalid_filter"),
        ("source", "mars", "invalid_filter"),
        ("importId", "1", "invalid_filter"),
        ("updatedSince", "2026-01-01", "invalid_filter"),
        ("updatedSince", "9999-12-31T23:59:59-23:59", "invalid_filter"),
        ("sort", "name", "invalid_filter"),
        ("limit", "0", "out_of_range"),
        ("limit", "1001", "out_of_range"),
        ("cursor", "nonsense", "invalid_cursor"),
        ("startDate", ["2026-01-01", "2026-01-02"], "invalid_filter"),
        ("sort", ["date", "amount"], "invalid_filter"),
    ]:
        answer = api.get("transactions", {name: value})
        assert answer.status_code == 400, name
        assert get_error_codes(answer) == {f"#/{name}": code}


def get_next_params(answer):
    link = answer.headers.get("Link", "")
    return dict(parse_qsl(urlsplit(link[1:].partition(">")[0]).query)) if link else None


def test_forged_cursor_is_rejected(api, transactions):
    for values in (
        ["NaN", "x"],
        ["Infinity", transactions[0]["id"]],
        ["2026-01-01", transactions[0]["id"]],
        ["5", 5],
        {},
        "x",
    ):
        cursor = base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")
        answer = api.get("transactions", {"cursor": cursor, "sort": "amount"})
        assert get_error_codes(answer) == {"#/cursor": "invalid_cursor"}


def test_pages_follow_without_gap_or_repetition(api, transactions):
    for sort in ["-date", "date", "-amount", "amount"]:
        for limit in [1, 3, 10, 11]:
            whole = [each["id"] for each in list_transactions(api, sort=sort)]
            seen, params = [], {"sort": sort, "limit": limit}
            while params:
                answer = api.get("transactions", params)
                seen += [each["id"] for each in answer.json()]
                params = get_next_params(answer)
            assert seen == whole, (sort, limit)


def test_rows_inserted_while_paging_are_not_skipped_or_repeated(api, books, bank, transactions):
    first = api.get("transactions", {"limit": 4})
    books.create_transaction(bank, "1.00", "2026-03-31")
    books.create_transaction(bank, "1.00", "2026-01-01")
    seen = [each["id"] for each in first.json()] + [
        each["id"] for each in list_transactions(api, cursor=get_next_params(first)["cursor"], limit=100)
    ]
    assert len(seen) == len(set(seen)) == 11
    assert {each["id"] for each in transactions} <= set(seen)


@pytest.mark.parametrize("rows", [1, 40])
def test_list_queries_do_not_grow_with_rows(api, books, bank, rows, django_assert_num_queries):
    for _ in range(rows):
        made = books.create_transaction(bank)
    books.set_categorizations(made["id"], {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -100}})
    api.get("transactions")
    with django_assert_num_queries(4):  # the key's, the page, the parts of all its rows, and what they settle
        answer = api.get("transactions", {"limit": 1000})
    assert len(json.loads(answer.content)) == rows


def test_unset_texts_are_null(api, books, bank):
    plain = books.create_transaction(bank)
    assert (plain["fromTo"], plain["description"], plain["notes"]) == (None, None, None)
    named = books.create_transaction(bank, fromTo="Café", description="Two coffees")
    unset = api.put(f"transactions/{named['id']}", {"fromTo": None, "description": None}).json()
    assert (unset["fromTo"], unset["description"]) == (None, None)


def test_next_page_link_works_with_maximum_number_of_filter_ids(api, books, bank):
    """Its address, with the cursor, has room in a line of the protocol; one id more is refused."""
    hosting = books.get_category_id("hosting")
    for amount in (-1, -2):
        books.set_categorizations(
            books.create_transaction(bank, f"{amount}.00")["id"], {"categoryId": hosting, "plSplit": {"cogs": amount}}
        )
    ids = [hosting, *(str(uuid4()) for _ in range(MAX_VALUES_PER_FILTER - 1))]
    first = api.get("transactions", {"categoryId": ids, "limit": 1})
    address = urlsplit(first["Link"].partition("<")[2].partition(">")[0])
    assert len(f"GET {address.path}?{address.query} HTTP/1.1\r\n") <= MAX_REQUEST_LINE
    second = api.get("transactions", parse_qs(address.query))
    assert (len(first.json()), len(second.json())) == (1, 1)
    assert first.json() != second.json()
    refused = api.get("transactions", {"categoryId": [*ids, str(uuid4())]})
    assert get_error_codes(refused) == {"#/categoryId": "invalid_filter"}
