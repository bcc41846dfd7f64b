"""What transactions were for, over HTTP: splits, many at once, and taking it back."""

from decimal import Decimal

import pytest

from ledger.models import Categorization, PlType, Posting
from tests.ledger.conftest import get_error_codes, list_month_results, list_pl_amounts

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]


# ---------------------------------------------------------------------------------------------- one transaction


def test_split_is_returned_as_sent_and_closes_transaction(api, books, bank, acme):
    made = books.create_transaction(bank, "-119.00")
    vendor = api.post("counterparties", {"type": "vendor", "name": "Nimbus"}).json()
    hosting = books.get_category_id("hosting")
    key = "0199a0c1-8c7f-7d3a-8a4e-6b7c0de2f901"
    body = {
        "categorizations": {
            key: {
                "counterparty": {"type": "vendor", "id": vendor["id"]},
                "categoryId": hosting,
                "plSplit": {"cogs": -100},
                "passThroughTax": -19,
                "sourceNote": "invoice 7",
            }
        }
    }
    answer = api.put(f"transactions/{made['id']}/categorizations", body)
    assert answer.status_code == 200, answer.content
    assert answer.json()["categorizations"] == {
        key: {
            "counterparty": {"type": "vendor", "id": vendor["id"]},
            "categoryId": hosting,
            "usingDateRule": {
                "type": "transactionDate",
                **dict.fromkeys(("startDate", "endDate", "invoiceDate", "recognizeFrom")),
            },
            "computedStartDate": "2026-03-15",
            "computedEndDate": "2026-03-15",
            "plSplit": {"revenue": 0, "cogs": -100, "cac": 0, "pd": 0, "ga": 0, "no": 0, "neutral": 0},
            "passThroughTax": -19,
            "transferCounterPosition": None,
            "internalTransitLink": None,
            "sourceNote": "invoice 7",
        }
    }
    assert answer["ETag"] == api.get(f"transactions/{made['id']}")["ETag"]
    assert list_month_results(acme) == {("2026-03", "cogs"): -100}
    assert api.get("transactions", {"open": "true"}).json() == []
    again = api.put(f"transactions/{made['id']}/categorizations", answer.json())
    assert again.json()["categorizations"] == answer.json()["categorizations"]


def test_put_of_the_same_categorizations_writes_no_audit_entry(api, books, bank):
    made = books.create_transaction(bank, "-30.00")
    path = f"transactions/{made['id']}/categorizations"
    part = {
        "categoryId": books.get_category_id("hosting"),
        "plSplit": {"cogs": -20},
        "usingDateRule": {"type": "month"},
    }
    unchanged = api.put(path, {"categorizations": {}})
    assert (unchanged.status_code, unchanged.json()["lastUpdatedTime"]) == (200, made["lastUpdatedTime"])
    assert api.get("events", {"type": "transaction.split"}).json() == []
    split = api.put(path, {"categorizations": {"0": part, "1": part | {"plSplit": {"cogs": -10}}}})
    again = api.put(path, {"categorizations": split.json()["categorizations"]})
    assert (again.json(), again["ETag"]) == (split.json(), split["ETag"])
    assert len(api.get("events", {"type": "transaction.split"}).json()) == 1
    (first, *_) = split.json()["categorizations"]
    changed = api.put(path, {"categorizations": split.json()["categorizations"] | {first: part | {"sourceNote": "a"}}})
    assert changed.json()["categorizations"][first]["sourceNote"] == "a"
    assert len(api.get("events", {"type": "transaction.split"}).json()) == 2


def test_invalid_categorization_keys_are_replaced_and_order_is_kept(books, bank):
    made = books.create_transaction(bank, "-30.00")
    hosting, support = books.get_category_id("hosting"), books.get_category_id("support")
    answer = books.set_categorizations(
        made["id"],
        {"categoryId": support, "plSplit": {"cogs": -10}},
        {"categoryId": hosting, "plSplit": {"cogs": -5.5}},
    )
    parts = answer.json()["categorizations"]
    assert [part["categoryId"] for part in parts.values()] == [support, hosting]
    assert all(len(key) == 36 for key in parts)
    assert [list_pl_amounts(part) for part in parts.values()] == [{"cogs": -10}, {"cogs": -5.5}]


