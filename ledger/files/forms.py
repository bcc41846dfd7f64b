"""The form of a file's data."""

from decimal import Decimal
from typing import Any

from companies.pages.context import CompanyPage
from companies.pages.forms import BoundForm, bind_body, parse_form_amounts
from ledger.files.serializers import FileSerializer, ParseData
from ledger.models import File

TEXT_FIELDS = ("parseStatus", "amount", "currency", "date", "kind", "dueDate", "invoiceNumber", "seller", "buyer")
FORM_FIELD_BY_POINTER = {
    "parseData/amount": "amount",
    "parseData/amount/value": "amount",
    "parseData/amount/currency": "currency",
    "parseData/date": "date",
    "parseData/type": "kind",
    "parseData/dueDate": "dueDate",
    "parseData/invoiceNumber": "invoiceNumber",
    "parseData/seller/name": "seller",
    "parseData/buyer/name": "buyer",
}


def build_file_form_values(row: File) -> dict[str, Any]:
    """Return a stored file's metadata as form values."""
    parse_data = row.parse_data or {}
    amount = parse_data.get("amount") or {}
    return {
        "parseStatus": row.parse_status,
        "amount": str(amount.get("value", "")),
        "currency": amount.get("currency", row.company.base_currency),
        "date": parse_data.get("date") or "",
        "kind": parse_data.get("type") or "",
        "dueDate": parse_data.get("dueDate") or "",
        "invoiceNumber": parse_data.get("invoiceNumber") or "",
        "seller": (parse_data.get("seller") or {}).get("name") or "",
        "buyer": (parse_data.get("buyer") or {}).get("name") or "",
    }


def bind_file_form(page: CompanyPage, row: File) -> BoundForm:
    """Bind the posted form of a file's metadata, as PUT files takes it. Data that has no field stays as it is."""
    values: dict[str, Any] = {name: page.request.POST.get(name, "").strip() for name in TEXT_FIELDS}
    amounts, errors = parse_form_amounts(values, ["amount"], currency=values["currency"])
    money = {"value": Decimal(amounts["amount"]), "currency": values["currency"]} if amounts else None
    data: dict[str, Any] = {
        "amount": money,
        "date": values["date"] or None,
        "type": values["kind"] or None,
        "dueDate": values["dueDate"] or None,
        "invoiceNumber": values["invoiceNumber"] or None,
    }
    stored_data = ParseData(row.parse_data).data if row.parse_data else {}
    if stored_data.get("currency") and money:
        data["currency"] = money["currency"]
    for party in ("seller", "buyer"):
        stored_party = stored_data.get(party) or {}
        data[party] = {**stored_party, "name": values[party] or None} if stored_party or values[party] else None
    data = {**stored_data, **data}
    body = {"parseStatus": values["parseStatus"], "parseData": data if any(data.values()) else None}
    form = bind_body(FileSerializer, body, values=values, fields=FORM_FIELD_BY_POINTER, partial=True)
    form.errors |= errors
    return form
