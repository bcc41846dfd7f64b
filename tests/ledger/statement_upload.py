"""Upload a bank file to the API and list what was stored."""

from django.core.files.uploadedfile import SimpleUploadedFile

from ledger.models import Transaction


def upload_statement(api, content, name="statement.xml", **fields):
    file = SimpleUploadedFile(name, content, content_type="application/octet-stream")
    return api.client.post(api.path("statements"), {"file": file} | fields, headers=api.headers)


def list_stored_rows(company):
    """(day, amount, who, text) of what was stored, without initial balances."""
    result = (
        Transaction.objects.for_company(company.id).without_initial_balances().order_by("date", "amount_value", "id")
    )
    return [(str(row.date), f"{row.amount_value:.2f}", row.from_to, row.description) for row in result]


def get_status_and_code(answer):
    return answer.status_code, answer.json()["code"]
