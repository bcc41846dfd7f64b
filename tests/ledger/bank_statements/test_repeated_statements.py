"""Entries that come again, in other files and formats, pending and booked: each is there once."""

from itertools import permutations

import pytest

from tests.ledger import bank_file_builders
from tests.ledger.bank_file_builders import (
    build_camt,
    build_detail,
    build_entry,
    build_mt940,
    build_simple_camt,
    build_statement,
)
from tests.ledger.statement_upload import list_stored_rows
from tests.rollback import undo_changes

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]


# ---------------------------------------------------------------------------------- the same again


def test_reimport_of_same_file_adds_no_rows_but_records_import(api, upload_statement_file, acme, main_account):
    upload_statement_file(build_simple_camt("-40.00", "25.50"))
    again = upload_statement_file(build_simple_camt("-40.00", "25.50"))
    assert (again["count"], again["duplicates"], again["statements"][0]["duplicates"]) == (0, 2, 2)
    assert again["importId"]
    assert len(api.get("imports").json()) == 2
    assert len(list_stored_rows(acme)) == 2


def test_payments_sharing_a_reference_are_all_kept(upload_statement_file, acme, main_account):
    shared = [
        build_entry("-3.50", ref="R1"),
        build_entry("-4.00", ref="R1"),
        build_entry("-4.00", ref="R1", text="Other"),
    ]
    assert upload_statement_file(build_camt(build_statement(*shared)))["count"] == 3
    assert upload_statement_file(build_camt(build_statement(*shared)))["count"] == 0
    assert upload_statement_file(build_camt(build_statement(build_entry("-3.50", ref="R2"))))["count"] == 1


def test_overlapping_files_add_only_new_entries(upload_statement_file, acme, main_account):
    one = [build_entry("-1.00", "2026-01-10"), build_entry("-2.00", "2026-01-20")]
    two = [build_entry("-2.00", "2026-01-20"), build_entry("-3.00", "2026-02-10")]
    upload_statement_file(build_camt(build_statement(*one)))
    answer = upload_statement_file(build_camt(build_statement(*two, start="2026-01-15", end="2026-02-15")))
    assert (answer["count"], answer["duplicates"]) == (1, 1)


def test_intraday_report_and_statement_do_not_duplicate_entries(upload_statement_file, acme, main_account):
    booked = build_entry("-40.00", ref="R1")
    upload_statement_file(build_camt(build_statement(booked, kind="052"), kind="052"))
    answer = upload_statement_file(build_camt(build_statement(booked, opening="100", closing="60")))
    assert (answer["format"], answer["count"], answer["duplicates"]) == ("camt.053", 0, 1)


def test_mt940_and_camt_of_same_day_do_not_duplicate_entries(upload_statement_file, acme, main_account):
    movements = [
        ("2601150115D40,00NTRFNONREF//BANK-1", "177?00UEBERWEISUNG?20EREF+X?21SVWZ+Rechnung 17?32Initech"),
        ("2601150115C25,50NTRFNONREF", "166?00GUTSCHRIFT?20Danke?32Globex"),
        ("2601150115C25,50NTRFNONREF", "166?00GUTSCHRIFT?20Danke?32Globex"),
    ]
    upload_statement_file(build_mt940(*movements, closing="C260131EUR111,00"))
    entries = [
        build_entry("-40.00", ref="Z-9", name="Initech", text="Rechnung 17"),
        build_entry("25.50", name="Globex GmbH", text="Danke", ref="Z-10"),
        build_entry("25.50", name="GLOBEX", text=""),
    ]
    answer = upload_statement_file(
        build_camt(build_statement(*entries, build_entry("1.00"), opening="100", closing="112"))
    )
    assert (answer["count"], answer["duplicates"]) == (1, 3)


