"""A similar amount is matched only where the bank names no other party than planned."""

import datetime as dt

import pytest

from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db

TODAY = dt.datetime.now(tz=dt.UTC).date().isoformat()
WINDOW = {"startDate": TODAY, "endDate": TODAY}


@pytest.fixture
def harbour_legal(api):
    return api.post("counterparties", {"type": "vendor", "name": "Harbour Legal LLP"}).json()["id"]


@pytest.fixture
def plan_payment(api, harbour_legal):
    """Plan a payment of 330.00 due today, by default an invoice of Harbour Legal; return its id."""

    def plan(**values):
        body = {
            "accountId": None, "name": "Invoice B-8013", "startDate": TODAY, "amountValue": "-330.00",
            "amountCurrency": "EUR", "invoiceDate": TODAY, "autoSettle": False,
            "counterparty": {"id": harbour_legal, "type": "vendor"}, "externalData": {"invoiceNumber": "B-8013"},
        } | values  # fmt: skip
        answer = api.post("planned_transactions", body)
        assert answer.status_code == 201, answer.content
        return answer.json()["id"]

    return plan


@pytest.fixture
def create_payment(api, account_id):
    def create(name, text="", amount="-318.40"):
        body = {"accountId": account_id, "date": TODAY, "amountValue": amount, "fromTo": name, "description": text}
        return api.post("transactions", body).json()["id"]

    return create


def list_matches(api):
    answer = api.post("planned_transactions/matches", WINDOW)
    assert answer.status_code == 200, answer.content
    return [(each["plannedTransactionId"], each["transactionId"]) for each in answer.json()]


UNNAMED_INVOICE = {"name": "Harbour Legal B-8013", "counterparty": None}


@pytest.mark.parametrize("values", [{}, UNNAMED_INVOICE, {"invoiceDate": None, "externalData": None}])
def test_similar_amount_of_another_party_is_not_offered(api, owner, acme, plan_payment, create_payment, values):
    plan_payment(**values)
    create_payment("Stadtwerke Berlin", "Invoice 4711, electricity")
    assert list_matches(api) == []
    assert "Settle" not in owner.get(f"/app/companies/{acme.id}/inbox").content.decode()


def test_similar_amount_with_evidence_is_offered(api, owner, acme, plan_payment, create_payment):
    for name, text, amount in [
        ("HARBOUR LEGAL", "thanks", "-318.40"),
        ("PayPal", "Harbour Legal invoice", "-318.40"),
        ("Stadtwerke Berlin", "B-8013", "-318.40"),
        ("", "", "-318.40"),
        ("", "electricity", "-330.00"),
        ("Stadtwerke Berlin", "Invoice B 8013", "-330.00"),
        ("Harbour Legal LLP", "thanks", "-330.00"),
    ]:
        with undo_changes():
            planned, row = plan_payment(), create_payment(name, text, amount)
            assert list_matches(api) == [(planned, row)], name
            assert "Settle" in owner.get(f"/app/companies/{acme.id}/inbox").content.decode(), name


def test_equal_amount_of_another_party_is_matched_by_the_api_and_not_offered_on_pages(
    api, owner, acme, plan_payment, create_payment
):
    planned, row = plan_payment(), create_payment("Hausverwaltung Krause GmbH", "Miete RG 2026-1102", "-330.00")
    assert list_matches(api) == [(planned, row)]
    for path in ("inbox", "planned"):
        content = owner.get(f"/app/companies/{acme.id}/{path}").content.decode()
        assert f'name="transactionId" value="{row}"' not in content, path
    paid = create_payment("HARBOUR LEGAL", "thanks", "-318.40")
    inbox = owner.get(f"/app/companies/{acme.id}/inbox").content.decode()
    assert f'name="transactionId" value="{paid}"' in inbox, "it takes the place of the equal amount"


def test_equal_amount_of_another_party_with_a_short_number_is_offered(owner, acme, plan_payment, create_payment):
    plan_payment(externalData={"invoiceNumber": "398"})
    create_payment("Hausverwaltung Krause GmbH", "RG 398", "-330.00")
    assert "Settle" in owner.get(f"/app/companies/{acme.id}/inbox").content.decode()


def test_similar_amount_categorized_with_the_counterparty_is_offered(api, plan_payment, create_payment, harbour_legal):
    planned, row = plan_payment(), create_payment("HL Services", "legal matters")
    category = api.get_category_id("hosting")
    assert list_matches(api) == [(planned, row)], "a word of the name is in the text"
    other = create_payment("HLS", "case 12")
    body = {"selection": {"mode": "ids", "ids": [other]}, "categoryId": category, "counterparty": {"id": harbour_legal}}
    assert api.delete(f"transactions/{row}").status_code == 200
    assert list_matches(api) == []
    assert api.post("transactions/categorize", body).status_code == 200
    assert list_matches(api) == [(planned, other)]


def test_similar_amount_of_another_party_does_not_displace_the_payment(api, plan_payment, create_payment):
    planned = plan_payment()
    create_payment("Stadtwerke Berlin", "electricity", "-329.00")
    paid = create_payment("Harbour Legal", "thanks", "-318.40")
    assert list_matches(api) == [(planned, paid)]


def test_plans_without_counterparty_match_similar_amounts(api, plan_payment, create_payment):
    planned = plan_payment(name="Electricity", counterparty=None, invoiceDate=None, externalData=None)
    assert list_matches(api) == []
    row = create_payment("Stadtwerke Berlin", "March")
    assert list_matches(api) == [(planned, row)]
