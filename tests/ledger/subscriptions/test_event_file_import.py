"""Import of subscription events from CSV files over HTTP: what is stored, what is asked, what is refused."""

import random
from datetime import date, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from companies.api.openapi.error_codes import FIELD_CODES
from companies.models import AuditEntry
from ledger.models import Counterparty, Product, Subscription, SubscriptionEvent, SubscriptionEventImport
from tests import factories

pytestmark = pytest.mark.django_db
HEADINGS = "Customer,Product,Date,MRR,Currency,Kind,External ID"
FILE = "Globex,Pro,2024-01-15,50.00,EUR,start,e1", "Globex,Pro,2024-03-01,80.00,EUR,change,e2"
STRIPE_HEADINGS = (
    "id,Customer ID,Customer Description,Plan,Quantity,Currency,Interval,Amount,Status,Start (UTC),Ended At (UTC)"
)
CHARTMOGUL_HEADINGS = (
    "customer-name,customer-external-id,subscription-external-id,plan-external-id,date,type,activity-mrr,"
    "activity-mrr-movement,currency"
)


def import_file(api, *lines, headings=HEADINGS, **fields):
    content = "\n".join((headings, *lines)).encode()
    file = SimpleUploadedFile("events.csv", content, content_type="text/csv")
    return api.client.post(api.path("subscription_events/import_file"), {"file": file} | fields, headers=api.headers)


def list_errors(answer):
    assert answer.status_code == 400, answer.content
    return [(each["pointer"], each["code"]) for each in answer.json()["errors"]]


def list_stored():
    rows = SubscriptionEvent.objects.not_retracted().select_related("subscription__customer").order_by("id")
    return [
        (row.subscription.customer.name, str(row.effective_date), f"{row.amount_value:.2f}", row.interval)
        for row in rows
    ]


def get_mrr(api, month):
    answer = api.post("data/recurringRevenueSummary", {"month": month})
    assert answer.status_code == 200, answer.content
    return answer.json()["mrr"]


def test_events_are_stored_with_their_customer_and_product(api, acme):
    answer = import_file(api, *FILE, "Globex,Pro,2024-06-30,,EUR,cancel,e3", "Initech,,2024-02-01,20,EUR,new_biz,")
    assert answer.status_code == 200, answer.content
    made = answer.json()
    assert made == {
        "count": 4, "duplicates": 0, "leftOut": 0, "createdCustomers": 2, "createdProducts": 1,
        "createdSubscriptions": 2, "dryRun": False, "importId": made["importId"],
    }  # fmt: skip
    assert list_stored() == [
        ("Globex", "2024-01-15", "50.00", "month"),
        ("Globex", "2024-03-01", "80.00", "month"),
        ("Globex", "2024-06-30", "0.00", "month"),
        ("Initech", "2024-02-01", "20.00", "month"),
    ]
    assert [get_mrr(api, month) for month in ("2024-01", "2024-05", "2024-06")] == [50, 100, 20]
    entry = AuditEntry.objects.get(action="subscriptionEvents.imported")
    assert (entry.after["count"], entry.after["filename"], entry.after["import_id"]) == (
        4, "events.csv", made["importId"],
    )  # fmt: skip


@pytest.mark.parametrize("with_ids", [True, False])
def test_repeated_file_changes_nothing(api, acme, with_ids):
    lines = [line if with_ids else line.rpartition(",")[0] + "," for line in FILE]
    assert import_file(api, *lines).json()["count"] == 2
    before = list_stored()
    again = import_file(api, *lines, "Globex,Pro,2024-04-01,90.00,EUR,change,").json()
    assert (again["count"], again["duplicates"], again["createdSubscriptions"]) == (1, 2, 0)
    assert list_stored() == [*before, ("Globex", "2024-04-01", "90.00", "month")]
    unchanged = import_file(api, *lines).json()
    assert (unchanged["count"], unchanged["duplicates"], unchanged["importId"]) == (0, 2, None)
    assert Subscription.objects.count() == 1


def test_known_external_id_with_another_price_is_an_error(api, acme):
    import_file(api, *FILE)
    answer = import_file(api, FILE[0], FILE[1].replace("80.00", "85.00"))
    assert list_errors(answer) == [("#/events/1/externalId", "external_id_taken")]
    assert "Line 3" in answer.json()["errors"][0]["detail"]


