"""Settlements of deleted transactions: the history shows the loss, and Undo restores them."""

import re

import pytest

from tests import factories
from tests.change_tables import list_changes
from tests.planning.invoices.conftest import Ledger, format_day

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(sign_in_browser, alice, acme):
    return sign_in_browser(alice, acme).client


@pytest.fixture
def ledger(api, account_id):
    return Ledger(api, account_id)


@pytest.fixture
def delete_transactions(acme, owner):
    """Delete transactions in the list; return the URL of the list with its Undo button."""

    def delete(*ids, client=owner):
        answer = client.post(f"/app/companies/{acme.id}/transactions", {"act": "delete", "id": ids})
        assert answer.status_code == 303, answer.content
        return answer["Location"]

    return delete


@pytest.fixture
def undo_deletion(owner):
    def undo(url, client=owner):
        run_id = re.search(r'name="run" value="([^"]+)"', client.get(url).content.decode())[1]
        answer = client.post(url, {"act": "undo", "run": run_id}, follow=True)
        return re.search(r'class="notice[^>]*>(.*?)</', answer.content.decode(), re.DOTALL)[1].strip()

    return undo


def list_settled_amounts(ledger, invoice):
    return [each["amountValue"] for each in ledger.get_occurrence(invoice)["settlements"]]


def test_undo_restores_settlement_of_deleted_transaction(owner, acme, api, ledger, undo_deletion):
    invoice = ledger.create_invoice("200.00", days=-3)
    paid = ledger.pay_invoice(invoice, "150.00", -2)
    settled = ledger.get_occurrence(invoice)
    assert settled["settlements"] != []
    before = api.get(f"transactions/{paid}").json()
    page = f"/app/companies/{acme.id}/transactions/{paid}"
    answer = owner.post(f"{page}/delete")
    assert ledger.get_occurrence(invoice)["settlements"] == []
    assert undo_deletion(answer["Location"]) == "1 transaction restored."
    assert ledger.get_occurrence(invoice) == settled
    after = api.get(f"transactions/{paid}").json()
    assert {name for name in before if before[name] != after[name]} <= {"lastUpdatedTime", "lastUpdatedUserId"}
    restored, taken_back, first, _ = list_changes(owner.get(f"/app/companies/{acme.id}/planned/{invoice['id']}"))
    labels = [each.label for each in (restored, taken_back, first)]
    assert labels == ["Invoice partly paid", "Invoice unsettled", "Invoice partly paid"]
    assert "amount €150.00" in taken_back.fields["Settlements"][0]
    assert taken_back.fields["Settlements"][1] == "—"
    assert restored.fields == first.fields
    labels = [each.label for each in list_changes(owner.get(page))]
    assert labels.count("Invoice partly paid") == 2
    assert labels.count("Invoice unsettled") == 1


def test_undo_restores_settlements_of_several_transactions(api, ledger, delete_transactions, undo_deletion):
    plan = {"accountId": ledger.account, "name": "Rent", "startDate": format_day(-40), "amountValue": "-100.00"}
    plan |= {"frequency": "monthly", "autoSettle": False}
    rent = api.post("planned_transactions", plan).json()
    invoice = ledger.create_invoice("200.00", days=-3)
    ids = [
        ledger.pay_invoice(rent, "-100.00", -40),
        ledger.pay_invoice(invoice, "150.00", -2),
        ledger.pay_invoice(invoice, "50.00", -1),
    ]
    kept = ledger.pay_invoice(ledger.create_invoice("10.00"), "10.00", -1)
    url = delete_transactions(*ids)
    assert ledger.list_invoices(state="paid") != []
    assert list_settled_amounts(ledger, invoice) == []
    assert undo_deletion(url) == "3 transactions restored."
    assert list_settled_amounts(ledger, invoice) == ["150.00", "50.00"]
    assert ledger.get_occurrence(invoice)["state"] == "paid"
    assert api.get(f"transactions/{ids[0]}").json()["settlements"][0]["plannedTransactionId"] == rent["id"]
    assert api.get(f"transactions/{kept}").json()["settlements"] != []


