"""Planned monthly totals on pages: chosen in the form, shown by what is still open, without buttons for one payment."""

from datetime import UTC, datetime

import pytest

from ledger.calc.fx import RateTable
from tests.ledger.conftest import Books
from tests.planning.test_planned_pages import form, page, text_of

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 2, 20, 12, tzinfo=UTC)


@pytest.fixture
def books(api):
    return Books(api)


@pytest.fixture
def bank(books):
    return books.account()


@pytest.fixture
def owner(browser_of, alice, acme, monkeypatch):
    browser = browser_of(alice, acme).client
    monkeypatch.setattr("companies.pages.visits.timezone.now", lambda: NOON)
    return browser


@pytest.fixture
def revenue(books):
    return books.category("revenueRecurring")


def plan_total(api, account, category, **values):
    body = {
        "accountId": account, "name": "Subscriptions", "startDate": "2026-02-10", "amountValue": "33500.00",
        "categoryId": category, "settledBy": "category", "recurrence": {"frequency": "month"}, **values,
    }  # fmt: skip
    made = api.post("planned_transactions", body)
    assert made.status_code == 201, made.content
    return made.json()


def receive(books, account, category, amount, day, **more):
    made = books.book(account, amount, day, **more)["id"]
    part = {"categoryId": category, "plSplit": {"revenue": float(amount)}}
    assert books.split(made, part).status_code == 200


def test_the_cash_plan_shows_what_is_open_of_a_total(owner, acme, api, books, bank, revenue):
    planned = plan_total(api, bank, revenue)
    receive(books, bank, revenue, "33000.00", "2026-02-05")
    answer = owner.get(page(acme))
    assert "€500.00 of €33,500.00 planned" in text_of(answer).split("Overdue", 1)[1].split("By month")[0]
    html = answer.content.decode()
    assert f"/{planned['id']}/occurrences/2026-02-10/skip" in html
    assert f"/{planned['id']}/occurrences/2026-02-10/settle" not in html, "no single transaction settles it"
    receive(books, bank, revenue, "500.00", "2026-02-06")
    html = text_of(owner.get(page(acme)))
    assert "Overdue" not in html
    done = html.split("Settled and skipped in the last sixty days")[1]
    assert "€33,500.00" in done
    assert "Unsettle" not in done


def test_the_rules_show_the_next_occurrence_with_something_open(owner, acme, api, books, bank, revenue):
    plan_total(api, bank, revenue, startDate="2026-02-25")
    assert "25 Feb 2026" in text_of(owner.get(page(acme, "/rules")))
    receive(books, bank, revenue, "40000.00", "2026-02-05")
    html = text_of(owner.get(page(acme, "/rules")))
    assert "25 Feb 2026" not in html
    assert "25 Mar 2026" in html


def test_how_it_is_settled_is_a_choice_of_the_form(owner, acme, api, bank, revenue):
    assert 'value="transaction" checked' in owner.get(page(acme, "/new")).content.decode()
    sent = form(accountId=bank, settledBy="category")
    refused = owner.post(page(acme, "/new"), sent)
    assert refused.status_code == 400
    assert "A month’s total needs a category." in text_of(refused)
    assert 'value="category" checked' in refused.content.decode()
    assert owner.post(page(acme, "/new"), sent | {"categoryId": revenue}).status_code == 303
    (made,) = api.get("planned_transactions").json()
    assert (made["settledBy"], made["categoryId"]) == ("category", revenue)
    assert "everything booked in its category that month" in text_of(owner.get(page(acme, f"/{made['id']}")))
    assert 'value="category" checked' in owner.get(page(acme, f"/{made['id']}/edit")).content.decode()


def test_without_a_rate_open_amounts_are_an_error(owner, acme, api, books, bank, revenue, monkeypatch):
    planned = plan_total(api, bank, revenue)
    receive(books, bank, revenue, "10.00", "2026-02-05", amountCurrency="USD")
    monkeypatch.setattr("planning.totals.rate_table", lambda: RateTable([]))
    for path in ("", "/rules", f"/{planned['id']}"):
        assert "There is no exchange rate for USD" in text_of(owner.get(page(acme, path)))
    window = {"startDate": "2026-02-01", "endDate": "2026-02-28"}
    for path in ("due", f"{planned['id']}/occurrences"):
        refused = api.get(f"planned_transactions/{path}", window)
        assert refused.json()["code"] == "rate_missing"


def test_few_statements_suffice_for_any_number_of_totals(api, acme, bank, revenue, django_assert_max_num_queries):
    window = {"startDate": "2026-02-01", "endDate": "2026-02-28"}
    for count in (1, 20):
        for _ in range(count):
            plan_total(api, bank, revenue)
        with django_assert_max_num_queries(8):
            assert api.get("planned_transactions/due", window).status_code == 200
