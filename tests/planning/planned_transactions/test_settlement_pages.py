"""Settling on pages: one press for what fits, a choice for the rest, and the way from each to the other."""

from datetime import timedelta
from html import escape
from urllib.parse import urlencode
from uuid import uuid4

import pytest

from tests import factories
from tests.page_text import get_page_text
from tests.planning.planned_transactions.test_planned_transaction_pages import TODAY, build_page_path, format_day

pytestmark = pytest.mark.django_db

DUE_DAY = TODAY - timedelta(days=20)


@pytest.fixture
def account(bank):
    return bank


@pytest.fixture
def rent(api, account):
    body = {"accountId": account, "name": "Rent", "startDate": str(DUE_DAY), "amountValue": "-100.00"}
    return api.post("planned_transactions", body | {"autoSettle": False}).json()["id"]


@pytest.fixture
def create_payment(api, account):
    def create(days, amount, name):
        body = {
            "accountId": account,
            "date": str(DUE_DAY + timedelta(days=days)),
            "amountValue": amount,
            "fromTo": name,
        }
        return api.post("transactions", body).json()["id"]

    return create


def press_button(client, acme, rent, act, **sent):
    return client.post(build_page_path(acme, f"/{rent}/occurrences/{DUE_DAY}/{act}"), sent, follow=True)


def get_settling_transaction(api, rent):
    window = {"startDate": str(DUE_DAY - timedelta(days=40)), "endDate": str(TODAY)}
    (occurrence,) = api.get(f"planned_transactions/{rent}/occurrences", window).json()
    return next((each["transactionId"] for each in occurrence["settlements"]), None)


def test_cash_plan_settles_a_match_in_one_step(owner, acme, api, rent, create_payment):
    paid = create_payment(2, "-104.00", "Landlord")
    shown = owner.get(build_page_path(acme))
    assert (
        f"{format_day(DUE_DAY)} Rent overdue Match: Landlord , {format_day(DUE_DAY + timedelta(days=2))}, −€104.00"
        in get_page_text(shown)
    )
    assert f'name="transactionId" value="{paid}"' in shown.content.decode()
    answer = press_button(owner, acme, rent, "settle", transactionId=paid, **{"from": "plan"})
    assert answer.redirect_chain[-1][0] == build_page_path(acme)
    assert f"Rent paid on {format_day(DUE_DAY + timedelta(days=2))}." in get_page_text(answer)
    assert get_settling_transaction(api, rent) == paid
    assert "Settled and skipped in the last 60 days" in get_page_text(answer)
    assert f'href="/app/companies/{acme.id}/transactions/{paid}"' in answer.content.decode()


def test_settled_transaction_and_planned_transaction_link_to_each_other(owner, acme, api, rent, create_payment):
    paid = create_payment(0, "-100.00", "Landlord")
    press_button(owner, acme, rent, "settle", transactionId=paid)
    shown = owner.get(f"/app/companies/{acme.id}/transactions/{paid}")
    assert f"Settles −€100.00 Rent of {format_day(DUE_DAY)}" in get_page_text(shown)
    assert f'href="{build_page_path(acme, f"/{rent}")}"' in shown.content.decode()
    assert (
        f'href="/app/companies/{acme.id}/transactions/{paid}"'
        in owner.get(build_page_path(acme, f"/{rent}")).content.decode()
    )


def test_unsettling_restores_expected_occurrence(owner, acme, api, rent, create_payment):
    press_button(owner, acme, rent, "settle", transactionId=create_payment(0, "-100.00", "Landlord"))
    answer = press_button(owner, acme, rent, "unsettle", **{"from": "plan"})
    assert f"Rent on {format_day(DUE_DAY)} is no longer settled." in get_page_text(answer)
    assert get_settling_transaction(api, rent) is None
    assert "overdue" in get_page_text(answer)


