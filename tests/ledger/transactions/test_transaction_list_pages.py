"""The list of transactions as a page: its filters, its file, a new one, and what is done with many rows."""

import csv
import io
import re
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from companies.models import AuditContext, AuditEntry
from ledger.models import Transaction
from tests import factories
from tests.ledger.conftest import find_field_error, get_page_text, list_pl_amounts

pytestmark = pytest.mark.django_db
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def transaction_ids(books, bank, savings):
    """The ids of three transactions: hosting, a coffee and a customer's payment."""
    return {
        "hosting": books.create_transaction(
            bank, "-119.00", "2026-03-15", fromTo="Nimbus Cloud", description="March hosting"
        )["id"],
        "coffee": books.create_transaction(bank, "-4.50", "2026-03-16", fromTo="Corner Bistro", pending=True)["id"],
        "payment": books.create_transaction(
            savings, "500.00", "2026-03-17", description="Invoice 7", amountCurrency="USD"
        )["id"],
    }


def list_shown_names(answer, transaction_ids):
    """The names of the transactions that a page of the list shows, in its order."""
    body = answer.content.decode()
    places = {name: body.find(f"/transactions/{key}") for name, key in transaction_ids.items()}
    return [name for name in sorted(places, key=places.get) if places[name] >= 0]


# ---------------------------------------------------------------------------------------------- the list


def test_list_shows_latest_transactions_first_with_details(pages, books, transaction_ids):
    books.set_categorizations(
        transaction_ids["hosting"], {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -119}}
    )
    answer = pages.get()
    assert answer.status_code == 200
    assert list_shown_names(answer, transaction_ids) == ["payment", "coffee", "hosting"]
    text = get_page_text(answer)
    for part in ("15 Mar 2026", "Nimbus Cloud", "March hosting", "Main", "Hosting", "−€119.00", "Savings", "$500.00"):
        assert part in text
    rows = answer.content.decode().split("<tr")
    coffee = next(row for row in rows if transaction_ids["coffee"] in row)
    hosting = next(row for row in rows if transaction_ids["hosting"] in row)
    assert ">Uncategorized<" in coffee
    assert ">Pending<" in coffee
    assert ">Uncategorized<" not in hosting


def test_list_and_export_show_the_included_tax(pages, books, bank, transaction_ids):
    hosting, office = books.get_category_id("hosting"), books.get_category_id("officeAndAdmin")
    part = {"categoryId": hosting, "plSplit": {"cogs": -100}, "passThroughTax": -19}
    books.set_categorizations(transaction_ids["hosting"], part)
    meal = books.create_transaction(bank, "-226.00", fromTo="Bistro")["id"]
    parts = ({"categoryId": office, "plSplit": {"ga": -100}, "passThroughTax": tax} for tax in (-19, -7))
    books.set_categorizations(meal, *parts)
    mixed = books.create_transaction(bank, "-150.00", fromTo="Hotel")["id"]
    untaxed = {"categoryId": office, "plSplit": {"ga": -31}}
    books.set_categorizations(mixed, part, untaxed)
    rows = pages.get().content.decode().split("<tr")
    taxes = {
        name: re.search(r'<td class="tax-cell[^>]*>(.*?)</td>', next(row for row in rows if each in row))[1]
        for name, each in (transaction_ids | {"meal": meal, "mixed": mixed}).items()
    }
    assert taxes == {"hosting": "19 %", "meal": "−€26.00", "mixed": "−€19.00", "coffee": "", "payment": ""}
    exported = {row["Id"]: row["Tax"] for row in read_csv_rows(pages.get(CSV))}
    assert [exported[each] for each in (transaction_ids["hosting"], meal, transaction_ids["coffee"])] == [
        "-19.00",
        "-26.00",
        "",
    ]


def test_page_filters_match_api_filters(pages, books, transaction_ids, acme):
    nimbus = factories.make_customer(acme, "Nimbus")
    part = {
        "categoryId": books.get_category_id("hosting"),
        "plSplit": {"cogs": -119},
        "counterparty": {"id": str(nimbus.id)},
    }
    for params, found in [
        ({"q": "nimbus"}, ["hosting"]),
        ({"startDate": "2026-03-16", "endDate": "2026-03-16"}, ["coffee"]),
        ({"direction": "in"}, ["payment"]),
        ({"open": "true"}, ["payment", "coffee"]),
        ({"open": "false"}, ["hosting"]),
        ({"pending": "true"}, ["coffee"]),
        ({"transfer": "true"}, []),
        ({"source": "manual", "currency": "USD"}, ["payment"]),
        ({"minAmount": "-5", "maxAmount": "0"}, ["coffee"]),
        ({"plType": "cogs"}, ["hosting"]),
        ({"counterparty": "nimbus"}, ["hosting"]),
        ({"sort": "amount"}, ["hosting", "coffee", "payment"]),
        ({"q": "", "startDate": "", "open": "", "sort": ""}, ["payment", "coffee", "hosting"]),
    ]:
        assert books.set_categorizations(transaction_ids["hosting"], part).status_code == 200, params
        assert list_shown_names(pages.get(**params), transaction_ids) == found


