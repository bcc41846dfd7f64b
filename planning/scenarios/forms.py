"""Forms of changes in the words of finance; each makes one change of the API."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companies.pages.amount_formats import AmountParseError, parse_typed_amount
from companies.pages.forms import BoundForm, bind_body, parse_integer
from ledger.calc.months import count_months_between, get_first_day_of_month, get_last_day_of_month
from planning.scenarios.serializers import ScenarioChange

TARGET_NAMES = ("counterpartyId", "categoryId", "plType", "plannedTransactionId")
PLANNED_FIELDS = ("name", "amountValue", "categoryId", "startDate")
HIRE_FIELDS = (*PLANNED_FIELDS, "people", "lastMonth", "oneOffValue")
MAX_PEOPLE = 999
MAX_NAME_LENGTH = 300


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
        HIRE_FIELDS,
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
    """Return an empty form, whose change begins today and hires one."""
    values = dict.fromkeys(change_form.fields, "")
    defaults = {"from": today.isoformat(), "startDate": today.isoformat(), "people": "1"}
    return BoundForm(values=values | {name: value for name, value in defaults.items() if name in values})


def parse_change_form(
    change_form: ChangeForm, post_data: Mapping[str, Any], *, currency: str
) -> tuple[BoundForm, list[dict[str, Any]]]:
    """Validate a posted form. Returns the form and its changes, as the API's serializer parses them.

    A cost is money out, with or without a minus: it becomes a negative amount. A hire has a second change if it has
    a one-off cost.
    """
    values = {name: post_data.get(name, "").strip() for name in change_form.fields}
    errors: dict[str, str] = {}
    if change_form.kind == "add":
        bodies = build_hire_bodies(values, errors, currency=currency)
        one_off_place = {"changes/1/plannedTransaction/amountValue": "oneOffValue"}
        places = [map_pointers_to_fields(PLANNED_FIELDS, planned=True) | one_off_place]
        places += [{"plannedTransaction/amountValue": "oneOffValue"}]
    else:
        bodies = [build_change_body(change_form, values, errors)]
        places = [map_pointers_to_fields(("percent", "days", "from", "to"))]
    form, *others = [
        bind_body(ScenarioChange, {"kind": change_form.kind, **body}, values=values, fields=fields)
        for body, fields in zip(bodies, places, strict=False)
    ]
    for other in others:
        form.errors = {**other.errors, **form.errors}
    form.errors |= errors
    return form, [form.data, *(other.data for other in others)]


def build_hire_plan_item(parsed_hire: Mapping[str, Any], *, pl_type: str, currency: str) -> dict[str, Any]:
    """Return the change that plans a cost of a hire in its category, in the months of its payments.

    Planned payments do not count in the plan and plan items do not count in cash, so the two never add up.

    Args:
        parsed_hire: the change that adds the payment, as its form parsed it.
        pl_type: the P&L line of its category.
    """
    payment = parsed_hire["planned_transaction"]["public"]
    recurrence = payment.get("recurrence")
    last_date = recurrence and recurrence["end"]["date"]
    body = {
        "month": payment["startDate"][:7],
        "plType": pl_type,
        "categoryId": payment["categoryId"],
        "amount": {
            "type": "fixed",
            "amount": {"value": float(payment["amountValue"].removeprefix("-")), "currency": currency},
        },
        "frequency": 1 if recurrence else 0,
    }
    if last_date:
        start, end = dt.date.fromisoformat(payment["startDate"]), dt.date.fromisoformat(last_date)
        body["duration"] = count_months_between(get_first_day_of_month(start), get_first_day_of_month(end)) + 1
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


def build_hire_bodies(values: Mapping[str, str], errors: dict[str, str], *, currency: str) -> list[dict[str, Any]]:
    """Return the bodies of the monthly payment and, if there is one, of the one-off payment, for all people."""
    people = parse_people(values, errors)
    cost = {
        "accountId": None,
        "name": values["name"],
        "startDate": values["startDate"],
        "amountValue": multiply_cost(values, "amountValue", people, errors, currency=currency),
        "categoryId": values["categoryId"] or None,
    }
    end = parse_last_month(values, errors)
    recurrence = {"frequency": "month", "end": {"type": "date", "date": end} if end else {"type": "never"}}
    bodies = [{**cost, "recurrence": recurrence}]
    if values["oneOffValue"]:
        amount = multiply_cost(values, "oneOffValue", people, errors, currency=currency)
        one_off_name = _("{name}: one-off cost")
        room = MAX_NAME_LENGTH - len(one_off_name.format(name=""))
        bodies += [{**cost, "name": one_off_name.format(name=values["name"][:room]), "amountValue": amount}]
    return [{"plannedTransaction": body} for body in bodies]


def parse_people(values: Mapping[str, str], errors: dict[str, str]) -> int:
    """Return the number of people, one if it is empty; 1 with an error if it is out of range."""
    people = parse_integer(values["people"] or "1")
    if isinstance(people, int) and 1 <= people <= MAX_PEOPLE:
        return people
    errors["people"] = _("Enter a number from 1 to {count}.").format(count=MAX_PEOPLE)
    return 1


def parse_last_month(values: Mapping[str, str], errors: dict[str, str]) -> str:
    """Return the last day of the last month; empty without one, or with an error."""
    if not values["lastMonth"]:
        return ""
    try:
        month = dt.date.fromisoformat(f"{values['lastMonth']}-01")
    except ValueError:
        errors["lastMonth"] = _("Enter a month such as {example}.").format(example="2026-12")
        return ""
    end = get_last_day_of_month(month).isoformat()
    if end < values["startDate"]:
        errors["lastMonth"] = _("Must not be before the first payment.")
        return ""
    return end


def multiply_cost(values: Mapping[str, str], name: str, people: int, errors: dict[str, str], *, currency: str) -> str:
    """Return the amount of a cost for all people, as money out; the typed text if it is no amount.

    A cost of 0 is an error.
    """
    try:
        amount = parse_typed_amount(values[name], currency)
    except AmountParseError as error:
        errors[name] = str(error)
        return f"-{values[name].removeprefix('-')}"
    if not Decimal(amount):
        errors[name] = _("Enter an amount other than 0.")
    return format(-abs(Decimal(amount)) * people, "f")


def build_change_body(change_form: ChangeForm, values: Mapping[str, str], errors: dict[str, str]) -> dict[str, Any]:
    """Return the body of a change with its target, percentage, days and period."""
    name, __, value = values["target"].partition(":")
    body: dict[str, Any] = {name: value} if name in change_form.targets else {}
    if not body:
        errors["target"] = _("Choose what changes.")
    for date_name in ("from", "to"):
        body[date_name] = values.get(date_name) or None
    if "days" in values:
        body["days"] = parse_integer(values["days"]) if values["days"] else None
    if "percent" in values:
        try:
            body["percent"] = float(parse_typed_amount(values["percent"]))
        except AmountParseError as error:
            errors["percent"] = str(error)
    return body
