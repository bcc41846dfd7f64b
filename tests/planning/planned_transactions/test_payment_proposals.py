"""Recurring payments of the history, over HTTP: proposed, planned with one button, and then no longer proposed."""

from datetime import date, timedelta
from typing import Any

import pytest

from ledger.calc.months import add_months
from tests import factories
from tests.page_text import get_page_text
from tests.planning.planned_transactions.test_planned_transaction_pages import build_page_path
from tests.rollback import undo_changes
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db

LAST = TODAY - timedelta(days=10)
MONTHS = [add_months(LAST, -number) for number in (3, 2, 1, 0)]


@pytest.fixture
def create_payments(api, account) -> Any:
    """Create payments on some days; return their ids, oldest first."""

    def create(days: Any = MONTHS, amount: str = "-900.00", name: str = "Landlord GmbH", **values: Any) -> list[str]:
        ids = []
        for day in days:
            body = {"accountId": str(account.id), "date": str(day), "amountValue": amount, "fromTo": name}
            made = api.post("transactions", body | values)
            assert made.status_code == 201, made.content
            ids.append(made.json()["id"])
        return ids

    return create


def list_proposals(api: Any) -> Any:
    answer = api.post("planned_transactions/proposals", {})
    assert answer.status_code == 200, answer.content
    return answer.json()


def plan(api: Any, account: Any, **values: Any) -> str:
    body = {"accountId": str(account.id), "name": "Landlord GmbH", "amountValue": "-900.00", "autoSettle": False}
    body |= {"startDate": str(add_months(LAST, 1)), "recurrence": {"frequency": "month"}}
    made = api.post("planned_transactions", body | values)
    assert made.status_code == 201, made.content
    return made.json()["id"]


def test_monthly_payment_is_proposed(api, account, create_payments):
    ids = create_payments(MONTHS[:3], name="LANDLORD GmbH") + create_payments([LAST], amount="-915.00")
    assert list_proposals(api) == [
        {
            "counterparty": None,
            "fromTo": "Landlord GmbH",
            "accountId": str(account.id),
            "categoryId": None,
            "amountValue": "-915.00",
            "amountCurrency": "EUR",
            "interval": "month",
            "intervalCount": 1,
            "nextDate": list_proposals(api)[0]["nextDate"],
            "seen": 4,
            "lastDate": str(LAST),
            "transactionIds": ids,
        }
    ]
    next_date = date.fromisoformat(list_proposals(api)[0]["nextDate"])
    assert abs((next_date - add_months(LAST, 1)).days) <= 3, "the usual day of the month"


def test_proposal_has_counterparty_and_category_of_its_payments(
    api, create_payments, category, acme, make_counterparty
):
    vendor = make_counterparty(acme)
    ids = create_payments(MONTHS[:2], name="SEPA 1") + create_payments(MONTHS[2:], name="Landlord")
    by_ids = {"selection": {"mode": "ids", "ids": ids}, "categoryId": str(category.id)}
    assert api.post("transactions/categorize", by_ids | {"counterparty": {"id": str(vendor.id)}}).status_code == 200
    (found,) = list_proposals(api)
    assert found["counterparty"] == {"type": "vendor", "id": str(vendor.id)}
    assert (found["categoryId"], found["seen"], found["fromTo"]) == (str(category.id), 4, "Landlord")


def test_intervals_are_detected(api, create_payments):
    for days, interval in [
        ([LAST - timedelta(weeks=number) for number in (3, 2, 1, 0)], ("week", 1)),
        ([add_months(LAST, -3 * number) for number in (2, 1, 0)], ("month", 3)),
        ([add_months(LAST, -12), LAST], ("year", 1)),
        ([add_months(LAST, -1), LAST], None),
        ([LAST - timedelta(days=number) for number in (90, 77, 20, 0)], None),
    ]:
        with undo_changes():
            create_payments(days)
            assert [(each["interval"], each["intervalCount"]) for each in list_proposals(api)] == (
                [interval] if interval else []
            ), days


