"""What is closed stays as it is, whoever asks."""

import pytest

from ledger.models import MonthResult
from tests.ledger import bank_file_builders
from tests.ledger.archives import build_zip
from tests.ledger.closings.conftest import get_closed_pointers
from tests.ledger.statement_upload import upload_statement

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]


@pytest.fixture
def read_figures(api):
    def read(month="2026-03"):
        return api.get(f"closings/{month}").json()["figures"], api.get(f"closings/{month}/differences").json()

    return read


def test_a_new_transaction_is_refused(api, bank, closed_month, list_differences):
    answer = api.post("transactions", {"accountId": bank, "date": "2026-03-31", "amountValue": "1.00"})
    assert get_closed_pointers(answer) == ["#/date"]
    assert list_differences() == []


def test_pending_rows_come_until_they_are_booked(api, books, bank, closed_month):
    row = books.create_transaction(bank, "-3.00", "2026-03-30", pending=True)
    assert get_closed_pointers(api.put(f"transactions/{row['id']}", {"pending": False})) == ["#/pending"]
    assert api.put(f"transactions/{row['id']}", {"pending": False, "date": "2026-04-01"}).status_code == 200


@pytest.mark.parametrize(
    ("change", "pointers"),
    [
        ({"amountValue": "-99.00"}, ["#/amountValue"]),
        ({"date": "2026-03-16"}, ["#/date"]),
        ({"date": "2026-04-16"}, ["#/date"]),
        ({"pending": True}, ["#/pending"]),
    ],
)
def test_facts_of_a_closed_row_are_refused(api, closed_month, change, pointers):
    assert get_closed_pointers(api.put(f"transactions/{closed_month[0]}", change)) == pointers


def test_an_open_row_does_not_move_into_a_closed_month(api, closed_month):
    assert get_closed_pointers(api.put(f"transactions/{closed_month[1]}", {"date": "2026-03-01"})) == ["#/date"]


def test_the_account_of_a_closed_row_stays(api, books, closed_month):
    other = books.create_account(name="Other")
    assert get_closed_pointers(api.put(f"transactions/{closed_month[0]}", {"accountId": other})) == ["#/accountId"]


def test_notes_and_texts_stay_free(api, closed_month, alice):
    change = {"notes": "Checked", "fromTo": "Landlord", "description": "Rent", "assignedUserId": str(alice.id)}
    answer = api.put(f"transactions/{closed_month[0]}", change)
    assert answer.status_code == 200, answer.content


def test_deleting_is_refused(api, closed_month):
    assert get_closed_pointers(api.delete(f"transactions/{closed_month[0]}")) == []
    answer = api.post("transactions/batch_delete", {"transactionIds": [closed_month[1], closed_month[0]]})
    assert get_closed_pointers(answer) == ["#/transactionIds/1"]
    assert api.get(f"transactions/{closed_month[1]}").status_code == 200


def test_categorizations_of_a_closed_row_are_refused(api, books, closed_month):
    other = books.get_category_id("hosting")
    get_closed_pointers(books.set_categorizations(closed_month[0], {"categoryId": other, "plSplit": {"cogs": -100}}))
    selection = {"mode": "ids", "ids": [closed_month[1], closed_month[0]]}
    answer = api.post("transactions/categorize", {"selection": selection, "categoryId": other})
    assert get_closed_pointers(answer) == ["#/selection/ids/1"]
    answer = api.post("transactions/uncategorize", {"selection": selection})
    assert get_closed_pointers(answer) == ["#/selection/ids/1"]
    answer = api.post("transactions/uncategorize", {"selection": {"mode": "all", "confirm": True}})
    assert get_closed_pointers(answer) == ["#/selection"]
    assert books.get_transaction(closed_month[1])["categorizations"] == {}


