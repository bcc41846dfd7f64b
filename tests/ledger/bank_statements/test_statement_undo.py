"""Undoing one of several files of a bank leaves the ledger that the others alone would have made."""

from itertools import combinations, permutations

import pytest

from ledger.models import ImportDuplicates
from tests.ledger import bank_file_builders
from tests.ledger.bank_file_builders import build_camt, build_entry, build_simple_camt, build_statement
from tests.ledger.statement_upload import list_stored_rows, upload_statement
from tests.rollback import undo_changes

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]

FINAL = ("january", "its half", "february")
WAITING = [
    build_entry("-9.00", "2026-01-14", ref="R9", status="PDNG"),
    build_entry("-8.00", "2026-01-14", status="PDNG"),
]
BOOKED = [build_entry("-40.00", ref="R1"), build_entry("-9.50", "2026-01-16", ref="R9")]
FILES = {
    "report": build_camt(build_statement(*WAITING, kind="052", start="2026-01-14", end="2026-01-14"), kind="052"),
    "report again": build_camt(build_statement(*WAITING, kind="052", start="2026-01-14", end="2026-01-14"), kind="052"),
    "january": build_camt(build_statement(*BOOKED, build_entry("25.50"), opening="100", closing="76")),
    "its half": build_camt(build_statement(*BOOKED, opening="100", closing="50.50", end="2026-01-16")),
    "february": build_camt(
        build_statement(
            build_entry("3.00", "2026-02-11"), start="2026-02-01", end="2026-02-28", opening="76", closing="79"
        )
    ),
    "notes": build_camt(build_statement(BOOKED[0], kind="054"), kind="054"),
}


# What a report announces after its statement is not kept, so it leaves nothing.
PAIRS = [(one, other) for one, other in permutations(FILES, 2) if one not in FINAL or not other.startswith("report")]


def test_undo_keeps_rows_of_other_files(api, upload_statement_file, bank):
    expected = {}
    for name in FILES:
        with undo_changes():
            upload_statement_file(FILES[name], accountId=bank)
            expected[name] = get_ledger_state(api, bank)
    for one, other in PAIRS:
        with undo_changes():
            first = upload_statement_file(FILES[one], accountId=bank)["importId"]
            upload_statement_file(FILES[other], accountId=bank)
            assert api.delete(f"imports/{first}").status_code == 200, one
            assert get_ledger_state(api, bank) == expected[other], (one, other)


def get_ledger_state(api, account):
    body = api.get("transactions", {"accountId": account}).json()
    answers = sorted((row["date"], row["amountValue"], row["pending"]) for row in body)
    row = api.get(f"accounts/{account}").json()
    return answers, row["accountNumber"], bool((row["bankConnection"] or {}).get("balanceMismatchSince"))


def test_undo_in_any_order_leaves_no_rows(api, upload_statement_file, acme, bank):
    for names in combinations(FILES, 3):
        sent = [upload_statement_file(FILES[name], accountId=bank)["importId"] for name in names]
        for position in (1, 0, 2):
            api.delete(f"imports/{sent[position]}")
        assert list_stored_rows(acme) == [], names
        account = api.get(f"accounts/{bank}").json()
        assert (account["accountNumber"], account["bankConnection"]) == (None, None), names
        assert api.get(f"accounts/{bank}/initial_balance").json()["transaction"] is None, names


def test_undo_of_last_file_removes_account_number_unless_edited(api, upload_statement_file, bank):
    one = upload_statement_file(build_simple_camt("-1.00"), accountId=bank)
    two = upload_statement_file(build_simple_camt("-2.00", day="2026-01-16"), accountId=bank)

    def number():
        return api.get(f"accounts/{bank}").json()["accountNumber"]

    api.delete(f"imports/{one['importId']}")
    assert number() == bank_file_builders.IBAN
    api.put(f"accounts/{bank}", {"accountNumber": "DE89 3704 0044 0532 0130 00"})
    api.delete(f"imports/{two['importId']}")
    assert number() == "DE89 3704 0044 0532 0130 00"