def test_list_can_be_filtered_by_accounts_and_category(pages, books, bank, savings, transaction_ids):
    hosting = books.get_category_id("hosting")
    books.set_categorizations(transaction_ids["hosting"], {"categoryId": hosting, "plSplit": {"cogs": -119}})
    assert list_shown_names(pages.get(accountId=savings), transaction_ids) == ["payment"]
    assert list_shown_names(pages.get(accountId=[bank, savings]), transaction_ids) == ["payment", "coffee", "hosting"]
    answer = pages.get(categoryId=hosting)
    assert list_shown_names(answer, transaction_ids) == ["hosting"]
    assert f'<option value="{hosting}" selected>' in answer.content.decode()


def test_invalid_filter_shows_field_error_and_no_rows(pages, transaction_ids):
    for name, value in [
        ("startDate", "15.03.2026"),
        ("endDate", "2026-02-30"),
        ("accountId", "mine"),
        ("plType", "fun"),
        ("counterparty", "Nobody at all"),
        ("counterparty", "a\0b"),
        ("minAmount", "1,000"),
        ("sort", "name"),
    ]:
        answer = pages.get(**{name: value})
        assert answer.status_code == 400, name
        assert find_field_error(answer, name)
        assert list_shown_names(answer, transaction_ids) == [], name


def test_invalid_filter_without_a_field_shows_error_above_the_form(pages, transaction_ids):
    for name in ["colour", "importId"]:
        answer = pages.get(**{name: "x"})
        assert answer.status_code == 400, name
        assert 'role="alert">' + name in answer.content.decode()
        assert list_shown_names(answer, transaction_ids) == [], name


def test_filters_without_a_field_are_kept_and_can_be_removed(pages, transaction_ids):
    since = "2020-01-01T00:00:00Z"
    answer = pages.get(updatedSince=since, q="nimbus")
    assert f'type="hidden" name="updatedSince" value="{since}"' in answer.content.decode()
    assert 'href="?q=nimbus">Changed since' in answer.content.decode()


def test_list_pages_follow_one_another_and_link_to_the_first(pages, books, bank, acme):
    rows = ({"amountValue": f"-{number + 1}.00", "description": f"no. {number}"} for number in range(60))
    books.import_transactions(bank, *rows)
    first = pages.get(sort="-amount")
    assert first.content.decode().count('name="id"') == 50
    link = next(part for part in first.content.decode().split('"') if part.startswith("?") and "cursor=" in part)
    second = pages.client.get(pages.base + link.replace("&amp;", "&"))
    assert second.content.decode().count('name="id"') == 10
    assert "First page" in get_page_text(second)
    assert 'rel="next"' not in second.content.decode()


def test_empty_list_suggests_next_step(pages, make_pages, bob, acme, transaction_ids):
    assert "No transactions found" in get_page_text(pages.get(q="zzz"))
    Transaction.objects.for_company(acme.id).delete()
    assert "New transaction" in get_page_text(pages.get())
    assert "New transaction" not in get_page_text(make_pages(bob, acme).get())


def test_list_without_accounts_links_to_account_creation(pages, acme):
    text = pages.get().content.decode()
    assert f'href="/app/companies/{acme.id}/accounts/new"' in text
    assert "Import a bank statement, or create an account first." in text
    assert "<select" not in text


def test_queries_do_not_grow_with_rows(pages, books, bank, acme):
    def cost():
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert pages.get().status_code == 200
        return len(queries)

    def fill(count):
        for _ in range(count):
            made = books.create_transaction(bank)["id"]
            part = {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -100}}
            books.set_categorizations(made, part | {"counterparty": {"id": str(factories.make_customer(acme).id)}})

    fill(1)
    pages.get()
    one = cost()
    fill(8)
    assert cost() == one <= 13


def test_list_of_other_company_is_not_found_and_viewers_get_no_forms(
    make_pages, acme, globex, alice, bob, carol, transaction_ids
):
    assert make_pages(carol, acme).get().status_code == 404
    viewer = make_pages(bob, acme)
    answer = viewer.get()
    assert list_shown_names(answer, transaction_ids) == ["payment", "coffee", "hosting"]
    assert 'name="act"' not in answer.content.decode()
    assert viewer.post(act="delete", id=transaction_ids["coffee"]).status_code == 403
    assert viewer.get("/new").status_code == 403
    assert Transaction.objects.for_company(acme.id).count() == 3


