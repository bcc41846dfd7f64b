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
from tests.analytics.reports.test_overview import create_transaction, get_overview, parse_key_figures, sign_in
from tests.ledger.conftest import Books
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def bank(api):
    return Books(api).account()


def get_cash_figure(user, company):
    return parse_key_figures(get_overview(user, company))["Cash"][0]


def test_cached_overview_reads_no_figures_from_database(api, alice, acme, bank):
    client, address = sign_in(alice), f"/app/companies/{acme.id}"
    first = client.get(address)
    with CaptureQueriesContext(connection) as asked:
        again = client.get(address)
    statements = [each["sql"] for each in asked]
    assert len(statements) <= 10  # of which two find that rates are old
    assert not [sql for sql in statements if "ledger_daymovement" in sql or "ledger_monthresult" in sql]
    token = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"')
    assert token.sub("", again.content.decode()) == token.sub("", first.content.decode())


def test_overview_shows_new_transactions_immediately(api, alice, bob, acme, bank):
    assert [get_cash_figure(user, acme) for user in (alice, bob)] == ["€0", "€0"]
    for amount, shown in (("1000.00", "€1,000"), ("200.00", "€1,200"), ("-1200.00", "€0")):
        create_transaction(api, bank, amount, TODAY)
        assert [get_cash_figure(user, acme) for user in (alice, bob)] == [shown, shown]


def test_overview_shows_transaction_deletion_by_form_immediately(api, alice, acme, bank):
    create_transaction(api, bank, "1000.00", TODAY)
    assert get_cash_figure(alice, acme) == "€1,000"
    (entry,) = api.get("transactions").json()
    answer = sign_in(alice).post(f"/app/companies/{acme.id}/transactions/{entry['id']}/delete", {})
    assert answer.status_code == 303
    assert get_cash_figure(alice, acme) == "€0"


def test_overview_cache_is_separate_by_base_currency(api, alice, acme, bank):
    create_transaction(api, bank, "1000.00", TODAY)
    assert get_cash_figure(alice, acme) == "€1,000"
    assert api.put("", {"baseCurrency": "USD"}).status_code == 200
    assert get_cash_figure(alice, acme).startswith("$")


def test_overview_cache_is_refreshed_after_change_during_rendering(api, alice, acme, bank, monkeypatch):
    """The page has read it by then, and what is drawn is of the moment after."""
    create_transaction(api, bank, "1000.00", TODAY)

    def late_number(months):
        monkeypatch.undo()
        assert api.put("", {"baseCurrency": "USD"}).status_code == 200
        return months.get_newest_number()

    monkeypatch.setattr(LogMonthQuerySet, "get_newest_number", late_number)
    assert get_cash_figure(alice, acme) == "€1,000"
    assert get_cash_figure(alice, acme).startswith("$")


def test_overview_cache_is_separate_by_permissions(api, alice, acme, bank):
    create_transaction(api, bank, "4711.00", TODAY)
    dan = factories.make_member(acme, "dan@acme.example", role=Role.VIEWER, permissions=["financials:read"])
    assert "4,711" in get_overview(alice, acme)
    assert "4,711" not in get_overview(dan, acme)
    assert "4,711" in get_overview(alice, acme)


def test_overview_account_link_requires_account_permission(api, alice, acme, bank):
    dan = factories.make_member(acme, "dan@acme.example", role=Role.VIEWER, permissions=["balances:read"])
    link = f'href="/app/companies/{acme.id}/accounts/{bank}"'
    assert link in get_overview(alice, acme)
    assert link not in get_overview(dan, acme)


def test_overview_cache_is_refreshed_by_new_exchange_rates(api, alice, acme, bank, tmp_path):
    create_transaction(api, bank, "1000.00", TODAY, currency="USD")
    (tmp_path / "rates.csv").write_text(f"Date,USD,\n{TODAY},2.00,\n")
    assert get_cash_figure(alice, acme) != "€500"
    call_command("update_rates", file=str(tmp_path / "rates.csv"))
    assert get_cash_figure(alice, acme) == "€500"


def test_overview_cache_is_separate_by_day(api, alice, acme, bank, monkeypatch):
    create_transaction(api, bank, "1000.00", TODAY)
    lead = re.search(r'<p class="lead">([^<]*)', get_overview(alice, acme))[1]
    with CaptureQueriesContext(connection) as asked:
        monkeypatch.setattr("analytics.reports.overview.timezone.now", lambda: datetime(2099, 1, 1, tzinfo=UTC))
        later = re.search(r'<p class="lead">([^<]*)', get_overview(alice, acme))[1]
    assert lead != later
    assert [each for each in asked if "ledger_daymovement" in each["sql"]]