def test_buttons_of_a_filtered_cash_plan_return_to_its_filters(owner, acme, api, rent, create_payment):
    query = f"overdueTo={TODAY}&style=thousands"
    address, back = f"{build_page_path(acme)}?{query}", {"from": "plan", "then": query}
    settle_path = build_page_path(acme, f"/{rent}/occurrences/{DUE_DAY}/settle")
    shown = owner.get(address).content.decode()
    assert f'name="then" value="{escape(query)}"' in shown
    assert f'href="{settle_path}?{escape(urlencode(back))}"' in shown
    change = f"{settle_path.removesuffix('/settle')}?{urlencode(back)}"
    assert f'href="{escape(change)}"' in shown
    values = {"date": str(DUE_DAY), "direction": "out", "amountValue": "100", "name": "Rent"}
    assert owner.post(change, values)["Location"] == address
    paid = create_payment(0, "-100.00", "Landlord")
    assert f'name="then" value="{escape(query)}"' in owner.get(settle_path, back).content.decode()
    for act, sent in (("settle", {"transactionId": paid}), ("unsettle", {}), ("skip", {}), ("restore", {})):
        answer = press_button(owner, acme, rent, act, **back, **sent)
        assert answer.redirect_chain[-1][0] == address, act


def test_settlement_without_match_offers_nearest_transactions_first(owner, acme, api, rent, create_payment):
    create_payment(0, "-20.00", "Cheap")
    wanted = create_payment(15, "-150.00", "Dear")
    create_payment(0, "100.00", "Refund")
    assert "Settle…" in get_page_text(owner.get(build_page_path(acme)))
    shown = get_page_text(owner.get(build_page_path(acme, f"/{rent}/occurrences/{DUE_DAY}/settle")))
    assert shown.index("Dear") < shown.index("Cheap")
    assert "Refund" not in shown
    answer = press_button(owner, acme, rent, "settle", transactionId=wanted)
    assert f"Rent paid on {format_day(DUE_DAY + timedelta(days=15))}." in get_page_text(answer)
    assert get_settling_transaction(api, rent) == wanted
    other = owner.get(build_page_path(acme, f"/{rent}/occurrences/{DUE_DAY + timedelta(days=1)}/settle"))
    assert other.status_code == 404


def test_part_of_the_amount_is_said_to_be_a_part(owner, acme, api, rent, create_payment):
    answer = press_button(owner, acme, rent, "settle", transactionId=create_payment(0, "-40.00", "Landlord"))
    assert f"Rent partly paid on {format_day(DUE_DAY)}: −€40.00 of −€100.00." in get_page_text(answer)
    rest = press_button(owner, acme, rent, "settle", transactionId=create_payment(1, "-60.00", "Landlord"))
    assert f"Rent paid on {format_day(DUE_DAY + timedelta(days=1))}." in get_page_text(rest)


def test_inbox_says_how_much_a_match_pays(owner, acme, api, rent, create_payment):
    paid = create_payment(0, "-95.00", "Landlord")
    inbox = f"/app/companies/{acme.id}/inbox"
    assert "pays −€95.00 of −€100.00" in get_page_text(owner.get(inbox))
    answer = press_button(owner, acme, rent, "settle", transactionId=paid, **{"from": "inbox"})
    assert f"Rent partly paid on {format_day(DUE_DAY)}: −€95.00 of −€100.00." in get_page_text(answer)


def test_invalid_settlement_shows_a_message(owner, acme, api, rent, create_payment):
    answer = press_button(owner, acme, rent, "settle", transactionId=create_payment(0, "100.00", "Refund"))
    assert "A transaction can only settle a planned transaction with the same sign." in get_page_text(answer)
    assert get_settling_transaction(api, rent) is None
    unknown = press_button(owner, acme, rent, "settle", transactionId="x")
    assert "Rent paid on" not in get_page_text(unknown)
    assert owner.post(build_page_path(acme, f"/{rent}/occurrences/x/settle")).status_code == 404