def test_categorizations_are_replaced_as_a_whole(api, books, bank, acme):
    made = books.create_transaction(bank, "-30.00")
    hosting = books.get_category_id("hosting")
    books.set_categorizations(made["id"], {"categoryId": hosting, "plSplit": {"cogs": -30}})
    books.set_categorizations(made["id"], {"categoryId": books.get_category_id("marketing"), "plSplit": {"cac": -20}})
    assert list_month_results(acme) == {("2026-03", "cac"): -20}
    assert api.put(f"transactions/{made['id']}/categorizations", {"categorizations": {}}).status_code == 200
    assert list_month_results(acme) == {}
    assert books.list_categorizations(made["id"]) == []


def test_every_date_rule_returns_its_computed_dates(books, bank):
    made = books.create_transaction(bank, "-30.00", "2026-05-20")
    for rule, start, end in [
        ({"type": "transactionDate"}, "2026-05-20", "2026-05-20"),
        ({"type": "invoiceDate"}, "2026-05-20", "2026-05-20"),
        ({"type": "invoiceDate", "invoiceDate": "2026-04-30"}, "2026-04-30", "2026-04-30"),
        ({"type": "servicePeriod", "startDate": "2026-01-15", "endDate": "2026-02-14"}, "2026-01-15", "2026-02-14"),
        ({"type": "custom", "startDate": "2026-01-01", "endDate": "2026-01-01"}, "2026-01-01", "2026-01-01"),
        ({"type": "month"}, "2026-05-01", "2026-05-31"),
        ({"type": "quarter"}, "2026-04-01", "2026-06-30"),
        ({"type": "year"}, "2026-01-01", "2026-12-31"),
        ({"type": "previousMonth"}, "2026-04-01", "2026-04-30"),
        ({"type": "nextMonth"}, "2026-06-01", "2026-06-30"),
    ]:
        answer = books.set_categorizations(
            made["id"],
            {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -30}, "usingDateRule": rule},
        )
        (part,) = answer.json()["categorizations"].values()
        unset = dict.fromkeys(("startDate", "endDate", "invoiceDate", "recognizeFrom"))
        assert part["usingDateRule"] == unset | rule
        assert (part["computedStartDate"], part["computedEndDate"]) == (start, end), rule


def test_service_period_is_spread_by_day(books, bank, acme):
    made = books.create_transaction(bank, "120.00", "2024-06-01")
    books.set_categorizations(
        made["id"],
        {
            "categoryId": books.get_category_id("revenueRecurring"),
            "plSplit": {"revenue": 120},
            "usingDateRule": {"type": "servicePeriod", "startDate": "2024-06-15", "endDate": "2024-10-12"},
        },
    )
    months = {month: value for (month, _), value in list_month_results(acme).items()}
    assert months == {"2024-06": 16, "2024-07": 31, "2024-08": 31, "2024-09": 30, "2024-10": 12}


def test_postings_are_converted_at_rate_of_transaction_date(api, books, set_exchange_rates, acme):
    dollars = books.create_account(defaultCurrency="USD")
    made = books.create_transaction(dollars, "-125.00")
    books.set_categorizations(made["id"], {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -125}})
    assert list_month_results(acme) == {("2026-03", "cogs"): -100}
    assert api.put("", {"baseCurrency": "JPY"}).status_code == 200
    assert list_month_results(acme) == {("2026-03", "cogs"): -16000}


def test_missing_rate_rejects_split_and_stores_nothing(books, set_exchange_rates):
    set_exchange_rates()
    dollars = books.create_account(defaultCurrency="USD")
    made = books.create_transaction(dollars, "-125.00")
    answer = books.set_categorizations(
        made["id"], {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -125}}
    )
    assert (answer.status_code, answer.json()["code"]) == (409, "rate_missing")
    assert not Categorization.objects.exists()
    assert books.get_transaction(made["id"]) == made


