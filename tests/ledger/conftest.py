"""Fixtures of ledger tests: accounts, transactions and categories, created over HTTP."""

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
    """Short words for what the tests do again and again."""

    def __init__(self, api):
        self.api = api

    def account(self, **values):
        answer = self.api.post("accounts", {"name": "Main", "type": "bank"} | values)
        assert answer.status_code == 201, answer.content
        return answer.json()["id"]

    def book(self, account_id, amount="-100.00", date="2026-03-15", **values):
        body = {"accountId": account_id, "date": date, "amountValue": amount} | values
        answer = self.api.post("transactions", body)
        assert answer.status_code == 201, answer.content
        return answer.json()

    def category(self, key):
        """The id of a system category."""
        return next(each["id"] for each in self.api.get("categories").json() if each["systemKey"] == key)

    def read(self, transaction_id):
        answer = self.api.get(f"transactions/{transaction_id}")
        assert answer.status_code == 200, answer.content
        return answer.json()

    def split(self, transaction_id, *parts):
        body = {"categorizations": {str(n): part for n, part in enumerate(parts)}}
        return self.api.put(f"transactions/{transaction_id}/categorizations", body)

    def parts(self, transaction_id):
        return list(self.read(transaction_id)["categorizations"].values())

    def link(self, source, target, part=None, **more):
        body = {"sourceTransactionId": source, "targetTransactionId": target, "sourceCategorizationId": part}
        return self.api.post("transactions/link_transfer", body | more)


def list_pl_amounts(part):
    """Return the non-zero P&L amounts of a categorization."""
    assert list(part["plSplit"]) == ["revenue", "cogs", "cac", "pd", "ga", "no", "neutral"]
    return {line: value for line, value in part["plSplit"].items() if value}


@pytest.fixture
def books(api):
    return Books(api)


@pytest.fixture
def bank(books):
    return books.account()


@pytest.fixture
def take(api):
    """Sends a file and answers what was told of it."""

    def sent(content, **fields):
        answer = upload_statement(api, content, **fields)
        assert answer.status_code == 200, answer.content
        return answer.json()

    return sent


@pytest.fixture
def main(books):
    """An account with the number that the files are about."""
    return books.account(accountNumber="DE89 3704 0044 0532 0130 00")


@pytest.fixture
def savings(books):
    return books.account(name="Savings")


@pytest.fixture
def hosting(books):
    return books.category("hosting")


@pytest.fixture
def office(books):
    return books.category("officeAndAdmin")


@pytest.fixture
def editor(owner):
    """Alice's browser, where what matters is that she may write."""
    return owner


@pytest.fixture
def rates(monkeypatch):
    """Sets the rates that are known: by default one euro is 1.25 dollars and 160 yen."""

    def known(**per_euro):
        table = RateTable([(currency, date(2026, 1, 1), Decimal(rate)) for currency, rate in per_euro.items()])
        for module in (transfer_candidates, transfer_amounts, postings, assignability, transfer_proposals):
            monkeypatch.setattr(module, "get_rate_table", lambda: table)

    known(USD="1.25", JPY="160")
    return known


@pytest.fixture
def exact(acme):
    """After the test the derived rows are what the facts say."""
    yield
    assert postings.find_posting_differences(acme.id) == []
    assert account_movements.find_account_movement_differences(acme.id) == []
    assert categorization_history.find_categorization_history_differences(acme.id) == []


def get_error_codes(answer):
    """The codes of a validation error, by pointer."""
    return {each["pointer"]: each["code"] for each in answer.json().get("errors", [])}


def list_month_results(company):
    """{(month, line): value in the base currency} of the derived months that are not zero."""
    rows = MonthResult.objects.for_company(company.id).exclude(base_amount=0)
    return {(f"{row.month:%Y-%m}", row.pl_type): row.base_amount for row in rows}


class Pages:
    """The pages of a company's transactions as somebody sees them who has signed in."""

    def __init__(self, company, client):
        self.base, self.client = f"/app/companies/{company.id}/transactions", client

    def get(self, path="", **params):
        return self.client.get(f"{self.base}{path}", params)

    def post(self, path="", **form):
        """As browsers send forms without files."""
        sent, content_type = urlencode(form, doseq=True), "application/x-www-form-urlencoded"
        return self.client.post(f"{self.base}{path}", sent, content_type=content_type)


@pytest.fixture
def pages_of(browser_of):
    return lambda user, company: Pages(company, browser_of(user, company).client)


@pytest.fixture
def pages(pages_of, alice, acme):
    return pages_of(alice, acme)


def get_page_text(answer):
    """Return a page's text without markup, whitespace collapsed."""
    body = re.sub(r"<(script|style|select|datalist).*?</\1>", " ", answer.content.decode(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def find_field_error(answer, name):
    """Return the error message of a form field, None without one."""
    result = re.search(rf'<p class="field-error" id="{re.escape(name)}-error">(.*?)</p>', answer.content.decode())
    return html.unescape(result[1]) if result else None
