"""The form of a planned transaction: what was typed as the body that the API takes, its mistakes at their fields."""

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from companies.errors import FieldErrors
from companies.models import id_from
from companies.pages.typed import Typed, of_body, read_amounts
from companies.pages.visits import Visit
from companies.permissions import Permission
from ledger.calc.money import format_amount, parse_amount, tax_within
from ledger.calc.recognition import DateRule
from ledger.models import Account, Counterparty, CounterpartyType
from ledger.purposes import counterparties
from ledger.purposes.pages.sharing import percent_of
from ledger.purposes.serializers import CounterpartyShape
from ledger.transactions.pages.counterparties import counterparty_called
from planning.models import PlannedTransaction
from planning.serializers import PlannedTransactionShape

TEXTS = ("name", "direction", "amountValue", "amountCurrency", "accountId", "categoryId", "startDate")
TEXTS_OF_RECURRENCE = ("frequency", "interval", "endType", "endDate", "endCount")
DATES = ("invoiceDate", "serviceStartDate", "serviceEndDate")
IDS = ("externalId", "externalSubscriptionId", "externalInvoiceId")
DATE_RULE = {"type": "dateRule", "startDate": "ruleStart", "endDate": "ruleEnd", "invoiceDate": "ruleInvoice"}
INVOICE = (
    "invoiceNumber", "invoiceUrl", "collectionMethod", "attempted", "attemptCount", "nextPaymentAttemptDate", "dueDate",
)  # fmt: skip
MORE = ("passThroughTaxAmount", "counterparty", *DATE_RULE.values(), *DATES, *IDS, *INVOICE)  # these stand folded up
BLANK = {"direction": "out", "interval": "1", "endType": "never", "autoSettle": True, "settledBy": "transaction"}
FIELD_AT = {
    "recurrence/frequency": "frequency",
    "recurrence/interval": "interval",
    "recurrence/lastDayOfMonth": "lastDayOfMonth",
    "recurrence/end/type": "endType",
    "recurrence/end/date": "endDate",
    "recurrence/end/count": "endCount",
    **{f"usingDateRule/{name}": at for name, at in DATE_RULE.items()},
    "usingDateRule": "dateRule",
    "counterparty/id": "counterparty",
    **{f"externalData/{name}": name for name in INVOICE},
}


def blank(**values: Any) -> Typed:
    """The form of something new."""
    return Typed(values=dict.fromkeys((*TEXTS, *TEXTS_OF_RECURRENCE, *MORE), "") | BLANK | values)


def of_row(planned: PlannedTransaction) -> Typed:
    """The form of something that is planned, as it is."""
    body = PlannedTransactionShape(planned).data
    recurrence = body["recurrence"] or {}
    end = recurrence.get("end") or {}
    rule, invoice = body["usingDateRule"], body["externalData"] or {}
    return Typed(
        values={
            **{name: body[name] or "" for name in (*DATES, *IDS)},
            **{at: rule[name] or "" for name, at in DATE_RULE.items()},
            **{name: said(invoice.get(name)) for name in INVOICE},
            "passThroughTaxAmount": (body["passThroughTaxAmount"] or "").removeprefix("-"),
            "counterparty": planned.counterparty.name if planned.counterparty else "",
            **{name: body[name] or "" for name in TEXTS if name in body},
            **direction_of(body["amountValue"]),
            "autoSettle": body["autoSettle"],
            "settledBy": body["settledBy"],
            "frequency": recurrence.get("frequency", ""),
            "interval": recurrence.get("interval", 1),
            "lastDayOfMonth": recurrence.get("lastDayOfMonth", False),
            "endType": end.get("type", "never"),
            "endDate": end.get("date") or "",
            "endCount": end.get("count") or "",
        }
    )


def said(value: Any) -> str:
    """A fact of an invoice as a field shows it."""
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def read(visit: Visit, *, planned: PlannedTransaction | None, hidden: set[str]) -> Typed:
    """What was typed, checked by the API's shape. Fields that the form does not show keep their value."""
    posted = visit.request.POST
    values: dict[str, Any] = {name: posted.get(name, "").strip() for name in (*TEXTS, *TEXTS_OF_RECURRENCE)}
    values |= {name: posted[name].strip() for name in MORE if name in posted}
    values |= {name: name in posted for name in ("lastDayOfMonth", "autoSettle")}
    stored = PlannedTransactionShape(planned).data if planned else {"accountId": None}
    values["settledBy"] = posted.get("settledBy") or stored.get("settledBy", BLANK["settledBy"])
    sent = {name: values[name] or None for name in ("accountId", "categoryId") if name not in hidden}
    if values["amountCurrency"]:
        sent["amountCurrency"] = values["amountCurrency"]
    currency = currency_of(visit, values)
    read_in, wrong = read_amounts(values, ["amountValue"], currency=currency)
    tax, wrong_tax = tax_of(values, read_in.get("amountValue"), currency)
    wrong |= wrong_tax
    body = {
        **stored,
        **sent,
        "name": values["name"],
        "startDate": values["startDate"],
        "amountValue": signed(values["direction"], read_in.get("amountValue", values["amountValue"])),
        "recurrence": recurrence_of(values),
        "autoSettle": values["autoSettle"],
        "settledBy": values["settledBy"],
        **more_of(values, stored),
    }
    if tax:
        body["passThroughTaxAmount"] = signed(values["direction"], tax)
    named: dict[str, Any] = {}
    if "counterparty" in values and "counterparty" not in hidden:
        named, unknown = counterparty_of(visit, values["counterparty"], planned)
        if unknown and addable(visit, values["counterparty"]):
            values["newCounterparty"] = values["counterparty"]  # the form offers to add it
            if posted.get("addCounterparty") == values["counterparty"]:
                unknown = {}
        wrong |= unknown
    form = of_body(PlannedTransactionShape, body | named, values=values, fields=FIELD_AT)
    form.errors |= wrong | mistakes(values["direction"], read_in.get("amountValue", ""))
    return form