def test_invalid_categorization_is_named_and_nothing_is_stored(books, bank):
    made = books.create_transaction(bank, "-10.00")
    for part, pointer, code in [
        ({"plSplit": {"revenue": -1}}, "plSplit/revenue", "pl_type_not_allowed"),
        ({"plSplit": {"cogs": -1, "profit": -3}}, "plSplit/profit", "pl_type_not_allowed"),
        ({"plSplit": {"cogs": 1}}, "plSplit/cogs", "wrong_sign"),
        ({"plSplit": {"cogs": -1}, "passThroughTax": 1}, "passThroughTax", "wrong_sign"),
        ({"plSplit": {"cogs": -1.001}}, "plSplit/cogs", "too_many_decimals"),
        ({"plSplit": {"cogs": "-1"}}, "plSplit/cogs", "invalid_value"),
        ({"plSplit": {"cogs": True}}, "plSplit/cogs", "invalid_value"),
        ({"plSplit": {}}, "plSplit", "must_not_be_empty"),
        ({"plSplit": {"cogs": -1}, "categoryId": "x"}, "categoryId", "unknown_id"),
        ({"plSplit": {"cogs": -1}, "counterparty": {"id": "x"}}, "counterparty/id", "unknown_id"),
        ({"plSplit": {"cogs": -1}, "usingDateRule": {"type": "someday"}}, "usingDateRule/type", "invalid_choice"),
        ({"plSplit": {"cogs": -1}, "usingDateRule": {"type": "custom"}}, "usingDateRule/startDate", "required"),
        (
            {
                "plSplit": {"cogs": -1},
                "usingDateRule": {"type": "custom", "startDate": "2026-02-01", "endDate": "2026-01-01"},
            },
            "usingDateRule/endDate",
            "period_not_in_order",
        ),
    ]:
        answer = books.set_categorizations(made["id"], {"categoryId": books.get_category_id("hosting")} | part)
        assert answer.status_code == 400, answer.content
        assert get_error_codes(answer) == get_error_codes(answer) | {f"#/categorizations/0/{pointer}": code}, part
        assert not Categorization.objects.exists(), part
        assert books.get_transaction(made["id"]) == made, part


@pytest.mark.parametrize("amounts", [(-10.01,), (-6, -4.01), (-1e300,)])
def test_split_above_transaction_amount_is_rejected(books, bank, amounts):
    made = books.create_transaction(bank, "-10.00")
    hosting = books.get_category_id("hosting")
    answer = books.set_categorizations(
        made["id"], *({"categoryId": hosting, "plSplit": {"cogs": each}} for each in amounts)
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "split_exceeds_amount")
    assert not Categorization.objects.exists()


def test_categorization_id_of_other_transaction_is_rejected(api, books, bank):
    one, two = books.create_transaction(bank)["id"], books.create_transaction(bank)["id"]
    part = {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -1}}
    (key,) = books.set_categorizations(one, part).json()["categorizations"]
    answer = api.put(f"transactions/{two}/categorizations", {"categorizations": {key: part}})
    assert get_error_codes(answer) == {f"#/categorizations/{key}": "id_in_use"}
    assert books.list_categorizations(two) == []


def test_unknown_categorization_fields_are_named(books, bank):
    made = books.create_transaction(bank)
    answer = books.set_categorizations(
        made["id"], {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -1}, "color": 1}
    )
    assert answer["Ignored-Fields"] == "categorizations/0/color"


def test_pending_transactions_and_initial_balances_have_no_postings(api, books, bank, acme):
    pending = books.create_transaction(bank, "-10.00", pending=True)
    api.put(f"accounts/{bank}/initial_balance", {"date": "2026-01-01", "amountValue": "-10.00"})
    answer = books.set_categorizations(
        pending["id"], {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -10}}
    )
    assert answer.status_code == 200, answer.content
    assert list_month_results(acme) == {}
    api.put(f"transactions/{pending['id']}", {"pending": False})
    assert list_month_results(acme) == {("2026-03", "cogs"): -10}