PAYMENTS = build_detail("-30.00", name="A", text="a") + build_detail("-70.00", name="B", text="b")
OTHERS = build_detail("-70.00", name="C", text="c") + build_detail("-30.00", name="D", text="d")
MATCHING_VARIANTS = {
    "a batch and an entry that share day, amount and reference": [
        build_entry("-100.00", ref="R", details=PAYMENTS),
        build_entry("-100.00", ref="R", name="E"),
    ],
    "two batches that share day, amount and reference": [
        build_entry("-100.00", ref="R", details=PAYMENTS),
        build_entry("-100.00", ref="R", details=OTHERS),
    ],
    "a batch that is as large as a payment of another": [
        build_entry("-30.00", ref="R", details=build_detail("-10.00", name="F") + build_detail("-20.00", name="G")),
        build_entry("-100.00", ref="R", details=PAYMENTS),
    ],
    "a pending batch": [build_entry("-100.00", status="PDNG", details=PAYMENTS), build_entry("-30.00", ref="R")],
    "two pending batches": [
        build_entry("-100.00", ref="R", status="PDNG", details=PAYMENTS),
        build_entry("-100.00", ref="S", status="PDNG", details=OTHERS),
    ],
}


def test_reimport_with_other_split_adds_nothing(upload_statement_file, acme, main_account):
    for kind in ["053", "054"]:
        for splits in [("entry", "details"), ("details", "entry")]:
            for case, entries in MATCHING_VARIANTS.items():
                with undo_changes():
                    content = build_camt(build_statement(*entries, kind=kind), kind=kind)
                    first, second = splits
                    count = upload_statement_file(content, split=first)["count"]
                    again = upload_statement_file(content, split=second)
                    assert (again["count"], again["statements"][0]["count"], len(list_stored_rows(acme))) == (
                        0,
                        0,
                        count,
                    ), (kind, splits, case)
                    assert upload_statement_file(content, split=first)["count"] == 0, (kind, splits, case)


def test_import_matches_manual_rows_by_text(upload_statement_file, books, acme, main_account):
    books.create_transaction(main_account, "-40.00", "2026-01-15", fromTo="Initech GmbH", description="Invoice 1042")
    assert upload_statement_file(build_simple_camt("-40.00"))["duplicates"] == 1


# ---------------------------------------------------------------------------------- pending


def test_booking_replaces_pending_row_and_keeps_categories(api, upload_statement_file, books, acme, main_account):
    upload_statement_file(
        build_camt(
            build_statement(build_entry("-40.00", "2026-01-14", ref="R1", status="PDNG"), kind="052"), kind="052"
        )
    )
    (waiting,) = api.get("transactions").json()
    assert waiting["pending"] is True
    category = books.get_category_id("marketing")
    books.set_categorizations(waiting["id"], {"categoryId": category, "plSplit": {"cac": -40}})
    answer = upload_statement_file(
        build_camt(build_statement(build_entry("-40.00", "2026-01-16", ref="R1"), opening="100", closing="60"))
    )
    assert (answer["count"], answer["duplicates"], answer["statements"][0]["ledgerDifference"]) == (0, 1, "0.00")
    booked = books.get_transaction(waiting["id"])
    assert (booked["pending"], booked["date"], booked["importId"]) == (False, "2026-01-16", answer["importId"])
    assert [part["categoryId"] for part in booked["categorizations"].values()] == [category]


def test_pending_transaction_missing_in_the_final_statement_is_removed(
    api, upload_statement_file, books, acme, main_account
):
    books.create_transaction(main_account, "-7.00", "2026-01-14", pending=True)
    late, early = build_entry("-8.00", "2026-02-02", status="PDNG"), build_entry("-9.00", "2026-01-14", status="INFO")
    upload_statement_file(build_camt(build_statement(late, early, kind="052"), kind="052"))
    upload_statement_file(build_camt(build_statement(build_entry("1.00"), kind="054"), kind="054"))
    assert len(list_stored_rows(acme)) == 4
    upload_statement_file(build_camt(build_statement(build_entry("1.00"), opening="100", closing="101")))
    assert [row[1] for row in list_stored_rows(acme)] == ["-7.00", "1.00", "-8.00"]