def test_pending_transfers_and_other_directions_are_not_proposed(api, acme, create_payments, make_account):
    create_payments(MONTHS, pending=True, name="Pending")
    create_payments(MONTHS[:2], name="Refunds")
    create_payments(MONTHS[2:], name="Refunds", amount="900.00")
    create_payments(MONTHS, name="")
    create_payments(MONTHS, name=acme.name)
    target = str(make_account(acme, name="Reserve").id)
    for source, day in zip(create_payments(MONTHS, name="Reserve fund"), MONTHS, strict=True):
        (other,) = create_payments([day], accountId=target, amount="900.00", name="Main")
        link = {"sourceTransactionId": source, "targetTransactionId": other}
        assert api.post("transactions/link_transfer", link).status_code == 200
    assert list_proposals(api) == []


PLANNED_ALREADY = [
    ("same name", {}, 0),
    ("another account", {"accountId": None}, 0),
    ("a similar amount", {"amountValue": "-950.00"}, 0),
    ("another name and the same amount", {"name": "Rent"}, 0),
    ("another amount", {"amountValue": "-700.00"}, 1),
    ("the other direction", {"amountValue": "900.00"}, 1),
    ("another name and amount", {"name": "Rent", "amountValue": "-950.00"}, 1),
    ("ended", {"recurrence": None, "startDate": str(add_months(LAST, -1))}, 1),
]


def test_planned_payment_is_not_proposed(api, account, create_payments):
    create_payments()
    for case, values, count in PLANNED_ALREADY:
        with undo_changes():
            plan(api, account, **values)
            assert len(list_proposals(api)) == count, case


def test_monthly_total_covers_all_payments_of_its_category(api, account, create_payments, category):
    ids = create_payments() + create_payments(name="Storage", amount="-80.00")
    by_ids = {"selection": {"mode": "ids", "ids": ids}, "categoryId": str(category.id)}
    assert api.post("transactions/categorize", by_ids).status_code == 200
    assert len(list_proposals(api)) == 2
    plan(api, account, name="Rooms", categoryId=str(category.id), settledBy="category")
    assert list_proposals(api) == []


def test_one_planned_transaction_covers_one_proposal(api, account, create_payments):
    create_payments(name="First Ltd")
    create_payments(name="Second Ltd")
    plan(api, account, name="Rent")
    assert len(list_proposals(api)) == 1


def test_proposals_show_transactions_only_to_their_readers(acme, make_api, create_payments):
    create_payments()
    for permissions, count in [(("planning:read", "transactions:read"), 1), (("planning:read",), 0)]:
        assert len(list_proposals(make_api(acme, *permissions))) == count
    assert make_api(acme, "transactions:read").post("planned_transactions/proposals", {}).status_code == 403


def test_number_of_statements_does_not_grow(api, create_payments, django_assert_max_num_queries):
    for count in (1, 6):
        for number in range(count):
            create_payments(MONTHS, name=f"Party {count} {number}", amount=f"-{number + 10 * count}.00")
        with django_assert_max_num_queries(16):
            list_proposals(api)


def test_page_plans_a_proposal_with_one_button(owner, api, acme, account, create_payments):
    ids = create_payments()
    path = build_page_path(acme, "/proposals")
    shown = owner.get(path)
    assert "Landlord GmbH every month, 4 payments" in get_page_text(shown)
    target = f"{path}/{ids[-1]}/plan"
    assert f'action="{target}"' in shown.content.decode()
    assert owner.post(target).status_code == 303
    (planned,) = api.get("planned_transactions").json()
    assert (planned["name"], planned["amountValue"], planned["accountId"]) == (
        "Landlord GmbH", "-900.00", str(account.id),
    )  # fmt: skip
    assert (planned["recurrence"]["frequency"], planned["recurrence"]["interval"]) == ("month", 1)
    assert planned["source"] == "manual"
    assert "No suggested payments" in get_page_text(owner.get(path))
    again = owner.post(target, follow=True)
    assert "already planned" in get_page_text(again)
    assert len(api.get("planned_transactions").json()) == 1


def test_proposals_page_follows_permissions(viewer, sign_in_browser, acme, create_payments):
    (*_, last) = create_payments()
    page = viewer.get(build_page_path(acme, "/proposals"))
    assert ("Landlord GmbH" in get_page_text(page), "Plan this" in get_page_text(page)) == (True, False)
    assert viewer.post(build_page_path(acme, f"/proposals/{last}/plan")).status_code == 403
    planner = factories.make_member(acme, "p@acme.example", permissions=["company:read", "planning:read"])
    shown = get_page_text(sign_in_browser(planner, acme).client.get(build_page_path(acme, "/proposals")))
    assert "You do not have permission to view transactions." in shown
    assert "Landlord" not in shown
