"""A payment that settles an invoice gets its counterparty, unless somebody chose another one."""

from datetime import timedelta

import pytest

from companies.models import AuditEntry
from ledger.rules.actions.categorization_history import find_categorization_history_differences
from tests.analytics.reports.test_billed_and_received import get_month, read_rows
from tests.ledger.conftest import Books, get_page_text
from tests.planning.planned_transactions.test_settlements import (
    create_payment,
    format_day,
    plan_payment,
    settle_occurrence,
    unsettle_occurrence,
)
from tests.run_date import TODAY

__all__ = ["create_payment", "plan_payment"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def customer(api):
    return api.post("counterparties", {"name": "Initech", "type": "customer"}).json()["id"]


@pytest.fixture
def other_customer(api):
    return api.post("counterparties", {"name": "Globex", "type": "customer"}).json()["id"]


@pytest.fixture
def sales(api):
    return Books(api).get_category_id("revenueOther")


@pytest.fixture
def plan_invoice(plan_payment, customer):
    def plan(amount="100.00", counterparty_id=customer, days=-3):
        return plan_payment(days, amount, invoiceDate=format_day(days), counterparty={"id": counterparty_id})

    return plan


def select(*paid):
    return {"mode": "ids", "ids": [each["id"] for each in paid]}


def categorize(api, paid, category, **values):
    answer = api.post("transactions/categorize", {"selection": select(paid), "categoryId": category} | values)
    assert answer.status_code == 200, answer.content


def list_counterparties(api, paid):
    parts = api.get(f"transactions/{paid['id']}").json()["categorizations"].values()
    return [each["counterparty"] and each["counterparty"]["id"] for each in parts]


def list_audit_changes(paid):
    """The counterparties of a transaction before and after each change that the audit log has of it."""
    entries = AuditEntry.objects.filter(entity_id=paid["id"], action="transaction.split").order_by("id")
    return [
        tuple([part["counterparty_id"] for part in side.values()] for side in (entry.before, entry.after))
        for entry in entries
    ]


def test_settling_a_categorized_payment_sets_counterparty_until_unsettled(
    api, create_payment, plan_invoice, customer, sales, sign_in_browser, alice, acme
):
    paid, planned = create_payment(-1, "100.00"), plan_invoice()
    categorize(api, paid, sales)
    assert list_counterparties(api, paid) == [None]
    assert settle_occurrence(api, planned, paid).status_code == 200
    assert list_counterparties(api, paid) == [customer]
    assert find_categorization_history_differences(acme.id) == []
    client = sign_in_browser(alice, acme).client
    address = f"/app/companies/{acme.id}/transactions/{paid['id']}"
    assert "Counterparty" in get_page_text(client.get(address))
    assert unsettle_occurrence(api, planned).status_code == 200
    assert list_counterparties(api, paid) == [None]
    assert list_audit_changes(paid) == [([None], [customer]), ([customer], [None])]
    history = get_page_text(client.get(address))
    assert "Other revenue — Counterparty" in history, history


def test_settled_payment_counts_as_received(api, create_payment, plan_invoice, sales, sign_in_browser, alice, acme):
    paid, planned = create_payment(0, "100.00"), plan_invoice(days=0)
    categorize(api, paid, sales)
    settle_occurrence(api, planned, paid)
    rows = read_rows(sign_in_browser(alice, acme).client, acme)
    assert rows["Initech"][-1] == (100, 100, 0), (rows, get_month(0))


@pytest.mark.parametrize("is_plain", [True, False])
def test_settled_payment_gets_counterparty_when_categorized_later(
    api, create_payment, plan_invoice, customer, sales, is_plain
):
    paid, unsettled = create_payment(-1, "100.00"), create_payment(-1, "7.00")
    settle_occurrence(api, plan_invoice(), paid)
    period = {"type": "servicePeriod", "startDate": format_day(-1), "endDate": format_day(40)}
    body = {"selection": select(paid, unsettled), "categoryId": sales}
    api.post("transactions/categorize", body if is_plain else body | {"usingDateRule": period})
    assert list_counterparties(api, paid) == [customer]
    assert list_counterparties(api, unsettled) == [None]
    entry = AuditEntry.objects.get(action="transactions.categorized")
    assert entry.after["settled_counterparties"] == 1


def test_chosen_counterparty_stays(api, create_payment, plan_invoice, other_customer, sales):
    paid, planned = create_payment(-1, "100.00"), plan_invoice()
    settle_occurrence(api, planned, paid)
    categorize(api, paid, sales, counterparty={"id": other_customer})
    assert list_counterparties(api, paid) == [other_customer]
    unsettle_occurrence(api, planned)
    assert list_counterparties(api, paid) == [other_customer]
    settle_occurrence(api, planned, paid)
    assert list_counterparties(api, paid) == [other_customer]


def test_split_of_settled_payment_gets_counterparty_where_none_is_given(
    api, create_payment, plan_invoice, customer, other_customer, sales
):
    paid, planned = create_payment(-1, "100.00"), plan_invoice()
    settle_occurrence(api, planned, paid)
    parts = {
        "a": {"categoryId": sales, "plSplit": {"revenue": 60}},
        "b": {"categoryId": sales, "plSplit": {"revenue": 40}, "counterparty": {"id": other_customer}},
    }
    api.put(f"transactions/{paid['id']}/categorizations", {"categorizations": parts})
    assert list_counterparties(api, paid) == [customer, other_customer]
    assert list_audit_changes(paid) == [([], [customer, other_customer])]
    unsettle_occurrence(api, planned)
    assert list_counterparties(api, paid) == [None, other_customer]


def test_removed_counterparty_stays_removed(api, create_payment, plan_invoice, customer, sales):
    paid, planned = create_payment(-1, "100.00"), plan_invoice()
    settle_occurrence(api, planned, paid)
    categorize(api, paid, sales)
    ((key, part),) = api.get(f"transactions/{paid['id']}").json()["categorizations"].items()
    kept = {"categoryId": sales, "plSplit": {"revenue": 90}, "counterparty": part["counterparty"]}
    api.put(f"transactions/{paid['id']}/categorizations", {"categorizations": {key: kept}})
    assert list_counterparties(api, paid) == [customer]
    api.put(f"transactions/{paid['id']}/categorizations", {"categorizations": {key: kept | {"counterparty": None}}})
    assert list_counterparties(api, paid) == [None]


def test_rules_give_settled_payments_its_counterparty(api, create_payment, plan_invoice, customer, sales):
    paid, planned = create_payment(-1, "100.00", fromTo="Wire transfer 1"), plan_invoice()
    settle_occurrence(api, planned, paid)
    rule = {"name": "Wires", "conditions": {"fromTo": {"operator": "startsWith", "value": "Wire"}}}
    made = api.post("categorization_rules", rule | {"action": {"categoryId": sales}})
    assert made.status_code == 201, made.content
    run = api.post("categorization_rules/apply", {"selection": select(paid)}).json()
    assert (run["affected"], list_counterparties(api, paid)) == (1, [customer])
    again = api.post("categorization_rules/apply", {"selection": select(paid)}).json()
    assert again["affected"] == 0, "the counterparty of the settlement is no difference"
    changed = api.put(f"transactions/{paid['id']}", {"amountValue": "120.00"})
    assert (changed.status_code, list_counterparties(api, paid)) == (200, [customer])
    unsettle_occurrence(api, planned)
    assert list_counterparties(api, paid) == [None]


def test_payment_of_invoices_of_two_counterparties_gets_none(
    api, create_payment, plan_invoice, customer, other_customer, sales
):
    paid, first, second = create_payment(-1, "200.00"), plan_invoice(), plan_invoice(counterparty_id=other_customer)
    categorize(api, paid, sales)
    settle_occurrence(api, first, paid)
    assert list_counterparties(api, paid) == [customer]
    settle_occurrence(api, second, paid)
    assert list_counterparties(api, paid) == [None]
    unsettle_occurrence(api, first)
    assert list_counterparties(api, paid) == [other_customer]


def test_counterparty_of_payment_follows_that_of_its_invoice(api, create_payment, plan_invoice, other_customer, sales):
    paid, planned = create_payment(-1, "100.00"), plan_invoice()
    categorize(api, paid, sales)
    settle_occurrence(api, planned, paid)
    api.put(f"planned_transactions/{planned['id']}", {"counterparty": {"id": other_customer}})
    assert list_counterparties(api, paid) == [other_customer]


def test_category_chosen_in_inbox_gets_counterparty_of_the_settled_invoice(
    api, create_payment, plan_invoice, customer, sales, sign_in_browser, alice, acme
):
    paid = create_payment(-1, "100.00")
    settle_occurrence(api, plan_invoice(), paid)
    client = sign_in_browser(alice, acme).client
    body = {"act": "accept", "id": paid["id"], "category": f"{sales}:revenue"}
    answer = client.post(f"/app/companies/{acme.id}/inbox", body)
    assert answer.status_code == 303, answer.content
    assert list_counterparties(api, paid) == [customer]


def test_payment_in_closed_month_keeps_its_categorization(api, create_payment, plan_invoice, sales):
    last_month = TODAY.replace(day=1) - timedelta(days=1)
    paid, planned = create_payment((last_month - TODAY).days, "100.00"), plan_invoice()
    categorize(api, paid, sales)
    closed = api.post("closings", {"month": f"{last_month:%Y-%m}", "acknowledge": True})
    assert closed.status_code == 201, closed.content
    assert settle_occurrence(api, planned, paid).status_code == 200
    assert list_counterparties(api, paid) == [None]
    assert list_audit_changes(paid) == []