def test_past_skip_can_be_undone(owner, acme, api, rent):
    answer = press_button(owner, acme, rent, "skip", **{"from": "plan"})
    assert f"{format_day(DUE_DAY)} Rent skipped" in get_page_text(answer)
    assert "overdue" in get_page_text(press_button(owner, acme, rent, "restore", **{"from": "plan"}))


def test_settlement_matches_require_transaction_permission(sign_in_browser, acme, api, rent, create_payment):
    paid = create_payment(0, "-100.00", "Landlord")
    planner = factories.make_member(acme, "p@acme.example", permissions=["planning:read", "planning:write"])
    client = sign_in_browser(planner, acme).client
    assert "Landlord" not in get_page_text(client.get(build_page_path(acme)))
    assert "Landlord" not in get_page_text(client.get(build_page_path(acme, f"/{rent}/occurrences/{DUE_DAY}/settle")))
    press_button(client, acme, rent, "settle", transactionId=paid)
    for path in ("", f"/{rent}"):
        assert str(paid) not in client.get(build_page_path(acme, path)).content.decode()
    reader = factories.make_member(acme, "r@acme.example", permissions=["transactions:read"])
    shown = get_page_text(sign_in_browser(reader, acme).client.get(f"/app/companies/{acme.id}/transactions/{paid}"))
    assert "Settles −€100.00 a planned transaction" in shown


def test_readers_see_no_settlement_buttons(sign_in_browser, bob, acme, rent, create_payment):
    create_payment(0, "-100.00", "Landlord")
    viewer = sign_in_browser(bob, acme).client
    assert viewer.get(build_page_path(acme)).content.decode().count('method="post"') == 1  # to sign out
    for act in ("settle", "unsettle"):
        assert viewer.post(build_page_path(acme, f"/{rent}/occurrences/{DUE_DAY}/{act}")).status_code == 403


def test_auto_settlement_can_be_chosen_in_the_form(owner, acme, api, account):
    sent = {"name": "Rent", "direction": "out", "amountValue": "1.00", "accountId": account, "startDate": str(TODAY)}
    owner.post(build_page_path(acme, "/new"), sent | {"autoSettle": "on"})
    (body,) = api.get("planned_transactions").json()
    assert body["autoSettle"] is True
    edit = build_page_path(acme, f"/{body['id']}/edit")
    assert 'name="autoSettle" checked' in owner.get(edit).content.decode()
    owner.post(edit, sent)
    assert api.get(f"planned_transactions/{body['id']}").json()["autoSettle"] is False


def test_payments_of_others_and_transfers_are_not_offered(owner, acme, api, account, create_payment):
    landlord, other = (
        api.post("counterparties", {"type": "vendor", "name": name}).json()["id"] for name in ("Landlord", "Other")
    )
    category = api.get_category_id("hosting")
    paid_to = {}
    for counterparty in (landlord, other):
        paid_to[counterparty] = create_payment(1, "-100.00", "Card payment")
        selection = {"mode": "ids", "ids": [paid_to[counterparty]]}
        body = {"selection": selection, "categoryId": category, "counterparty": {"id": counterparty}}
        assert api.post("transactions/categorize", body).status_code == 200
    reserve = api.post("accounts", {"name": "Reserve", "type": "bank"}).json()["id"]
    moved = create_payment(1, "-100.00", "To reserve")
    leg = {"accountId": reserve, "date": str(DUE_DAY + timedelta(days=1)), "amountValue": "100.00", "fromTo": "Reserve"}
    body = {"sourceTransactionId": moved, "targetTransactionId": api.post("transactions", leg).json()["id"]}
    assert api.post("transactions/link_transfer", body).status_code == 200
    shared = create_payment(1, "-150.00", "Card payment")
    parts = {
        str(uuid4()): {"categoryId": category, "plSplit": {"cogs": amount}, "counterparty": {"id": counterparty}}
        for counterparty, amount in ((landlord, -100), (other, -50))
    }
    divided = api.put(f"transactions/{shared}/categorizations", {"categorizations": parts})
    assert divided.status_code == 200, divided.content
    plan = {"accountId": account, "name": "Rent", "startDate": str(DUE_DAY), "amountValue": "-100.00"}
    planned = api.post("planned_transactions", plan | {"autoSettle": False, "counterparty": {"id": landlord}}).json()
    page = owner.get(build_page_path(acme, f"/{planned['id']}/occurrences/{DUE_DAY}/settle")).content.decode()
    assert f'value="{paid_to[landlord]}"' in page
    assert f'value="{shared}"' in page, "a part of it is the landlord's"
    assert f'value="{paid_to[other]}"' not in page
    assert f'value="{moved}"' not in page