def test_dry_run_stores_nothing(api, acme):
    made = import_file(api, *FILE, dryRun="true").json()
    assert (made["count"], made["createdCustomers"], made["importId"]) == (2, 1, None)
    assert not SubscriptionEvent.objects.exists()
    assert not Counterparty.objects.filter(name="Globex").exists()


def test_wrong_rows_are_named_and_nothing_is_stored(api, acme):
    answer = import_file(
        api,
        *FILE,
        ",Pro,2024-01-01,5,EUR,start,",
        "Globex,Pro,soon,5,EUR,start,",
        "Globex,Pro,2024-01-01,-5,EUR,start,",
        "Globex,Pro,2024-01-01,5,XXX,start,",
        "Globex,Pro,2024-01-01,5.001,EUR,start,",
        "Globex,Pro,2024-01-01,5,EUR,gift,",
        "Globex,Pro,2024-01-01,,EUR,change,",
    )
    assert list_errors(answer) == [
        ("#/events/2/customer", "required"),
        ("#/events/3/eventDate", "invalid_date"),
        ("#/events/4/mrr", "negative_amount"),
        ("#/events/5/currency", "invalid_choice"),
        ("#/events/6/mrr", "too_many_decimals"),
        ("#/events/7/kind", "invalid_choice"),
        ("#/events/8/mrr", "required"),
    ]
    assert "Line 4" in answer.json()["errors"][0]["detail"]
    assert not SubscriptionEvent.objects.exists()
    assert not Counterparty.objects.filter(name="Globex").exists()


@pytest.mark.parametrize("day", ["2025-02-29", "20250230", "31.04.2025", "31 Nov 2025"])
def test_day_that_does_not_exist_is_an_error(api, acme, day):
    answer = import_file(api, FILE[0], f"Globex,Pro,{day},80.00,EUR,change,e2", dateOrder="dayFirst")
    assert list_errors(answer) == [("#/events/1/eventDate", "invalid_date")]
    assert not SubscriptionEvent.objects.exists()


def test_end_before_the_start_is_an_error_with_a_documented_code(api, acme):
    headings = "Customer,Product,Date,End date,MRR"
    answer = import_file(api, "Globex,Pro,2025-03-15,2025-01-01,49", headings=headings)
    assert list_errors(answer) == [("#/events/0/endDate", "end_before_start")]
    assert "end_before_start" in FIELD_CODES


def test_row_with_more_cells_than_headings_is_an_error(api, acme):
    answer = import_file(api, "Globex,2025-01-15,49,", "Initech,2025-01-15,49,50", headings="Customer,Date,MRR")
    assert (answer.status_code, answer.json()["code"]) == (415, "unreadable_table")
    assert answer.json()["detail"].startswith("Line 3 has more cells than headings.")
    assert not SubscriptionEvent.objects.exists()
    assert import_file(api, "Globex,2025-01-15,49,,", headings="Customer,Date,MRR").json()["count"] == 1


def test_unproven_dates_columns_and_intervals_are_asked(api, acme):
    headings = "Who,Date,Amount,Seats"
    response = import_file(api, "Globex,03/04/2024,10,3", headings=headings)
    assert list_errors(response) == [
        ("#/customerColumn", "required"), ("#/dateOrder", "ambiguous"), ("#/interval", "ambiguous"),
        ("#/quantity", "ambiguous"),
    ]  # fmt: skip
    answers = {"customerColumn": "Who", "dateOrder": "dayFirst", "interval": "quarter", "quantity": "multiply"}
    assert import_file(api, "Globex,03/04/2024,10,3", headings=headings, **answers).json()["count"] == 1
    event = SubscriptionEvent.objects.get()
    assert (str(event.effective_date), event.amount_value, event.interval, event.interval_count) == (
        "2024-04-03", 30, "month", 3,
    )  # fmt: skip
    unknown = import_file(api, "Globex,03/04/2024,10,3", headings=headings, **answers | {"customerColumn": "Nobody"})
    assert list_errors(unknown) == [("#/customerColumn", "invalid_choice")]


