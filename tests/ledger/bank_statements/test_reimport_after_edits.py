"""Files that come again after somebody has corrected what they brought: each entry is still known."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.models import Transaction
from tests.ledger.bank_file_builders import build_camt, build_entry, build_qif, build_statement
from tests.ledger.statement_upload import list_stored_rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("check_derived_rows")]

EDITS = {
    "fromTo": ["Bistro", "Globex", ""],
    "description": ["Team dinner", "Rent", ""],
    "date": ["2026-01-15", "2026-01-16", "2027-05-01"],
    "amountValue": ["-3.50", "-4.00", "7.00"],
    "notes": ["mine", None],
}
FILE = [
    build_entry("-3.50", "2026-01-15", name="Globex", text="Rent"),
    build_entry("-3.50", "2026-01-15", name="Globex", text="Rent"),
    build_entry("-3.50", "2026-01-16", name="Initech", text=""),
    build_entry("-4.00", "2026-01-16", name="Globex", text="Rent"),
    build_entry("7.00", "2026-01-16", name="Globex", text="Rent", ref="R1"),
]
edits = st.lists(
    st.tuples(st.integers(0, len(FILE) - 1), st.fixed_dictionaries({}, optional={
        name: st.sampled_from(values) for name, values in EDITS.items()
    })), min_size=1, max_size=6,
)  # fmt: skip


@settings(max_examples=12)
@given(made=edits)
def test_reimport_after_edits_adds_nothing(api, upload_statement_file, acme, main_account, made):
    first = upload_statement_file(build_camt(build_statement(*FILE)))
    results = sorted(row["id"] for row in api.get("transactions").json() if row["source"] == "bank")
    for position, values in made:
        assert api.put(f"transactions/{results[position]}", values).status_code == 200
    again = upload_statement_file(build_camt(build_statement(*FILE)))
    assert (again["count"], again["duplicates"]) == (0, len(FILE))
    for each in (again, first):
        api.delete(f"imports/{each['importId']}")
    assert list_stored_rows(acme) == []


def test_reimport_recognizes_row_moved_to_other_account(api, upload_statement_file, main_account, savings):
    content = build_camt(build_statement(build_entry("-3.50")))
    upload_statement_file(content)
    (row,) = api.get("transactions").json()
    api.put(f"transactions/{row['id']}", {"accountId": savings})
    assert upload_statement_file(content)["count"] == 0


def test_reimport_recognizes_row_corrected_to_values_of_other_file(api, upload_statement_file, main_account):
    upload_statement_file(build_qif(["D15.01.2026", "T-3.50", "PCofee bar"]), accountId=main_account)
    (row,) = api.get("transactions").json()
    api.put(f"transactions/{row['id']}", {"fromTo": "Coffee bar", "amountValue": "-3.80"})
    assert (
        upload_statement_file(build_qif(["D15.01.2026", "T-3.80", "PCoffee bar"]), accountId=main_account)["count"] == 0
    )


def test_item_reimport_recognizes_edited_rows(api, bank, acme):
    item = {"accountId": bank, "date": "2026-01-15", "amountValue": "-3.50", "fromTo": "Coffee bar"}
    body = {"duplicates": "skip", "transactions": [item, item, {**item, "fromTo": "Bistro"}]}
    api.post("transactions/import", body)
    for row in api.get("transactions").json():
        api.put(f"transactions/{row['id']}", {"fromTo": "Bistro", "date": "2026-03-01"})
    assert api.post("transactions/import", body).json()["count"] == 0
    moved = {**body, "transactions": [{**item, "fromTo": "Bistro", "date": "2026-03-01"}] * 4}
    assert api.post("transactions/import", moved).json()["count"] == 1
    assert Transaction.objects.for_company(acme.id).count() == 4
