"""Transfers over HTTP: two movements become the legs of one."""

import threading

import pytest
from django.db import connection

from companies.models import AuditEntry
from ledger.models import Categorization, DayMovement, MonthResult, Posting, Transaction
from ledger.recognition.actions.postings import MissingRateError
from tests.ledger.conftest import list_pl_amounts
from tests.rollback import undo_changes

pytestmark = pytest.mark.usefixtures("check_derived_rows")
UNKNOWN_ID = "00000000-0000-7000-8000-000000000000"


def sum_flows(company):
    rows = DayMovement.objects.for_company(company.id)
    return sum(row.inflow for row in rows), sum(row.outflow for row in rows)


def list_balances(company):
    result = {}
    for row in DayMovement.objects.for_company(company.id):
        result[str(row.account_id)] = result.get(str(row.account_id), 0) + row.amount
    return result


@pytest.fixture
def transfer_ids(books, bank, savings):
    """The ids of both legs of a transfer from the bank to the savings account, not linked."""
    return books.create_transaction(bank, "-100.00")["id"], books.create_transaction(savings, "100.00", "2026-03-17")[
        "id"
    ]


@pytest.mark.django_db
def test_linked_legs_stay_in_balances_and_leave_cash_flows(books, transfer_ids, bank, savings, acme, api):
    source, target = transfer_ids
    before = list_balances(acme)
    assert sum_flows(acme) == (100, 100)
    answer = books.link_transfer(source, target)
    assert (answer.status_code, answer.json()) == (200, {"success": True})
    assert sum_flows(acme) == (0, 0)
    assert list_balances(acme) == before
    ((source_key, source_part),) = books.get_transaction(source)["categorizations"].items()
    ((target_key, target_part),) = books.get_transaction(target)["categorizations"].items()
    assert source_part["transferCounterPosition"] == {"transactionId": target, "categorizationId": target_key}
    assert target_part["transferCounterPosition"] == {"transactionId": source, "categorizationId": source_key}
    assert source_part["internalTransitLink"] is None
    assert (list_pl_amounts(source_part), list_pl_amounts(target_part)) == ({"neutral": -100}, {"neutral": 100})
    assert source_part["categoryId"] == target_part["categoryId"] == books.get_category_id("transfer")
    assert not Posting.objects.exists()
    assert {each["id"] for each in api.get("transactions", {"transfer": "true"}).json()} == {source, target}
    assert AuditEntry.objects.for_company(acme.id).filter(action="transfer.linked").count() == 1


@pytest.mark.django_db
def test_linking_same_pair_again_changes_nothing(books, transfer_ids):
    source, target = transfer_ids
    books.link_transfer(source, target)
    before = books.get_transaction(source)
    assert books.link_transfer(source, target).json() == {"success": True}
    (key,) = before["categorizations"]
    assert books.link_transfer(source, target, key).status_code == 200
    assert books.get_transaction(source) == before


@pytest.mark.django_db
def test_unlinked_neutral_categorization_still_counts_in_cash_flow(books, transfer_ids, acme):
    source, _ = transfer_ids
    books.set_categorizations(source, {"categoryId": books.get_category_id("transfer"), "plSplit": {"neutral": -100}})
    assert sum_flows(acme) == (100, 100)
    assert MonthResult.objects.for_company(acme.id).get(pl_type="neutral").base_amount == -100


@pytest.mark.django_db
def test_named_categorization_of_source_becomes_the_leg(books, bank, savings, acme):
    source = books.create_transaction(bank, "-119.00")["id"]
    target = books.create_transaction(savings, "100.00")["id"]
    hosting = books.get_category_id("hosting")
    answer = books.set_categorizations(
        source,
        {"categoryId": hosting, "plSplit": {"cogs": -100}},
        {"categoryId": hosting, "plSplit": {"cogs": -19}},
    )
    key = next(iter(answer.json()["categorizations"]))
    assert books.link_transfer(source, target, key).status_code == 200
    part = books.get_transaction(source)["categorizations"][key]
    assert list_pl_amounts(part) == {"neutral": -100}
    assert part["transferCounterPosition"]["transactionId"] == target
    assert sum_flows(acme) == (0, 19)
    assert {row.pl_type: row.base_amount for row in MonthResult.objects.for_company(acme.id) if row.count} == {
        "cogs": -19
    }


