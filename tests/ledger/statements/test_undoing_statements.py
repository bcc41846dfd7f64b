"""Undoing one of several files of a bank leaves the ledger that the others alone would have made."""

from itertools import combinations, permutations

import pytest

from ledger.models import KnownBefore
from tests.ledger import banks
from tests.ledger.banks import camt, entry, simple, statement
from tests.ledger.receiving import rows, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("exact")]

FINAL = ("january", "its half", "february")
WAITING = [entry("-9.00", "2026-01-14", ref="R9", status="PDNG"), entry("-8.00", "2026-01-14", status="PDNG")]
BOOKED = [entry("-40.00", ref="R1"), entry("-9.50", "2026-01-16", ref="R9")]
FILES = {
    "report": camt(statement(*WAITING, kind="052", start="2026-01-14", end="2026-01-14"), kind="052"),
    "report again": camt(statement(*WAITING, kind="052", start="2026-01-14", end="2026-01-14"), kind="052"),
    "january": camt(statement(*BOOKED, entry("25.50"), opening="100", closing="76")),
    "its half": camt(statement(*BOOKED, opening="100", closing="50.50", end="2026-01-16")),
    "february": camt(
        statement(entry("3.00", "2026-02-11"), start="2026-02-01", end="2026-02-28", opening="76", closing="79")
    ),
    "notes": camt(statement(BOOKED[0], kind="054"), kind="054"),
}


# What a report announces after its statement is not kept, so it leaves nothing.
PAIRS = [(one, other) for one, other in permutations(FILES, 2) if one not in FINAL or not other.startswith("report")]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_what_another_file_has_too_stays_when_the_first_is_undone(api, take, books, acme, one, other):
    alone, both = books.account(name="Alone"), books.account(name="Both")
    take(FILES[other], accountId=alone)
    wanted = state_of(api, alone)
    api.put(f"accounts/{alone}", {"accountNumber": None})
    first = take(FILES[one], accountId=both)["importId"]
    take(FILES[other], accountId=both)
    assert api.delete(f"imports/{first}").status_code == 200
    assert state_of(api, both) == wanted


def state_of(api, account):
    found = api.get("transactions", {"accountId": account}).json()
    told = sorted((row["date"], row["amountValue"], row["pending"]) for row in found)
    row = api.get(f"accounts/{account}").json()
    return told, row["accountNumber"], bool((row["bankConnection"] or {}).get("balanceMismatchSince"))


@pytest.mark.parametrize("names", [*combinations(FILES, 3)], ids="-".join)
def test_undone_in_any_order_nothing_is_left(api, take, acme, bank, names):
    sent = [take(FILES[name], accountId=bank)["importId"] for name in names]
    for place in (1, 0, 2):
        api.delete(f"imports/{sent[place]}")
    assert rows(acme) == []
    account = api.get(f"accounts/{bank}").json()
    assert (account["accountNumber"], account["bankConnection"]) == (None, None)
    assert api.get(f"accounts/{bank}/initial_balance").json()["transaction"] is None


def test_a_number_goes_with_the_last_file_that_told_it_and_stays_where_somebody_set_it(api, take, bank):
    one = take(simple("-1.00"), accountId=bank)
    two = take(simple("-2.00", day="2026-01-16"), accountId=bank)

    def number():
        return api.get(f"accounts/{bank}").json()["accountNumber"]

    api.delete(f"imports/{one['importId']}")
    assert number() == banks.IBAN
    api.put(f"accounts/{bank}", {"accountNumber": "DE89 3704 0044 0532 0130 00"})
    api.delete(f"imports/{two['importId']}")
    assert number() == "DE89 3704 0044 0532 0130 00"


