"""Upload a bank file to the API and list what was stored."""

from django.core.files.uploadedfile import SimpleUploadedFile

from ledger.models import Transaction


def upload_statement(api, content, name="statement.xml", **fields):
    """Upload a bank statement file; return the response."""
    file = SimpleUploadedFile(name, content, content_type="application/octet-stream")
    return api.client.post(api.path("statements"), {"file": file} | fields, headers=api.headers)


def list_stored_rows(company):
    """Return (date, amount, from/to, description) of stored transactions, without initial balances."""
    transactions = (
        Transaction.objects.for_company(company.id).without_initial_balances().order_by("date", "amount_value", "id")
    )
    return [(str(row.date), f"{row.amount_value:.2f}", row.from_to, row.description) for row in transactions]


def get_status_and_code(response):
    return response.status_code, response.json()["code"]
