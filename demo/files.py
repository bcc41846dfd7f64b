"""Files of the demo company's transactions."""

from typing import Any

from companies.models import AuditContext, Company
from ledger.files import actions
from ledger.models import ParseStatus, Transaction

PDF_TEMPLATE = (
    b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
    b"/Resources<</Font<</F1 5 0 R>>>>>>endobj\n"
    b"4 0 obj<</Length %d>>stream\n%b\nendstream endobj\n"
    b"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n%%%%EOF\n"
)


def create_demo_files(*, company: Company, context: AuditContext) -> None:
    """Create files for the newest rent invoice, parsed, and the newest hosting invoice, not parsed yet."""
    for start, status in (("Office rent", ParseStatus.MATCHED), ("Hosting", ParseStatus.OPEN)):
        rows = Transaction.objects.for_company(company.id).filter(description__startswith=start)
        row = rows.order_by("-date", "-id").first()
        if row is None:
            continue
        name = f"{row.from_to} {row.date:%Y-%m}.pdf".replace(" ", "-").lower()
        content = build_pdf(f"{row.from_to}: {row.description}, {-row.amount_value:.2f} {row.amount_currency}")
        file = actions.create_file(
            company=company, context=context, name=name, content=content, transaction_ids=[row.id]
        )
        if status is ParseStatus.MATCHED:
            values = {"parse_status": status, "parse_data": build_invoice_data(row)}
            actions.update_file(company=company, context=context, file_id=file.id, values=values)


def build_invoice_data(transaction: Transaction) -> dict[str, Any]:
    """Return the data of the invoice that a transaction pays, as `parseData` of a file."""
    return {
        "amount": {"value": float(-transaction.amount_value), "currency": transaction.amount_currency},
        "date": transaction.date.isoformat(),
        "type": "invoice",
    }


def build_pdf(text: str) -> bytes:
    """Build a PDF of one page with one line of text."""
    line = b"BT /F1 12 Tf 60 770 Td (" + text.encode("ascii", "replace") + b") Tj ET"
    return PDF_TEMPLATE % (len(line), line)
