"""Settling on pages: one press for what fits, a choice for the rest, and the way from each to the other."""

from datetime import timedelta

import pytest

from tests import factories
from tests.planning.test_planned_pages import TODAY, day, page, text_of

pytestmark = pytest.mark.django_db

THEN = TODAY - timedelta(days=20)


@pytest.fixture
def owner(browser_of, alice, acme):
    return browser_of(alice, acme).client


@pytest.fixture
def account(api):
    return api.post("accounts", {"name": "Main", "type": "bank"}).json()["id"]


@pytest.fixture
def rent(api, account):
    body = {"accountId": account, "name": "Rent", "startDate": str(THEN), "amountValue": "-100.00"}
    return api.post("planned_transactions", body | {"autoSettle": False}).json()["id"]


@pytest.fixture
def book(api, account):
    def make(days, amount, name):
        body = {"accountId": account, "date": str(THEN + timedelta(days=days)), "amountValue": amount, "fromTo": name}
        return api.post("transactions", body).json()["id"]

    return make


def press(client, acme, rent, act, **sent):
    return client.post(page(acme, f"/{rent}/occurrences/{THEN}/{act}"), sent, follow=True)


def settled_by(api, rent):
    patch = api.get(f"planned_transactions/{rent}").json()["overrides"].get(str(THEN), {})
    return patch.get("transactionId")


def test_what_fits_is_settled_by_one_press_on_the_cash_plan(owner, acme, api, rent, book):
    paid = book(2, "-104.00", "Landlord")
    shown = owner.get(page(acme))
    assert f"{day(THEN)} Rent overdue fits Landlord , {day(THEN + timedelta(days=2))}, −€104.00" in text_of(shown)
    assert f'name="transactionId" value="{paid}"' in shown.content.decode()
    answer = press(owner, acme, rent, "settle", transactionId=paid, **{"from": "plan"})
    assert answer.redirect_chain[-1][0] == page(acme)
    assert f"Rent of {day(THEN)} is settled." in text_of(answer)
    assert settled_by(api, rent) == paid
    assert "Settled and skipped in the last sixty days" in text_of(answer)
    assert f'href="/app/companies/{acme.id}/transactions/{paid}"' in answer.content.decode()


def test_a_settled_transaction_shows_its_plan_and_the_plan_its_transaction(owner, acme, api, rent, book):
    paid = book(0, "-100.00", "Landlord")
    press(owner, acme, rent, "settle", transactionId=paid)
    shown = owner.get(f"/app/companies/{acme.id}/transactions/{paid}")
    assert f"Settles Rent of {day(THEN)}" in text_of(shown)
    assert f'href="{page(acme, f"/{rent}")}"' in shown.content.decode()
    assert f'href="/app/companies/{acme.id}/transactions/{paid}"' in owner.get(page(acme, f"/{rent}")).content.decode()


def test_what_was_settled_is_expected_again(owner, acme, api, rent, book):
    press(owner, acme, rent, "settle", transactionId=book(0, "-100.00", "Landlord"))
    answer = press(owner, acme, rent, "unsettle", **{"from": "plan"})
    assert f"Rent of {day(THEN)} is expected again." in text_of(answer)
    assert settled_by(api, rent) is None
    assert "overdue" in text_of(answer)


def test_where_nothing_fits_one_chooses_the_nearest_first(owner, acme, api, rent, book):
    book(0, "-20.00", "Cheap")
    wanted = book(15, "-150.00", "Dear")
    book(0, "100.00", "Refund")
    assert "Settle…" in text_of(owner.get(page(acme)))
    shown = text_of(owner.get(page(acme, f"/{rent}/occurrences/{THEN}/settle")))
    assert shown.index("Dear") < shown.index("Cheap")
    assert "Refund" not in shown
    answer = press(owner, acme, rent, "settle", transactionId=wanted)
    assert "is settled" in text_of(answer)
    assert settled_by(api, rent) == wanted
    other = owner.get(page(acme, f"/{rent}/occurrences/{THEN + timedelta(days=1)}/settle"))
    assert other.status_code == 404


def test_what_cannot_settle_is_refused_above_the_next_page(owner, acme, api, rent, book):
    answer = press(owner, acme, rent, "settle", transactionId=book(0, "100.00", "Refund"))
    assert "Money in settles what is expected to come in" in text_of(answer)
    assert settled_by(api, rent) is None
    assert "is settled" not in text_of(press(owner, acme, rent, "settle", transactionId="x"))
    assert owner.post(page(acme, f"/{rent}/occurrences/x/settle")).status_code == 404


def test_what_is_skipped_in_the_past_can_be_taken_back(owner, acme, api, rent):
    answer = press(owner, acme, rent, "skip", **{"from": "plan"})
    assert f"{day(THEN)} Rent skipped" in text_of(answer)
    assert "overdue" in text_of(press(owner, acme, rent, "restore", **{"from": "plan"}))


def test_transactions_are_proposed_and_shown_to_those_who_may_see_them(browser_of, acme, api, rent, book):
    paid = book(0, "-100.00", "Landlord")
    planner = factories.member(acme, "p@acme.example", permissions=["planning:read", "planning:write"])
    client = browser_of(planner, acme).client
    assert "Landlord" not in text_of(client.get(page(acme)))
    assert "Landlord" not in text_of(client.get(page(acme, f"/{rent}/occurrences/{THEN}/settle")))
    press(client, acme, rent, "settle", transactionId=paid)
    for path in ("", f"/{rent}"):
        assert str(paid) not in client.get(page(acme, path)).content.decode()
    reader = factories.member(acme, "r@acme.example", permissions=["transactions:read"])
    shown = text_of(browser_of(reader, acme).client.get(f"/app/companies/{acme.id}/transactions/{paid}"))
    assert "Settles a planned payment" in shown


def test_whoever_may_only_read_presses_nothing(browser_of, bob, acme, rent, book):
    book(0, "-100.00", "Landlord")
    viewer = browser_of(bob, acme).client
    assert viewer.get(page(acme)).content.decode().count('method="post"') == 1  # to sign out
    for act in ("settle", "unsettle"):
        assert viewer.post(page(acme, f"/{rent}/occurrences/{THEN}/{act}")).status_code == 403


def test_settling_by_itself_is_a_choice_of_the_form(owner, acme, api, account):
    sent = {"name": "Rent", "direction": "out", "amountValue": "1.00", "accountId": account, "startDate": str(TODAY)}
    owner.post(page(acme, "/new"), sent | {"autoSettle": "on"})
    (told,) = api.get("planned_transactions").json()
    assert told["autoSettle"] is True
    edit = page(acme, f"/{told['id']}/edit")
    assert 'name="autoSettle" checked' in owner.get(edit).content.decode()
    owner.post(edit, sent)
    assert api.get(f"planned_transactions/{told['id']}").json()["autoSettle"] is False
