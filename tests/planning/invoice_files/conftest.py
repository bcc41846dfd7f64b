"""Files with electronic invoices, uploaded over HTTP."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.ledger.files.einvoice_documents import build_ubl


@pytest.fixture
def upload_invoice(api):
    """Upload an invoice of Nordwind to Acme, with changes; return the id of its file."""

    def upload(*, build=build_ubl, **changes):
        document = SimpleUploadedFile("invoice.xml", build(**changes), content_type="application/xml")
        response = api.client.post(api.path("files"), {"file": document}, headers=api.headers)
        assert response.status_code == 201, response.content
        return response.json()["id"]

    return upload


@pytest.fixture
def account_id(api):
    body = {"name": "Main", "type": "bank", "accountNumber": "FR76 3000 6000 0112 3456 7890 189"}
    return api.post("accounts", body).json()["id"]
