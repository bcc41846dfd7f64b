"""A text of transactions that the repository does not have; it runs in a copy that has it (test_new_fields.py)."""

import pytest

from tests.ledger.imports.test_export_reimport import download_export

pytestmark = pytest.mark.django_db


def test_cost_center_is_in_api_pages_imports_exports_and_search(books, browser_of, alice, acme, api, take):
    account = books.account()
    item = {"accountId": account, "date": "2026-03-05", "amountValue": "-9.00", "costCenter": "Berlin 4711"}
    created = api.post("transactions", item)
    assert created.status_code == 201, created.content
    row = created.json()
    assert row["costCenter"] == "Berlin 4711"
    changed = api.put(f"transactions/{row['id']}", {"costCenter": "Berlin 4712"})
    assert changed.json()["costCenter"] == "Berlin 4712"
    assert api.put(f"transactions/{row['id']}", {"costCenter": "x" * 10_001}).status_code == 400
    assert [each["id"] for each in api.get("transactions", {"q": "berlin 4712"}).json()] == [row["id"]]

    assert api.post("transactions/import", {"transactions": [item | {"costCenter": "Hamburg"}]}).status_code == 200
    assert [each["costCenter"] for each in api.get("transactions", {"q": "hamburg"}).json()] == ["Hamburg"]

    client = browser_of(alice, acme).client
    page = client.get(f"/app/companies/{acme.id}/transactions/{row['id']}").content.decode()
    assert "Cost center" in page
    assert "Berlin 4712" in page
    assert "Berlin 4711" in page  # in the history
    form = client.get(f"/app/companies/{acme.id}/transactions/{row['id']}/edit").content.decode()
    assert 'name="costCenter"' in form

    table = download_export(client, acme, account).decode()
    assert "Cost center" in table.splitlines()[0]
    assert "Berlin 4712" in table

    take(b"Date,Amount,Description,Cost center\n2026-04-01,-5.00,Rent,Munich\n", accountId=account)
    assert [each["costCenter"] for each in api.get("transactions", {"q": "munich"}).json()] == ["Munich"]
