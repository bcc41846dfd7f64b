"""Invoices are matched by what bank texts say: in proposals, in the inbox, and automatically."""

import datetime as dt
import re
from decimal import Decimal
from html import unescape

import pytest

from planning.models import Settlement

pytestmark = pytest.mark.django_db

WINDOW = {"startDate": "2026-01-01", "endDate": "2026-12-31"}


@pytest.fixture
def create_payment(api, account_id):
    """Create a payment of 119.00 on 1 September 2026; it is not settled automatically."""

    def create(text, **values):
        body = {"accountId": account_id, "date": "2026-09-01", "amountValue": "-119.00", "description": text} | values
        answer = api.post("transactions", body)
        assert answer.status_code == 201, answer.content
        return answer.json()["id"]

    return create


def list_matches(api):
    answer = api.post("planned_transactions/matches", WINDOW)
    assert answer.status_code == 200, answer.content
    return sorted((each["plannedTransactionId"], each["transactionId"], each["evidence"]) for each in answer.json())


def test_number_in_the_text_matches_whatever_the_date(api, plan_invoice, create_payment):
    first = plan_invoice("NW-2026-17", autoSettle=False)
    plan_invoice("NW-2026-18", autoSettle=False)
    payment = create_payment("Rechnung NW 2026/17")
    assert list_matches(api) == [(first, payment, ["number", "amount"])]
    (match,) = api.post("planned_transactions/matches", WINDOW).json()
    assert (match["date"], match["difference"], match["days"]) == ("2026-04-01", "0.00", 153)


def test_reference_in_the_text_matches(api, plan_invoice, create_payment):
    planned = plan_invoice("17", autoSettle=False, externalInvoiceId="RF18539007547034")
    payment = create_payment("RF18 5390 0754 7034", fromTo="Nordwind GmbH Berlin")
    assert list_matches(api) == [(planned, payment, ["reference", "amount", "counterparty"])]


def test_instalment_is_proposed_with_its_difference(api, plan_invoice, create_payment):
    plan_invoice("NW-2026-17")
    create_payment("NW-2026-17", amountValue="-50.00")
    (match,) = api.post("planned_transactions/matches", WINDOW).json()
    assert (match["evidence"], match["difference"]) == (["number"], "69.00")


def test_amount_and_counterparty_match_within_ten_days_only(api, plan_invoice, create_payment):
    planned = plan_invoice("17", autoSettle=False)
    near = create_payment("thanks", date="2026-04-09", fromTo="NORDWIND")
    create_payment("thanks", date="2026-04-15", fromTo="NORDWIND")
    assert list_matches(api) == [(planned, near, ["amount", "counterparty"])]


def test_two_equal_candidates_are_both_proposed_and_none_is_applied(api, plan_invoice, create_payment):
    invoices = [plan_invoice("17", startDate="2026-04-01"), plan_invoice("18", startDate="2026-04-02")]
    payment = create_payment("thanks", date="2026-04-01", fromTo="Nordwind")
    assert list_matches(api) == sorted((each, payment, ["amount", "counterparty"]) for each in invoices)
    assert not Settlement.objects.exists()


def test_dismissed_pair_is_not_proposed_again(api, owner, acme, plan_invoice, create_payment):
    first, second = plan_invoice("17", autoSettle=False), plan_invoice("18", autoSettle=False)
    payment = create_payment("thanks", date="2026-04-01", fromTo="Nordwind")
    refusal = {"act": "refuse", "id": payment, "other": first, "day": "2026-04-01"}
    assert owner.post(f"/app/companies/{acme.id}/inbox", refusal).status_code == 303
    assert list_matches(api) == [(second, payment, ["amount", "counterparty"])]


def test_planned_transactions_without_number_match_as_before(api, account_id, create_payment):
    body = {"accountId": account_id, "name": "Rent", "startDate": "2026-09-03", "amountValue": "-115.00"}
    planned = api.post("planned_transactions", body).json()["id"]
    payment = create_payment("rent")
    assert list_matches(api) == [(planned, payment, ["similarAmount", "date"])]


