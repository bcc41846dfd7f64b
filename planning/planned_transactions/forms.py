"""The form of a planned transaction: posted fields become the body that the API's serializer validates."""

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from companies.errors import ValidationFailed
from companies.models import parse_id
from companies.pages.context import CompanyPage
from companies.pages.forms import BoundForm, bind_body, parse_form_amounts
from companies.permissions import Permission
from ledger.calc.recognition import DateRule
from ledger.categorization.actions import counterparties
from ledger.categorization.pages.split_rows import parse_percentage
from ledger.categorization.serializers.categories import CounterpartySerializer
from ledger.models import Account, Counterparty, CounterpartyType
from ledger.money.calc.money import compute_included_tax, format_amount, parse_amount
from ledger.transactions.pages.counterparty_lookup import get_counterparty_by_name
from planning.models import PlannedTransaction
from planning.planned_transactions.fields import PLANNED_TEXTS
from planning.planned_transactions.serializers import PlannedTransactionSerializer

ROW_FIELDS = ("accountId", "transferAccountId", "categoryId")
TEXT_FIELDS = ("name", "direction", "amountValue", "amountCurrency", *ROW_FIELDS, "startDate")
RECURRENCE_FIELDS = ("frequency", "interval", "endType", "endDate", "endCount")
DATE_FIELDS = ("invoiceDate", "serviceStartDate", "serviceEndDate")
PLANNED_TEXT_NAMES = tuple(text.name for text in PLANNED_TEXTS)
DATE_RULE_FIELDS = {"type": "dateRule", "startDate": "ruleStart", "endDate": "ruleEnd", "invoiceDate": "ruleInvoice"}
INVOICE_FIELDS = (
    "invoiceNumber", "invoiceUrl", "collectionMethod", "attempted", "attemptCount", "nextPaymentAttemptDate", "dueDate",
)  # fmt: skip
ADVANCED_FIELDS = (
    "passThroughTaxAmount",
    "counterparty",
    *DATE_RULE_FIELDS.values(),
    *DATE_FIELDS,
    *PLANNED_TEXT_NAMES,
    *INVOICE_FIELDS,
    "paymentTerms",
)  # initially collapsed
MAIN_INVOICE_FIELDS = ("counterparty", "invoiceNumber", "invoiceDate", "dueDate")  # not collapsed for a new invoice
SCHEDULE_FIELDS = (
    *("amountCurrency", "transferAccountId", *RECURRENCE_FIELDS),
    *("lastDayOfMonth", "weekendShift", "settledBy", "autoSettle"),
)  # initially collapsed for a new invoice
PREFILLED_FIELDS = ("name", "direction", "amountValue", "categoryId", "startDate", "settledBy")  # by the address
DEFAULT_VALUES = {
    "weekendShift": "none",
    "direction": "out",
    "interval": "1",
    "endType": "never",
    "autoSettle": True,
    "settledBy": "transaction",
}
FIELD_BY_POINTER = {
    "recurrence/frequency": "frequency",
    "recurrence/interval": "interval",
    "recurrence/lastDayOfMonth": "lastDayOfMonth",
    "recurrence/end/type": "endType",
    "recurrence/end/date": "endDate",
    "recurrence/end/count": "endCount",
    **{f"usingDateRule/{name}": at for name, at in DATE_RULE_FIELDS.items()},
    "usingDateRule": "dateRule",
    "counterparty/id": "counterparty",
    **{f"externalData/{name}": name for name in INVOICE_FIELDS},
}


def build_blank_planned_form(**values: Any) -> BoundForm:
    """Build the form of a new planned transaction."""
    return BoundForm(
        values=dict.fromkeys((*TEXT_FIELDS, *RECURRENCE_FIELDS, *ADVANCED_FIELDS), "") | DEFAULT_VALUES | values
    )


def build_planned_form(planned: PlannedTransaction) -> BoundForm:
    """Build the form of a planned transaction with its current values."""
    body = PlannedTransactionSerializer(planned).data
    recurrence = body["recurrence"] or {}
    end = recurrence.get("end") or {}
    rule, invoice = body["usingDateRule"], body["externalData"] or {}
    return BoundForm(
        values={
            **{name: body[name] or "" for name in (*DATE_FIELDS, *PLANNED_TEXT_NAMES)},
            **{at: rule[name] or "" for name, at in DATE_RULE_FIELDS.items()},
            **{name: format_invoice_value(invoice.get(name)) for name in INVOICE_FIELDS},
            "passThroughTaxAmount": (body["passThroughTaxAmount"] or "").removeprefix("-"),
            "counterparty": planned.counterparty.name if planned.counterparty else "",
            **{name: body[name] or "" for name in TEXT_FIELDS if name in body},
            **split_signed_amount(body["amountValue"]),
            "autoSettle": body["autoSettle"],
            "settledBy": body["settledBy"],
            "weekendShift": body["weekendShift"],
            "paymentTerms": "" if body["paymentTerms"] is None else body["paymentTerms"],
            "frequency": recurrence.get("frequency", ""),
            "interval": recurrence.get("interval", 1),
            "lastDayOfMonth": recurrence.get("lastDayOfMonth", False),
            "endType": end.get("type", "never"),
            "endDate": end.get("date") or "",
            "endCount": end.get("count") or "",
        }
    )


