"""Fixtures for invoices, their payments, and invoice imports."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.run_date import TODAY

HEADINGS = "Invoice number,Counterparty,Invoice date,Due date,Amount"


def format_day(days: int) -> str:
    return str(TODAY + timedelta(days=days))


def get_error(response: Any) -> tuple[int, str | None]:
    if response.status_code < 400:
        return response.status_code, None
    body = response.json()
    return response.status_code, body["errors"][0]["code"] if body["code"] == "validation_failed" else body["code"]


class Ledger:
    """Creates and settles invoices of one company over HTTP; days count from today."""

    def __init__(self, api: Any, account: str):
        self.api, self.account = api, account

    def create_counterparty(self, name: str, type_: str = "customer", **values: Any) -> dict[str, str]:
        response = self.api.post("counterparties", {"type": type_, "name": name} | values)
        assert response.status_code == 201, response.content
        return {"id": response.json()["id"], "type": type_}

    def create_invoice(self, amount: str, *, invoiced: int = -10, days: int = 0, **values: Any) -> dict[str, Any]:
        body = {
            "accountId": self.account, "name": "Invoice", "startDate": format_day(days), "amountValue": amount,
            "invoiceDate": format_day(invoiced), "autoSettle": False,
        }  # fmt: skip
        response = self.api.post("planned_transactions", body | values)
        assert response.status_code == 201, response.content
        return response.json()

    def pay_invoice(self, invoice: dict[str, Any], amount: str, days: int, **values: Any) -> str:
        """Create a transaction and settle the invoice with it as far as possible; return its id."""
        body = {"accountId": self.account, "date": format_day(days), "amountValue": amount} | values
        response = self.api.post("transactions", body)
        assert response.status_code == 201, response.content
        transaction_id = response.json()["id"]
        body = {"date": invoice["startDate"], "transactionId": transaction_id}
        response = self.api.post(f"planned_transactions/{invoice['id']}/settle", body)
        assert response.status_code == 200, response.content
        return transaction_id

    def write_off(self, invoice: dict[str, Any], days: int) -> tuple[int, str | None]:
        body = {"date": format_day(days), "reason": "Lost"}
        return get_error(self.api.post(f"planned_transactions/{invoice['id']}/write_off", body))

    def list_invoices(self, kind: str = "receivables", **query: Any) -> list[dict[str, Any]]:
        response = self.api.get(kind, query)
        assert response.status_code == 200, response.content
        return response.json()

    def get_aging(self, kind: str = "receivables", **body: Any) -> dict[str, Any]:
        response = self.api.post("data/aging", {"kind": kind} | body)
        assert response.status_code == 200, response.content
        return response.json()

    def get_occurrence(self, invoice: dict[str, Any]) -> dict[str, Any]:
        window = {"startDate": format_day(-1000), "endDate": format_day(1000)}
        (occurrence,) = self.api.get(f"planned_transactions/{invoice['id']}/occurrences", window).json()
        return occurrence


@pytest.fixture
def ledger(api, account) -> Ledger:
    """Invoices and payments of Acme."""
    return Ledger(api, str(account.id))


@pytest.fixture
def upload_invoices(api) -> Any:
    """Upload an invoice table: lines below the default headings, or a whole file as bytes."""

    def upload(
        *lines: str,
        kind: str = "receivables",
        headings: str = HEADINGS,
        content: bytes | None = None,
        name: str = "open.csv",
        **fields: str,
    ) -> Any:
        body = "\n".join([headings, *lines]).encode() if content is None else content
        file = SimpleUploadedFile(name, body, content_type="text/csv")
        return api.client.post(api.path(f"{kind}/import"), {"file": file} | fields, headers=api.headers)

    return upload