def test_the_note_and_counterparty_of_a_closed_categorization_are_free(api, books, closed_month, office):
    [key] = books.get_transaction(closed_month[0])["categorizations"]
    part = {"categoryId": office, "plSplit": {"ga": -100}, "sourceNote": "Invoice 7"}
    answer = api.put(f"transactions/{closed_month[0]}/categorizations", {"categorizations": {key: part}})
    assert answer.status_code == 200, answer.content


def test_an_uncategorized_row_of_a_closed_month_is_caught_up(api, books, bank, office, transaction_ids, close_month):
    row = books.create_transaction(bank, "-31.00", "2026-03-31")["id"]
    close_month()
    selection = {"mode": "ids", "ids": [row]}
    body = {"selection": selection, "categoryId": office}
    answer = api.post("transactions/categorize", body)
    assert get_closed_pointers(answer) == ["#/selection/ids/0"]
    assert answer.json()["firstOpenMonth"] == "2026-04"
    rule = {"type": "transactionDate", "recognizeFrom": "firstOpenMonth"}
    answer = api.post("transactions/categorize", body | {"usingDateRule": rule})
    assert answer.status_code == 200, answer.content
    [part] = books.list_categorizations(row)
    assert part["usingDateRule"]["recognizeFrom"] == "firstOpenMonth"
    months = MonthResult.objects.filter(count__gt=0).values_list("month", "base_amount")
    assert {f"{month:%Y-%m}": int(amount) for month, amount in months} == {"2026-03": -100, "2026-04": -31}


def test_a_service_period_that_begins_in_a_closed_month_names_the_first_open_one(
    api, books, bank, office, closed_month
):
    row = books.create_transaction(bank, "-120.00", "2026-04-20")["id"]
    rule = {"type": "servicePeriod", "startDate": "2026-03-01", "endDate": "2026-06-30"}
    part = {"categoryId": office, "plSplit": {"ga": -120}, "usingDateRule": rule}
    answer = books.set_categorizations(row, part)
    assert get_closed_pointers(answer) == ["#/categorizations/0/usingDateRule"]
    assert answer.json()["firstOpenMonth"] == "2026-04"
    rule["recognizeFrom"] = "firstOpenMonth"
    answer = books.set_categorizations(row, part)
    assert answer.status_code == 200, answer.content
    [stored] = books.list_categorizations(row)
    assert (stored["computedStartDate"], stored["computedEndDate"]) == ("2026-03-01", "2026-06-30")
    rows = api.post("data/profitAndLoss", {"startMonth": "2026-03", "endMonth": "2026-06"}).json()
    result = {each["month"]: each["actual"] for each in rows}
    assert result == {"2026-03": 100, "2026-04": 60.0, "2026-05": 30.49, "2026-06": 29.51}
    for each in rows:
        total = api.get(each["transactionsUrl"]).headers["X-Total-Amount"]
        assert abs(float(total)) == each["actual"]


def test_recognition_by_days_adds_up_with_a_catch_up(api, books, bank, office, closed_month):
    row = books.create_transaction(bank, "-120.00", "2026-04-01")["id"]
    rule = {
        "type": "servicePeriod",
        "startDate": "2026-03-01",
        "endDate": "2026-06-30",
        "recognizeFrom": "firstOpenMonth",
    }
    books.set_categorizations(row, {"categoryId": office, "plSplit": {"ga": -120}, "usingDateRule": rule})

    def total(first, last):
        params = {"recognizedFrom": first, "recognizedTo": last, "categoryId": office, "total": "true"}
        return float(api.get("transactions", params).headers["X-Total-Amount"])

    assert total("2026-04-01", "2026-04-30") == -60.0
    parts = total("2026-04-01", "2026-04-10"), total("2026-04-11", "2026-04-30")
    assert round(sum(parts), 2) == -60.0
    assert all(parts)