def format_invoice_value(value: Any) -> str:
    """Format a value of the invoice data for its form field."""
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def parse_planned_form(page: CompanyPage, *, planned: PlannedTransaction | None, hidden: set[str]) -> BoundForm:
    """Parse the posted form, validated by the API's serializer. Hidden fields keep their values."""
    posted = page.request.POST
    values: dict[str, Any] = {name: posted.get(name, "").strip() for name in (*TEXT_FIELDS, *RECURRENCE_FIELDS)}
    values |= {name: posted[name].strip() for name in ADVANCED_FIELDS if name in posted}
    values |= {name: name in posted for name in ("lastDayOfMonth", "autoSettle")}
    stored = PlannedTransactionSerializer(planned).data if planned else {"accountId": None}
    for name in ("settledBy", "weekendShift"):
        values[name] = posted.get(name) or stored.get(name, DEFAULT_VALUES[name])
    sent = {name: values[name] or None for name in ROW_FIELDS if name not in hidden}
    if values["amountCurrency"]:
        sent["amountCurrency"] = values["amountCurrency"]
    currency = get_form_currency(page, values)
    amounts, other_errors = parse_form_amounts(values, ["amountValue"], currency=currency)
    tax, wrong_tax = parse_tax_field(values, amounts.get("amountValue"), currency)
    other_errors |= wrong_tax
    body = {
        **stored,
        **sent,
        "name": values["name"],
        "startDate": values["startDate"],
        "amountValue": apply_direction(values["direction"], amounts.get("amountValue", values["amountValue"])),
        "recurrence": build_recurrence_body(values),
        "autoSettle": values["autoSettle"],
        "settledBy": values["settledBy"],
        "weekendShift": values["weekendShift"],
        **build_advanced_values(values, stored),
    }
    if tax:
        body["passThroughTaxAmount"] = apply_direction(values["direction"], tax)
    counterparty_values: dict[str, Any] = {}
    if "counterparty" in values and "counterparty" not in hidden:
        counterparty_values, counterparty_errors = resolve_counterparty(page, values["counterparty"], planned)
        if counterparty_errors and can_add_counterparty(page, values["counterparty"]):
            values["newCounterparty"] = values["counterparty"]  # the form offers to add it
            if posted.get("addCounterparty") == values["counterparty"]:
                counterparty_errors = {}
        other_errors |= counterparty_errors
    form = bind_body(PlannedTransactionSerializer, body | counterparty_values, values=values, fields=FIELD_BY_POINTER)
    form.errors |= other_errors | find_direction_errors(values["direction"], amounts.get("amountValue", ""))
    return form


def parse_tax_field(values: Mapping[str, Any], amount: str | None, currency: str) -> tuple[str | None, dict[str, str]]:
    """Return (tax amount without sign, errors); "19 %" is computed from the amount, as in the split form."""
    text = values.get("passThroughTaxAmount", "")
    try:
        percent = parse_percentage(text, pointer="#/passThroughTaxAmount")
    except ValidationFailed as error:
        return None, {"passThroughTaxAmount": error.errors[0][2]}
    if percent is None:
        amounts, amount_errors = parse_form_amounts(values, ["passThroughTaxAmount"], currency=currency)
        return amounts.get("passThroughTaxAmount"), {
            name: _("{error} Or enter a percentage such as 19%.").format(error=error)
            for name, error in amount_errors.items()
        }
    try:
        return format_amount(compute_included_tax(parse_amount(amount or ""), percent, currency), currency), {}
    except ValueError:  # the amount or currency has an error at its own field
        return None, {}


def get_form_currency(page: CompanyPage, values: Mapping[str, Any]) -> str:
    """Return the currency of the form, else of the account, else of the company."""
    if values["amountCurrency"]:
        return str(values["amountCurrency"])
    accounts = Account.objects.for_company(page.company.id).filter(id=parse_id(values["accountId"]) or page.company.id)
    return accounts.values_list("default_currency", flat=True).first() or page.company.base_currency


