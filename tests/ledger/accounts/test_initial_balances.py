"""Initial balances over HTTP: complete by themselves, whatever door one comes through."""

import pytest
from django.db import IntegrityError, transaction

from ledger.models import Categorization, DayMovement, Transaction
from tests.ledger.conftest import get_page_text
from tests.ledger.statement_upload import get_status_and_code

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]
COMPLETE_CONSTRAINT = "transaction_initial_balance_complete"


@pytest.fixture
def initial_balance(api, bank):
    """The transaction of the bank account's initial balance of 100.00."""
    answer = api.put(f"accounts/{bank}/initial_balance", {"date": "2026-03-01", "amountValue": "100.00"})
    assert answer.status_code == 200, answer.content
    return answer.json()["transaction"]


@pytest.fixture
def pages(sign_in_browser, alice, acme):
    """Pages of transactions by their paths."""

    class Pages:
        client = sign_in_browser(alice, acme).client
        base = f"/app/companies/{acme.id}"

        def get(self, path, **query):
            return self.client.get(f"{self.base}/{path}", query)

        def post(self, path, **form):
            return self.client.post(f"{self.base}/{path}", form)

    return Pages()


def select_by_ids(*ids):
    return {"mode": "ids", "ids": list(ids)}


# ---------------------------------------------------------------------------------------------- what it is


def test_initial_balance_is_categorized_as_initial_balance(initial_balance, books, api, bank):
    (part,) = initial_balance["categorizations"].values()
    assert part["categoryId"] == books.get_category_id("initialBalance")
    assert (part["plSplit"]["neutral"], part["computedStartDate"]) == (100, "2026-03-01")
    changed = api.put(f"accounts/{bank}/initial_balance", {"date": "2026-02-01", "amountValue": "-7.50"}).json()
    (again,) = changed["transaction"]["categorizations"].values()
    assert (again["plSplit"]["neutral"], again["computedStartDate"]) == (-7.5, "2026-02-01")
    assert again["categoryId"] == part["categoryId"]
    assert api.get("transactions", {"categoryId": part["categoryId"]}).json() == [changed["transaction"]]


def test_initial_balance_transaction_can_be_sent_back(initial_balance, api, bank):
    path = f"accounts/{bank}/initial_balance"
    answer = api.put(path, initial_balance)
    assert (answer.status_code, answer.json()["transaction"]) == (200, initial_balance)
    assert "Ignored-Fields" not in answer
    assert api.put(path, initial_balance | {"colour": "red"})["Ignored-Fields"] == "colour"


@pytest.mark.parametrize("amount", ["100.00", "-0.01", "0.00"])
def test_initial_balance_is_never_open(amount, api, bank):
    row = api.put(f"accounts/{bank}/initial_balance", {"date": "2026-03-01", "amountValue": amount}).json()
    ids = [row["transaction"]["id"]]
    assert api.get("transactions", {"open": "true"}).json() == []
    assert [each["id"] for each in api.get("transactions", {"open": "false"}).json()] == ids
    assert api.post("transactions/categorization_status", {"transactionIds": ids}).json()["openTransactionIds"] == []


def test_initial_balance_follows_the_account_currency(initial_balance, api, bank):
    api.put(f"accounts/{bank}", {"defaultCurrency": "JPY"})
    row = api.put(f"accounts/{bank}/initial_balance", {"date": "2026-03-01", "amountValue": "5"}).json()["transaction"]
    assert (row["amountValue"], row["amountCurrency"]) == ("5", "JPY")
    assert api.get("transactions", {"open": "true"}).json() == []


def test_initial_balance_allows_changes_to_notes_but_not_amount_or_date(initial_balance, api, books):
    path = f"transactions/{initial_balance['id']}"
    assert api.put(path, {**initial_balance, "notes": "counted"}).status_code == 200
    for change in ({"amountValue": "1.00"}, {"date": "2026-01-02"}, {"pending": True}, {"amountCurrency": "USD"}):
        assert get_status_and_code(api.put(path, change)) == (409, "transaction_is_initial_balance")
    assert books.get_transaction(initial_balance["id"])["categorizations"] == initial_balance["categorizations"]


def test_database_rejects_open_initial_balance(initial_balance):
    with pytest.raises(IntegrityError, match=COMPLETE_CONSTRAINT), transaction.atomic():
        Transaction.objects.filter(id=initial_balance["id"]).update(categorized_value=0)


# ---------------------------------------------------------------------------------------------- acts


def test_bulk_selection_excludes_initial_balance(initial_balance, api, books, bank):
    other = books.create_transaction(bank, "-10.00")["id"]
    hosting = books.get_category_id("hosting")
    for selection in (
        select_by_ids(initial_balance["id"], other),
        {"mode": "filter", "filter": {"startDate": "2026-01-01"}},
        {"mode": "all", "confirm": True},
    ):
        body = {"selection": selection, "categoryId": hosting}
        assert api.post("transactions/categorize", body).json() == {"success": True, "affected": 1}
        gone = api.post("transactions/uncategorize", {"selection": selection}).json()
        assert (gone["affected"], gone["countersCreated"], gone["countersSkipped"]) == (1, 0, 0)
    assert books.get_transaction(initial_balance["id"]) == initial_balance
    only = {"selection": select_by_ids(initial_balance["id"]), "categoryId": hosting}
    assert api.post("transactions/categorize", only).json()["affected"] == 0


