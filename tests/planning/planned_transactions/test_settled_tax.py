"""The tax included in a planned transaction is not counted in the results when it is paid."""

import pytest

from tests.ledger.conftest import get_page_text
from tests.planning.planned_transactions.test_settlements import (  # noqa: F401 - fixtures
    create_payment,
    format_day,
    plan_payment,
    settle_occurrence,
    unsettle_occurrence,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def categories(api):
    """System key -> id."""
    return {each["systemKey"]: each["id"] for each in api.get("categories").json()}


@pytest.fixture
def plan_invoice(plan_payment, categories):  # noqa: F811
    """Plan an invoice of one-off revenue."""

    def plan(amount, tax, **values):
        return plan_payment(-10, amount, categoryId=categories["revenueOneOff"], passThroughTaxAmount=tax, **values)

    return plan


def read_result(api, paid):
    """Return (P&L amount, tax) of a transaction's only categorization; None without one."""
    categorizations = list(api.get(f"transactions/{paid['id']}").json()["categorizations"].values())
    if not categorizations:
        return None
    (categorization,) = categorizations
    return sum(categorization["plSplit"].values()), categorization.get("passThroughTax")


def test_payment_of_an_invoice_with_tax_is_revenue_without_it(api, viewer, acme, plan_invoice, create_payment):  # noqa: F811
    planned, paid = plan_invoice("1190.00", "190.00"), create_payment(-9, "1190.00")
    page = viewer.get(f"/app/companies/{acme.id}/planned/{planned['id']}")
    assert "Tax included €190.00" in get_page_text(page)
    assert settle_occurrence(api, planned, paid).status_code == 200
    assert read_result(api, paid) == (1000, 190)
    assert unsettle_occurrence(api, planned).status_code == 200
    assert read_result(api, paid) is None


def test_cost_keeps_its_sign(api, plan_payment, create_payment, categories):  # noqa: F811
    planned = plan_payment(-10, "-119.00", categoryId=categories["hosting"], passThroughTaxAmount="-19.00")
    paid = create_payment(-9, "-119.00")
    settle_occurrence(api, planned, paid)
    assert read_result(api, paid) == (-100, -19)


def test_partial_payment_has_its_share_of_the_tax(api, plan_invoice, create_payment):  # noqa: F811
    planned, paid = plan_invoice("1190.00", "190.00"), create_payment(-9, "595.05")
    settle_occurrence(api, planned, paid)
    assert read_result(api, paid) == (500.04, 95.01)


def test_payment_of_several_invoices_adds_up_their_tax(api, plan_invoice, create_payment):  # noqa: F811
    first, second, paid = (
        plan_invoice("1190.00", "190.00"),
        plan_invoice("107.00", "7.00"),
        create_payment(-9, "1297.00"),
    )
    settle_occurrence(api, first, paid)
    assert read_result(api, paid) == (1107, 190)
    settle_occurrence(api, second, paid)
    assert read_result(api, paid) == (1100, 197)
    unsettle_occurrence(api, first)
    assert read_result(api, paid) == (1290, 7)


def test_tax_above_what_credit_notes_leave_is_not_taken_out(api, plan_invoice, create_payment):  # noqa: F811
    customer = {"type": "customer", "name": "Globe"}
    party = {"type": "customer", "id": api.post("counterparties", customer).json()["id"]}
    values = {"counterparty": party, "invoiceDate": format_day(-20)}
    charged, credited = plan_invoice("1190.00", "190.00", **values), plan_invoice("-1180.00", None, **values)
    paid = create_payment(-9, "10.00")
    assert settle_occurrence(api, credited, paid).status_code == 200
    assert settle_occurrence(api, charged, paid).status_code == 200
    assert read_result(api, paid) == (10, None)


def test_tax_of_an_edited_categorization_stays(api, plan_invoice, create_payment, categories):  # noqa: F811
    planned, paid = plan_invoice("1190.00", "190.00"), create_payment(-9, "1190.00")
    body = {"categorizations": {"a": {"categoryId": categories["revenueOneOff"], "plSplit": {"revenue": 1190}}}}
    assert api.put(f"transactions/{paid['id']}/categorizations", body).status_code == 200
    settle_occurrence(api, planned, paid)
    assert read_result(api, paid) == (1190, None)