def test_transfers_with_a_closed_leg_are_refused(api, books, bank, transaction_ids, close_month):
    savings = books.create_account(name="Savings")
    out = books.create_transaction(bank, "-20.00", "2026-03-31")["id"]
    into = books.create_transaction(savings, "20.00", "2026-04-01")["id"]
    linked_out, linked_in = (
        books.create_transaction(a, v, "2026-03-30")["id"] for a, v in ((bank, "-5.00"), (savings, "5.00"))
    )
    assert books.link_transfer(linked_out, linked_in).status_code == 200
    close_month()
    assert get_closed_pointers(books.link_transfer(out, into)) == ["#/sourceTransactionId"]
    assert get_closed_pointers(books.link_transfer(into, out)) == ["#/targetTransactionId"]
    [part] = books.get_transaction(linked_out)["categorizations"]
    body = {"transactionId": linked_out, "categorizationId": part}
    assert get_closed_pointers(api.post("transactions/unlink_transfer", body)) == ["#/transactionId"]
    get_closed_pointers(api.post("transactions/uncategorize", {"selection": {"mode": "ids", "ids": [linked_in]}}))


def test_initial_balances_in_closed_months_are_refused(api, books, bank, closed_month):
    path = f"accounts/{bank}/initial_balance"
    assert get_closed_pointers(api.put(path, {"date": "2026-03-01", "amountValue": "5.00"})) == ["#/date"]
    assert api.put(path, {"date": "2026-04-01", "amountValue": "5.00"}).status_code == 200
    assert get_closed_pointers(api.put(path, {"date": "2026-03-01", "amountValue": "5.00"})) == ["#/date"]


def test_a_closed_initial_balance_keeps_its_currency(api, books, transaction_ids, close_month):
    other = books.create_account(name="Other")
    path, body = f"accounts/{other}/initial_balance", {"date": "2026-03-01", "amountValue": "5.00"}
    assert api.put(path, body).status_code == 200
    close_month()
    assert api.put(f"accounts/{other}", {"defaultCurrency": "USD"}).status_code == 200
    assert get_closed_pointers(api.put(path, body)) == ["#/amountValue"]


def test_a_closed_split_is_neither_removed_nor_moved(api, books, office, closed_month):
    path = f"transactions/{closed_month[0]}/categorizations"
    assert get_closed_pointers(api.put(path, {"categorizations": {}})) == ["#/categorizations"]
    rule = {"type": "servicePeriod", "startDate": "2026-04-01", "endDate": "2026-05-31"}
    part = {"categoryId": office, "plSplit": {"ga": -100}, "usingDateRule": rule}
    assert get_closed_pointers(books.set_categorizations(closed_month[0], part)) == ["#/categorizations"]


def test_accounts_with_closed_rows_keep_their_kind(api, bank, closed_month):
    assert get_closed_pointers(api.put(f"accounts/{bank}", {"type": "transit"})) == ["#/type"]
    assert api.put(f"accounts/{bank}", {"type": "cash", "name": "Till"}).status_code == 200


def test_an_account_is_deleted_when_its_rows_were_in_open_months(api, books, closed_month):
    other = books.create_account(name="Other")
    api.put(f"accounts/{other}/initial_balance", {"date": "2026-04-01", "amountValue": "5.00"})
    assert api.delete(f"accounts/{other}").status_code == 200


def test_an_account_whose_initial_balance_is_closed_stays(api, books, transaction_ids, close_month):
    other = books.create_account(name="Other")
    api.put(f"accounts/{other}/initial_balance", {"date": "2026-03-01", "amountValue": "5.00"})
    close_month()
    get_closed_pointers(api.delete(f"accounts/{other}"))


@pytest.mark.parametrize("change", [{"baseCurrency": "USD"}, {"dataStartDate": "2026-01-01"}])
def test_settings_of_figures_are_fixed(api, closed_month, reopen_month, change):
    [name] = change
    assert get_closed_pointers(api.put("", change)) == [f"#/{name}"]
    assert api.put("", {"name": "Other"}).status_code == 200
    reopen_month()
    assert api.put("", change).status_code == 200