def test_changed_transaction_updates_its_categorizations(api, books, bank, acme):
    made = books.create_transaction(bank, "-10.00", "2026-03-15")
    part = {
        "categoryId": books.get_category_id("hosting"),
        "plSplit": {"cogs": -10},
        "usingDateRule": {"type": "nextMonth"},
    }
    books.set_categorizations(made["id"], part)
    api.put(f"transactions/{made['id']}", {"date": "2026-07-01"})
    (read,) = books.list_categorizations(made["id"])
    assert (read["computedStartDate"], read["computedEndDate"]) == ("2026-08-01", "2026-08-31")
    assert list_month_results(acme) == {("2026-08", "cogs"): -10}
    refused = api.put(f"transactions/{made['id']}", {"amountValue": "-9.99"})
    assert (refused.status_code, refused.json()["code"]) == (400, "split_exceeds_amount")
    assert api.put(f"transactions/{made['id']}", {"amountValue": "10.00"}).status_code == 400
    assert books.get_transaction(made["id"])["amountValue"] == "-10.00"
    assert api.put(f"transactions/{made['id']}", {"amountValue": "-20.00"}).status_code == 200
    assert len(api.get("transactions", {"open": "true"}).json()) == 1


def test_deleted_transaction_leaves_no_postings(api, books, bank, acme):
    made = books.create_transaction(bank, "-10.00")
    books.set_categorizations(made["id"], {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -10}})
    api.delete(f"transactions/{made['id']}")
    assert list_month_results(acme) == {}
    assert not Posting.objects.exists()


def test_revenue_is_recognized_by_invoice_date_if_company_says_so(api, books, bank, acme):
    made = books.create_transaction(bank, "100.00", "2026-05-10")
    category = api.post("categories", {"name": "Mixed", "plTypes": ["revenue", "no"]}).json()["id"]
    books.set_categorizations(
        made["id"],
        {
            "categoryId": category,
            "plSplit": {"revenue": 90, "no": 10},
            "usingDateRule": {"type": "transactionDate", "invoiceDate": "2026-04-20"},
        },
    )
    assert list_month_results(acme) == {("2026-05", "revenue"): 90, ("2026-05", "no"): 10}
    api.put("", {"plRecognizeRevenueOnInvoice": True})
    assert list_month_results(acme) == {("2026-04", "revenue"): 90, ("2026-05", "no"): 10}
    assert books.list_categorizations(made["id"])[0]["computedStartDate"] == "2026-04-20"
    api.put("", {"plRecognizeRevenueOnInvoice": False})
    assert list_month_results(acme) == {("2026-05", "revenue"): 90, ("2026-05", "no"): 10}


def test_service_period_over_thirty_years_is_rejected(books, bank):
    made = books.create_transaction(bank)
    rule = {"type": "custom", "startDate": "1990-01-01", "endDate": "2026-12-31"}
    answer = books.set_categorizations(
        made["id"], {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -1}, "usingDateRule": rule}
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "period_too_long")
    late = books.create_transaction(bank, date="9999-12-31")
    rule = {"type": "nextMonth"}
    answer = books.set_categorizations(
        late["id"], {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -1}, "usingDateRule": rule}
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "period_out_of_range")
    assert not Categorization.objects.exists()


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ({"type": "custom", "startDate": "1899-12-31", "endDate": "1900-12-31"}, "startDate"),
        ({"type": "servicePeriod", "startDate": "2200-12-31", "endDate": "2201-01-01"}, "endDate"),
        ({"type": "invoiceDate", "invoiceDate": "9999-12-31"}, "invoiceDate"),
    ],
)
def test_service_period_outside_of_sane_years_is_rejected(books, bank, rule, field):
    made = books.create_transaction(bank)
    part = {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -1}, "usingDateRule": rule}
    answer = books.set_categorizations(made["id"], part)
    assert answer.status_code == 400
    [error] = answer.json()["errors"]
    assert error["pointer"].endswith(f"/usingDateRule/{field}")
    assert (error["code"], error["detail"]) == ("out_of_range", "Must be within the years 1900 to 2200.")
    assert not Categorization.objects.exists()


