"""A bank's file sent to the API, and what is in the ledger then."""

from django.core.files.uploadedfile import SimpleUploadedFile

from ledger.models import Transaction


def send(api, content, name="statement.xml", **fields):
    file = SimpleUploadedFile(name, content, content_type="application/octet-stream")
    return api.client.post(api.path("statements"), {"file": file} | fields, headers=api.headers)


def rows(company):
    """(day, amount, who, text) of what was stored, without initial balances."""
    found = Transaction.objects.of(company.id).without_initial().order_by("date", "amount_value", "id")
    return [(str(row.date), f"{row.amount_value:.2f}", row.from_to, row.description) for row in found]


def code(answer):
    return answer.status_code, answer.json()["code"]
