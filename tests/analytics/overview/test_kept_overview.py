"""The page of a company is drawn once and shown again; whatever changes its numbers, whoever looks, they are right."""

import re
from datetime import UTC, datetime

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from companies.models.audit import LogMonthQuerySet
from companies.permissions import Role
from tests import factories
from tests.analytics.overview.test_pages import book, figures, page, signed_in
from tests.days import TODAY
from tests.ledger.conftest import Books

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def bank(api):
    return Books(api).account()


def cash(user, company):
    return figures(page(user, company))["Cash"][0]


def test_to_look_again_asks_for_nothing_but_the_viewer_and_what_has_changed(api, alice, acme, bank):
    client, address = signed_in(alice), f"/app/companies/{acme.id}"
    first = client.get(address)
    with CaptureQueriesContext(connection) as asked:
        again = client.get(address)
    statements = [each["sql"] for each in asked]
    assert len(statements) <= 10  # of which two find that rates are old
    assert not [sql for sql in statements if "ledger_daymovement" in sql or "ledger_monthresult" in sql]
    token = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"')
    assert token.sub("", again.content.decode()) == token.sub("", first.content.decode())


def test_what_is_booked_is_there_at_once(api, alice, bob, acme, bank):
    assert [cash(user, acme) for user in (alice, bob)] == ["€0", "€0"]
    for amount, shown in (("1000.00", "€1,000"), ("200.00", "€1,200"), ("-1200.00", "€0")):
        book(api, bank, amount, TODAY)
        assert [cash(user, acme) for user in (alice, bob)] == [shown, shown]


def test_a_form_of_a_page_changes_it_too(api, alice, acme, bank):
    book(api, bank, "1000.00", TODAY)
    assert cash(alice, acme) == "€1,000"
    (entry,) = api.get("transactions").json()
    answer = signed_in(alice).post(f"/app/companies/{acme.id}/transactions/{entry['id']}/delete", {})
    assert answer.status_code == 303
    assert cash(alice, acme) == "€0"


def test_another_base_currency_is_another_page(api, alice, acme, bank):
    book(api, bank, "1000.00", TODAY)
    assert cash(alice, acme) == "€1,000"
    assert api.put("", {"baseCurrency": "USD"}).status_code == 200
    assert cash(alice, acme).startswith("$")


def test_a_company_that_changes_while_its_page_begins_is_seen_the_next_time(api, alice, acme, bank, monkeypatch):
    """The page has read it by then, and what is drawn is of the moment after."""
    book(api, bank, "1000.00", TODAY)

    def late_number(months):
        monkeypatch.undo()
        assert api.put("", {"baseCurrency": "USD"}).status_code == 200
        return months.newest_number()

    monkeypatch.setattr(LogMonthQuerySet, "newest_number", late_number)
    assert cash(alice, acme) == "€1,000"
    assert cash(alice, acme).startswith("$")


def test_whoever_looks_first_shows_the_next_one_nothing_that_is_not_theirs(api, alice, acme, bank):
    book(api, bank, "4711.00", TODAY)
    dan = factories.member(acme, "dan@acme.example", role=Role.VIEWER, permissions=["financials:read"])
    assert "4,711" in page(alice, acme)
    assert "4,711" not in page(dan, acme)
    assert "4,711" in page(alice, acme)


def test_a_link_to_an_account_is_for_those_who_may_open_it(api, alice, acme, bank):
    dan = factories.member(acme, "dan@acme.example", role=Role.VIEWER, permissions=["balances:read"])
    link = f'href="/app/companies/{acme.id}/accounts/{bank}"'
    assert link in page(alice, acme)
    assert link not in page(dan, acme)


def test_new_rates_value_it_anew(api, alice, acme, bank, tmp_path):
    book(api, bank, "1000.00", TODAY, currency="USD")
    (tmp_path / "rates.csv").write_text(f"Date,USD,\n{TODAY},2.00,\n")
    assert cash(alice, acme) != "€500"
    call_command("update_rates", file=str(tmp_path / "rates.csv"))
    assert cash(alice, acme) == "€500"


def test_each_day_is_another_page(api, alice, acme, bank, monkeypatch):
    book(api, bank, "1000.00", TODAY)
    lead = re.search(r'<p class="lead">([^<]*)', page(alice, acme))[1]
    with CaptureQueriesContext(connection) as asked:
        monkeypatch.setattr("analytics.pages.company.timezone.now", lambda: datetime(2099, 1, 1, tzinfo=UTC))
        later = re.search(r'<p class="lead">([^<]*)', page(alice, acme))[1]
    assert lead != later
    assert [each for each in asked if "ledger_daymovement" in each["sql"]]