def test_late_report_adds_no_booked_or_lapsed_rows(upload_statement_file, acme, main_account):
    upload_statement_file(
        build_camt(build_statement(build_entry("-40.00", "2026-01-16", ref="R1"), opening="100", closing="60"))
    )
    waiting = [
        build_entry("-40.00", "2026-01-14", ref="R1", status="PDNG"),
        build_entry("-9.00", "2026-01-14", status="PDNG"),
    ]
    answer = upload_statement_file(build_camt(build_statement(*waiting, kind="052"), kind="052"))
    assert (answer["count"], answer["duplicates"]) == (0, 2)


def test_pending_entry_days_after_equal_booking_is_new(upload_statement_file, acme, main_account):
    """Two equal coffees within the week: the first one is booked when the second is announced."""
    january, coffee = {"start": "2026-01-06", "end": "2026-01-06"}, {"name": "Bar", "text": "Coffee"}
    upload_statement_file(
        build_camt(build_statement(build_entry("-3.50", "2026-01-06", **coffee), kind="052", **january), kind="052")
    )
    announced = build_entry("-3.50", "2026-01-10", status="PDNG", **coffee)
    answer = upload_statement_file(
        build_camt(build_statement(announced, kind="052", start="2026-01-10", end="2026-01-10"), kind="052")
    )
    assert (answer["count"], answer["duplicates"]) == (1, 0)
    booked = build_entry("-3.50", "2026-01-12", **coffee)
    answer = upload_statement_file(
        build_camt(build_statement(booked, kind="052", start="2026-01-12", end="2026-01-12"), kind="052")
    )
    assert (answer["count"], answer["booked"]) == (0, 1)
    assert [row[0] for row in list_stored_rows(acme)] == ["2026-01-06", "2026-01-12"]


def test_report_without_entries_creates_empty_import(upload_statement_file, main_account):
    answer = upload_statement_file(bank_file_builders.build_mt942())
    assert (answer["format"], answer["count"], answer["statements"][0]["accountId"]) == ("mt942", 0, main_account)


def test_booking_undo_makes_row_pending_again(api, upload_statement_file, books, acme, main_account):
    first = upload_statement_file(
        build_camt(
            build_statement(build_entry("-40.00", "2026-01-14", ref="R1", status="PDNG", text="Soon"), kind="052"),
            kind="052",
        )
    )
    (waiting,) = api.get("transactions").json()
    books.set_categorizations(
        waiting["id"], {"categoryId": books.get_category_id("marketing"), "plSplit": {"cac": -40}}
    )
    answer = upload_statement_file(
        build_camt(build_statement(build_entry("-40.00", "2026-01-16", ref="R1"), opening="100", closing="60"))
    )
    undone = api.delete(f"imports/{answer['importId']}").json()
    assert (undone["success"], undone["deletedCount"]) == (True, 0)
    again = books.get_transaction(waiting["id"])
    assert (again["pending"], again["date"], again["description"]) == (True, "2026-01-14", "Soon")
    assert (again["importId"], len(again["categorizations"])) == (first["importId"], 1)
    api.delete(f"imports/{first['importId']}")
    assert list_stored_rows(acme) == []


def test_import_undo_restores_lapsed_row_with_categories(api, upload_statement_file, books, acme, main_account):
    upload_statement_file(
        build_camt(build_statement(build_entry("-9.00", "2026-01-14", status="PDNG"), kind="052"), kind="052")
    )
    (waiting,) = api.get("transactions").json()
    books.set_categorizations(waiting["id"], {"categoryId": books.get_category_id("marketing"), "plSplit": {"cac": -9}})
    answer = upload_statement_file(build_simple_camt("1.00"))
    assert [row[1] for row in list_stored_rows(acme)] == ["1.00"]
    api.delete(f"imports/{answer['importId']}")
    back = books.get_transaction(waiting["id"])
    assert (back["pending"], back["amountValue"], len(back["categorizations"])) == (True, "-9.00", 1)


