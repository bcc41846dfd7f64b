"""Imports of open invoices over HTTP: their list, and undoing one as a whole."""

import pytest

from companies.models import AuditEntry
from ledger.models import Counterparty
from planning.models import InvoiceImport, PlannedTransaction
from tests.planning.invoices.conftest import format_day, get_error

pytestmark = pytest.mark.django_db

LINES = ("R-1,Globex,2025-03-01,2025-03-31,10.00", "R-2,Initech,2025-03-01,,20.00")


def list_customers():
    return sorted(Counterparty.objects.filter(type="customer").values_list("name", flat=True))


@pytest.fixture
def import_id(upload_invoices):
    """The id of an import of two invoices of new customers."""
    answer = upload_invoices(*LINES)
    assert answer.status_code == 200, answer.content
    return answer.json()["importId"]


def test_imports_are_listed_latest_first_with_their_counts(api, upload_invoices, import_id):
    second = upload_invoices("B-1,Initech,2025-03-01,,1.00", kind="payables", name="bills.csv").json()["importId"]
    rows = api.get("invoice_imports").json()
    assert [(row["id"], row["kind"], row["filename"], row["count"]) for row in rows] == [
        (second, "payables", "bills.csv", 1), (import_id, "receivables", "open.csv", 2),
    ]  # fmt: skip
    assert (rows[1]["createdCounterparties"], rows[1]["duplicates"], rows[1]["leftOut"]) == (2, 0, 0)
    assert rows[1]["undoneTime"] is None
    read = api.get(f"invoice_imports/{import_id}")
    assert read.json() == rows[1]
    assert api.get(f"invoice_imports/{import_id}", if_none_match=read["ETag"]).status_code == 304
    page = api.get("invoice_imports", {"limit": 1})
    assert ([row["id"] for row in page.json()], "Link" in page.headers) == ([second], True)
    assert api.get("invoice_imports", {"kind": "payables"}).status_code == 400


def test_undo_deletes_the_invoices_and_their_new_customers(api, upload_invoices, ledger):
    ledger.create_counterparty("Globex")
    before = ledger.create_invoice("5.00", name="Before")
    imported = upload_invoices(*LINES).json()["importId"]
    assert list_customers() == ["Globex", "Initech"]
    answer = api.delete(f"invoice_imports/{imported}")
    assert (answer.status_code, answer.json()) == (
        200, {"success": True, "deletedCount": 2, "changedCount": 0, "deletedCounterparties": 1},
    )  # fmt: skip
    assert [str(row.id) for row in PlannedTransaction.objects.all()] == [before["id"]]
    assert list_customers() == ["Globex"]
    assert ledger.get_aging()["total"] == 5
    assert api.get(f"invoice_imports/{imported}").json()["undoneTime"] is not None
    assert upload_invoices(*LINES).json()["count"] == 2, "the numbers are free again"


def test_undo_works_once(api, import_id):
    assert api.delete(f"invoice_imports/{import_id}").status_code == 200
    assert get_error(api.delete(f"invoice_imports/{import_id}")) == (409, "import_already_undone")


def test_undo_counts_changed_invoices_and_leaves_out_deleted_ones(api, import_id):
    first, second = [row["id"] for row in api.get("receivables").json()]
    assert api.put(f"planned_transactions/{first}", {"name": "Mine"}).status_code == 200
    assert api.delete(f"planned_transactions/{second}").status_code == 200
    answer = api.delete(f"invoice_imports/{import_id}").json()
    assert (answer["deletedCount"], answer["changedCount"]) == (1, 1)


def test_undo_leaves_customers_that_are_used_or_edited(api, upload_invoices, import_id, ledger):
    ids = {row["name"]: row["id"] for row in api.get("counterparties").json()}
    ledger.create_invoice("5.00", counterparty={"id": ids["Globex"], "type": "customer"})
    assert api.put(f"counterparties/{ids['Initech']}", {"paymentTerms": 14}).status_code == 200
    assert api.delete(f"invoice_imports/{import_id}").json()["deletedCounterparties"] == 0
    assert list_customers() == ["Globex", "Initech"]


@pytest.mark.parametrize("act", ["settle", "write_off"])
def test_undo_is_refused_while_an_invoice_is_settled_or_written_off(api, import_id, ledger, act):
    first, second = api.get("receivables").json()
    owed = {"id": first["id"], "startDate": first["date"]}
    if act == "settle":
        ledger.pay_invoice(owed, "4.00", -1)
    else:
        assert ledger.write_off(owed, -1) == (200, None)
    answer = api.delete(f"invoice_imports/{import_id}")
    assert get_error(answer) == (409, "invoices_settled")
    assert answer.json()["plannedTransactionIds"] == [first["id"]]
    assert PlannedTransaction.objects.count() == 2
    assert api.post(f"planned_transactions/{first['id']}/unsettle", {"date": first["date"]}).status_code == 200
    assert api.delete(f"invoice_imports/{import_id}").json()["deletedCount"] == 2
    assert second["id"] not in {str(row.id) for row in PlannedTransaction.objects.all()}


def test_dry_run_is_no_import(api, upload_invoices):
    assert upload_invoices(*LINES, dryRun="true").json()["importId"] is None
    assert upload_invoices(f"R-1,Globex,{format_day(-9)},,0.00").status_code in (200, 400)
    assert not InvoiceImport.objects.exists()


def test_undo_is_recorded_in_the_audit_log(api, import_id):
    api.delete(f"invoice_imports/{import_id}")
    entry = AuditEntry.objects.get(action="invoices.importUndone")
    assert (entry.after["deleted"], entry.after["import_id"]) == (2, import_id)


def test_undo_takes_a_constant_number_of_statements(api, upload_invoices, django_assert_max_num_queries):
    counted = []
    for count in (1, 200):
        lines = [f"R{count}-{number},Customer {count}-{number},2025-03-01,,1.00" for number in range(count)]
        imported = upload_invoices(*lines).json()["importId"]
        with django_assert_max_num_queries(60) as seen:
            assert api.delete(f"invoice_imports/{imported}").json()["deletedCounterparties"] == count
        counted.append(len(seen.captured_queries))
    assert counted[1] <= counted[0]
