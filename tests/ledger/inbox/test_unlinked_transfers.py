"""Bank statements come one account at a time: the first leg of a transfer may be categorized as Transfers before the
second one is there. Then both are linked, from the inbox or from the page of either leg."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from ledger.models import Categorization
from tests.ledger.conftest import get_page_text

pytestmark = pytest.mark.django_db


@pytest.fixture
def submit_inbox(sign_in_browser, alice, acme):
    """Open the inbox, or submit a form to it and follow the redirect."""
    client = sign_in_browser(alice, acme).client
    address = f"/app/companies/{acme.id}/inbox"
    return lambda **form: client.post(address, form, follow=True) if form else client.get(address)


@pytest.fixture
def today():
    return datetime.now(tz=UTC).date().isoformat()


@pytest.fixture
def categorize_as_transfer(books):
    """Categorize a transaction, or a part of its amount, as Transfers; return its id."""

    def categorize(row, amount=None):
        part = {
            "categoryId": books.get_category_id("transfer"),
            "plSplit": {"neutral": float(amount or row["amountValue"])},
        }
        answer = books.set_categorizations(row["id"], part)
        assert answer.status_code == 200, answer.content
        return row["id"]

    return categorize


def read_link_form(answer):
    """Return the fields of the form that links the first proposed pair; None if there is none."""
    form = re.search(r'name="act" value="link">.*?</form>', answer.content.decode(), re.DOTALL)
    if form is None:
        return None
    fields = re.findall(r'name="(\w+)"\s+value="([^"]*)"', form[0])
    return dict(fields) | {"act": "link", "version": [value for name, value in fields if name == "version"]}


def is_linked(one, other):
    legs = Categorization.objects.filter(transaction_id=one, counter__transaction_id=other)
    return [leg.transaction_id for leg in legs] != []


@pytest.mark.parametrize("first_amount", ["-80.00", "80.00"], ids=["money out first", "money in first"])
def test_second_leg_is_matched_with_the_categorized_first_leg_and_undone(
    submit_inbox, books, bank, savings, today, categorize_as_transfer, first_amount
):
    first = categorize_as_transfer(books.create_transaction(bank, first_amount, today, fromTo="Acme"))
    first_part = books.get_transaction(first)["categorizations"]
    assert read_link_form(submit_inbox()) is None
    second_amount = first_amount[1:] if first_amount.startswith("-") else f"-{first_amount}"
    second = books.create_transaction(savings, second_amount, today, fromTo="Acme")["id"]
    shown = submit_inbox()
    assert "Part of a suggested transfer. Link it above." in get_page_text(shown)
    form = read_link_form(shown)
    assert {form["source"], form["target"]} == {first, second}
    done = submit_inbox(**form)
    assert "Transactions linked as a transfer." in get_page_text(done)
    assert is_linked(first, second)
    assert is_linked(second, first)
    assert read_link_form(done) is None
    run = re.search(r'name="run" value="([^"]+)"', done.content.decode())[1]
    undone = submit_inbox(act="undo", run=run)
    assert "2 transactions restored." in get_page_text(undone)
    assert books.get_transaction(first)["categorizations"] == first_part
    assert books.list_categorizations(second) == []
    assert read_link_form(undone)["source"] in (first, second)


def test_two_categorized_legs_are_no_proposal(submit_inbox, books, bank, savings, today, categorize_as_transfer):
    categorize_as_transfer(books.create_transaction(bank, "-80.00", today))
    categorize_as_transfer(books.create_transaction(savings, "80.00", today))
    books.create_transaction(bank, "-3.00", today)
    assert read_link_form(submit_inbox()) is None


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"amount": "80.01"}, id="other amount"),
        pytest.param({"fromTo": "Globex", "first": {"fromTo": "Initech"}}, id="two third parties"),
        pytest.param({"first_part": "-40.00"}, id="first leg only partly categorized as Transfers"),
        pytest.param({"first_category": "taxPayments"}, id="first leg in another category"),
        pytest.param({"linked": True}, id="first leg is linked"),
    ],
)
def test_categorized_leg_is_proposed_by_the_rules_of_open_ones(
    submit_inbox, books, bank, savings, today, categorize_as_transfer, change
):
    row = books.create_transaction(bank, "-80.00", today, **change.get("first", {"fromTo": ""}))
    if "first_category" in change:
        part = {"categoryId": books.get_category_id(change["first_category"]), "plSplit": {"neutral": -80}}
        assert books.set_categorizations(row["id"], part).status_code == 200
    elif "linked" in change:
        assert (
            books.link_transfer(row["id"], books.create_transaction(savings, "80.00", today)["id"]).status_code == 200
        )
    else:
        categorize_as_transfer(row, change.get("first_part"))
    books.create_transaction(savings, change.get("amount", "80.00"), today, fromTo=change.get("fromTo", ""))
    assert read_link_form(submit_inbox()) is None


def test_api_proposes_only_uncategorized_transactions(api, books, bank, savings, categorize_as_transfer):
    first = books.create_transaction(bank, "-80.00", "2026-03-10")
    second = books.create_transaction(savings, "80.00", "2026-03-10")["id"]
    window = {"startDate": "2026-03-01", "endDate": "2026-03-31"}
    assert len(api.post("transactions/transfer_proposals", window).json()) == 1
    categorize_as_transfer(first)
    assert api.post("transactions/transfer_proposals", window).json() == []
    refused = books.link_transfer(second, first["id"])
    assert (refused.status_code, refused.json()["code"]) == (400, "transfer_target_closed")
    part = next(iter(books.get_transaction(first["id"])["categorizations"]))
    assert books.link_transfer(first["id"], second, part).status_code == 200


@pytest.mark.parametrize("is_second_categorized", [False, True], ids=["open", "categorized as Transfers"])
def test_link_page_finds_the_categorized_leg(
    pages, books, bank, savings, categorize_as_transfer, is_second_categorized
):
    first = categorize_as_transfer(books.create_transaction(bank, "-80.00"))
    second = books.create_transaction(savings, "80.00")
    if is_second_categorized:
        categorize_as_transfer(second)
    second_id = second["id"]
    shown = pages.get(f"/{second_id}/link")
    assert re.search(rf'name="target"\s+value="{first}"', shown.content.decode())
    part = re.search(r'name="part" value="([^"]*)"', shown.content.decode())[1]
    assert pages.post(f"/{second_id}/link", target=first, part=part).status_code == 303
    assert is_linked(first, second_id)
    assert len(books.list_categorizations(first)) == len(books.list_categorizations(second_id)) == 1


def test_link_page_leaves_out_what_is_linked_or_in_another_category(pages, books, bank, savings):
    row, other = books.create_transaction(bank, "-80.00")["id"], books.create_transaction(bank, "-80.00")["id"]
    linked, taxes = books.create_transaction(savings, "80.00")["id"], books.create_transaction(savings, "80.00")["id"]
    assert books.link_transfer(other, linked).status_code == 200
    books.set_categorizations(taxes, {"categoryId": books.get_category_id("taxPayments"), "plSplit": {"neutral": 80}})
    for amounts in ("equal", "any"):
        assert "No other side found" in get_page_text(pages.get(f"/{row}/link", amounts=amounts))


def test_categorized_leg_of_a_closed_month_is_no_proposal(
    api, submit_inbox, books, bank, savings, categorize_as_transfer
):
    """It cannot be linked until the month is reopened."""
    last_day = datetime.now(tz=UTC).date().replace(day=1) - timedelta(days=1)
    categorize_as_transfer(books.create_transaction(bank, "-80.00", last_day.isoformat()))
    books.create_transaction(savings, "80.00", (last_day + timedelta(days=1)).isoformat())
    assert read_link_form(submit_inbox())
    assert api.post("closings", {"month": f"{last_day:%Y-%m}", "acknowledge": True}).status_code == 201
    assert read_link_form(submit_inbox()) is None


@pytest.mark.parametrize("changed", [0, 1], ids=["first leg", "second leg"])
@pytest.mark.parametrize("is_categorized", [True, False], ids=["one categorized", "both open"])
def test_undo_after_one_leg_changed_keeps_the_transfer(
    api, submit_inbox, books, bank, savings, today, categorize_as_transfer, changed, is_categorized
):
    first = books.create_transaction(bank, "-80.00", today)
    legs = first["id"], books.create_transaction(savings, "80.00", today)["id"]
    if is_categorized:
        categorize_as_transfer(first)
    done = submit_inbox(**read_link_form(submit_inbox()))
    run = re.search(r'name="run" value="([^"]+)"', done.content.decode())[1]
    assert api.put(f"transactions/{legs[changed]}", {"notes": "Checked"}).status_code == 200
    submit_inbox(act="undo", run=run)
    assert is_linked(*legs)
    assert is_linked(*reversed(legs))