def test_categorization_note_is_returned_as_written(books, bank):
    note = 'He said "no"\n\t\\ and left – 日本 \u2028 {}, </script>'
    made = books.create_transaction(bank, "-10.00")["id"]
    part = {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -1}, "sourceNote": note}
    books.set_categorizations(made, part)
    assert books.list_categorizations(made)[0]["sourceNote"] == note


def test_split_amounts_are_exact_decimals(books, bank, acme):
    made = books.create_transaction(bank, "-0.30")
    hosting = books.get_category_id("hosting")
    for amounts in ((-0.1, -0.2), (-0.1, -0.1, -0.1)):
        answer = books.set_categorizations(
            made["id"], *({"categoryId": hosting, "plSplit": {"cogs": each}} for each in amounts)
        )
        assert answer.status_code == 200, answer.content
        assert list_month_results(acme) == {("2026-03", "cogs"): Decimal("-0.3")}


def test_split_as_read_can_be_sent_back_unchanged(api, books, bank):
    own = api.post("categories", {"name": "Own", "plTypes": ["cogs", "ga"]}).json()["id"]
    hosting = books.get_category_id("hosting")
    made = books.create_transaction(bank, "-30.00")
    part = {"categoryId": own, "plSplit": {"ga": -5, "cogs": 0, "no": None, "revenue": 0}}
    answer = books.set_categorizations(
        made["id"], part, {"categoryId": hosting, "passThroughTax": -1, "plSplit": {"cogs": 0}}
    )
    first, second = answer.json()["categorizations"].values()
    assert (list_pl_amounts(first), list_pl_amounts(second), second["passThroughTax"]) == ({"ga": -5}, {}, -1)
    assert set(Categorization.objects.values_list("cogs", flat=True)) == {None}
    again = api.put(f"transactions/{made['id']}/categorizations", answer.json())
    assert again.status_code == 200, again.content
    assert again.json()["categorizations"] == answer.json()["categorizations"]


def test_zero_categorization_keeps_a_line_of_its_category(api, books, bank):
    made = books.create_transaction(bank, "0.00")
    hosting = books.get_category_id("hosting")
    answer = books.set_categorizations(made["id"], {"categoryId": hosting, "plSplit": dict.fromkeys(PlType.values, 0)})
    assert answer.status_code == 200, answer.content
    assert list(Categorization.objects.values_list("cogs", "revenue")) == [(0, None)]
    assert api.put(f"transactions/{made['id']}/categorizations", answer.json()).status_code == 200
    for split in ({"revenue": 0}, {}):
        refused = books.set_categorizations(made["id"], {"categoryId": hosting, "plSplit": split})
        assert get_error_codes(refused) == {"#/categorizations/0/plSplit": "must_not_be_empty"}
    refused = books.set_categorizations(made["id"], {"categoryId": "x", "plSplit": {"revenue": 0}})
    assert get_error_codes(refused) == {"#/categorizations/0/categoryId": "unknown_id"}


def test_write_only_key_cannot_probe_amounts(books, bank, acme, make_api):
    """Which amounts are accepted would tell the transaction's own, bit by bit."""
    made = books.create_transaction(bank, "-30.00")
    blind = make_api(acme, "transactions:write")
    split = {"categorizations": {"a": {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -10}}}}
    selection = {"mode": "ids", "ids": [made["id"]]}
    whole = {"selection": selection, "categoryId": books.get_category_id("hosting")}
    for answer in (
        blind.put(f"transactions/{made['id']}/categorizations", split),
        blind.post("transactions/categorize", whole | {"passThroughTax": -5}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
        assert "transactions:read" in answer.json()["detail"]
    assert blind.post("transactions/categorize", whole).status_code == 200
