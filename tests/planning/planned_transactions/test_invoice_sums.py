"""Transactions that pay several invoices, and what contradicts a match: in the inbox and automatically."""

import datetime as dt
from decimal import Decimal

import pytest

from planning.models import Settlement
from tests.page_text import get_page_text

pytestmark = pytest.mark.django_db

TODAY = dt.datetime.now(tz=dt.UTC).date()
DUE = TODAY.isoformat()


@pytest.fixture
def create_payment(api, account_id):
    def create(amount, **values):
        body = {"accountId": account_id, "date": DUE, "amountValue": amount} | values
        answer = api.post("transactions", body)
        assert answer.status_code == 201, answer.content
        return answer.json()["id"]

    return create


@pytest.fixture
def plan_today(plan_invoice):
    def plan(number, amount="-119.00", **values):
        return plan_invoice(number, startDate=DUE, invoiceDate=DUE, amountValue=amount, **values)

    return plan


def list_settlements(transaction_id):
    rows = Settlement.objects.filter(transaction=transaction_id)
    return {str(row.planned_id): row.amount_value for row in rows}


def read_inbox(owner, acme):
    return owner.get(f"/app/companies/{acme.id}/inbox").content.decode()


def find_settlements_field(page):
    return page.partition('name="settlements" value="')[2].partition('"')[0]


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_inbox_settles_a_sum_with_one_button_and_undoes_it(owner, acme, api, plan_today, create_payment, count):
    amounts = ["-100.01", "-20.10", "-3.02", "-400.04", "-5000.05"][:count]
    planned = {plan_today(f"1{place}", amount): Decimal(amount) for place, amount in enumerate(amounts)}
    plan_today("99", "-77.77")
    payment = create_payment(str(sum(planned.values())), fromTo="Nordwind GmbH")
    assert list_settlements(payment) == {}
    page = read_inbox(owner, acme)
    assert "sum of the invoices, same counterparty" in page
    address = f"/app/companies/{acme.id}/planned/transactions/{payment}/settle"
    assert address in page
    answer = owner.post(address, {"settlements": find_settlements_field(page), "next": "done"}, follow=True)
    assert f"{count} invoices paid." in get_page_text(answer)
    assert list_settlements(payment) == planned
    undo = f"/app/companies/{acme.id}/planned/transactions/{payment}/unsettle"
    assert undo in answer.content.decode()
    answer = owner.post(undo, {"from": "inbox"}, follow=True)
    assert f"{count} invoices are open again." in get_page_text(answer)
    assert list_settlements(payment) == {}


def test_credit_note_in_a_sum_is_settled_first_and_unsettled_last(owner, acme, api, plan_today, create_payment):
    invoice, credit_note = plan_today("10", "-100.00"), plan_today("11", "30.00")
    payment = create_payment("-70.00", fromTo="Nordwind GmbH")
    page = read_inbox(owner, acme)
    address = f"/app/companies/{acme.id}/planned/transactions/{payment}"
    owner.post(f"{address}/settle", {"settlements": find_settlements_field(page)})
    assert list_settlements(payment) == {invoice: Decimal(-100), credit_note: Decimal(30)}
    owner.post(f"{address}/unsettle", {})
    assert list_settlements(payment) == {}


def test_sum_with_an_invoice_that_was_settled_meanwhile_settles_nothing(owner, acme, api, plan_today, create_payment):
    first, _second = plan_today("10", "-100.00"), plan_today("11", "-20.00")
    payment = create_payment("-120.00", fromTo="Nordwind GmbH")
    field = find_settlements_field(read_inbox(owner, acme))
    assert first in field
    other = create_payment("-1.00")
    body = {"date": DUE, "transactionId": other}
    assert api.post(f"planned_transactions/{first}/settle", body).status_code == 200
    address = f"/app/companies/{acme.id}/planned/transactions/{payment}/settle"
    answer = owner.post(address, {"settlements": field}, follow=True)
    assert "invoices settled" not in get_page_text(answer)
    assert list_settlements(payment) == {}


def test_unreadable_settlements_are_refused(owner, acme, create_payment):
    address = f"/app/companies/{acme.id}/planned/transactions/{create_payment('-1.00')}/settle"
    for text in ["", "x", "x/y/z", f"{'0' * 32}/2026-01-01/1", "a/2026-01-01/NaN"]:
        assert owner.post(address, {"settlements": text}).status_code == 303
        assert not Settlement.objects.exists(), text


def test_two_possible_sums_are_both_shown(owner, acme, plan_today, create_payment):
    for number, amount in (("10", "-100.00"), ("11", "-20.00"), ("12", "-90.00"), ("13", "-30.00")):
        plan_today(number, amount)
    create_payment("-120.00", fromTo="Nordwind GmbH")
    assert read_inbox(owner, acme).count('name="settlements"') == 2
    assert not Settlement.objects.exists()