def test_replacing_a_category_is_refused(api, books, closed_month):
    own = api.post("categories", {"name": "Own", "plTypes": ["ga"]}).json()["id"]
    row = books.create_transaction(books.create_account(name="B"), "-4.00", "2026-04-15")["id"]
    books.set_categorizations(row, {"categoryId": own, "plSplit": {"ga": -4}})
    answer = api.delete(f"categories/{own}?replaceWith={books.get_category_id('officeAndAdmin')}")
    assert answer.status_code == 200, answer.content


def test_replacing_a_category_of_closed_rows_is_refused(api, books, bank, transaction_ids, close_month):
    own = api.post("categories", {"name": "Own", "plTypes": ["ga"]}).json()["id"]
    row = books.create_transaction(bank, "-4.00", "2026-03-15")["id"]
    books.set_categorizations(row, {"categoryId": own, "plSplit": {"ga": -4}})
    close_month()
    get_closed_pointers(api.delete(f"categories/{own}?replaceWith={books.get_category_id('officeAndAdmin')}"))
    assert api.put(f"categories/{own}", {"name": "Renamed", "order": 3}).status_code == 200


# ---------------------------------------------------------------------------------------------- imports


def item(bank, day, amount="-2.00", **more):
    return {"accountId": bank, "date": day, "amountValue": amount, "fromTo": "Shop"} | more


def test_new_rows_in_a_closed_month_refuse_the_import(api, bank, closed_month):
    items = [item(bank, "2026-04-01"), item(bank, "2026-03-01"), item(bank, "2026-03-02", pending=True)]
    answer = api.post("transactions/import", {"transactions": items})
    assert get_closed_pointers(answer) == ["#/transactions/1/date"]
    assert get_closed_pointers(api.post("transactions/import", {"transactions": items, "dryRun": True})) == [
        "#/transactions/1/date"
    ]
    answer = api.post("transactions/import", {"transactions": items, "closed": "skip"}).json()
    assert (answer["count"], answer["skippedClosed"]) == (2, 1)


def test_stored_duplicates_in_a_closed_month_are_fine(api, books, bank, transaction_ids, close_month):
    known = item(bank, "2026-03-01", externalId="a")
    assert api.post("transactions/import", {"transactions": [known]}).json()["count"] == 1
    close_month()
    again = {"transactions": [known, item(bank, "2026-04-01", externalId="b")]}
    answer = api.post("transactions/import", again).json()
    assert (answer["count"], answer["duplicates"], answer["skippedClosed"]) == (1, 1, 0)
    without_id = {"transactions": [item(bank, "2026-03-01")], "duplicates": "skip"}
    answer = api.post("transactions/import", without_id)
    assert (answer.status_code, answer.json()["count"]) == (200, 0)


def test_undoing_an_import_with_closed_rows_is_refused(api, bank, transaction_ids, close_month):
    stored = api.post("transactions/import", {"transactions": [item(bank, "2026-03-01"), item(bank, "2026-04-01")]})
    close_month()
    get_closed_pointers(api.delete(f"imports/{stored.json()['importId']}"))


def test_rules_skip_closed_rows(api, books, bank, office, transaction_ids, close_month):
    late = books.create_transaction(bank, "-9.00", "2026-03-20", fromTo="Shop")["id"]
    close_month()
    new = books.create_transaction(bank, "-9.00", "2026-04-20", fromTo="Shop")["id"]
    rule = {
        "name": "Shop",
        "conditions": {"text": {"operator": "contains", "value": "Shop"}},
        "action": {"categoryId": office},
    }
    assert api.post("categorization_rules", rule).status_code == 201
    answer = api.post("categorization_rules/apply", {"selection": {"mode": "all", "confirm": True}})
    assert (answer.status_code, answer.json()["affected"]) == (200, 1)
    assert books.get_transaction(late)["categorizations"] == {}
    assert books.get_transaction(new)["categorizations"]


