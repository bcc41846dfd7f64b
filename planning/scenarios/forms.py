"""Forms of changes in the words of finance; each makes one change of the API."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy

from companies.pages.amount_formats import AmountParseError, parse_typed_amount
from companies.pages.forms import BoundForm, bind_body, parse_integer
from planning.scenarios.serializers import ScenarioChange

TARGET_NAMES = ("counterpartyId", "categoryId", "plType", "plannedTransactionId")
PLANNED_FIELDS = ("name", "amountValue", "categoryId", "startDate")


@dataclass(frozen=True, slots=True)
class ChangeForm:
    """A kind of form: its title, what it asks, and the targets among which it offers to choose."""

    kind: str
    title: Any
    hint: Any
    fields: tuple[str, ...]
    targets: tuple[str, ...] = ()
    has_income_targets: bool = False  # whether it offers only what brings money in


CHANGE_FORMS = {
    "hire": ChangeForm(
        "add",
        gettext_lazy("Hire someone"),
        gettext_lazy("Adds a monthly payment to the cash plan and the same cost to the profit and loss plan."),
        PLANNED_FIELDS,
    ),
    "price": ChangeForm(
        "scale",
        gettext_lazy("Raise a price"),
        gettext_lazy("Changes amounts by a percentage. Use a negative one to reduce them."),
        ("target", "percent", "from", "to"),
        TARGET_NAMES,
    ),
    "lose": ChangeForm(
        "stop",
        gettext_lazy("Lose a customer"),
        gettext_lazy(
            "Stops all payments of a customer, a category or a planned transaction. "
            "Only a category also changes the plan."
        ),
        ("target", "from"),
        ("counterpartyId", "categoryId", "plannedTransactionId"),
        has_income_targets=True,
    ),
    "delay": ChangeForm(
        "shift",
        gettext_lazy("Delay payments"),
        gettext_lazy("Moves payments to later days. Use a negative number for earlier days."),
        ("target", "days", "from", "to"),
        ("counterpartyId", "plannedTransactionId"),
    ),
}


def build_blank_change_form(change_form: ChangeForm, *, today: dt.date) -> BoundForm:
    """Return an empty form, whose change begins today."""
    values = dict.fromkeys(change_form.fields, "")
    return BoundForm(values=values | {name: today.isoformat() for name in ("from", "startDate") if name in values})


def parse_change_form(change_form: ChangeForm, post_data: Mapping[str, Any], *, currency: str) -> BoundForm:
    """Validate a posted form; its data is a change as the API's serializer parses it.

    A cost is money out, with or without a minus: it becomes a negative amount.
    """
    values = {name: post_data.get(name, "").strip() for name in change_form.fields}
    errors: dict[str, str] = {}
    if change_form.kind == "add":
        body, places = (
            build_hire_body(values, errors, currency=currency),
            map_pointers_to_fields(PLANNED_FIELDS, planned=True),
        )
    else:
        body, places = (
            build_change_body(change_form, values, errors),
            map_pointers_to_fields(("percent", "days", "from", "to")),
        )
    form = bind_body(ScenarioChange, {"kind": change_form.kind, **body}, values=values, fields=places)
    form.errors |= errors
    return form


def build_hire_plan_item(parsed_hire: Mapping[str, Any], *, pl_type: str, currency: str) -> dict[str, Any]:
    """Return the change that plans the cost of a hire in its category, from the month of the first payment.

    Planned payments do not count in the plan and plan items do not count in cash, so the two never add up.

    Args:
        parsed_hire: the change that adds the payment, as its form parsed it.
        pl_type: the P&L line of its category.
    """
    payment = parsed_hire["planned_transaction"]["public"]
    body = {
        "month": payment["startDate"][:7],
        "plType": pl_type,
        "categoryId": payment["categoryId"],
        "amount": {
            "type": "fixed",
            "amount": {"value": float(payment["amountValue"].removeprefix("-")), "currency": currency},
        },
        "frequency": 1,
    }
    serializer = ScenarioChange(data={"kind": "add", "planItem": body})
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def map_pointers_to_fields(names: tuple[str, ...], *, planned: bool = False) -> dict[str, str]:
    """Return the form's field of each JSON pointer, of the body and of the scenario."""
    prefix = "plannedTransaction/" if planned else ""
    pointers = {f"{start}{prefix}{name}": name for name in names for start in ("", "changes/0/")}
    if not planned:
        pointers |= {f"changes/0/{name}": "target" for name in TARGET_NAMES} | dict.fromkeys(TARGET_NAMES, "target")
        pointers |= {"changes/0": "target"}
    return pointers


def build_hire_body(values: Mapping[str, str], errors: dict[str, str], *, currency: str) -> dict[str, Any]:
    """Return the body of a monthly payment."""
    amount = values["amountValue"]
    try:
        amount = parse_typed_amount(amount, currency)
    except AmountParseError as error:
        errors["amountValue"] = str(error)
    planned = {
        "accountId": None,
        "name": values["name"],
        "startDate": values["startDate"],
        "amountValue": f"-{amount.removeprefix('-')}",
        "categoryId": values["categoryId"] or None,
        "recurrence": {"frequency": "month"},
    }
    return {"plannedTransaction": planned}


def build_change_body(change_form: ChangeForm, values: Mapping[str, str], errors: dict[str, str]) -> dict[str, Any]:
    """Return the body of a change with its target, percentage, days and period."""
    name, _separator, value = values["target"].partition(":")
    body: dict[str, Any] = {name: value} if name in change_form.targets else {}
    for date_name in ("from", "to"):
        body[date_name] = values.get(date_name) or None
    if "days" in values:
        body["days"] = parse_integer(values["days"])
    if "percent" in values:
        try:
            body["percent"] = float(parse_typed_amount(values["percent"]))
        except AmountParseError as error:
            errors["percent"] = str(error)
    return body
