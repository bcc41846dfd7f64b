"""Planned monthly totals on pages: chosen in the form, shown by what is still open, without buttons for one payment."""

from datetime import UTC, datetime

import pytest

from ledger.money.calc.fx import RateTable
from tests.ledger.conftest import Books
from tests.page_text import get_page_text
from tests.planning.planned_transactions.test_planned_transaction_pages import build_page_path, build_rule_form

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 2, 20, 12, tzinfo=UTC)


@pytest.fixture
def books(api):
    return Books(api)


@pytest.fixture
def owner(sign_in_browser, alice, acme, monkeypatch):
    browser = sign_in_browser(alice, acme).client
    monkeypatch.setattr("companies.pages.context.timezone.now", lambda: NOON)
    return browser


@pytest.fixture
def revenue(books):
    return books.get_category_id("revenueRecurring")


def create_planned_total(api, account, category, **values):
    body = {
        "accountId": account, "name": "Subscriptions", "startDate": "2026-02-10", "amountValue": "33500.00",
        "categoryId": category, "settledBy": "category", "recurrence": {"frequency": "month"}, **values,
    }  # fmt: skip
    made = api.post("planned_transactions", body)
    assert made.status_code == 201, made.content
    return made.json()


def book_receipt(books, account, category, amount, day, **more):
    made = books.create_transaction(account, amount, day, **more)["id"]
    part = {"categoryId": category, "plSplit": {"revenue": float(amount)}}
    assert books.set_categorizations(made, part).status_code == 200


def test_cash_plan_shows_open_amount_of_total(owner, acme, api, books, bank, revenue):
    planned = create_planned_total(api, bank, revenue)
    book_receipt(books, bank, revenue, "33000.00", "2026-02-05")
    answer = owner.get(build_page_path(acme))
    assert "€500.00 of €33,500.00 planned" in get_page_text(answer).split("Overdue", 1)[1].split("By month")[0]
    html = answer.content.decode()
    assert f"/{planned['id']}/occurrences/2026-02-10/skip" in html
    assert f"/{planned['id']}/occurrences/2026-02-10/settle" not in html, "no single transaction settles it"
    book_receipt(books, bank, revenue, "500.00", "2026-02-06")
    html = get_page_text(owner.get(build_page_path(acme)))
    assert "Overdue" not in html
    done = html.split("Settled and skipped in the last 60 days")[1]
    assert "€33,500.00" in done
    assert "Unsettle" not in done


def test_rule_list_shows_next_occurrence_with_open_amount(owner, acme, api, books, bank, revenue):
    create_planned_total(api, bank, revenue, startDate="2026-02-25")
    assert "25 Feb 2026" in get_page_text(owner.get(build_page_path(acme, "/rules")))
    book_receipt(books, bank, revenue, "40000.00", "2026-02-05")
    html = get_page_text(owner.get(build_page_path(acme, "/rules")))
    assert "25 Feb 2026" not in html
    assert "25 Mar 2026" in html


def test_plan_form_offers_settlement_modes(owner, acme, api, bank, revenue):
    assert 'value="transaction" checked' in owner.get(build_page_path(acme, "/new")).content.decode()
    sent = build_rule_form(accountId=bank, settledBy="category")
    refused = owner.post(build_page_path(acme, "/new"), sent)
    assert refused.status_code == 400
    assert "A monthly total needs a category." in get_page_text(refused)
    assert 'value="category" checked' in refused.content.decode()
    assert owner.post(build_page_path(acme, "/new"), sent | {"categoryId": revenue}).status_code == 303
    (made,) = api.get("planned_transactions").json()
    assert (made["settledBy"], made["categoryId"]) == ("category", revenue)
    assert "all transactions in its category that month" in get_page_text(
        owner.get(build_page_path(acme, f"/{made['id']}"))
    )
    assert 'value="category" checked' in owner.get(build_page_path(acme, f"/{made['id']}/edit")).content.decode()


def test_missing_rate_for_open_amounts_shows_an_error(owner, acme, api, books, bank, revenue, monkeypatch):
    planned = create_planned_total(api, bank, revenue)
    book_receipt(books, bank, revenue, "10.00", "2026-02-05", amountCurrency="USD")
    monkeypatch.setattr("planning.planned_transactions.queries.settled_totals.get_rate_table", lambda: RateTable([]))
    for path in ("", "/rules", f"/{planned['id']}"):
        assert "No exchange rate for USD" in get_page_text(owner.get(build_page_path(acme, path)))
    window = {"startDate": "2026-02-01", "endDate": "2026-02-28"}
    for path in ("due", f"{planned['id']}/occurrences"):
        refused = api.get(f"planned_transactions/{path}", window)
        assert refused.json()["code"] == "rate_missing"


def test_planned_total_queries_do_not_grow_with_totals(api, acme, bank, revenue, django_assert_max_num_queries):
    window = {"startDate": "2026-02-01", "endDate": "2026-02-28"}
    for count in (1, 20):
        for _ in range(count):
            create_planned_total(api, bank, revenue)
        with django_assert_max_num_queries(10):
            assert api.get("planned_transactions/due", window).status_code == 200