def test_categories_are_proposed_for_open_months_only(api, books, bank, transaction_ids, close_month, office):
    known, waiting = (books.create_transaction(bank, "-5.00", "2026-03-20", fromTo="Nimbus")["id"] for _ in range(2))
    later = books.create_transaction(bank, "-5.00", "2026-04-20", fromTo="Nimbus")["id"]
    books.set_categorizations(known, {"categoryId": office, "plSplit": {"ga": -5}})
    close_month()
    answer = api.post("transactions/proposals", {"transactionIds": [waiting, later]}).json()
    assert answer[waiting] == []
    assert [each["categoryId"] for each in answer[later]] == [office]


def test_rules_skip_what_they_would_recognize_in_a_closed_month(api, books, bank, office, closed_month):
    rule = {
        "name": "Shop",
        "conditions": {"text": {"operator": "contains", "value": "Shop"}},
        "action": {"categoryId": office, "usingDateRule": {"type": "previousMonth"}},
    }
    assert api.post("categorization_rules", rule).status_code == 201
    answer = api.post("transactions/import", {"transactions": [item(bank, "2026-04-01"), item(bank, "2026-05-01")]})
    assert (answer.status_code, answer.json()["count"]) == (200, 2)
    categorized = {row["date"]: bool(row["categorizations"]) for row in api.get("transactions", {"q": "Shop"}).json()}
    assert categorized == {"2026-04-01": False, "2026-05-01": True}


def test_a_run_over_closed_rows_is_not_taken_back(api, books, bank, office, transaction_ids, close_month):
    books.create_transaction(bank, "-9.00", "2026-03-20", fromTo="Shop")
    rule = {
        "name": "Shop",
        "conditions": {"text": {"operator": "contains", "value": "Shop"}},
        "action": {"categoryId": office},
    }
    api.post("categorization_rules", rule)
    run = api.post("categorization_rules/apply", {"selection": {"mode": "all", "confirm": True}}).json()["runId"]
    close_month()
    get_closed_pointers(api.delete(f"categorization_runs/{run}"))


# ---------------------------------------------------------------------------------------------- subscriptions


@pytest.fixture
def subscription(api):
    customer = api.post("counterparties", {"type": "customer", "name": "Initech"}).json()["id"]
    return api.post("subscriptions", {"customerId": customer}).json()["id"]


def event(subscription, day, **more):
    return {
        "subscriptionId": subscription,
        "effectiveDate": day,
        "committedDate": day,
        "amountValue": "10.00",
        "amountCurrency": "EUR",
    } | more


def test_subscription_events_of_closed_months_are_fixed(api, subscription, transaction_ids, close_month, read_figures):
    stored = api.post("subscription_events", event(subscription, "2026-03-05")).json()["id"]
    close_month()
    frozen = {each["movement"]: each["value"] for each in read_figures()[0] if each.get("mrrType") == "mrr"}
    assert (frozen["new"], frozen["end"]) == (10, 10)
    assert get_closed_pointers(api.post("subscription_events", event(subscription, "2026-03-06"))) == [
        "#/effectiveDate",
        "#/committedDate",
    ]
    committed = event(subscription, "2026-04-06", committedDate="2026-03-06")
    assert get_closed_pointers(api.post("subscription_events", committed)) == ["#/committedDate"]
    get_closed_pointers(api.delete(f"subscription_events/{stored}"))
    body = {"events": [event(subscription, "2026-04-01"), event(subscription, "2026-03-31")]}
    get_closed_pointers(api.post("subscription_events/import", body))
    other = api.post("counterparties", {"type": "customer", "name": "Other"}).json()["id"]
    assert get_closed_pointers(api.put(f"subscriptions/{subscription}", {"customerId": other})) == ["#/customerId"]
    assert api.post("subscription_events", event(subscription, "2026-04-06")).status_code == 201
    assert read_figures()[1] == []