@pytest.mark.django_db
def test_transit_account_creates_a_transit_link(books, bank):
    transit = books.create_account(name="Card settlement", type="transit")
    source, target = books.create_transaction(transit, "-50.00")["id"], books.create_transaction(bank, "50.00")["id"]
    assert books.link_transfer(source, target).status_code == 200
    (part,) = books.list_categorizations(target)
    assert part["internalTransitLink"]["transactionId"] == source
    assert part["transferCounterPosition"] is None


@pytest.mark.django_db
def test_transfer_legs_must_be_equal_and_opposite(books, bank, savings):
    for source_amount, target_amount, more, status, code in [
        ("-100.00", "99.00", {}, 400, "transfer_amounts_differ"),
        ("-100.00", "99.00", {"force": True}, 200, None),
        ("-100.00", "-100.00", {}, 400, "transfer_same_sign"),
        ("-100.00", "-100.00", {"force": True}, 400, "transfer_same_sign"),
        ("0.00", "100.00", {}, 400, "transfer_same_sign"),
    ]:
        with undo_changes():
            source, target = (
                books.create_transaction(bank, source_amount)["id"],
                books.create_transaction(savings, target_amount)["id"],
            )
            answer = books.link_transfer(source, target, **more)
            assert (answer.status_code, answer.json().get("code")) == (status, code), source_amount
            assert Categorization.objects.count() == (2 if status == 200 else 0), source_amount


@pytest.mark.django_db
def test_cross_currency_legs_may_differ_by_ten_percent(books, bank, set_exchange_rates):
    dollars = books.create_account(name="Dollars", defaultCurrency="USD")
    for amount, status in [("125.00", 200), ("112.50", 200), ("112.49", 400), ("137.50", 200), ("137.51", 400)]:
        with undo_changes():
            source, target = (
                books.create_transaction(bank, "-100.00")["id"],
                books.create_transaction(dollars, amount)["id"],
            )
            answer = books.link_transfer(source, target)
            assert answer.status_code == status, answer.content
            if status == 400:
                assert answer.json()["code"] == "transfer_amounts_differ", amount
                assert not Categorization.objects.exists(), amount
                assert books.link_transfer(source, target, force=True).status_code == 200, amount


@pytest.mark.django_db
def test_transfer_legs_must_be_on_different_accounts(books, bank):
    source, target = books.create_transaction(bank, "-100.00")["id"], books.create_transaction(bank, "100.00")["id"]
    for pair in ((source, target), (source, source)):
        answer = books.link_transfer(*pair)
        assert (answer.status_code, answer.json()["code"]) == (400, "transfer_same_account")
    assert not Categorization.objects.exists()


@pytest.mark.django_db
def test_transfer_leg_can_be_linked_only_once(books, transfer_ids, savings):
    source, target = transfer_ids
    books.link_transfer(source, target)
    other = books.create_transaction(savings, "100.00")["id"]
    refused = books.link_transfer(source, other)
    assert (refused.status_code, refused.json()["code"]) == (409, "already_linked")
    (key,) = books.get_transaction(source)["categorizations"]
    assert books.link_transfer(source, other, key).json()["code"] == "already_linked"
    assert books.link_transfer(other, source, force=True).json()["code"] == "already_linked"
    assert Categorization.objects.count() == 2


@pytest.mark.django_db
def test_fully_categorized_transaction_cannot_be_linked(books, transfer_ids):
    source, target = transfer_ids
    books.set_categorizations(source, {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -100}})
    assert books.link_transfer(source, target).json()["code"] == "transfer_source_closed"
    (key,) = books.get_transaction(source)["categorizations"]
    books.set_categorizations(
        target, {"categoryId": books.get_category_id("revenueOther"), "plSplit": {"revenue": 100}}
    )
    assert books.link_transfer(source, target, key).json()["code"] == "transfer_target_closed"
    assert not Categorization.objects.filter(counter__isnull=False).exists()