def test_undo_counts_reassigned_rows_with_their_current_import(api, upload_statement_file, main_account):
    one, two = (
        upload_statement_file(build_simple_camt("-1.00", "-2.00")),
        upload_statement_file(build_simple_camt("-1.00", "-2.00")),
    )
    assert api.delete(f"imports/{one['importId']}").json()["deletedCount"] == 0
    results = [row for row in api.get("transactions").json() if row["source"] == "bank"]
    assert {row["importId"] for row in results} == {two["importId"]}
    body = api.delete(f"imports/{two['importId']}").json()
    assert body == {"success": True, "deletedCount": 2, "changedCount": 0}


# ---------------------------------------------------------------------------------- tables beside statements

READING = {
    "csv": {
        "headings": 1,
        "columns": {"date": "Date", "amount": "Amount", "from_to": "Name", "description": "Text"},
        "dateOrder": "iso",
        "decimalSign": "point",
    }
}
OWN_LINES = [("2026-01-15", "-40.00"), ("2026-01-15", "-40.00"), ("2026-01-16", "25.50")]
OTHER_LINES = [("2026-01-15", "-40.00"), ("2026-01-16", "25.50"), ("2026-01-17", "3.00")]


def import_statement(api, account, lines):
    body = build_camt(
        build_statement(*(build_entry(amount, day, name="Initech", text="No. 7") for day, amount in lines), iban="")
    )
    return upload_file(api, account, body)


def import_csv(api, account, lines):
    content = "\n".join(["Date,Amount,Name,Text", *(f"{day},{amount},Initech,No. 7" for day, amount in lines)])
    return upload_file(api, account, content.encode())


def upload_file(api, account, content):
    answer = upload_statement(api, content, accountId=account)
    assert answer.status_code == 200, answer.content
    return answer.json()["importId"]


def import_items(api, account, lines):
    items = [
        {"accountId": account, "date": day, "amountValue": amount, "fromTo": "Initech", "description": "No. 7"}
        for day, amount in lines
    ]
    return api.post("transactions/import", {"duplicates": "skip", "transactions": items}).json()["importId"]


IMPORT_WAYS = (import_statement, import_csv, import_items)


def test_undo_of_overlapping_import_keeps_rows_of_the_other(api, acme, books):
    for door in IMPORT_WAYS:
        for other in IMPORT_WAYS:
            with undo_changes():
                for undone, left in ((0, OTHER_LINES), (1, OWN_LINES)):
                    account = books.create_account(importSettings=READING)
                    sent = [door(api, account, OWN_LINES), other(api, account, OTHER_LINES)]
                    body = api.delete(f"imports/{sent[undone]}").json()
                    assert body["deletedCount"] == 1, (door, other)
                    assert sorted(row[:2] for row in list_stored_rows(acme)) == left, (door, other)
                    api.delete(f"imports/{sent[1 - undone]}")
                    assert list_stored_rows(acme) == [], (door, other)


def test_undo_keeps_rows_of_multi_account_item_import(api, acme, books):
    one, two = books.create_account(), books.create_account()
    first = import_items(api, one, OWN_LINES)
    items = [
        {"accountId": account, "date": "2026-01-16", "amountValue": amount, "fromTo": "Initech", "description": "No. 7"}
        for account, amount in ((one, "25.50"), (two, "1.00"))
    ]
    api.post("transactions/import", {"duplicates": "skip", "transactions": items})
    assert api.delete(f"imports/{first}").json()["deletedCount"] == 2
    assert sorted(row[1] for row in list_stored_rows(acme)) == ["1.00", "25.50"]


def test_undo_removes_row_whose_external_id_returned_with_other_data(api, acme, bank):
    def sent(*amounts):
        items = [
            {"accountId": bank, "date": "2026-01-16", "amountValue": amount, "externalId": f"e{position}"}
            for position, amount in enumerate(amounts)
        ]
        return api.post("transactions/import", {"duplicates": "skip", "transactions": items}).json()["importId"]

    wrong = sent("1.00")
    sent("10.00", "2.00")
    assert api.delete(f"imports/{wrong}").json()["deletedCount"] == 1
    assert [row[1] for row in list_stored_rows(acme)] == ["2.00"]


def test_undo_deletes_the_imports_duplicate_records(api, acme, bank):
    import_items(api, bank, OWN_LINES)
    second = import_items(api, bank, OTHER_LINES)
    assert ImportDuplicates.objects.for_company(acme.id).count() == 1
    api.delete(f"imports/{second}")
    assert ImportDuplicates.objects.for_company(acme.id).count() == 0