# ---------------------------------------------------------------------------------------------- statements


def qif(*rows):
    entries = "".join(f"D{day}\nT{amount}\nPShop\n^\n" for day, amount in rows)
    return f"!Type:Bank\n{entries}".encode()


def test_statements_with_closed_entries_are_refused_or_leave_them_out(api, bank, closed_month):
    content = qif(("31/03/2026", "-2.00"), ("13/04/2026", "-3.00"))
    fields = {"accountId": bank, "name": "bank.qif"}
    answer = upload_statement(api, content, **fields)
    assert get_closed_pointers(answer) == ["#/statements/0/entries/0"]
    answer = upload_statement(api, content, closed="skip", **fields).json()
    assert (answer["count"], answer["duplicates"], answer["skippedClosed"]) == (1, 0, 1)
    answer = upload_statement(api, qif(("13/04/2026", "-3.00")), **fields).json()
    assert (answer["count"], answer["duplicates"], answer["skippedClosed"]) == (0, 1, 0)


def test_statements_of_one_file_leave_closed_entries_out_as_if_each_came_alone(api, bank, closed_month):
    entries = (
        bank_file_builders.build_entry("-2.00", "2026-03-31"),
        bank_file_builders.build_entry("-3.00", "2026-04-13"),
    )
    content = bank_file_builders.build_camt(
        *[bank_file_builders.build_statement(*entries, start="2026-03-31", end="2026-04-30")] * 2
    )
    answer = upload_statement(api, content, accountId=bank)
    assert get_closed_pointers(answer) == ["#/statements/0/entries/0", "#/statements/1/entries/0"]
    answer = upload_statement(api, content, accountId=bank, closed="skip").json()
    assert (answer["count"], answer["duplicates"], answer["skippedClosed"]) == (1, 1, 2)


def test_what_is_pending_in_an_archive_stays_so_where_its_month_is_closed(api, bank, closed_month):
    period = {"start": "2026-03-31", "end": "2026-03-31"}
    waiting = bank_file_builders.build_entry("-2.00", "2026-03-31", status="PDNG")
    pending = bank_file_builders.build_camt(
        bank_file_builders.build_statement(waiting, kind="052", **period), kind="052"
    )
    booked = bank_file_builders.build_camt(
        bank_file_builders.build_statement(bank_file_builders.build_entry("-2.00", "2026-03-31"), **period)
    )
    content = build_zip(**{"a.xml": pending, "b.xml": booked})
    assert get_closed_pointers(upload_statement(api, content, accountId=bank)) == ["#/statements/1/entries/0"]
    answer = upload_statement(api, content, accountId=bank, closed="skip").json()
    counts = [answer[name] for name in ("count", "duplicates", "booked", "lapsed", "skippedClosed")]
    assert counts == [1, 0, 0, 0, 1]
    [stored] = api.get("transactions", {"q": "Initech"}).json()
    assert stored["pending"]


def test_an_opening_balance_on_a_closed_day_is_refused_like_a_row(api, books, closed_month):
    other = books.create_account(name="Other")
    content = mt940("260401", "C1000,00", "260401", "C997,00", ["2604010401D3,00NTRFNONREF"])
    answer = upload_statement(api, content, accountId=other, name="a.sta")
    get_closed_pointers(answer)
    answer = upload_statement(api, content, accountId=other, name="a.sta", closed="skip").json()
    assert (answer["count"], answer["skippedClosed"]) == (1, 0)
    opening = api.get(f"accounts/{other}/initial_balance").json()["transaction"]
    assert (opening["date"], opening["amountValue"]) == ("2026-04-01", "1000.00")