@pytest.mark.django_db
def test_unknown_malformed_and_foreign_ids_return_404(books, transfer_ids, globex_api, api):
    source, target = transfer_ids
    part = books.set_categorizations(
        target, {"categoryId": books.get_category_id("revenueOther"), "plSplit": {"revenue": 1}}
    )
    (key,) = part.json()["categorizations"]
    for ids in (
        (UNKNOWN_ID, target),
        (source, UNKNOWN_ID),
        ("x", target),
        ("", target),
        (source, target, UNKNOWN_ID),
        (source, target, key),
    ):
        assert books.link_transfer(*ids).status_code == 404
    account = globex_api.post("accounts", {"name": "G", "type": "bank"}).json()["id"]
    body = {"accountId": account, "date": "2026-03-15", "amountValue": "100.00"}
    theirs = globex_api.post("transactions", body).json()["id"]
    assert books.link_transfer(source, theirs).status_code == 404
    body = {"transactionId": source, "categorizationId": UNKNOWN_ID}
    assert api.post("transactions/unlink_transfer", body).status_code == 404
    assert api.post("transactions/unlink_transfer", body | {"transactionId": ""}).status_code == 404
    assert api.post("transactions/link_transfer", {"sourceTransactionId": 5}).status_code == 400
    assert Categorization.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("leg", [0, 1])
def test_unlinking_either_leg_reopens_both(books, api, transfer_ids, acme, leg):
    books.link_transfer(*transfer_ids)
    (key,) = books.get_transaction(transfer_ids[leg])["categorizations"]
    body = {"transactionId": transfer_ids[leg], "categorizationId": key}
    assert api.post("transactions/unlink_transfer", body).json() == {"success": True}
    assert [books.list_categorizations(each) for each in transfer_ids] == [[], []]
    assert sum_flows(acme) == (100, 100)
    assert api.post("transactions/unlink_transfer", body).status_code == 404
    assert books.link_transfer(*transfer_ids).status_code == 200


@pytest.mark.django_db
def test_unlinked_categorization_cannot_be_unlinked(books, api, transfer_ids):
    (key,) = books.set_categorizations(
        transfer_ids[0], {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -1}}
    ).json()["categorizations"]
    answer = api.post("transactions/unlink_transfer", {"transactionId": transfer_ids[0], "categorizationId": key})
    assert (answer.status_code, answer.json()["code"]) == (409, "not_linked")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    [{"amountValue": "-99.00"}, {"amountValue": "100.00"}, {"amountCurrency": "USD"}, {"accountId": "savings"}],
)
def test_linked_transaction_keeps_account_and_amount(books, api, transfer_ids, savings, change):
    books.link_transfer(*transfer_ids)
    before = books.get_transaction(transfer_ids[0])
    change = {name: savings if value == "savings" else value for name, value in change.items()}
    refused = api.put(f"transactions/{transfer_ids[0]}", change)
    assert (refused.status_code, refused.json()["code"]) == (409, "transaction_linked")
    assert books.get_transaction(transfer_ids[0]) == before
    assert api.put(f"transactions/{transfer_ids[0]}", {"date": "2026-03-20", "notes": "moved"}).status_code == 200


@pytest.mark.django_db
def test_new_split_keeps_transfer_leg(books, api, bank, savings):
    source, target = books.create_transaction(bank, "-119.00")["id"], books.create_transaction(savings, "100.00")["id"]
    hosting = books.get_category_id("hosting")
    answer = books.set_categorizations(source, {"categoryId": hosting, "plSplit": {"cogs": -100}})
    (key,) = answer.json()["categorizations"]
    books.link_transfer(source, target, key)
    whole = books.get_transaction(source)["categorizations"]
    path = f"transactions/{source}/categorizations"
    other = books.get_category_id("taxPayments")
    for parts in ({}, {key: whole[key] | {"plSplit": {"neutral": -50}}}, {key: whole[key] | {"categoryId": other}}):
        refused = api.put(path, {"categorizations": parts})
        assert (refused.status_code, refused.json()["code"]) == (409, "transaction_linked")
    fee = {"categoryId": books.get_category_id("paymentFees"), "plSplit": {"cogs": -19}}
    response = api.put(path, {"categorizations": {key: whole[key] | {"sourceNote": "to savings"}, "fee": fee}})
    assert response.status_code == 200, response.content
    assert response.json()["categorizations"][key] == whole[key] | {"sourceNote": "to savings"}
    body = {"selection": {"mode": "ids", "ids": [source, target]}, "categoryId": hosting}
    assert api.post("transactions/categorize", body).json()["affected"] == 1
    assert list_pl_amounts(books.get_transaction(source)["categorizations"][key]) == {"neutral": -100}