def resolve_new_counterparty(page: CompanyPage, form: BoundForm) -> dict[str, Any]:
    """Return the form's values; first create the counterparty if the user chose to add one."""
    name = form.values.get("newCounterparty")
    if not name:
        return form.data
    values = build_counterparty_values(name, form.values["direction"])
    counterparty = counterparties.create_counterparty(company=page.company, context=page.audit_context, values=values)
    return {**form.data, "counterparty": {"id": counterparty.id}}


def build_advanced_values(values: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the posted advanced fields."""
    values_to_send: dict[str, Any] = {
        name: values[name] or None for name in (*DATE_FIELDS, *PLANNED_TEXT_NAMES) if name in values
    }
    if "paymentTerms" in values:
        terms = values["paymentTerms"]
        values_to_send["paymentTerms"] = parse_integer_or_text(terms) if terms else None
    if "passThroughTaxAmount" in values:
        values_to_send["passThroughTaxAmount"] = None
    if "dateRule" in values:
        values_to_send["usingDateRule"] = {name: values.get(at) or None for name, at in DATE_RULE_FIELDS.items()}
        values_to_send["usingDateRule"]["type"] = values["dateRule"] or DateRule.TRANSACTION_DATE.value
    if any(name in values for name in INVOICE_FIELDS):
        invoice_values = {name: values.get(name) or None for name in INVOICE_FIELDS}
        attempted = invoice_values["attempted"]
        invoice_values["attempted"] = {"true": True, "false": False}.get(attempted, attempted)  # type: ignore[arg-type]
        invoice_values["attemptCount"] = (
            parse_integer_or_text(invoice_values["attemptCount"]) if invoice_values["attemptCount"] else None
        )
        values_to_send["externalData"] = (
            invoice_values if any(fact is not None for fact in invoice_values.values()) else None
        )
    return values_to_send


def resolve_counterparty(
    page: CompanyPage, name: str, planned: PlannedTransaction | None
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return (counterparty for the body, errors) for a name; the current counterparty is kept by its name."""
    current_counterparty = planned.counterparty if planned else None
    if not name:
        return {"counterparty": None}, {}
    if current_counterparty and name == current_counterparty.name:
        return {}, {}
    try:
        return {"counterparty": {"id": str(get_counterparty_by_name(page, name).id)}}, {}
    except ValidationFailed as error:
        return {}, {"counterparty": error.errors[0][2]}


def can_add_counterparty(page: CompanyPage, name: str) -> bool:
    """Return whether the form offers to add a counterparty: none has the name, and the user may create one."""
    if (
        not page.has_permission(Permission.COUNTERPARTIES_WRITE)
        or not CounterpartySerializer(data=build_counterparty_values(name)).is_valid()
    ):
        return False
    return not Counterparty.objects.for_company(page.company.id).filter(name__iexact=name).exists()


def build_counterparty_values(name: str, direction: str = "out") -> dict[str, str]:
    return {"name": name, "type": CounterpartyType.CUSTOMER if direction == "in" else CounterpartyType.VENDOR}


def build_recurrence_body(values: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the recurrence for the body; None for a single occurrence."""
    if not values["frequency"]:
        return None
    end = {"type": values["endType"] or "never"}
    if end["type"] == "date":
        end["date"] = values["endDate"] or None
    if end["type"] == "count":
        end["count"] = parse_integer_or_text(values["endCount"]) if values["endCount"] else None
    return {
        "frequency": values["frequency"],
        "interval": parse_integer_or_text(values["interval"] or "1"),
        "lastDayOfMonth": values["lastDayOfMonth"],
        "end": end,
    }


def parse_integer_or_text(text: str) -> Any:
    """Parse an integer; return the text if it is none, for the serializer to reject."""
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else text


def apply_direction(direction: str, amount: str) -> str:
    """Return the amount with the sign of its direction."""
    return f"-{amount}" if direction == "out" else amount


def find_direction_errors(direction: str, amount: str) -> dict[str, str]:
    """Return the errors of direction and amount that the serializer would not report."""
    errors = {} if direction in ("in", "out") else {"direction": _("Choose money in or money out.")}
    if amount.startswith("-"):
        errors["amountValue"] = _("Enter the amount without a minus sign.")
    return errors


def split_signed_amount(amount: str) -> dict[str, str]:
    """Return the two form fields of a signed amount."""
    return {"direction": "out" if amount.startswith("-") else "in", "amountValue": amount.removeprefix("-")}
