"""Account groups and imports while others change the same things."""

import threading
from collections import Counter

import pytest
from django.db import connection
from django.test import Client

from ledger.models import Account, AccountGroup, DayMovement, ImportBatch, Transaction

pytestmark = pytest.mark.django_db(transaction=True)


def run_concurrently(api, *calls):
    """Runs (method, path, body) calls in threads that start together; their answers, in order."""
    gate, answers = threading.Barrier(len(calls)), [None] * len(calls)

    def run(index, method, path, body):
        client = Client()
        gate.wait()
        answers[index] = getattr(client, method)(
            api.path(path), body, content_type="application/json", headers=api.headers
        )
        connection.close()

    threads = [threading.Thread(target=run, args=(index, *each)) for index, each in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


@pytest.mark.parametrize(
    ("inside", "method", "suffix"),
    [(False, "put", "/change_group"), (False, "put", ""), (True, "put", "/change_group"), (True, "put", "")],
)
def test_account_move_into_group_and_group_deletion_never_both_succeed(api, inside, method, suffix):
    account = api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"]
    for _ in range(12):
        group = api.post("account_groups", {"name": "Banks"}).json()["id"]
        if inside:
            api.put(f"accounts/{account}/change_group", {"accountGroupId": group})
        moved, deleted = run_concurrently(
            api,
            (method, f"accounts/{account}{suffix}", {"accountGroupId": group}),
            ("delete", f"account_groups/{group}", None),
        )
        outcome = (moved.status_code, deleted.status_code)
        assert outcome in ({(200, 409)} if inside else {(200, 409), (400, 200)}), (moved.content, deleted.content)
        in_group = Account.objects.get(id=account).account_group_id is not None
        assert in_group == AccountGroup.objects.exists() == (deleted.status_code == 409)
        if moved.status_code == 400:
            assert moved.json()["errors"][0]["code"] == "unknown_id"
        else:
            assert deleted.json()["code"] == "account_group_not_empty"
        api.put(f"accounts/{account}/change_group", {"accountGroupId": None})
        AccountGroup.objects.all().delete()


def test_account_move_out_of_group_and_group_deletion_end_consistently(api):
    account = api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"]
    for _ in range(12):
        group = api.post("account_groups", {"name": "Banks"}).json()["id"]
        api.put(f"accounts/{account}/change_group", {"accountGroupId": group})
        moved, deleted = run_concurrently(
            api,
            ("put", f"accounts/{account}/change_group", {"accountGroupId": None}),
            ("delete", f"account_groups/{group}", None),
        )
        assert moved.status_code == 200, moved.content
        assert deleted.status_code in (200, 409), deleted.content
        assert AccountGroup.objects.count() == (deleted.status_code == 409)
        AccountGroup.objects.all().delete()


def test_concurrent_imports_of_same_external_ids_store_each_once(api):
    account = api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"]
    rows = [
        {"accountId": account, "date": "2024-05-01", "amountValue": "-1.00", "externalId": f"x{n}"} for n in range(300)
    ]
    answers = run_concurrently(
        api, *[("post", "transactions/import", {"transactions": each}) for each in (rows, rows[::-1], rows[100:200])]
    )
    assert {answer.status_code for answer in answers} == {200}
    assert sum(answer.json()["count"] for answer in answers) == 300
    assert sum(answer.json()["count"] + answer.json()["duplicates"] for answer in answers) == 700
    assert set(Counter(Transaction.objects.values_list("external_id", flat=True)).values()) == {1}
    assert {float(m.amount) for m in DayMovement.objects.exclude(count=0)} == {-300.0}


def test_concurrent_imports_keep_account_movements_exact(api):
    accounts = [api.post("accounts", {"type": "bank", "name": f"a{n}"}).json()["id"] for n in range(4)]

    def rows(start):
        return [
            {
                "accountId": accounts[(start + n) % 4],
                "date": f"2024-05-{1 + (start * 7 + n) % 28:02}",
                "amountValue": "1.00",
            }
            for n in range(200)
        ]

    answers = run_concurrently(api, *[("post", "transactions/import", {"transactions": rows(n)}) for n in range(6)])
    assert [answer.status_code for answer in answers] == [200] * 6
    assert ImportBatch.objects.count() == 6
    body = {"startDate": "2024-05-01", "endDate": "2024-05-31"}
    balances = api.post("data/accountBalanceByAccount", body).json()
    assert [balances[account]["value"] for account in accounts] == [300] * 4
    assert sum(m.amount for m in DayMovement.objects.all()) == 1200


def test_import_concurrent_with_account_deletion_ends_consistently(api):
    for _ in range(8):
        account = api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"]
        row = {"accountId": account, "date": "2024-05-01", "amountValue": "1.00"}
        stored, deleted = run_concurrently(
            api, ("post", "transactions/import", {"transactions": [row] * 50}), ("delete", f"accounts/{account}", None)
        )
        assert (stored.status_code, deleted.status_code) in {(200, 409), (400, 200), (409, 200)}, (
            stored.content,
            deleted.content,
        )
        if deleted.status_code == 200:
            assert not Transaction.objects.exists()
        else:
            assert deleted.json()["code"] == "account_not_empty"
        Transaction.objects.all().delete()


def test_concurrent_first_initial_balances_leave_one(api):
    account = api.post("accounts", {"type": "bank", "name": "Main"}).json()["id"]
    path = f"accounts/{account}/initial_balance"
    answers = run_concurrently(
        api, *[("put", path, {"date": "2024-01-01", "amountValue": f"{n}.00"}) for n in range(4)]
    )
    assert [answer.status_code for answer in answers] == [200] * 4
    assert Transaction.objects.count() == 1