def test_import_undo_does_not_restore_rows_of_undone_import(api, upload_statement_file, acme, main_account):
    first = upload_statement_file(
        build_camt(
            build_statement(
                build_entry("-40.00", ref="R1", status="PDNG"), build_entry("-9.00", status="PDNG"), kind="052"
            ),
            kind="052",
        )
    )
    answer = upload_statement_file(
        build_camt(build_statement(build_entry("-40.00", ref="R1"), opening="100", closing="60"))
    )
    api.delete(f"imports/{first['importId']}")
    assert [row[1] for row in list_stored_rows(acme)] == ["-40.00"]
    assert api.delete(f"imports/{answer['importId']}").json()["deletedCount"] == 1
    assert list_stored_rows(acme) == []


ORDERS = list(permutations(range(4)))


def test_files_in_any_order_leave_the_same_ledger(api, upload_statement_file, acme, main_account):
    january = build_simple_camt("-40.00", "25.50")
    lent = [build_entry("-9.00", "2026-02-10", ref="R9"), build_entry("3.00", "2026-02-11")]
    february = build_camt(
        build_statement(*lent, start="2026-02-01", end="2026-02-28", opening="85.50", closing="79.50")
    )
    both = build_camt(
        build_statement(build_entry("-40.00", "2026-01-15", ref="2026-01-15-1"), *lent, kind="054"), kind="054"
    )
    waiting = [
        build_entry("-9.00", "2026-02-09", ref="R9", status="PDNG"),
        build_entry("-8.00", "2026-02-09", status="PDNG"),
    ]
    report = build_camt(build_statement(*waiting, kind="052", start="2026-02-09", end="2026-02-09"), kind="052")
    for order in ORDERS[::5]:
        with undo_changes():
            for position in order:
                upload_statement_file([january, february, both, report][position])
            results = sorted((row[0], row[1]) for row in list_stored_rows(acme))
            wanted = [("01-15", "-40.00"), ("01-15", "25.50"), ("02-10", "-9.00"), ("02-11", "3.00")]
            assert results == [(f"2026-{day}", amount) for day, amount in wanted], order
            assert not any(row["pending"] for row in api.get("transactions").json()), order


def test_undo_of_last_file_restores_previous_ledger(api, upload_statement_file, acme, main_account):
    waiting = [
        build_entry("-9.00", "2026-02-09", ref="R9", status="PDNG"),
        build_entry("-8.00", "2026-02-09", status="PDNG"),
    ]
    lent = [build_entry("-9.00", "2026-02-10", ref="R9"), build_entry("3.00", "2026-02-11")]
    files = [
        build_camt(build_statement(*waiting, kind="052", start="2026-02-09", end="2026-02-09"), kind="052"),
        build_simple_camt("-40.00", "25.50"),
        build_camt(build_statement(*lent, start="2026-02-01", end="2026-02-28", opening="85.50", closing="79.50")),
        build_camt(build_statement(start="2026-03-01", end="2026-03-31", opening="79.50", closing="1.00")),
    ]
    for last in range(4):
        with undo_changes():
            for content in files[:last]:
                upload_statement_file(content)
            before = get_ledger_state(api, acme, main_account)
            answer = upload_statement_file(files[last])
            assert get_ledger_state(api, acme, main_account) != before, last
            api.delete(f"imports/{answer['importId']}")
            assert get_ledger_state(api, acme, main_account) == before, last


def get_ledger_state(api, company, account):
    """The transactions but for the times of their changes, and what the account says of its bank."""
    listed = api.get("transactions", {"limit": "100"}).json()
    for row in listed:
        del row["lastUpdatedTime"], row["lastUpdatedUserId"]
    connection = api.get(f"accounts/{account}").json()["bankConnection"] or {}
    balance = api.get(f"accounts/{account}/initial_balance").json()["transaction"]
    return listed, connection, balance and (balance["date"], balance["amountValue"])
