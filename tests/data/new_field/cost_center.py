"""A text of five resources that the repository does not have; it runs in a copy that has it (test_new_fields.py)."""

import csv
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.ledger.imports.test_export_reimport import download_export

pytestmark = pytest.mark.django_db
FIRST, SECOND = "Berlin 4711", "4712"
TOO_LONG = "x" * 201


@pytest.fixture
def visit(sign_in_browser, alice, acme):
    """Return the text of a page of the company."""
    client = sign_in_browser(alice, acme).client

    def visit(path, **query):
        answer = client.get(f"/app/companies/{acme.id}/{path}", query)
        assert answer.status_code == 200, path
        return answer.content.decode()

    return visit


@pytest.fixture
def store(api):
    """Create a resource with a cost center, change it over the API, and return its id."""

    def store(path, **values):
        created = api.post(path, values | {"costCenter": FIRST})
        assert created.status_code == 201, created.content
        assert created.json()["costCenter"] == FIRST
        own_path = f"{path}/{created.json()['id']}"
        assert api.put(own_path, {"costCenter": TOO_LONG}).status_code == 400
        assert api.put(own_path, {"costCenter": None}).json()["costCenter"] is None
        assert api.put(own_path, {"costCenter": SECOND}).json()["costCenter"] == SECOND
        assert api.get(own_path).json()["costCenter"] == SECOND
        return created.json()["id"]

    return store


def assert_history_names_it(visit):
    page = visit("settings/activity")
    assert "Cost center" in page
    assert FIRST in page


def assert_form_has_it(form):
    assert f'name="costCenter" maxlength="200" value="{SECOND}"' in form


def read_column(table, heading="Cost center"):
    return [row[heading] for row in csv.DictReader(io.StringIO(table))]


def test_transactions_have_it(books, api, visit, store, sign_in_browser, alice, acme, upload_statement_file):
    account = books.create_account()
    item = {"accountId": account, "date": "2026-03-05", "amountValue": "-9.00"}
    row = store("transactions", **item)
    assert [each["id"] for each in api.get("transactions", {"q": SECOND}).json()] == [row]
    page = visit(f"transactions/{row}")
    assert "Cost center" in page
    assert SECOND in page
    assert FIRST in page  # in the history
    assert_history_names_it(visit)
    assert_form_has_it(visit(f"transactions/{row}/edit"))
    table = download_export(sign_in_browser(alice, acme).client, acme, account).decode()
    assert read_column(table) == [SECOND]

    body = {"transactions": [item | {"costCenter": "Hamburg"}]}
    assert api.post("transactions/import", body).status_code == 200
    assert [each["costCenter"] for each in api.get("transactions", {"q": "hamburg"}).json()] == ["Hamburg"]
    upload_statement_file(b"Date,Amount,Description,Cost center\n2026-04-01,-5.00,Rent,Munich\n", accountId=account)
    assert [each["costCenter"] for each in api.get("transactions", {"q": "munich"}).json()] == ["Munich"]


def test_accounts_have_it(visit, store):
    row = store("accounts", name="Main", type="bank")
    page = visit(f"accounts/{row}")
    assert f"<dt>Cost center</dt><dd>{SECOND}</dd>" in page
    assert_history_names_it(visit)
    assert_form_has_it(visit(f"accounts/{row}/edit"))
    assert read_column(visit("accounts.csv")) == [SECOND]


def test_counterparties_have_it(visit, store):
    row = store("counterparties", name="Globex", type="customer")
    assert_history_names_it(visit)
    assert_form_has_it(visit(f"settings/counterparties/{row}"))
    assert_form_has_it(visit(f"recurring-revenue/customers/{row}/edit"))
    assert read_column(visit("settings/counterparties", table="counterparties", q="471")) == [SECOND]
    assert "No counterparties found" in visit("settings/counterparties", q="471x")


def test_subscriptions_have_it(api, visit, store):
    customer = api.post("counterparties", {"name": "Globex", "type": "customer"}).json()["id"]
    row = store("subscriptions", customerId=customer)
    assert [each["id"] for each in api.get("subscriptions", {"costCenter": SECOND}).json()] == [row]
    assert api.get("subscriptions", {"costCenter": FIRST}).json() == []
    assert SECOND in visit(f"recurring-revenue/customers/{customer}")
    assert_history_names_it(visit)
    assert_form_has_it(visit(f"recurring-revenue/subscriptions/{row}/edit"))
    assert read_column(visit(f"recurring-revenue/customers/{customer}", table="subscriptions")) == [SECOND]


def test_planned_transactions_have_it(books, api, visit, store):
    values = {"accountId": books.create_account(), "name": "Rent", "amountValue": "-900.00", "startDate": "2026-04-01"}
    row = store("planned_transactions", **values)
    page = visit(f"planned/{row}")
    assert f"<dt>Cost center</dt><dd>{SECOND}</dd>" in page
    assert_history_names_it(visit)
    assert_form_has_it(visit(f"planned/{row}/edit"))
    assert read_column(visit("planned/rules", table="planned")) == [SECOND]


def test_invoices_are_imported_and_exported_with_it(api):
    content = b"Invoice,Customer,Invoice date,Total,Kostenstelle\nR-1,Globex,2026-03-01,100.00,4713\n"
    file = SimpleUploadedFile("open.csv", content, content_type="text/csv")
    answer = api.client.post(api.path("receivables/import"), {"file": file}, headers=api.headers)
    assert answer.status_code == 200, answer.content
    assert [each["costCenter"] for each in api.get("planned_transactions").json()] == ["4713"]
    exported = api.client.get(api.path("exports/receivables.csv"), headers=api.headers).getvalue().decode()
    assert read_column(exported) == ["4713"]
