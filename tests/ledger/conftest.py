"""Fixtures for ledger tests: accounts, transactions, categories and pages, all over HTTP."""

import html
import re
from datetime import date
from decimal import Decimal
from urllib.parse import urlencode

import pytest

from ledger.models import MonthResult
from ledger.money.calc.fx import RateTable
from ledger.recognition.actions import account_movements, postings
from ledger.rules.actions import categorization_history
from ledger.rules.queries import assignability, transfer_proposals
from ledger.transactions.queries import transfer_amounts, transfer_candidates
from tests.ledger.statement_upload import upload_statement


class Books:
    """Creates and reads accounts, transactions and categorizations of one company over HTTP."""

    def __init__(self, api):
        self.api = api

    def create_account(self, **values):
        """Create a bank account with these values; return its id."""
        response = self.api.post("accounts", {"name": "Main", "type": "bank"} | values)
        assert response.status_code == 201, response.content
        return response.json()["id"]

    def create_transaction(self, account_id, amount="-100.00", date="2026-03-15", **values):
        """Create a transaction; return it as the API does."""
        body = {"accountId": account_id, "date": date, "amountValue": amount} | values
        response = self.api.post("transactions", body)
        assert response.status_code == 201, response.content
        return response.json()

    def import_transactions(self, account_id, *rows, date="2026-03-15"):
        """Create transactions in one request; return their ids, those of the smallest amounts first."""
        items = [{"accountId": account_id, "date": date, "amountValue": "-100.00"} | row for row in rows]
        response = self.api.post("transactions/import", {"transactions": items, "duplicates": "keep"})
        assert (response.status_code, response.json()["count"]) == (200, len(rows)), response.content
        created = self.api.get("transactions", {"importId": response.json()["importId"], "limit": len(rows)}).json()
        return [row["id"] for row in sorted(created, key=lambda row: abs(Decimal(row["amountValue"])))]

    def get_category_id(self, key):
        """Return the id of the system category with this key."""
        return self.api.get_category_id(key)

    def get_transaction(self, transaction_id):
        response = self.api.get(f"transactions/{transaction_id}")
        assert response.status_code == 200, response.content
        return response.json()

    def set_categorizations(self, transaction_id, *categorizations):
        """Replace the categorizations of a transaction; return the response."""
        body = {"categorizations": {str(n): categorization for n, categorization in enumerate(categorizations)}}
        return self.api.put(f"transactions/{transaction_id}/categorizations", body)

    def list_categorizations(self, transaction_id):
        return list(self.get_transaction(transaction_id)["categorizations"].values())

    def link_transfer(self, source, target, categorization_id=None, **values):
        """Link two transactions as a transfer; return the response."""
        body = {"sourceTransactionId": source, "targetTransactionId": target}
        body |= {"sourceCategorizationId": categorization_id}
        return self.api.post("transactions/link_transfer", body | values)


def list_pl_amounts(categorization):
    """Return the non-zero P&L amounts of a categorization."""
    assert list(categorization["plSplit"]) == ["revenue", "cogs", "cac", "pd", "ga", "no", "neutral"]
    return {line: value for line, value in categorization["plSplit"].items() if value}


@pytest.fixture
def books(api):
    """Acme's books over HTTP."""
    return Books(api)


@pytest.fixture
def upload_statement_file(api):
    """Upload a bank statement file; return the result of the import."""

    def upload(content, **fields):
        response = upload_statement(api, content, **fields)
        assert response.status_code == 200, response.content
        return response.json()

    return upload


@pytest.fixture
def main_account(books):
    """The id of the bank account with the account number in the statement files."""
    return books.create_account(accountNumber="DE89 3704 0044 0532 0130 00")


@pytest.fixture
def savings(books):
    """The id of a second bank account."""
    return books.create_account(name="Savings")


@pytest.fixture
def hosting(books):
    """The id of the category Hosting."""
    return books.get_category_id("hosting")


@pytest.fixture
def office(books):
    """The id of the category Office and administration."""
    return books.get_category_id("officeAndAdmin")


@pytest.fixture
def editor(owner):
    """Alice's browser, in tests that need permission to write but not ownership."""
    return owner


@pytest.fixture
def set_exchange_rates(monkeypatch):
    """Set the exchange rates (units per euro) of transfers and results; at first 1.25 USD and 160 JPY."""

    def set_exchange_rates(**per_euro):
        table = RateTable([(currency, date(2026, 1, 1), Decimal(rate)) for currency, rate in per_euro.items()])
        for module in (transfer_candidates, transfer_amounts, postings, assignability, transfer_proposals):
            monkeypatch.setattr(module, "get_rate_table", lambda: table)

    set_exchange_rates(USD="1.25", JPY="160")
    return set_exchange_rates


@pytest.fixture
def check_derived_rows(acme):
    """Check after the test that derived rows match the transactions they are derived from."""
    yield
    assert postings.find_posting_differences(acme.id) == []
    assert account_movements.find_account_movement_differences(acme.id) == []
    assert categorization_history.find_categorization_history_differences(acme.id) == []


def get_error_codes(response):
    """Return {pointer: code} of a validation error."""
    return {error["pointer"]: error["code"] for error in response.json().get("errors", [])}


def list_month_results(company):
    """Return {(month, P&L line): value in the base currency} of the month results, without zeros."""
    rows = MonthResult.objects.for_company(company.id).exclude(base_amount=0)
    return {(f"{row.month:%Y-%m}", row.pl_type): row.base_amount for row in rows}


class Pages:
    """Opens the transaction pages of a company as a signed-in user."""

    def __init__(self, company, client):
        self.base, self.client = f"/app/companies/{company.id}/transactions", client

    def get(self, path="", **params):
        return self.client.get(f"{self.base}{path}", params)

    def post(self, path="", **form):
        """Submit a form as browsers do, without files."""
        body, content_type = urlencode(form, doseq=True), "application/x-www-form-urlencoded"
        return self.client.post(f"{self.base}{path}", body, content_type=content_type)


@pytest.fixture
def make_pages(sign_in_browser):
    """Sign a user in and return the Pages of a company."""
    return lambda user, company: Pages(company, sign_in_browser(user, company).client)


@pytest.fixture
def pages(make_pages, alice, acme):
    """Acme's transaction pages as Alice sees them."""
    return make_pages(alice, acme)


def get_page_text(response):
    """Return a page's text without markup, whitespace collapsed."""
    body = re.sub(r"<(script|style|select|datalist).*?</\1>", " ", response.content.decode(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def find_field_error(response, name):
    """Return the error message of a form field, None without one."""
    result = re.search(rf'<p class="field-error" id="{re.escape(name)}-error">(.*?)</p>', response.content.decode())
    return html.unescape(result[1]) if result else None