def test_list_hides_names_the_viewer_may_not_see(make_pages, acme, transaction_ids):
    partial = factories.make_member(acme, "dan@acme.example", permissions=["transactions:read", "company:read"])
    text = get_page_text(make_pages(partial, acme).get())
    assert "Nimbus Cloud" in text
    assert "Savings" not in text


# ---------------------------------------------------------------------------------------------- the file


CSV = "/export/transactions.csv"


def read_csv_rows(answer):
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))


def test_export_contains_all_pages_of_filtered_list(pages, books, bank, transaction_ids):
    books.set_categorizations(
        transaction_ids["hosting"], {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -100}}
    )
    answer = pages.get(CSV)
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="transactions.csv"'
    rows = read_csv_rows(answer)
    assert [row["Id"] for row in rows] == [
        transaction_ids["payment"],
        transaction_ids["coffee"],
        transaction_ids["hosting"],
    ]
    assert rows[2]["Amount"] == "-119.00"
    assert (rows[2]["Status"], rows[2]["P&L lines"]) == ("open", "Cost of revenue")
    assert [row["Id"] for row in read_csv_rows(pages.get(CSV, q="nimbus"))] == [transaction_ids["hosting"]]
    assert pages.get(CSV, startDate="x").status_code == 400


# ---------------------------------------------------------------------------------------------- many at once


def test_selected_transactions_take_line_counterparty_and_period(pages, books, transaction_ids, acme):
    nimbus = factories.make_customer(acme, "Nimbus")
    answer = pages.post(
        "?open=true",
        act="categorize",
        id=[transaction_ids["hosting"], transaction_ids["coffee"]],
        category=f"{books.get_category_id('hosting')}:cogs",
        counterparty="nimbus",
        rule="servicePeriod",
        ruleStart="2026-03-01",
        ruleEnd="2026-05-31",
    )
    assert (answer.status_code, answer["Location"].split("&run=")[0]) == (303, f"{pages.base}?open=true")
    after = pages.get(open="true")
    assert "2 transactions categorized." in get_page_text(after)
    assert list_shown_names(after, transaction_ids) == ["payment"]
    (part,) = books.list_categorizations(transaction_ids["hosting"])
    assert list_pl_amounts(part) == {"cogs": -119}
    assert part["counterparty"] == {"type": "customer", "id": str(nimbus.id)}
    assert (part["computedStartDate"], part["computedEndDate"]) == ("2026-03-01", "2026-05-31")


def test_bulk_action_on_all_matches_goes_beyond_the_page(pages, books, transaction_ids, acme):
    pages.post("?direction=out", act="categorize", whole="on", category=f"{books.get_category_id('hosting')}:cogs")
    assert list_shown_names(pages.get(open="false"), transaction_ids) == ["coffee", "hosting"]
    assert "3 transactions deleted." in get_page_text(
        pages.client.post(pages.base, {"act": "delete", "whole": "on"}, follow=True)
    )
    assert not Transaction.objects.for_company(acme.id).exists()


def test_invalid_bulk_form_keeps_the_selection(pages, books, transaction_ids):
    answer = pages.post(act="categorize", id=transaction_ids["hosting"], category="")
    assert answer.status_code == 400
    assert find_field_error(answer, "category") == "Choose a category."
    assert re.search(rf'value="{transaction_ids["hosting"]}"\s+aria-label', answer.content.decode())
    assert answer.content.decode().count(" checked") == 1
    category = f"{books.get_category_id('hosting')}:cogs"
    for form, name in (
        ({"counterparty": "Nobody"}, "counterparty"),
        ({"rule": "servicePeriod", "ruleStart": "2026-03-01"}, "ruleEnd"),
        ({"rule": "custom", "ruleStart": "2026-03-02", "ruleEnd": "2026-03-01"}, "ruleEnd"),
        ({"rule": "someday"}, "rule"),
        ({"category": f"{books.get_category_id('hosting')}:ga"}, "category"),
        ({"category": UNKNOWN_ID}, "category"),
    ):
        answer = pages.post(**{"act": "categorize", "id": transaction_ids["hosting"], "category": category} | form)
        assert answer.status_code == 400, form
        assert find_field_error(answer, name), form
    assert books.list_categorizations(transaction_ids["hosting"]) == []


def test_empty_selection_shows_a_message(pages, transaction_ids, acme):
    for act in ["categorize", "uncategorize", "delete", "paint", ""]:
        answer = pages.post(act=act, category="x")
        assert answer.status_code == 400, act
        assert "Select at least one transaction." in get_page_text(answer), act
        assert Transaction.objects.for_company(acme.id).count() == 3, act


