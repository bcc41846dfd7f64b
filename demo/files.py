"""Files of the demo company's transactions."""

from demo.books import DemoBooks
from demo.story import read_template
from ledger.files import actions
from ledger.models import ParseStatus, Transaction


def create_demo_files(*, books: DemoBooks) -> None:
    """Create files for the newest rent invoice, parsed, and the newest hosting invoice, not parsed yet."""
    for start, status in (("Office rent", ParseStatus.MATCHED), ("Hosting", ParseStatus.OPEN)):
        rows = Transaction.objects.for_company(books.company.id).filter(description__startswith=start)
        row = rows.order_by("-date", "-id").first()
        if row is None:
            continue
        name = f"{row.from_to} {row.date:%Y-%m}.pdf".replace(" ", "-").lower()
        content = build_pdf(f"{row.from_to}: {row.description}, {-row.amount_value:.2f} {row.amount_currency}")
        file = actions.create_file(**books.scope, name=name, content=content, transaction_ids=[row.id])
        if status is ParseStatus.MATCHED:
            amount = {"value": float(-row.amount_value), "currency": row.amount_currency}
            parse_data = {"amount": amount, "date": row.date.isoformat(), "type": "invoice"}
            values = {"parse_status": status, "parse_data": parse_data}
            actions.update_file(**books.scope, file_id=file.id, values=values)


def build_pdf(text: str) -> bytes:
    """Build a PDF of one page with one line of text."""
    line = f"BT /F1 12 Tf 60 770 Td ({text}) Tj ET".encode("ascii", "replace")
    return read_template("document.pdf").format(length=len(line), line=line.decode("ascii")).encode("ascii")