@pytest.fixture
def invoice(api):
    """The id of an invoice that no transaction matches."""
    body = {
        "accountId": None,
        "name": "Invoice 77",
        "startDate": str(DUE_DAY),
        "invoiceDate": str(DUE_DAY - timedelta(days=30)),
        "amountValue": "500.00",
        "autoSettle": False,
    }
    answer = api.post("planned_transactions", body)
    assert answer.status_code == 201, answer.content
    return answer.json()["id"]


def search_page(owner, acme, planned, **query):
    return owner.get(build_page_path(acme, f"/{planned}/occurrences/{DUE_DAY}/settle"), query)


def test_invoice_without_match_is_settled_with_a_searched_transaction(owner, acme, api, invoice, create_payment):
    late = create_payment(-90, "720.00", "Collections Ltd")
    create_payment(-90, "-720.00", "Collections Ltd")
    assert "/settle" in owner.get(build_page_path(acme, f"/{invoice}")).content.decode()
    shown = search_page(owner, acme, invoice)
    assert "No matching transactions on this account within 60 days. Search all transactions above." in get_page_text(
        shown
    )
    day = str(DUE_DAY - timedelta(days=90))
    for query in ({"q": "collections"}, {"amount": "720.00"}, {"day": day}, {"q": "ltd", "amount": "-720", "day": day}):
        content = search_page(owner, acme, invoice, **query).content.decode()
        assert content.count('name="transactionId"') == 1, query
        assert f'value="{late}"' in content
        assert 'value="500.00"' in content, "the open amount is preset"
    assert "No transaction with an unused amount" in get_page_text(search_page(owner, acme, invoice, q="nobody"))
    answer = press_button(owner, acme, invoice, "settle", transactionId=late, amountValue="500.00")
    assert f"Invoice 77 paid on {format_day(DUE_DAY - timedelta(days=90))}." in get_page_text(answer)
    assert get_settling_transaction(api, invoice) == late
    other = api.get(f"transactions/{late}").json()
    assert [row["amountValue"] for row in other["settlements"]] == ["500.00"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"day": "2025-02-30"}, "Must be a date (YYYY-MM-DD)."),
        ({"amount": "12.3.4"}, "Enter an amount such as"),
        ({"q": "a\0"}, "NUL"),
    ],
)
def test_malformed_settlement_search_shows_an_error(owner, acme, invoice, create_payment, query, message):
    paid = create_payment(0, "500.00", "Client")
    answer = search_page(owner, acme, invoice, **query)
    assert answer.status_code == 400
    assert message in get_page_text(answer)
    assert str(paid) not in answer.content.decode()


def test_refused_settlements_store_nothing(owner, acme, api, globex_api, invoice, create_payment):
    paid = create_payment(0, "20.00", "Client")
    account = globex_api.post("accounts", {"name": "Theirs", "type": "bank"}).json()["id"]
    row = {"accountId": account, "date": str(DUE_DAY), "amountValue": "500.00", "fromTo": "Theirs"}
    foreign = globex_api.post("transactions", row).json()["id"]
    assert "Theirs" not in get_page_text(search_page(owner, acme, invoice, amount="500"))
    for sent in ({"transactionId": paid, "amountValue": "30.00"}, {"transactionId": foreign}):
        answer = press_button(owner, acme, invoice, "settle", **sent)
        assert 'class="notice error"' in answer.content.decode()
        assert get_settling_transaction(api, invoice) is None
