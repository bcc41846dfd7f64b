"""The history of what files brought: pending first, booked then, assigned by a rule; and what it settles and is linked
with."""

import pytest

from tests.change_tables import list_changes
from tests.ledger.bank_file_builders import build_camt, build_entry, build_statement
from tests.ledger.statement_upload import upload_statement

pytestmark = pytest.mark.django_db
PENDING = build_camt(build_statement(build_entry("-40.00", ref="a", status="PDNG"), kind="054"), kind="054")
FINAL = build_camt(build_statement(build_entry("-40.00", ref="a"), opening="100.00", closing="60.00"))


@pytest.fixture
def rule(api, books):
    action = {"categoryId": books.get_category_id("hosting")}
    body = {"name": "Initech", "conditions": {"text": {"operator": "contains", "value": "initech"}}, "action": action}
    assert api.post("categorization_rules", body).status_code == 201


def test_history_names_file_of_pending_row_and_file_of_booking(api, main_account, pages, books):
    assert upload_statement(api, PENDING, "notes.xml").status_code == 200
    (row,) = api.get("transactions").json()
    books.set_categorizations(row["id"], {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -40}})
    assert upload_statement(api, FINAL, "final.xml").status_code == 200
    assert [(change.label, change.fields) for change in list_changes(pages.get(f"/{row['id']}"))] == [
        ("Transaction booked", {"File name": ("—", "final.xml")}),
        (
            "Transaction categorized",
            {
                "Hosting": ("—", "−€40.00"),
                "Hosting — P&L line": ("—", "Cost of revenue"),
            },
        ),
        ("Pending transaction imported", {"File name": ("—", "notes.xml")}),
    ]


@pytest.mark.usefixtures("rule")
def test_history_names_rule_and_category(api, main_account, pages, books):
    assert upload_statement(api, FINAL, "final.xml").status_code == 200
    (row,) = [each for each in api.get("transactions").json() if each["amountValue"] == "-40.00"]
    categorized, imported = list_changes(pages.get(f"/{row['id']}"))
    assert categorized == (
        "Transaction categorized", "", "System",
        {"Categorized by": ("—", "Rule “Initech”"), "Hosting": ("—", "−€40.00")},
    )  # fmt: skip
    assert (imported.label, imported.fields) == ("Transaction imported", {"File name": ("—", "final.xml")})
    books.set_categorizations(row["id"], {"categoryId": books.get_category_id("hosting"), "plSplit": {"cogs": -30}})
    changes = list_changes(pages.get(f"/{row['id']}"))
    assert [change.label for change in changes] == ["Transaction categorized", "Transaction imported"]
    assert changes[0].fields == {"Hosting": ("−€40.00", "−€30.00")}, "by then a person has said it"


def test_history_names_other_leg_of_transfer(books, bank, savings, pages):
    one, other = books.create_transaction(bank, "-80.00")["id"], books.create_transaction(savings, "80.00")["id"]
    books.link_transfer(one, other)
    legs = {"Main": ("—", "15 Mar 2026, −€80.00"), "Savings": ("—", "15 Mar 2026, €80.00")}
    for key in (one, other):
        (linked, _) = list_changes(pages.get(f"/{key}"))
        assert (linked.label, linked.fields) == ("Transfer linked", legs)


def test_history_shows_settling_and_unsettling(api, books, bank, pages):
    plan = {"accountId": bank, "name": "Rent", "startDate": "2026-03-15", "amountValue": "-80.00", "autoSettle": False}
    rent = api.post("planned_transactions", plan).json()["id"]
    row = books.create_transaction(bank, "-80.00")["id"]
    assert (
        api.post(f"planned_transactions/{rent}/settle", {"date": "2026-03-15", "transactionId": row}).status_code == 200
    )
    (settled, _) = list_changes(pages.get(f"/{row}"))
    text = "15 Mar 2026 amount −€80.00, transaction 15 Mar 2026"
    assert settled[:2] == ("Planned transaction settled", "Rent")
    assert settled.fields == {"Settlements": ("—", text)}
    assert api.post(f"planned_transactions/{rent}/unsettle", {"date": "2026-03-15"}).status_code == 200
    unsettled, settled, _ = list_changes(pages.get(f"/{row}"))
    assert (unsettled.label, unsettled.fields) == ("Planned transaction unsettled", {"Settlements": (text, "—")})
    assert settled.label == "Planned transaction settled"


def test_history_shows_automatic_settlement(api, books, bank, pages):
    plan = {"accountId": bank, "name": "Rent", "startDate": "2026-03-15", "amountValue": "-80.00"}
    assert api.post("planned_transactions", plan).status_code == 201
    row = books.create_transaction(bank, "-80.00")["id"]
    assert books.get_transaction(row)["settlements"]
    settled = list_changes(pages.get(f"/{row}"))[0]
    assert settled.label == "Planned transactions settled (1)"
    text = "date 15 Mar 2026, planned transaction Rent, amount −80.00, transaction 15 Mar 2026"
    assert settled.fields == {"Pairs": ("—", text)}