@pytest.mark.django_db
def test_deleting_a_leg_unlinks_its_partner(books, api, transfer_ids, acme):
    books.link_transfer(*transfer_ids)
    assert api.delete(f"transactions/{transfer_ids[0]}").status_code == 200
    assert books.list_categorizations(transfer_ids[1]) == []
    assert sum_flows(acme) == (100, 0)


@pytest.mark.django_db
def test_uncategorizing_one_leg_reopens_the_other(books, api, transfer_ids, acme):
    books.link_transfer(*transfer_ids)
    answer = api.post("transactions/uncategorize", {"selection": {"mode": "ids", "ids": [transfer_ids[0]]}})
    assert answer.json() == {"success": True, "affected": 1, "countersCreated": 1, "countersSkipped": 0}
    assert [books.list_categorizations(each) for each in transfer_ids] == [[], []]
    assert sum_flows(acme) == (100, 100)


@pytest.mark.django_db
@pytest.mark.parametrize("rows_at_once", [20_000, 1])
def test_uncategorizing_both_legs_skips_both(books, api, transfer_ids, monkeypatch, rows_at_once):
    monkeypatch.setattr("ledger.categorization.actions.bulk_categorization.CATEGORIZATION_CHUNK_ROWS", rows_at_once)
    books.link_transfer(*transfer_ids)
    answer = api.post("transactions/uncategorize", {"selection": {"mode": "ids", "ids": list(transfer_ids)}})
    assert answer.json() == {"success": True, "affected": 2, "countersCreated": 0, "countersSkipped": 2}
    assert [books.list_categorizations(each) for each in transfer_ids] == [[], []]


@pytest.mark.django_db
def test_reopening_leg_keeps_other_categorizations_of_partner(books, api, bank, savings, acme):
    source, target = books.create_transaction(bank, "-100.00")["id"], books.create_transaction(savings, "130.00")["id"]
    books.set_categorizations(target, {"categoryId": books.get_category_id("interest"), "plSplit": {"no": 30}})
    books.link_transfer(source, target)
    api.post("transactions/uncategorize", {"selection": {"mode": "ids", "ids": [source]}})
    assert [list_pl_amounts(part) for part in books.list_categorizations(target)] == [{"no": 30}]
    assert MonthResult.objects.for_company(acme.id).get(pl_type="no").base_amount == 30


@pytest.mark.django_db(transaction=True)
def test_concurrent_links_of_one_leg_have_one_winner(books, bank, savings, api):
    source = books.create_transaction(bank, "-100.00")["id"]
    targets = [books.create_transaction(savings, "100.00")["id"] for _ in range(4)]
    barrier, answers = threading.Barrier(len(targets)), []

    def race(target):
        try:
            barrier.wait()
            answers.append(books.link_transfer(source, target))
        finally:
            connection.close()

    threads = [threading.Thread(target=race, args=(target,)) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    assert {answer.json().get("code") for answer in answers} == {None, "already_linked"}
    assert Categorization.objects.count() == 2
    assert Transaction.objects.exclude(transferred_value=0).count() == 2


@pytest.mark.django_db
def test_cross_currency_link_without_rate_is_rejected(books, bank, set_exchange_rates):
    set_exchange_rates()
    dollars = books.create_account(name="Dollars", defaultCurrency="USD")
    source, target = books.create_transaction(bank, "-100.00")["id"], books.create_transaction(dollars, "100.00")["id"]
    answer = books.link_transfer(source, target)
    assert (answer.status_code, answer.json()["code"]) == (409, MissingRateError.code)
    assert not Categorization.objects.exists()