def tax_of(values: Mapping[str, Any], amount: str | None, currency: str) -> tuple[str | None, dict[str, str]]:
    """(the tax as an amount without a sign, what is wrong with it); “19 %” is taken out of the amount, as the split
    form takes it out of a share."""
    text = values.get("passThroughTaxAmount", "")
    try:
        percent = percent_of(text, of="#/passThroughTaxAmount")
    except FieldErrors as error:
        return None, {"passThroughTaxAmount": error.errors[0][2]}
    if percent is None:
        read, wrong = read_amounts(values, ["passThroughTaxAmount"], currency=currency)
        return read.get("passThroughTaxAmount"), {
            name: _("{told} Or a percentage: 19 %.").format(told=told) for name, told in wrong.items()
        }
    try:
        return format_amount(tax_within(parse_amount(amount or ""), percent, currency), currency), {}
    except ValueError:  # the amount, or its currency, is told at its own field
        return None, {}


def currency_of(visit: Visit, values: Mapping[str, Any]) -> str:
    """That of the form, else the account's, else the company's."""
    if values["amountCurrency"]:
        return str(values["amountCurrency"])
    found = Account.objects.of(visit.company.id).filter(id=id_from(values["accountId"]) or visit.company.id)
    return found.values_list("default_currency", flat=True).first() or visit.company.base_currency


def with_new_counterparty(visit: Visit, form: Typed) -> dict[str, Any]:
    """What is planned, with somebody whose name the form was told to add; within the act's transaction."""
    name = form.values.get("newCounterparty")
    if not name:
        return form.data
    values = new_one(name, form.values["direction"])
    added = counterparties.add(company=visit.company, stamp=visit.stamp, values=values)
    return {**form.data, "counterparty": {"id": added.id}}


def more_of(values: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """What was typed into the fields that stand folded up, of those that were sent."""
    found: dict[str, Any] = {name: values[name] or None for name in (*DATES, *IDS) if name in values}
    if "passThroughTaxAmount" in values:
        found["passThroughTaxAmount"] = None
    if "dateRule" in values:
        found["usingDateRule"] = {name: values.get(at) or None for name, at in DATE_RULE.items()}
        found["usingDateRule"]["type"] = values["dateRule"] or DateRule.TRANSACTION_DATE.value
    if any(name in values for name in INVOICE):
        facts = {name: values.get(name) or None for name in INVOICE}
        facts["attempted"] = {"true": True, "false": False}.get(facts["attempted"])  # type: ignore[arg-type]
        facts["attemptCount"] = whole(facts["attemptCount"]) if facts["attemptCount"] else None
        found["externalData"] = facts if any(fact is not None for fact in facts.values()) else None
    return found


def counterparty_of(
    visit: Visit, name: str, planned: PlannedTransaction | None
) -> tuple[dict[str, Any], dict[str, str]]:
    """(the counterparty of the body, what is wrong with its name); one that stands there is known by its name."""
    own = planned.counterparty if planned else None
    if not name:
        return {"counterparty": None}, {}
    if own and name == own.name:
        return {}, {}
    try:
        return {"counterparty": {"id": str(counterparty_called(visit, name).id)}}, {}
    except FieldErrors as error:
        return {}, {"counterparty": error.errors[0][2]}


def addable(visit: Visit, name: str) -> bool:
    """Whether the form offers to add a counterparty of this name: there is none, and the visitor may."""
    if not visit.may(Permission.COUNTERPARTIES_WRITE) or not CounterpartyShape(data=new_one(name)).is_valid():
        return False
    return not Counterparty.objects.of(visit.company.id).filter(name__iexact=name).exists()


def new_one(name: str, direction: str = "out") -> dict[str, str]:
    return {"name": name, "type": CounterpartyType.CUSTOMER if direction == "in" else CounterpartyType.VENDOR}


def recurrence_of(values: Mapping[str, Any]) -> dict[str, Any] | None:
    """The recurrence as it is sent; none is once."""
    if not values["frequency"]:
        return None
    end = {"type": values["endType"] or "never"}
    if end["type"] == "date":
        end["date"] = values["endDate"] or None
    if end["type"] == "count":
        end["count"] = whole(values["endCount"]) if values["endCount"] else None
    return {
        "frequency": values["frequency"],
        "interval": whole(values["interval"] or "1"),
        "lastDayOfMonth": values["lastDayOfMonth"],
        "end": end,
    }


def whole(text: str) -> Any:
    """The integer; what is none stays as it was typed, for the shape to refuse."""
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else text


def signed(direction: str, amount: str) -> str:
    """The amount with the sign of its direction."""
    return f"-{amount}" if direction == "out" else amount


def mistakes(direction: str, amount: str) -> dict[str, str]:
    """What is wrong with the two fields of a signed amount, where the amount alone would not show it."""
    found = {} if direction in ("in", "out") else {"direction": _("Choose money in or money out.")}
    if amount.startswith("-"):
        found["amountValue"] = _("Leave out the minus sign: the direction says it.")
    return found


def direction_of(amount: str) -> dict[str, str]:
    """The two fields of a signed amount."""
    return {"direction": "out" if amount.startswith("-") else "in", "amountValue": amount.removeprefix("-")}
