"""Customers, vendors, their invoices and payments."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.run_date import TODAY

HEADINGS = "Invoice number,Counterparty,Invoice date,Due date,Amount"


def format_day(days: int) -> str:
    return str(TODAY + timedelta(days=days))


def get_error(answer: Any) -> tuple[int, str | None]:
    if answer.status_code < 400:
        return answer.status_code, None
    body = answer.json()
    return answer.status_code, body["errors"][0]["code"] if body["code"] == "validation_failed" else body["code"]


class Ledger:
    """Invoices and payments of one company over HTTP; days count from today."""

    def __init__(self, api: Any, account: str):
        self.api, self.account = api, account

    def create_counterparty(self, name: str, type_: str = "customer", **values: Any) -> dict[str, str]:
        made = self.api.post("counterparties", {"type": type_, "name": name} | values)
        assert made.status_code == 201, made.content
        return {"id": made.json()["id"], "type": type_}

    def invoice(self, amount: str, *, invoiced: int = -10, days: int = 0, **values: Any) -> dict[str, Any]:
        body = {
            "accountId": self.account, "name": "Invoice", "startDate": format_day(days), "amountValue": amount,
            "invoiceDate": format_day(invoiced), "autoSettle": False,
        }  # fmt: skip
        made = self.api.post("planned_transactions", body | values)
        assert made.status_code == 201, made.content
        return made.json()

    def pay(self, invoice: dict[str, Any], amount: str, days: int, **values: Any) -> str:
        """Book a transaction and settle the invoice with all that both sides have."""
        body = {"accountId": self.account, "date": format_day(days), "amountValue": amount} | values
        made = self.api.post("transactions", body)
        assert made.status_code == 201, made.content
        body = {"date": invoice["startDate"], "transactionId": made.json()["id"]}
        answer = self.api.post(f"planned_transactions/{invoice['id']}/settle", body)
        assert answer.status_code == 200, answer.content
        return made.json()["id"]

    def write_off(self, invoice: dict[str, Any], days: int) -> tuple[int, str | None]:
        body = {"date": format_day(days), "reason": "Lost"}
        return get_error(self.api.post(f"planned_transactions/{invoice['id']}/write_off", body))

    def list(self, kind: str = "receivables", **query: Any) -> list[dict[str, Any]]:
        answer = self.api.get(kind, query)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def age(self, kind: str = "receivables", **body: Any) -> dict[str, Any]:
        answer = self.api.post("data/aging", {"kind": kind} | body)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def get_occurrence(self, invoice: dict[str, Any]) -> dict[str, Any]:
        window = {"startDate": format_day(-1000), "endDate": format_day(1000)}
        (occurrence,) = self.api.get(f"planned_transactions/{invoice['id']}/occurrences", window).json()
        return occurrence


@pytest.fixture
def ledger(api, account) -> Ledger:
    return Ledger(api, str(account.id))


@pytest.fixture
def upload(api) -> Any:
    """Upload lines below the usual headings, or a whole file as bytes."""

    def send(
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

    return send
