"""Imports that were kept, and undoing one as a whole."""

import pytest

from ledger.models import Counterparty, DayMovement, Transaction
from notifications.models import Notification

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]


def import_items(api, account, *amounts, **options):
    rows = [
        {"accountId": account, "date": "2026-01-05", "fromTo": "x", "description": str(n), "amountValue": amount}
        for n, amount in enumerate(amounts)
    ]
    for n, row in enumerate(rows):
        if "ids" in options:
            row["externalId"] = f"e{n}"
    options.pop("ids", None)
    answer = api.post("transactions/import", {"transactions": rows} | options)
    assert answer.status_code == 200, answer.content
    return answer.json()


def list_balances(company):
    rows = DayMovement.objects.for_company(company.id).exclude(count=0)
    return {(str(row.account_id), str(row.date)): (row.amount, row.inflow, row.outflow) for row in rows}


def test_imports_are_listed_latest_first(api, bank):
    one, two = import_items(api, bank, "-1.00"), import_items(api, bank, "-2.00", "-3.00")
    rows = api.get("imports").json()
    assert [each["id"] for each in rows] == [two["importId"], one["importId"]]
    assert set(rows[0]) == {
        *("id", "companyId", "createdTime", "createdUserId", "lastUpdatedTime", "lastUpdatedUserId", "source"),
        *("count", "skippedBeforeDataStart", "duplicates", "undoneTime", "filename", "format", "accountIds"),
    }
    assert (rows[0]["count"], rows[0]["undoneTime"]) == (2, None)
    read = api.get(f"imports/{two['importId']}")
    assert read.json() == rows[0]
    assert api.get(f"imports/{two['importId']}", if_none_match=read["ETag"]).status_code == 304
    page = api.get("imports", {"limit": 1})
    assert len(page.json()) == 1
    assert "Link" in page.headers
    assert api.get("imports", {"color": 1}).status_code == 400
    assert {each["importId"] for each in api.get("transactions", {"importId": two["importId"]}).json()} == {
        two["importId"]
    }


def test_import_undo_reverts_the_whole_import(api, books, bank, acme):
    books.create_transaction(bank, "-7.00", "2026-01-05")
    before = list_balances(acme)
    done = import_items(api, bank, "-1.00", "-2.00", ids=True)
    row = api.get("transactions", {"importId": done["importId"]}).json()[0]
    api.put(f"transactions/{row['id']}", {"notes": "mine"})
    undone = api.delete(f"imports/{done['importId']}")
    assert undone.json() == {"success": True, "deletedCount": 2, "changedCount": 1}
    assert list_balances(acme) == before
    assert api.get(f"imports/{done['importId']}").json()["undoneTime"] is not None
    again = api.delete(f"imports/{done['importId']}")
    assert (again.status_code, again.json()["code"]) == (409, "import_already_undone")
    assert import_items(api, bank, "-1.00", "-2.00", ids=True)["count"] == 2


def test_import_after_undo_gives_same_balances(api, bank, acme):
    amounts = ("-1.00", "-2.00", "30.00")
    first = import_items(api, bank, *amounts)
    expected = list_balances(acme)
    api.delete(f"imports/{first['importId']}")
    assert list_balances(acme) == {}
    import_items(api, bank, *amounts, duplicates="skip")
    assert list_balances(acme) == expected


def test_import_undo_unlinks_transfer_partners_of_removed_rows(api, books, bank, savings):
    done = import_items(api, bank, "-100.00")
    (row,) = api.get("transactions").json()
    partner = books.create_transaction(savings, "100.00")["id"]
    books.link_transfer(row["id"], partner)
    assert api.delete(f"imports/{done['importId']}").json()["changedCount"] == 1
    assert books.list_categorizations(partner) == []
    assert DayMovement.objects.get(account_id=savings).inflow == 100


def test_import_undo_removes_categorized_rows_and_postings(api, books, bank):
    rows = [
        {
            "accountId": bank,
            "date": "2026-01-05",
            "amountValue": "-5.00",
            "categoryId": books.get_category_id("hosting"),
            "fromTo": "x",
            "description": "y",
        }
    ]
    done = api.post("transactions/import", {"transactions": rows}).json()
    (row,) = api.get("transactions").json()
    assert len(row["categorizations"]) == 1
    assert api.delete(f"imports/{done['importId']}").json() == {"success": True, "deletedCount": 1, "changedCount": 0}
    assert not Transaction.objects.exists()
    assert not Counterparty.objects.exists()


def test_import_undo_notifies_owners(api, alice, bank, acme):
    done = import_items(api, bank, "-1.00")
    api.delete(f"imports/{done['importId']}")
    assert Notification.objects.for_company(acme.id).filter(type="import.undone", recipient_id=alice.id).count() == 1
