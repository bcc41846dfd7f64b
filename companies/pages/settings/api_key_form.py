"""Form of a new API key: builds the API's request body and shows its errors."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from companies.api.fields import format_utc
from companies.auth.access import Access
from companies.pages.forms import BoundForm, bind_body
from companies.permissions import ADMIN_PERMISSIONS, Permission, Permissions, Role, sort_permissions
from companies.serializers import NewApiKey

RESOURCES = list(dict.fromkeys(p.value.partition(":")[0] for p in Permission if p not in ADMIN_PERMISSIONS))
RESOURCE_LABELS = {
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
LEVEL_LABELS = {
    "none": pgettext_lazy("permission", "None"),
    "read": gettext_lazy("Read"),
    "write": gettext_lazy("Read and write"),
}
LEVEL_ACTIONS = {"read": ("read",), "write": ("read", "write")}  # the permissions of a level
ADMIN_LABELS = {
    Permission.COMPANY_MANAGE: gettext_lazy("Change base currency and data start date"),
    Permission.MEMBERS_MANAGE: gettext_lazy("Add, change and remove members"),
    Permission.API_KEYS_MANAGE: gettext_lazy("Create and revoke API keys"),
    Permission.APPS_MANAGE: gettext_lazy("Disconnect everyone's apps"),
    Permission.NOTIFICATIONS_MANAGE: gettext_lazy("View and delete everyone's notifications"),
    Permission.CLOSINGS_MANAGE: gettext_lazy("Close and reopen months"),
    Permission.AUDIT_READ: gettext_lazy("View the audit log"),
}
PRESET_LABELS = {
    "read": gettext_lazy("Read everything"),
    "write": gettext_lazy("Read and write everything"),
    "custom": gettext_lazy("Custom permissions"),
}
EXPIRY_LABELS = {
    "30": gettext_lazy("30 days"),
    "90": gettext_lazy("90 days"),
    "365": gettext_lazy("1 year"),
    "date": gettext_lazy("On a date"),
    "never": gettext_lazy("Never"),
}
BLANK_VALUES: dict[str, Any] = {"name": "", "preset": "read", "expiry": "90", "expiry_date": "", "admin": []}
FORM_FIELDS_BY_POINTER = {"name": "name", "permissions": "preset", "expiresTime": "expiry_date"}


def build_blank_key_form() -> BoundForm:
    """Build the empty form."""
    return BoundForm(values=BLANK_VALUES)


def parse_key_form(post_data: QueryDict, *, held_permissions: Permissions, now: datetime) -> BoundForm:
    """Parse the posted form and validate it with the API's serializer; `held_permissions` are those of the
    creator.
    """
    values: dict[str, Any] = {
        name: post_data.get(name, "").strip() for name in (*BLANK_VALUES, *map(get_resource_field_name, RESOURCES))
    }
    values["admin"] = post_data.getlist("admin")
    body = {
        "name": values["name"],
        "permissions": list_chosen_permissions(values, held_permissions),
        "expiresTime": compute_key_expiry(values, now),
    }
    form = bind_body(NewApiKey, body, values=values, fields=FORM_FIELDS_BY_POINTER)
    form.errors |= find_key_form_errors(form)
    return form


def get_resource_field_name(resource: str) -> str:
    """Return the name of a resource's form field."""
    return f"resource_{resource}"


def list_chosen_permissions(values: Mapping[str, Any], held_permissions: Permissions) -> list[str]:
    """Return the chosen permissions: of a preset within what the creator holds, otherwise as posted."""
    chosen_permissions = sort_permissions(
        p for p in held_permissions - ADMIN_PERMISSIONS if p.is_read or values["preset"] == "write"
    )
    if values["preset"] == "custom":
        chosen_permissions = [
            f"{resource}:{action}"
            for resource in RESOURCES
            for action in LEVEL_ACTIONS.get(values[get_resource_field_name(resource)], ())
        ]
    return [*chosen_permissions, *values["admin"]]


def compute_key_expiry(values: Mapping[str, Any], now: datetime) -> str | None:
    """Return the expiry as an API time: in so many days, or at the end of a day; None for never."""
    match values["expiry"]:
        case "never":
            return None
        case "30" | "90" | "365" as days:
            return format_utc(now + timedelta(days=int(days)))
    return f"{values['expiry_date']}T23:59:59.999999Z"


def find_key_form_errors(form: BoundForm) -> dict[str, str]:
    """Return the errors of choices that the API does not have, or that need their own text."""
    messages = {
        "preset": _("Choose at least one permission.") if "preset" in form.errors else None,
        "expiry_date": _("Enter the expiry date of the key.") if "expiry_date" in form.errors else None,
    }
    if form.values["preset"] not in PRESET_LABELS:
        messages["preset"] = _("Choose the permissions of the key.")
    if form.values["expiry"] not in EXPIRY_LABELS:
        messages["expiry_date"] = _("Choose when the key expires.")
    return {name: text for name, text in messages.items() if text}


def list_resource_choices(values: Mapping[str, Any], held_permissions: Permissions) -> list[dict[str, Any]]:
    """Return one table row per resource, with the levels that the creator can grant."""
    permission_values = {p.value for p in held_permissions}
    return [
        {
            "field": get_resource_field_name(resource),
            "label": RESOURCE_LABELS[resource],
            "chosen": values.get(get_resource_field_name(resource), "none"),
            "levels": {
                level: label
                for level, label in LEVEL_LABELS.items()
                if level == "none" or f"{resource}:{level}" in permission_values
            },
        }
        for resource in RESOURCES
    ]


def list_admin_permission_choices(maker: Access) -> dict[str, str]:
    """Return the administrative permissions that the creator can put into a key; owners only."""
    if maker.role != Role.OWNER:
        return {}
    return {p.value: str(label) for p, label in ADMIN_LABELS.items() if p in maker.permissions}
