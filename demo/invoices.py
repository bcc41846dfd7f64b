"""Receivables and payables of the demo company: open, overdue, partly paid, paid and written off, and an e-invoice."""

from datetime import timedelta
from xml.sax.saxutils import escape

from demo.books import DemoBooks
from demo.story import read_rows, read_template
from ledger.files.actions import create_file
from ledger.models import Direction, Transaction
from planning.invoice_files.actions import plan_invoice_file
from planning.models import PlannedSource
from planning.planned_transactions.actions import planned_transactions, settlements


def create_demo_invoices(*, books: DemoBooks) -> None:
    """Create the invoices, settle those that a transaction of the story pays, and plan an electronic invoice."""
    payments = Transaction.objects.for_company(books.company.id).filter(external_id__startswith="invoice-")
    payment_ids = dict(payments.values_list("external_id", "id"))
    for number, row in enumerate(read_rows("invoices"), 1):
        payment_id = payment_ids.get(f"invoice-{number}")
        if row["paid"] and payment_id is None:
            continue  # it was paid before the story
        day = books.today + timedelta(days=int(row["due"]))
        label = f"{books.today:%Y}-{number:03}" if row["type"] == "customer" else f"B-{8000 + number}"
        values = {
            "account_id": books.accounts["main"].id,
            "name": f"{row['party']} {label}",
            "start_date": day,
            "amount_value": row["amount"],
            "category_id": books.category_ids[row["category"]] if row["category"] else None,
            "counterparty": {"id": books.counterparty_ids[row["party"]]},
            "invoice_date": books.today + timedelta(days=int(row["invoiced"])),
            "external_data": {"invoice_number": label, "due_date": day},
        }
        planned = planned_transactions.create_planned_transaction(
            **books.scope, source=PlannedSource.MANUAL, values=values
        )
        if payment_id:
            settlements.settle_occurrence(
                **books.scope, planned_id=planned.id, original_date=day, transaction_id=payment_id
            )
        if row["writtenOff"]:
            written_off = books.today + timedelta(days=int(row["writtenOff"]))
            settlements.write_off_occurrence(
                **books.scope, planned_id=planned.id, date=written_off, reason="Insolvent", today=books.today
            )
    plan_e_invoice(books=books)


def plan_e_invoice(*, books: DemoBooks) -> None:
    """Upload an electronic invoice of a vendor and create its payable."""
    issued, due = books.today - timedelta(days=9), books.today + timedelta(days=5)
    content = read_template("e_invoice.xml").format(issued=issued, due=due, buyer=escape(books.company.name))
    file = create_file(**books.scope, name="pw-4711.xml", content=content.encode(), transaction_ids=[])
    plan_invoice_file(
        **books.scope, file_id=file.id, account_id=books.accounts["main"].id, direction=Direction.OUT,
        source=PlannedSource.MANUAL,
    )  # fmt: skip