@pytest.mark.parametrize("change", ["settle", "amount", "currency", "delete", "skip"])
def test_undo_says_which_settlement_is_not_restored(api, ledger, delete_transactions, undo_deletion, change):
    invoice = ledger.create_invoice("200.00", days=-3, name="R-1")
    other = ledger.create_invoice("80.00", days=-3, name="R-2")
    ids = ledger.pay_invoice(invoice, "150.00", -2), ledger.pay_invoice(other, "80.00", -2)
    url = delete_transactions(*ids)
    path = f"planned_transactions/{invoice['id']}"
    if change == "settle":
        ledger.pay_invoice(invoice, "60.00", -1)
    elif change == "delete":
        assert api.delete(path).status_code == 200
    elif change == "skip":
        assert api.put(f"{path}/overrides/{invoice['startDate']}", {"skipped": True}).status_code == 200
    else:
        values = {"amount": {"amountValue": "149.99"}, "currency": {"amountCurrency": "USD"}}[change]
        assert api.put(path, values).status_code == 200
    assert undo_deletion(url) == "2 transactions restored. Not settled again because of later changes: R-1."
    assert api.get(f"transactions/{ids[0]}").json()["settlements"] == []
    assert list_settled_amounts(ledger, other) == ["80.00"]


def test_undo_does_not_settle_more_than_the_transaction_pays(api, ledger, delete_transactions, undo_deletion):
    customer = ledger.create_counterparty("Nordwind")
    invoice = ledger.create_invoice("100.00", counterparty=customer, name="R-1")
    credit_note = ledger.create_invoice("-20.00", counterparty=customer, name="C-1")
    body = {"accountId": ledger.account, "date": format_day(-1), "amountValue": "80.00"}
    paid = api.post("transactions", body).json()["id"]
    for planned in (credit_note, invoice):
        body = {"date": planned["startDate"], "transactionId": paid}
        assert api.post(f"planned_transactions/{planned['id']}/settle", body).status_code == 200
    assert undo_deletion(delete_transactions(paid)) == "1 transaction restored."
    assert (list_settled_amounts(ledger, invoice), list_settled_amounts(ledger, credit_note)) == (
        ["100.00"],
        ["-20.00"],
    )
    url = delete_transactions(paid)
    ledger.write_off(credit_note, 0)
    assert undo_deletion(url) == "1 transaction restored. Not settled again because of later changes: C-1, R-1."
    assert list_settled_amounts(ledger, invoice) == []


def test_undo_restores_category_of_plan_with_its_settlement_only(api, ledger, delete_transactions, undo_deletion):
    category = next(each["id"] for each in api.get("categories").json() if each["plTypes"] == ["revenue"])
    invoice = ledger.create_invoice("200.00", categoryId=category)
    paid = ledger.pay_invoice(invoice, "200.00", -1)
    before = api.get(f"transactions/{paid}").json()["categorizations"]
    assert [each["categoryId"] for each in before.values()] == [category]
    undo_deletion(delete_transactions(paid))
    assert api.get(f"transactions/{paid}").json()["categorizations"] == before
    url = delete_transactions(paid)
    ledger.write_off(invoice, 0)
    undo_deletion(url)
    assert api.get(f"transactions/{paid}").json()["categorizations"] == {}


def test_undo_does_not_name_planned_transactions_without_permission(
    sign_in_browser, acme, ledger, delete_transactions, undo_deletion
):
    invoice = ledger.create_invoice("200.00", days=-3, name="R-1")
    paid = ledger.pay_invoice(invoice, "150.00", -2)
    permissions = ["transactions:read", "transactions:write"]
    client = sign_in_browser(factories.make_member(acme, "t@acme.example", permissions=permissions), acme).client
    url = delete_transactions(paid, client=client)
    ledger.write_off(invoice, 0)
    message = undo_deletion(url, client=client)
    assert message == "1 transaction restored. Not settled again because of later changes: 1 planned transaction."


def test_import_undo_shows_in_history_of_invoice(owner, acme, api, ledger):
    invoice = ledger.create_invoice("200.00", days=-3)
    item = {"accountId": ledger.account, "date": format_day(-2), "amountValue": "150.00", "fromTo": "Nordwind"}
    answer = api.post("transactions/import", {"transactions": [item]})
    assert answer.status_code == 200, answer.content
    (row,) = api.get("transactions").json()
    body = {"date": invoice["startDate"], "transactionId": row["id"]}
    assert api.post(f"planned_transactions/{invoice['id']}/settle", body).status_code == 200
    assert api.delete(f"imports/{answer.json()['importId']}").status_code == 200
    taken_back = list_changes(owner.get(f"/app/companies/{acme.id}/planned/{invoice['id']}"))[0]
    assert (taken_back.label, taken_back.fields["Settlements"][1]) == ("Invoice unsettled", "—")