def test_rows_that_are_handed_over_are_counted_with_the_file_that_has_them_now(api, take, main):
    one, two = take(simple("-1.00", "-2.00")), take(simple("-1.00", "-2.00"))
    assert api.delete(f"imports/{one['importId']}").json()["deletedCount"] == 0
    found = [row for row in api.get("transactions").json() if row["source"] == "bank"]
    assert {row["importId"] for row in found} == {two["importId"]}
    told = api.delete(f"imports/{two['importId']}").json()
    assert told == {"success": True, "deletedCount": 2, "changedCount": 0}


# ---------------------------------------------------------------------------------- tables beside statements

READING = {
    "csv": {
        "headings": 1,
        "columns": {"date": "Date", "amount": "Amount", "from_to": "Name", "description": "Text"},
        "dateOrder": "iso",
        "decimalSign": "point",
    }
}
OURS = [("2026-01-15", "-40.00"), ("2026-01-15", "-40.00"), ("2026-01-16", "25.50")]
THEIRS = [("2026-01-15", "-40.00"), ("2026-01-16", "25.50"), ("2026-01-17", "3.00")]


def by_statement(api, account, lines):
    body = camt(statement(*(entry(amount, day, name="Initech", text="No. 7") for day, amount in lines), iban=""))
    return sent_file(api, account, body)


def by_table(api, account, lines):
    content = "\n".join(["Date,Amount,Name,Text", *(f"{day},{amount},Initech,No. 7" for day, amount in lines)])
    return sent_file(api, account, content.encode())


def sent_file(api, account, content):
    answer = send(api, content, accountId=account)
    assert answer.status_code == 200, answer.content
    return answer.json()["importId"]


def by_items(api, account, lines):
    items = [
        {"accountId": account, "date": day, "amountValue": amount, "fromTo": "Initech", "description": "No. 7"}
        for day, amount in lines
    ]
    return api.post("transactions/import", {"duplicates": "skip", "transactions": items}).json()["importId"]


DOORS = (by_statement, by_table, by_items)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("other", DOORS)
def test_of_two_imports_that_overlap_each_keeps_its_rows_when_the_other_is_undone(api, acme, books, door, other):
    for undone, left in ((0, THEIRS), (1, OURS)):
        account = books.account(importSettings=READING)
        sent = [door(api, account, OURS), other(api, account, THEIRS)]
        told = api.delete(f"imports/{sent[undone]}").json()
        assert told["deletedCount"] == 1
        assert sorted(row[:2] for row in rows(acme)) == left
        api.delete(f"imports/{sent[1 - undone]}")
        assert rows(acme) == []


def test_items_of_several_accounts_keep_their_rows_in_each(api, acme, books):
    one, two = books.account(), books.account()
    first = by_items(api, one, OURS)
    items = [
        {"accountId": account, "date": "2026-01-16", "amountValue": amount, "fromTo": "Initech", "description": "No. 7"}
        for account, amount in ((one, "25.50"), (two, "1.00"))
    ]
    api.post("transactions/import", {"duplicates": "skip", "transactions": items})
    assert api.delete(f"imports/{first}").json()["deletedCount"] == 2
    assert sorted(row[1] for row in rows(acme)) == ["1.00", "25.50"]


def test_an_external_id_that_comes_again_with_something_else_keeps_nothing(api, acme, bank):
    def sent(*amounts):
        items = [
            {"accountId": bank, "date": "2026-01-16", "amountValue": amount, "externalId": f"e{place}"}
            for place, amount in enumerate(amounts)
        ]
        return api.post("transactions/import", {"duplicates": "skip", "transactions": items}).json()["importId"]

    wrong = sent("1.00")
    sent("10.00", "2.00")
    assert api.delete(f"imports/{wrong}").json()["deletedCount"] == 1
    assert [row[1] for row in rows(acme)] == ["2.00"]


def test_what_an_undone_import_knew_is_kept_no_longer(api, acme, bank):
    by_items(api, bank, OURS)
    second = by_items(api, bank, THEIRS)
    assert KnownBefore.objects.of(acme.id).count() == 1
    api.delete(f"imports/{second}")
    assert KnownBefore.objects.of(acme.id).count() == 0