def mt940(opened, opening, ended, closing, lines):
    rows = "".join(f":61:{line}\r\n:86:Shop\r\n" for line in lines)
    return (
        ":20:1\r\n:25:DE89370400440532013000\r\n:28C:1/1\r\n"
        f":60F:{opening[0]}{opened}EUR{opening[1:]}\r\n{rows}:62F:{closing[0]}{ended}EUR{closing[1:]}\r\n-\r\n"
    ).encode()


# ---------------------------------------------------------------------------------------------- plans and documents


def test_automatic_settling_moves_nothing_into_a_closed_month(api, books, bank, closed_month):
    api.put("", {"plRecognizeRevenueOnInvoice": True})
    revenue = books.get_category_id("revenueRecurring")
    plan = {
        "name": "Initech",
        "accountId": bank,
        "startDate": "2026-04-03",
        "amountValue": "50.00",
        "invoiceDate": "2026-03-20",
    }
    assert api.post("planned_transactions", plan).status_code == 201
    row = item(bank, "2026-04-03", "50.00", categoryId=revenue, plType="revenue")
    answer = api.post("transactions/import", {"transactions": [row]})
    assert answer.status_code == 200, answer.content
    [stored] = api.get("transactions", {"q": "Shop"}).json()
    assert stored["settlements"] == []


def test_recognition_by_invoice_is_free_while_no_closed_figure_changes(api, closed_month):
    assert api.put("", {"plRecognizeRevenueOnInvoice": True}).status_code == 200


def test_recognition_by_invoice_is_refused_where_a_closed_figure_changes(
    api, books, bank, transaction_ids, close_month
):
    row = books.create_transaction(bank, "50.00", "2026-03-20")["id"]
    revenue = books.get_category_id("revenueRecurring")
    rule = {"type": "transactionDate", "invoiceDate": "2026-04-02"}
    books.set_categorizations(row, {"categoryId": revenue, "plSplit": {"revenue": 50}, "usingDateRule": rule})
    close_month()
    answer = api.put("", {"plRecognizeRevenueOnInvoice": True})
    assert get_closed_pointers(answer) == ["#/plRecognizeRevenueOnInvoice"]


def test_invoice_dates_of_settled_plans_move_nothing_out_of_a_closed_month(
    api, books, bank, transaction_ids, close_month
):
    api.put("", {"plRecognizeRevenueOnInvoice": True})
    row = books.create_transaction(bank, "50.00", "2026-03-20")["id"]
    books.set_categorizations(
        row, {"categoryId": books.get_category_id("revenueRecurring"), "plSplit": {"revenue": 50}}
    )
    plan = {"name": "Initech", "accountId": bank, "startDate": "2026-03-20", "amountValue": "50.00"}
    path = f"planned_transactions/{api.post('planned_transactions', plan | {'invoiceDate': '2026-03-05'}).json()['id']}"
    body = {"date": "2026-03-20", "transactionId": row}
    late = f"planned_transactions/{api.post('planned_transactions', plan | {'invoiceDate': '2026-04-05'}).json()['id']}"
    close_month()
    assert get_closed_pointers(api.post(f"{late}/settle", body)) == ["#/transactionId"]
    assert api.post(f"{path}/settle", body).status_code == 200
    assert get_closed_pointers(api.put(path, {"invoiceDate": "2026-04-05"})) == ["#/invoiceDate"]
    assert api.post(f"{path}/unsettle", {"date": "2026-03-20"}).status_code == 200


def test_plans_documents_and_names_stay_free(api, bank, closed_month):
    assert api.put(f"accounts/{bank}", {"name": "Renamed"}).status_code == 200
    plan = {"name": "Rent", "accountId": bank, "startDate": "2026-03-15", "amountValue": "-100.00"}
    planned = api.post("planned_transactions", plan).json()["id"]
    body = {"date": "2026-03-15", "transactionId": closed_month[0]}
    assert api.post(f"planned_transactions/{planned}/settle", body).status_code == 200
    assert api.post(f"planned_transactions/{planned}/unsettle", {"date": "2026-03-15"}).status_code == 200