def test_export_of_subscriptions_starts_and_ends_each(api, acme):
    answer = import_file(
        api,
        "sub_1,cus_1,Globex,Pro,1,usd,month,20.00,active,2024-01-10 08:15,",
        "sub_2,cus_2,Initech,Pro,1,usd,year,120.00,canceled,2024-01-12 09:00,2024-05-12 09:00",
        "sub_3,cus_3,Hooli,Pro,1,usd,month,20.00,trialing,2024-01-10 08:15,",
        headings=STRIPE_HEADINGS,
    )
    made = answer.json()
    assert (made["count"], made["leftOut"], made["createdSubscriptions"]) == (3, 1, 2)
    assert list_stored() == [
        ("Globex", "2024-01-10", "20.00", "month"),
        ("Initech", "2024-01-12", "120.00", "year"),
        ("Initech", "2024-05-12", "0.00", "month"),
    ]
    assert set(Subscription.objects.values_list("external_id", flat=True)) == {"sub_1", "sub_2"}


def test_ended_subscription_without_an_end_date_is_an_error(api, acme):
    answer = import_file(
        api, "sub_1,cus_1,Globex,Pro,1,usd,month,20.00,canceled,2024-01-10 08:15,", headings=STRIPE_HEADINGS
    )
    assert list_errors(answer) == [("#/events/0/endDate", "required")]


def test_export_of_movements_is_read_by_its_new_mrr_from_the_earliest_day(api, acme):
    answer = import_file(
        api,
        "Globex,cus_1,sub_1,pro,2024-03-05,churn,0.00,-80.00,EUR",
        "Globex,cus_1,sub_1,pro,2024-02-05,expansion,80.00,30.00,EUR",
        "Globex,cus_1,sub_1,pro,2024-02-05,contraction,50.00,-10.00,EUR",
        "Globex,cus_1,sub_1,pro,2024-01-05,new_biz,60.00,60.00,EUR",
        headings=CHARTMOGUL_HEADINGS,
    )
    assert answer.json()["count"] == 4
    assert [row[1:3] for row in list_stored()] == [
        ("2024-01-05", "60.00"), ("2024-02-05", "50.00"), ("2024-02-05", "80.00"), ("2024-03-05", "0.00"),
    ]  # fmt: skip
    assert get_mrr(api, "2024-02") == 80


def test_customer_with_several_subscriptions_needs_their_ids(api, acme):
    customer = factories.make_customer(acme, name="Globex")
    for number in (1, 2):
        api.post("subscriptions", {"customerId": str(customer.id), "externalId": f"s{number}"})
    line = "Globex,,2024-01-15,50.00,EUR,start,"
    assert list_errors(import_file(api, line)) == [("#/events/0/subscriptionExternalId", "ambiguous")]
    headings = HEADINGS + ",Subscription ID"
    assert import_file(api, line + ",s2", headings=headings).json()["count"] == 1
    assert SubscriptionEvent.objects.get().subscription.external_id == "s2"


def test_known_subscription_of_customer_and_product_is_used(api, acme):
    customer = factories.make_customer(acme, name="Globex")
    body = {"customerId": str(customer.id), "externalId": "s1"}
    subscription = api.post("subscriptions", body | {"productId": api.post("products", {"name": "Pro"}).json()["id"]})
    made = import_file(api, *FILE).json()
    assert (made["createdCustomers"], made["createdProducts"], made["createdSubscriptions"]) == (0, 0, 0)
    assert {str(row.subscription_id) for row in SubscriptionEvent.objects.all()} == {subscription.json()["id"]}


def test_closed_months_refuse_new_events_and_undo_but_not_stored_ones(api, acme, books, bank):
    books.create_transaction(bank, "-100.00", "2024-01-15")
    imported = import_file(api, *FILE).json()["importId"]
    assert api.post("closings", {"month": "2024-01", "acknowledge": True}).status_code == 201
    assert import_file(api, *FILE).json()["duplicates"] == 2
    refused = import_file(api, "Initech,Pro,2024-01-20,5,EUR,start,", "Initech,Pro,2024-02-20,6,EUR,change,")
    assert (refused.status_code, refused.json()["code"]) == (409, "period_closed")
    assert [each["pointer"] for each in refused.json()["errors"]] == ["#/events/0/effectiveDate"]
    assert not Counterparty.objects.filter(name="Initech").exists()
    undone = api.delete(f"subscription_event_imports/{imported}")
    assert (undone.status_code, undone.json()["code"]) == (409, "period_closed")
    assert len(list_stored()) == 2


