"""The form of a new key: what was chosen as the body that the API takes, its mistakes above it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from companies.api.fields import utc
from companies.callers.access import Access
from companies.pages.typed import Typed, of_body
from companies.permissions import ADMIN_LEVEL, Permission, Permissions, Role, in_order
from companies.serializers import NewApiKey

RESOURCES = list(dict.fromkeys(p.value.partition(":")[0] for p in Permission if p not in ADMIN_LEVEL))
LABELS = {
    "accounts": gettext_lazy("Accounts"),
    "transactions": gettext_lazy("Transactions"),
    "categories": gettext_lazy("Categories"),
    "counterparties": gettext_lazy("Counterparties"),
    "files": pgettext_lazy("beside transactions", "Files"),
    "planning": gettext_lazy("Planned transactions and plan"),
    "products": gettext_lazy("Products"),
    "subscriptions": gettext_lazy("Subscriptions"),
    "notifications": gettext_lazy("Notifications"),
    "company": gettext_lazy("Company"),
    "balances": gettext_lazy("Balances and cash flow"),
    "financials": gettext_lazy("Revenue, expenses and P&L"),
}
LEVELS = {
    "none": pgettext_lazy("permission", "None"),
    "read": gettext_lazy("Read"),
    "write": gettext_lazy("Read and write"),
}
GIVEN = {"read": ("read",), "write": ("read", "write")}  # the permissions of a level
ADMIN_LABELS = {
    Permission.COMPANY_MANAGE: gettext_lazy("Change currency and start date of the books"),
    Permission.MEMBERS_MANAGE: gettext_lazy("Add, change and remove members"),
    Permission.API_KEYS_MANAGE: gettext_lazy("Make and revoke API keys"),
    Permission.APPS_MANAGE: gettext_lazy("Disconnect everyone's apps"),
    Permission.NOTIFICATIONS_MANAGE: gettext_lazy("See and delete everyone's notifications"),
    Permission.AUDIT_READ: gettext_lazy("Read the audit log"),
}
PRESETS = {
    "read": gettext_lazy("Read everything"),
    "write": gettext_lazy("Read and write everything"),
    "custom": gettext_lazy("Choose for each resource"),
}
EXPIRIES = {
    "30": gettext_lazy("30 days"),
    "90": gettext_lazy("90 days"),
    "365": gettext_lazy("1 year"),
    "date": gettext_lazy("On a date"),
    "never": gettext_lazy("Never"),
}
BLANK: dict[str, Any] = {"name": "", "preset": "read", "expiry": "90", "expiry_date": "", "admin": []}
FIELD_AT = {"name": "name", "permissions": "preset", "expiresTime": "expiry_date"}


def blank() -> Typed:
    return Typed(values=BLANK)


def read(posted: QueryDict, *, held: Permissions, now: datetime) -> Typed:
    """What was chosen, checked by the API's shape; ``held`` is what the maker of the key may do."""
    values: dict[str, Any] = {name: posted.get(name, "").strip() for name in (*BLANK, *map(field_of, RESOURCES))}
    values["admin"] = posted.getlist("admin")
    body = {"name": values["name"], "permissions": chosen(values, held), "expiresTime": ends(values, now)}
    form = of_body(NewApiKey, body, values=values, fields=FIELD_AT)
    form.errors |= mistakes(form)
    return form


def field_of(resource: str) -> str:
    return f"resource_{resource}"


def chosen(values: Mapping[str, Any], held: Permissions) -> list[str]:
    """The permissions that were chosen: within what the maker holds where a preset was, else as they were sent."""
    plain = in_order(p for p in held - ADMIN_LEVEL if p.reads or values["preset"] == "write")
    if values["preset"] == "custom":
        plain = [f"{each}:{word}" for each in RESOURCES for word in GIVEN.get(values[field_of(each)], ())]
    return [*plain, *values["admin"]]


def ends(values: Mapping[str, Any], now: datetime) -> str | None:
    """So many days from now, or the end of a day; as it was sent where it is none of these."""
    match values["expiry"]:
        case "never":
            return None
        case "30" | "90" | "365" as days:
            return utc(now + timedelta(days=int(days)))
    return f"{values['expiry_date']}T23:59:59.999999Z"


def mistakes(form: Typed) -> dict[str, str]:
    """What is wrong with a choice that the API does not have, or that it would say in words of its own."""
    said = {
        "preset": _("Choose at least one permission.") if "preset" in form.errors else None,
        "expiry_date": _("Name the day on which the key ends.") if "expiry_date" in form.errors else None,
    }
    if form.values["preset"] not in PRESETS:
        said["preset"] = _("Choose what the key may do.")
    if form.values["expiry"] not in EXPIRIES:
        said["expiry_date"] = _("Choose when the key ends.")
    return {name: text for name, text in said.items() if text}


def resources(values: Mapping[str, Any], held: Permissions) -> list[dict[str, Any]]:
    """One line of the table a resource, with what the maker of the key may give of it."""
    strings = {p.value for p in held}
    return [
        {
            "field": field_of(each),
            "label": LABELS[each],
            "chosen": values.get(field_of(each), "none"),
            "levels": {
                level: label for level, label in LEVELS.items() if level == "none" or f"{each}:{level}" in strings
            },
        }
        for each in RESOURCES
    ]


def admin_choices(maker: Access) -> dict[str, str]:
    """Administrative permissions, which only owners put into keys."""
    if maker.role != Role.OWNER:
        return {}
    return {p.value: str(label) for p, label in ADMIN_LABELS.items() if p in maker.permissions}