def test_initial_balance_categorizations_cannot_be_replaced(initial_balance, api, books):
    path = f"transactions/{initial_balance['id']}/categorizations"
    part = {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": 100}}
    for parts in ({}, {"0": part}, initial_balance["categorizations"]):
        assert get_status_and_code(api.put(path, {"categorizations": parts})) == (409, "transaction_is_initial_balance")
    assert books.get_transaction(initial_balance["id"]) == initial_balance


def test_initial_balance_cannot_be_linked_as_a_transfer(initial_balance, books, savings):
    other = books.create_transaction(savings, "-100.00", "2026-03-01")["id"]
    (part,) = initial_balance["categorizations"]
    for pair in ((initial_balance["id"], other), (other, initial_balance["id"]), (initial_balance["id"], other, part)):
        assert get_status_and_code(books.link_transfer(*pair)) == (409, "transaction_is_initial_balance")
        assert get_status_and_code(books.link_transfer(*pair, force=True)) == (409, "transaction_is_initial_balance")
    assert books.link_transfer(initial_balance["id"], "00000000-0000-7000-8000-000000000000").status_code == 404
    assert books.get_transaction(initial_balance["id"]) == initial_balance


def test_account_with_only_initial_balance_can_be_deleted(initial_balance, api, bank, acme):
    assert api.delete(f"accounts/{bank}").json() == {"success": True}
    assert api.get(f"transactions/{initial_balance['id']}").status_code == 404
    assert not Categorization.objects.for_company(acme.id).exists()
    assert not DayMovement.objects.for_company(acme.id).exclude(count=0).exists()


def test_account_with_other_transactions_keeps_initial_balance(initial_balance, api, books, bank):
    books.create_transaction(bank)
    assert get_status_and_code(api.delete(f"accounts/{bank}")) == (409, "account_not_empty")
    assert books.get_transaction(initial_balance["id"]) == initial_balance


@pytest.mark.parametrize("by", ["single", "batch"])
def test_initial_balance_can_be_deleted_by_id_and_set_again(by, initial_balance, api, bank):
    if by == "single":
        assert api.delete(f"transactions/{initial_balance['id']}").json() == {"success": True}
    else:
        done = api.post("transactions/batch_delete", {"transactionIds": [initial_balance["id"]]}).json()
        assert done == {"success": True, "deletedCount": 1}
    assert api.get(f"accounts/{bank}/initial_balance").json() == {"transaction": None}
    again = api.put(f"accounts/{bank}/initial_balance", {"date": "2026-03-01", "amountValue": "1.00"})
    assert len(again.json()["transaction"]["categorizations"]) == 1


# ---------------------------------------------------------------------------------------------- pages


def test_transaction_list_shows_initial_balance_with_category_not_open(initial_balance, pages):
    shown = get_page_text(pages.get("transactions"))
    assert "Opening balances" in shown
    assert "Uncategorized" not in shown.split("Opening balances")[-1]


def test_initial_balance_page_offers_neither_split_nor_link(initial_balance, pages):
    body = pages.get(f"transactions/{initial_balance['id']}").content.decode()
    assert "Opening balances" in body
    assert f"{initial_balance['id']}/split" not in body
    assert f"{initial_balance['id']}/link" not in body


@pytest.mark.parametrize("path", ["split", "link"])
def test_initial_balance_pages_redirect_with_a_reason(path, initial_balance, pages, books, savings):
    other = books.create_transaction(savings, "-100.00", "2026-03-01")["id"]
    for send, status in ((pages.get, 302), (pages.post, 303)):
        answer = send(f"transactions/{initial_balance['id']}/{path}", target=other)
        assert answer.status_code == status, answer.content
        assert answer["Location"].endswith(f"transactions/{initial_balance['id']}")
        assert "An opening balance cannot be categorized or linked as a transfer." in get_page_text(
            pages.get(f"transactions/{initial_balance['id']}")
        )
    assert books.get_transaction(initial_balance["id"]) == initial_balance


def test_initial_balance_is_no_transfer_candidate(initial_balance, pages, books, savings):
    other = books.create_transaction(savings, "-100.00", "2026-03-01")["id"]
    assert initial_balance["id"] not in pages.get(f"transactions/{other}/link").content.decode()
    answer = pages.post(f"transactions/{other}/link", target=initial_balance["id"])
    assert answer.status_code == 400
    assert "An opening balance cannot be categorized or linked as a transfer." in get_page_text(answer)


def test_bulk_actions_on_page_skip_initial_balance(initial_balance, pages, books):
    for act in ["categorize", "uncategorize", "delete"]:
        for whole in [False, True]:
            form = {"act": act, "category": f"{books.get_category_id('hosting')}:cogs", "id": initial_balance["id"]}
            answer = pages.post("transactions", **form, **({"whole": "on"} if whole else {}))
            assert answer.status_code == 303, answer.content
            assert books.get_transaction(initial_balance["id"]) == initial_balance, (act, whole)


def test_account_page_deletes_account_with_only_initial_balance(initial_balance, pages, api, bank):
    assert pages.post(f"accounts/{bank}/delete").status_code == 303
    assert api.get(f"accounts/{bank}").status_code == 404