def test_import_is_undone_once(api, acme):
    customer = factories.make_customer(acme, name="Initech")
    imported = import_file(api, *FILE, "Initech,Pro,2024-01-15,50.00,EUR,start,").json()["importId"]
    assert get_mrr(api, "2024-03") == 130
    row = api.get(f"subscription_event_imports/{imported}")
    assert (row.json()["count"], row.json()["createdCustomers"], row.json()["undoneTime"]) == (3, 1, None)
    assert [each["id"] for each in api.get("subscription_event_imports").json()] == [imported]
    assert api.delete(f"subscription_event_imports/{imported}").json() == {
        "success": True, "retractedCount": 3, "deletedSubscriptions": 2, "deletedCustomers": 1, "deletedProducts": 1,
    }  # fmt: skip
    assert get_mrr(api, "2024-03") == 0
    assert list(Counterparty.objects.filter(name__in=("Globex", "Initech"))) == [customer]
    assert not Product.objects.exists()
    again = api.delete(f"subscription_event_imports/{imported}")
    assert (again.status_code, again.json()["code"]) == (409, "import_already_undone")
    assert AuditEntry.objects.get(action="subscriptionEvents.importUndone").after["count"] == 3
    assert import_file(api, *FILE).json()["count"] == 2


def test_undo_keeps_what_else_is_used(api, acme):
    imported = import_file(api, *FILE).json()["importId"]
    subscription = Subscription.objects.get()
    later = {"effectiveDate": "2024-05-01", "amountValue": "10.00", "amountCurrency": "EUR"}
    assert api.post("subscription_events", later | {"subscriptionId": str(subscription.id)}).status_code == 201
    undone = api.delete(f"subscription_event_imports/{imported}").json()
    assert (undone["retractedCount"], undone["deletedSubscriptions"], undone["deletedCustomers"]) == (2, 0, 0)
    assert (get_mrr(api, "2024-03"), get_mrr(api, "2024-05")) == (0, 10)


def test_unusable_files_are_refused(api, acme, monkeypatch):
    assert import_file(api, "1,2", headings="a,b").json()["code"] == "columns_unknown"
    assert import_file(api, headings="MRR,MRR,Date,Customer").json()["code"] == "columns_unknown"
    assert api.client.post(api.path("subscription_events/import_file"), {}, headers=api.headers).status_code == 400
    monkeypatch.setattr("ledger.subscriptions.actions.event_file_import.MAX_EVENT_ROWS", 1)
    assert import_file(api, *FILE).status_code in (400, 413)
    assert not SubscriptionEventImport.objects.exists()


@pytest.mark.parametrize("seed", range(4))
def test_file_means_the_same_as_single_events_and_undo_takes_it_back(api, acme, globex_api, seed):
    """Random histories in any order of lines: recurring revenue equals that of the same events sent one by one."""
    chance = random.Random(seed)
    days = [date(2023, 1, 1) + timedelta(days=chance.randrange(400)) for _ in range(25)]
    days.sort(reverse=seed % 2 == 1)
    events = [
        (f"c{chance.randrange(4)}", day, chance.choice(["0", "10.00", "25.50", "99.99"])) for day in dict.fromkeys(days)
    ]
    import_file(api, "Before,Pro,2023-01-01,7.00,EUR,start,")
    lines = [f"{name},Pro,{day},{amount},EUR,," for name, day, amount in events]
    imported = import_file(api, *lines).json()
    assert imported["count"] + imported["duplicates"] == len(events)
    bodies = [
        {"subscriptionExternalId": name, "customerName": name, "effectiveDate": str(day), "amountValue": amount,
         "amountCurrency": "EUR"}
        for name, day, amount in [("Before", date(2023, 1, 1), "7.00"), *sorted(events, key=lambda each: each[1])]
    ]  # fmt: skip
    assert globex_api.post("subscription_events/import", {"events": bodies}).status_code == 200
    query = {"startMonth": "2023-01", "endMonth": "2024-03", "mrrType": "mrr"}
    months = [api.post("data/monthlyData", query), globex_api.post("data/monthlyData", query)]
    assert months[0].status_code == 200, months[0].content
    assert months[0].json() == months[1].json()
    assert api.delete(f"subscription_event_imports/{imported['importId']}").status_code == 200
    assert [get_mrr(api, month) for month in ("2023-01", "2023-08", "2024-03")] == [7, 7, 7]


