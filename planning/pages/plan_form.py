"""The form of a planned transaction: what was typed as the body that the API takes, its mistakes at their fields."""

import re
from collections.abc import Mapping
from typing import Any

from companies.pages.typed import Typed, of_body, read_amounts
from planning.models import PlannedTransaction
from planning.serializers import PlannedTransactionShape

TEXTS = ("name", "direction", "amountValue", "amountCurrency", "accountId", "categoryId", "startDate")
TEXTS_OF_RECURRENCE = ("frequency", "interval", "endType", "endDate", "endCount")
BLANK = {"direction": "out", "interval": "1", "endType": "never", "autoSettle": True}
FIELD_AT = {
    "recurrence/frequency": "frequency",
    "recurrence/interval": "interval",
    "recurrence/lastDayOfMonth": "lastDayOfMonth",
    "recurrence/end/type": "endType",
    "recurrence/end/date": "endDate",
    "recurrence/end/count": "endCount",
}
MINUS = "Leave out the minus sign: the direction says it."


def blank(**values: Any) -> Typed:
    """The form of something new."""
    return Typed(values=dict.fromkeys((*TEXTS, *TEXTS_OF_RECURRENCE), "") | BLANK | values)


def of_row(planned: PlannedTransaction) -> Typed:
    """The form of something that is planned, as it is."""
    body = PlannedTransactionShape(planned).data
    recurrence = body["recurrence"] or {}
    end = recurrence.get("end") or {}
    return Typed(
        values={
            **{name: body[name] or "" for name in TEXTS if name in body},
            **direction_of(body["amountValue"]),
            "autoSettle": body["autoSettle"],
            "frequency": recurrence.get("frequency", ""),
            "interval": recurrence.get("interval", 1),
            "lastDayOfMonth": recurrence.get("lastDayOfMonth", False),
            "endType": end.get("type", "never"),
            "endDate": end.get("date") or "",
            "endCount": end.get("count") or "",
        }
    )


def read(posted: Mapping[str, Any], *, planned: PlannedTransaction | None, hidden: set[str]) -> Typed:
    """What was typed, checked by the API's shape. Fields that the form does not show keep their value."""
    values: dict[str, Any] = {name: posted.get(name, "").strip() for name in (*TEXTS, *TEXTS_OF_RECURRENCE)}
    values |= {name: name in posted for name in ("lastDayOfMonth", "autoSettle")}
    stored = PlannedTransactionShape(planned).data if planned else {"accountId": None}
    sent = {name: values[name] or None for name in ("accountId", "categoryId") if name not in hidden}
    if values["amountCurrency"]:
        sent["amountCurrency"] = values["amountCurrency"]
    read_in, wrong = read_amounts(values, ["amountValue"])
    body = {
        **stored,
        **sent,
        "name": values["name"],
        "startDate": values["startDate"],
        "amountValue": signed(values["direction"], read_in.get("amountValue", values["amountValue"])),
        "recurrence": recurrence_of(values),
        "autoSettle": values["autoSettle"],
    }
    form = of_body(PlannedTransactionShape, body, values=values, fields=FIELD_AT)
    form.errors |= wrong | mistakes(values["direction"], values["amountValue"])
    return form


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
    found = {} if direction in ("in", "out") else {"direction": "Choose money in or money out."}
    return found | ({"amountValue": MINUS} if amount.startswith(("-", "−")) else {})


def direction_of(amount: str) -> dict[str, str]:
    """The two fields of a signed amount."""
    return {"direction": "out" if amount.startswith("-") else "in", "amountValue": amount.removeprefix("-")}
