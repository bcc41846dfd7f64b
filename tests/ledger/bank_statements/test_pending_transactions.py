"""What people made of entries that a bank announced stays with them when they are booked, lapse and come back."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.ledger.bank_file_builders import build_camt, build_entry, build_simple_camt, build_statement

PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF\n"

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]


def build_report(*entries):
    return build_camt(build_statement(*entries, kind="052"), kind="052")


def build_pending_entry(amount="-40.00", ref="R1", **more):
    return build_entry(amount, "2026-01-14", ref=ref, status="PDNG", **more)


def build_booked_entry(amount, ref="R1", **more):
    return build_entry(amount, "2026-01-16", ref=ref, **more)


@pytest.fixture
def pending_transaction(api, upload_statement_file, main_account):
    """The pending transaction of an intraday report."""
    upload_statement_file(build_report(build_pending_entry()))
    (row,) = api.get("transactions").json()
    return row


def attach_file(api, row):
    """A document beside a transaction; its id."""
    file = SimpleUploadedFile("a.pdf", PDF, content_type="application/pdf")
    answer = api.client.post(api.path("files"), {"file": file, "transactionIds": row["id"]}, headers=api.headers)
    assert answer.status_code == 201, answer.content
    return answer.json()["id"]


def list_split_values(row):
    return sorted(sum(part["plSplit"].values()) for part in row["categorizations"].values())


@pytest.mark.parametrize(
    ("amount", "parts", "after"),
    [
        ("-44.00", [-40], [-44]),
        ("-38.50", [-40], [-38.5]),
        ("-44.00", [-30, -10], [-33, -11]),
        ("-20.01", [-30, -10], [-15.01, -5]),
        ("-44.00", [-20], [-22]),
        ("40.00", [-40], [40]),
        ("12.00", [-30, -10], [3, 9]),
    ],
    ids=["more", "less", "in proportion", "no cent is lost", "what was open stays open", "turned round", "both"],
)
def test_booking_with_other_amount_keeps_categories(
    api, upload_statement_file, books, pending_transaction, amount, parts, after
):
    category = books.get_category_id("marketing")
    books.set_categorizations(
        pending_transaction["id"], *({"categoryId": category, "plSplit": {"cac": value}} for value in parts)
    )
    file = attach_file(api, pending_transaction)
    api.put(f"transactions/{pending_transaction['id']}", {"notes": "ask Bob", "excludeFromAutoCategorization": True})
    before = books.get_transaction(pending_transaction["id"])
    answer = upload_statement_file(build_camt(build_statement(build_booked_entry(amount))))
    assert (answer["count"], answer["duplicates"]) == (0, 1)
    (row,) = [each for each in api.get("transactions").json() if each["source"] == "bank"]
    assert (row["id"], row["pending"], row["amountValue"]) == (pending_transaction["id"], False, amount)
    assert list_split_values(row) == sorted(after)
    assert {part["categoryId"] for part in row["categorizations"].values()} == {category}
    assert (row["notes"], row["excludeFromAutoCategorization"]) == ("ask Bob", True)
    assert api.get("files", {"transactionId": row["id"]}).json()[0]["id"] == file
    api.delete(f"imports/{answer['importId']}")
    again = books.get_transaction(pending_transaction["id"])
    assert {**again, "lastUpdatedTime": 0} == {**before, "lastUpdatedTime": 0}, "and undoing gives what was before"


def test_booking_matches_equal_amount_first_for_shared_reference(api, upload_statement_file, main_account):
    upload_statement_file(build_report(build_pending_entry("-3.50"), build_pending_entry("-4.00")))
    before = {row["amountValue"]: row["id"] for row in api.get("transactions").json()}
    upload_statement_file(
        build_camt(
            build_statement(build_booked_entry("-4.10"), build_booked_entry("-3.50"), build_booked_entry("9.00"))
        )
    )
    body = api.get("transactions").json()
    after = {row["id"]: row["amountValue"] for row in body if row["source"] == "bank"}
    assert (after[before["-3.50"]], after[before["-4.00"]]) == ("-3.50", "-4.10")
    assert len(after) == 3


def test_booking_keeps_transfer_leg_only_if_amount_covers_leg(
    api, upload_statement_file, books, pending_transaction, savings
):
    other = books.create_transaction(savings, "40.00", "2026-01-14")["id"]
    assert books.link_transfer(pending_transaction["id"], other).status_code == 200
    more = upload_statement_file(build_camt(build_statement(build_booked_entry("-44.00"))))
    assert list_split_values(books.get_transaction(pending_transaction["id"])) == [-40]
    api.delete(f"imports/{more['importId']}")
    assert list_split_values(books.get_transaction(pending_transaction["id"])) == [-40]
    upload_statement_file(build_camt(build_statement(build_booked_entry("-38.00"))))
    assert (books.list_categorizations(pending_transaction["id"]), books.list_categorizations(other)) == ([], [])


def test_edited_pending_row_without_reference_is_booked_and_keeps_edits(
    api, upload_statement_file, books, main_account
):
    upload_statement_file(build_report(build_pending_entry(ref=None)))
    (row,) = api.get("transactions").json()
    edited = {"fromTo": "Bistro", "description": "Team dinner", "date": "2026-01-10", "amountValue": "-41.00"}
    api.put(f"transactions/{row['id']}", edited)
    upload_statement_file(
        build_camt(build_statement(build_booked_entry("-40.00", ref=None), opening="100", closing="60"))
    )
    (remaining,) = [each for each in api.get("transactions").json() if each["source"] == "bank"]
    assert (remaining["id"], remaining["pending"], remaining["amountValue"]) == (row["id"], False, "-40.00")
    assert (remaining["fromTo"], remaining["description"], remaining["date"]) == ("Bistro", "Team dinner", "2026-01-16")


def test_lapsed_transaction_returns_with_its_files(api, upload_statement_file, books, pending_transaction):
    file = attach_file(api, pending_transaction)
    answer = upload_statement_file(build_simple_camt("1.00"))
    assert api.get(f"transactions/{pending_transaction['id']}").status_code == 404
    api.delete(f"imports/{answer['importId']}")
    assert books.get_transaction(pending_transaction["id"])["pending"] is True
    assert [each["id"] for each in api.get("files", {"transactionId": pending_transaction["id"]}).json()] == [file]


def test_booking_undo_removes_categories_assigned_by_rule(api, upload_statement_file, books, pending_transaction):
    rule = {
        "name": "All",
        "conditions": {"direction": "out"},
        "action": {"categoryId": books.get_category_id("hosting")},
    }
    assert api.post("categorization_rules", rule).status_code == 201
    answer = upload_statement_file(build_camt(build_statement(build_booked_entry("-40.00"))))
    assert len(books.list_categorizations(pending_transaction["id"])) == 1
    api.delete(f"imports/{answer['importId']}")
    again = books.get_transaction(pending_transaction["id"])
    assert (again["pending"], again["categorizations"], again["categorizationsAutoAssigned"]) == (True, {}, False)


def test_booking_undo_keeps_edits_made_after_booking(api, upload_statement_file, books, pending_transaction):
    answer = upload_statement_file(build_camt(build_statement(build_booked_entry("-44.00"))))
    books.set_categorizations(
        pending_transaction["id"], {"categoryId": books.get_category_id("marketing"), "plSplit": {"cac": -44}}
    )
    api.put(f"transactions/{pending_transaction['id']}", {"description": "Team dinner"})
    api.delete(f"imports/{answer['importId']}")
    again = books.get_transaction(pending_transaction["id"])
    assert (again["pending"], again["amountValue"], list_split_values(again)) == (True, "-40.00", [-40])
    assert again["description"] == "Team dinner"


def test_import_undo_counts_user_changes_but_not_bank_changes(api, upload_statement_file, books, pending_transaction):
    answer = upload_statement_file(
        build_camt(build_statement(build_booked_entry("-44.00"), build_booked_entry("-1.00", ref="R2")))
    )
    first = pending_transaction["importId"]
    assert api.delete(f"imports/{answer['importId']}").json()["changedCount"] == 0
    assert api.delete(f"imports/{first}").json() == {"success": True, "deletedCount": 1, "changedCount": 0}
    first = upload_statement_file(build_report(build_pending_entry()))
    (row,) = [each for each in api.get("transactions").json() if each["pending"]]
    api.put(f"transactions/{row['id']}", {"notes": "mine"})
    answer = upload_statement_file(build_camt(build_statement(build_booked_entry("-44.00"))))
    api.delete(f"imports/{answer['importId']}")
    assert api.delete(f"imports/{first['importId']}").json()["changedCount"] == 1