@pytest.mark.parametrize(
    ("text", "amount", "is_settled"),
    [
        ("NW-2026-17, NW-2026-18", "-238.00", True),
        ("NW-2026-17, NW-2026-18", "-200.00", False),
        ("NW-2026-17 and others", "-238.00", False),
        ("thanks", "-238.00", False),
    ],
    ids=["both numbers", "another sum", "one number", "no number"],
)
def test_booking_settles_a_sum_only_by_numbers_and_the_exact_amount(
    plan_today, create_payment, text, amount, is_settled
):
    planned = {plan_today("NW-2026-17"): Decimal(-119), plan_today("NW-2026-18"): Decimal(-119)}
    payment = create_payment(amount, description=text, fromTo="Nordwind GmbH")
    assert list_settlements(payment) == (planned if is_settled else {})


def test_invoice_without_number_is_never_settled_automatically(plan_today, create_payment):
    plan_today(None)
    assert list_settlements(create_payment("-119.00", fromTo="Nordwind GmbH")) == {}


@pytest.fixture
def categories(api):
    return [api.post("categories", {"name": name, "plTypes": ["ga"]}).json()["id"] for name in ("Office", "Travel")]


@pytest.mark.parametrize("has_same", [True, False])
def test_another_category_stops_automatic_settlement_and_the_inbox(
    owner,
    acme,
    api,
    plan_today,
    account_id,
    categories,
    has_same,
):
    planned = plan_today("NW-2026-17", categoryId=categories[0])
    item = {
        "accountId": account_id, "date": DUE, "amountValue": "-119.00", "description": "NW-2026-17",
        "categoryId": categories[0 if has_same else 1],
    }  # fmt: skip
    assert api.post("transactions/import", {"transactions": [item]}).json()["count"] == 1
    assert Settlement.objects.filter(planned=planned).exists() == has_same
    assert "Settle" not in read_inbox(owner, acme)


def test_category_assigned_later_takes_the_match_out_of_the_inbox(
    owner, acme, api, plan_today, create_payment, categories
):
    plan_today("17", categoryId=categories[0])
    payment = create_payment("-119.00", fromTo="Nordwind GmbH")
    assert "Settle" in read_inbox(owner, acme)
    body = {"selection": {"mode": "ids", "ids": [payment]}, "categoryId": categories[1]}
    assert api.post("transactions/categorize", body).status_code == 200
    assert "Settle" not in read_inbox(owner, acme)


def test_another_known_counterparty_stops_automatic_settlement_and_the_inbox(
    owner, acme, api, plan_today, create_payment
):
    api.post("counterparties", {"type": "vendor", "name": "Initech"})
    plan_today("NW-2026-17")
    payment = create_payment("-119.00", description="NW-2026-17", fromTo="INITECH")
    assert list_settlements(payment) == {}
    assert "Settle" not in read_inbox(owner, acme)
    plan_today("NW-2026-18")
    assert list_settlements(create_payment("-119.00", description="NW-2026-18", fromTo="A payment service")) != {}


def test_invoice_paid_long_before_or_after_its_day_is_offered_by_its_number(owner, acme, plan_invoice, create_payment):
    for number, days in (("NW-2026-17", -90), ("NW-2026-18", 90)):
        day = (TODAY + dt.timedelta(days=days)).isoformat()
        plan_invoice(number, startDate=day, invoiceDate=(TODAY - dt.timedelta(days=100)).isoformat(), autoSettle=False)
        create_payment("-119.00", description=number)
    page = get_page_text(owner.get(f"/app/companies/{acme.id}/inbox"))
    assert page.count("invoice number in the text") == 2


def test_undo_of_an_import_takes_back_its_settlements(api, plan_today, account_id):
    planned = [plan_today("NW-2026-17"), plan_today("NW-2026-18"), plan_today("NW-2026-19")]
    rows = [("-119.00", "NW-2026-17"), ("-238.00", "NW-2026-18 NW-2026-19")]
    items = [
        {"accountId": account_id, "date": DUE, "amountValue": amount, "description": text} for amount, text in rows
    ]
    imported = api.post("transactions/import", {"transactions": items}).json()
    assert {str(row.planned_id) for row in Settlement.objects.all()} == set(planned)
    assert api.get("payables").json() == []
    assert api.delete(f"imports/{imported['importId']}").status_code == 200
    assert not Settlement.objects.exists()
    assert [row["openAmountValue"] for row in api.get("payables").json()] == ["-119.00"] * 3
    assert api.post("data/aging", {"kind": "payables"}).json()["total"] == -357