def test_bulk_action_on_all_matches_is_rejected_for_invalid_filter(pages, transaction_ids, acme):
    for query in ("?counterparty=Nobody", "?startDate=x", "?colour=red", "?sort=x"):
        assert pages.post(query, act="delete", whole="on").status_code == 400
    assert Transaction.objects.for_company(acme.id).count() == 3


def test_transaction_of_other_company_is_unknown_in_bulk_actions(pages, transaction_ids, globex_api, acme):
    theirs = globex_api.post("accounts", {"name": "Theirs", "type": "bank"}).json()["id"]
    body = {"accountId": theirs, "date": "2026-03-15", "amountValue": "1.00"}
    foreign = globex_api.post("transactions", body).json()["id"]
    for act in ("uncategorize", "delete"):
        answer = pages.post(act=act, id=[transaction_ids["coffee"], foreign])
        assert answer.status_code == 400
        assert "This record does not exist in this company." in get_page_text(answer)
    assert Transaction.objects.for_company(acme.id).count() == 3
    assert Transaction.objects.filter(id=foreign).exists()


def test_uncategorizing_reports_reopened_transfer_legs(pages, books, bank, savings):
    source, target = books.create_transaction(bank, "-50.00")["id"], books.create_transaction(savings, "50.00")["id"]
    books.link_transfer(source, target)
    answer = pages.client.post(pages.base, {"act": "uncategorize", "id": source}, follow=True)
    assert "1 transaction uncategorized. 1 other leg of a transfer is uncategorized again." in get_page_text(answer)
    assert books.list_categorizations(target) == []


# ---------------------------------------------------------------------------------------------- a new one


def test_transaction_can_be_created_on_page(pages, bank, acme):
    assert f'value="{bank}"' in pages.get("/new").content.decode()
    answer = pages.post(
        "/new",
        accountId=bank,
        date="2026-03-20",
        amountValue="-12.50",
        amountCurrency="",
        fromTo="Paper & Ink",
        description="Paper",
        notes="for the printer",
    )
    assert answer.status_code == 303
    row = Transaction.objects.for_company(acme.id).get()
    assert (str(row.account_id), str(row.amount_value), row.amount_currency) == (bank, "-12.5000", "EUR")
    assert (row.from_to, row.notes, row.source, row.external_id) == ("Paper & Ink", "for the printer", "manual", None)
    assert answer["Location"].endswith(str(row.id))
    assert AuditEntry.objects.for_company(acme.id).get(action="transaction.created").actor == row.created_user_id


def test_invalid_transaction_form_shows_field_errors(pages, bank, acme):
    for form, name in [
        ({"amountValue": "1e5"}, "amountValue"),
        ({"date": "tomorrow"}, "date"),
        ({"accountId": UNKNOWN_ID}, "accountId"),
        ({"amountCurrency": "XXX"}, "amountCurrency"),
        ({"assignedUserId": UNKNOWN_ID}, "assignedUserId"),
        ({"externalId": "e" * 201}, "externalId"),
    ]:
        given = {"accountId": bank, "date": "2026-03-20", "amountValue": "-12.50", "fromTo": "Paper & Ink"} | form
        answer = pages.post("/new", **given)
        assert answer.status_code == 400, form
        assert find_field_error(answer, name), form
        assert 'value="Paper &amp; Ink"' in answer.content.decode(), form
        assert not Transaction.objects.for_company(acme.id).exists(), form


def test_bulk_deletion_marks_company_as_updated(pages, books, transaction_ids, acme):
    type(acme).objects.filter(id=acme.id).update(last_overall_updated_time=LONG_AGO)
    pages.post(act="delete")
    acme.refresh_from_db()
    assert acme.last_overall_updated_time == LONG_AGO
    pages.post(act="delete", id=transaction_ids["coffee"])
    acme.refresh_from_db()
    assert acme.last_overall_updated_time > LONG_AGO
    assert AuditEntry.objects.for_company(acme.id).filter(action="transactions.deleted").count() == 1


def test_counterparty_choices_are_limited_to_300(pages, acme, bank):
    from ledger.models import Counterparty

    audit_context = AuditContext(time=acme.created_time)
    Counterparty.objects.bulk_create(
        Counterparty(company=acme, type="customer", name=f"Customer {n:04}").mark_created(audit_context)
        for n in range(400)
    )
    body = pages.get().content.decode()
    assert "Customer 0299" in body
    assert "Customer 0300" not in body
    assert pages.get(counterparty="Customer 0399").status_code == 200


def test_filter_chips_format_dates_and_amounts(pages, books, bank):
    books.create_transaction(bank, "-1234.50")
    text = get_page_text(pages.get(minAmount="-12345.50", recognizedFrom="2026-02", recognizedTo="2026-03"))
    assert "Amount from: -12,345.5" in text
    assert "Recognized from: 1 Feb 2026" in text
    assert "Recognized to: 31 Mar 2026" in text