def test_contradicting_dates_name_the_first_row(api, acme):
    lines = ("Globex,Pro,01/02/2024,50.00,EUR,start,", "Globex,Pro,15/03/2024,60.00,EUR,change,")
    answer = import_file(api, *lines, "Globex,Pro,04/20/2024,70.00,EUR,change,")
    assert list_errors(answer) == [("#/events/2/eventDate", "invalid_date")]
    detail = answer.json()["errors"][0]["detail"]
    assert all(text in detail for text in ("Line 4", "04/20/2024", "15/03/2024", "line 3"))
    assert list_stored() == []


def test_subscription_of_two_customers_is_rejected(api, acme):
    lines = ("Customer,Date,MRR,Subscription ID", "Globex,2024-01-15,50.00,s1", "Initech,2024-02-15,60.00,s1")
    answer = import_file(api, *lines[1:], headings=lines[0])
    assert list_errors(answer) == [("#/events/1/customer", "invalid_value")]
    assert "Globex" in answer.json()["errors"][0]["detail"]
    assert list_stored() == []


def test_customer_of_a_subscription_may_lack_the_external_id_or_change_the_name(api, acme):
    headings = "Customer,Customer ID,Date,MRR,Subscription ID"
    lines = ("Globex,c1,2024-01-15,50.00,s1", "Globex,,2024-02-15,60.00,s1", "Globex Inc.,c1,2024-03-15,70.00,s1")
    assert import_file(api, *lines, headings=headings).json()["count"] == 3
    other = import_file(api, *lines, "Globex,c2,2024-04-15,80.00,s1", headings=headings)
    assert list_errors(other) == [("#/events/3/customer", "invalid_value")]


def test_cancellation_of_an_unknown_subscription_is_rejected(api, acme):
    assert import_file(api, FILE[0]).status_code == 200
    lines = ("Initech,Pro,2024-05-01,,EUR,cancel,", "Globex,Pro,2024-05-01,,EUR,cancel,")
    assert list_errors(import_file(api, *lines)) == [("#/events/0/customer", "unknown_id")]
    assert not Counterparty.objects.filter(name="Initech").exists()


def test_cancellation_before_its_start_in_the_file_is_stored(api, acme):
    answer = import_file(api, "Globex,Pro,2024-05-01,,EUR,cancel,", "Globex,Pro,2024-01-15,50.00,EUR,start,")
    assert answer.json()["count"] == 2, answer.content


def test_file_with_headings_only_is_rejected(api, acme):
    answer = import_file(api)
    assert (answer.status_code, answer.json()["code"]) == (415, "unreadable_table")
    assert "no rows" in answer.json()["detail"]


def test_customer_whose_only_event_is_zero_is_left_out(api, acme):
    answer = import_file(api, "Free Ltd,Pro,2024-01-15,0.00,EUR,start,z1", *FILE)
    assert answer.status_code == 200, answer.content
    made = answer.json()
    assert (made["count"], made["leftOut"], made["createdCustomers"]) == (2, 1, 1)
    assert list(Counterparty.objects.values_list("name", flat=True)) == ["Globex"]
    alone = import_file(api, "Free Ltd,Pro,2024-01-15,0,EUR,start,z1").json()
    assert (alone["count"], alone["leftOut"], alone["createdCustomers"]) == (0, 1, 0)
    assert not Counterparty.objects.filter(name="Free Ltd").exists()


def test_zero_event_of_a_customer_who_pays_later_is_stored(api, acme):
    lines = "Trial Ltd,Pro,2024-01-15,0.00,EUR,start,t1", "Trial Ltd,Pro,2024-02-15,30.00,EUR,change,t2"
    assert import_file(api, *lines).json()["count"] == 2
    assert import_file(api, "Trial Ltd,Pro,2024-05-15,0.00,EUR,change,t3").json()["count"] == 1