@pytest.mark.parametrize(
    ("text", "values", "is_settled"),
    [
        ("NW-2026-17", {}, True),
        ("NW-2026-17", {"amountValue": "-118.00"}, False),
        ("thanks", {"date": "2026-04-01", "fromTo": "Nordwind GmbH"}, False),
        ("NW-2026-17 and NW-2026-18", {}, False),
    ],
    ids=["number and amount", "another amount", "amount and counterparty", "two numbers"],
)
def test_booking_settles_an_invoice_by_number_and_equal_amount(
    api, plan_invoice, create_payment, text, values, is_settled
):
    planned = plan_invoice("NW-2026-17")
    plan_invoice("NW-2026-18")
    payment = create_payment(text, **values)
    settlement = Settlement.objects.filter(planned_id=planned, transaction_id=payment)
    assert settlement.exists() == is_settled
    if is_settled:
        assert settlement.get().original_date == dt.date(2026, 4, 1)


def test_settled_invoice_is_not_settled_twice(api, plan_invoice, create_payment):
    planned = plan_invoice("NW-2026-17")
    first = create_payment("NW-2026-17")
    create_payment("NW-2026-17")
    assert [str(row.transaction_id) for row in Settlement.objects.filter(planned_id=planned)] == [first]
    assert list_matches(api) == []


def test_inbox_offers_both_of_two_equal_candidates_with_their_evidence(owner, acme, api, plan_invoice, create_payment):
    due = dt.datetime.now(tz=dt.UTC).date().isoformat()
    for number in ("17", "18"):
        plan_invoice(number, startDate=due, invoiceDate=due)
    create_payment("thanks", date=due, fromTo="Nordwind")
    page = owner.get(f"/app/companies/{acme.id}/inbox").content.decode()
    text = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page)))
    assert "Nordwind 17" in text
    assert "Nordwind 18" in text
    assert "same amount, same counterparty" in text


def test_sum_of_two_invoices_is_one_match_with_their_amounts(api, plan_invoice, create_payment):
    values = {"autoSettle": False}
    first, second = plan_invoice("NW-2026-17", **values), plan_invoice("NW-2026-18", **values)
    amounts = {row["id"]: Decimal(row["amountValue"]) for row in api.get("planned_transactions").json()}
    payment = create_payment("NW-2026-17 NW-2026-18", amountValue=str(amounts[first] + amounts[second]))
    (match,) = api.post("planned_transactions/matches", WINDOW).json()
    assert match["transactionId"] == payment
    assert "sum" in match["evidence"]
    assert Decimal(match["difference"]) == 0
    assert {part["plannedTransactionId"]: Decimal(part["amountValue"]) for part in match["settlements"]} == {
        each: amounts[each] for each in (first, second)
    }


def test_two_instalments_that_name_the_invoice_are_offered_and_pay_it(owner, acme, api, plan_invoice, create_payment):
    due = dt.datetime.now(tz=dt.UTC).date().isoformat()
    planned = plan_invoice("NW-2026-17", startDate=due, invoiceDate=due)
    first = create_payment("NW-2026-17 Rate 1", amountValue="-70.00", date=due)
    second = create_payment("NW-2026-17 Rate 2", amountValue="-49.00", date=due)
    create_payment("Rate 3", amountValue="-49.00", date=due)
    page = owner.get(f"/app/companies/{acme.id}/inbox").content.decode()
    text = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page)))
    assert "pays −€70.00 of −€119.00 · invoice number in the text" in text
    assert "pays −€49.00 of −€119.00 · invoice number in the text" in text
    assert text.count("invoice number in the text") == 2
    settle_path = f"/app/companies/{acme.id}/planned/{planned}/occurrences/{due}/settle"
    assert settle_path in page
    for payment in (first, second):
        answer = owner.post(settle_path, {"transactionId": payment, "from": "inbox"})
        assert answer.status_code == 303
    settled = {str(row.transaction_id): row.amount_value for row in Settlement.objects.filter(planned_id=planned)}
    assert settled == {first: Decimal("-70.00"), second: Decimal("-49.00")}
    assert list_matches(api) == []
