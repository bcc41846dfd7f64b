"""The forms of the web pages: they read and check what was typed; the acts decide."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

from django import forms
from django.contrib.auth import authenticate
from django.contrib.auth.forms import PasswordChangeForm

from companies.models import User
from companies.permissions import ADMIN_LEVEL, ALL, Permission, Permissions, Role, in_order, known

RESOURCES = list(dict.fromkeys(p.value.partition(":")[0] for p in Permission if p not in ADMIN_LEVEL))
LABELS = {
    "balances": "Balances and cash flow",
    "financials": "Revenue, expenses and P&L",
    "planning": "Planned transactions and plan",
}
LEVELS = {"none": "None", "read": "Read", "write": "Read and write"}
ADMIN_LABELS = {
    Permission.COMPANY_MANAGE: "Change currency and start date of the books",
    Permission.MEMBERS_MANAGE: "Add, change and remove members",
    Permission.API_KEYS_MANAGE: "Make and revoke API keys",
    Permission.APPS_MANAGE: "Disconnect everyone's apps",
    Permission.NOTIFICATIONS_MANAGE: "See and delete everyone's notifications",
    Permission.AUDIT_READ: "Read the audit log",
}
PRESETS = {
    "read": "Read everything",
    "write": "Read and write everything",
    "custom": "Choose for each resource",
}
EXPIRIES = {"30": "30 days", "90": "90 days", "365": "1 year", "date": "On a date", "never": "Never"}
OVERLAPS = {"0": "Now", "1": "In 1 hour", "24": "In 1 day", "168": "In 7 days"}


class SignInForm(forms.Form):
    username = forms.CharField(max_length=254, strip=True)
    password = forms.CharField(max_length=1000, strip=False)

    def __init__(self, request: Any, *args: Any, **kwargs: Any):
        self.request, self.user = request, None
        super().__init__(*args, **kwargs)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("username") and data.get("password"):
            self.user = authenticate(  # type: ignore[assignment]
                self.request, username=data["username"].lower(), password=data["password"]
            )
        if self.user is None:
            raise forms.ValidationError("The e-mail address or the password is wrong.")
        return data


class NewPasswordForm(PasswordChangeForm):
    """The framework's, where a wrong old password counts like a failure to sign in."""

    def __init__(self, request: Any, user: User, *args: Any, **kwargs: Any):
        self.request = request
        super().__init__(user, *args, **kwargs)

    def clean_old_password(self) -> str:
        old = str(self.cleaned_data["old_password"])
        if authenticate(self.request, username=self.user.email, password=old) != self.user:
            raise forms.ValidationError(self.error_messages["password_incorrect"])
        return old


class ResetForm(forms.Form):
    email = forms.EmailField(max_length=254)

    def user(self) -> User | None:
        """Whom to mail; nobody is told whether there is such a user."""
        found = User.objects.with_email(self.cleaned_data["email"])
        return found if found and found.is_active else None


class KeyForm(forms.Form):
    """A new key: a name, permissions by preset or by resource, and when it ends."""

    name = forms.CharField(max_length=200)
    preset = forms.ChoiceField(choices=list(PRESETS.items()), initial="read")
    expiry = forms.ChoiceField(choices=list(EXPIRIES.items()), initial="90")
    expiry_date = forms.DateField(required=False)
    admin = forms.MultipleChoiceField(choices=[(p.value, t) for p, t in ADMIN_LABELS.items()], required=False)

    def __init__(self, *args: Any, holder: Permissions, role: str, now: datetime, **kwargs: Any):
        self.holder, self.role, self.now = holder, role, now
        super().__init__(*args, **kwargs)
        for resource in RESOURCES:
            self.fields[f"resource_{resource}"] = forms.ChoiceField(
                choices=self.levels(resource), required=False, initial="none"
            )

    def levels(self, resource: str) -> list[tuple[str, str]]:
        """What the maker of the key may give of a resource."""
        held = {p.value for p in self.holder}
        return [(level, label) for level, label in LEVELS.items() if level == "none" or f"{resource}:{level}" in held]

    @property
    def resources(self) -> list[dict[str, Any]]:
        """One line of the table a resource."""
        chosen = self.data if self.is_bound else {}
        return [
            {
                "field": f"resource_{resource}",
                "label": LABELS.get(resource, resource.capitalize()),
                "chosen": chosen.get(f"resource_{resource}", "none"),
                "levels": self.levels(resource),
            }
            for resource in RESOURCES
        ]

    @property
    def admin_choices(self) -> list[tuple[str, str]]:
        """Administrative permissions, which only owners put into keys."""
        if self.role != Role.OWNER:
            return []
        return [(p.value, label) for p, label in ADMIN_LABELS.items() if p in self.holder]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("expiry") == "date" and not data.get("expiry_date"):
            self.add_error("expiry_date", "Name the day on which the key ends.")
        if not self.errors and not self.permissions():
            self.add_error("preset", "Choose at least one permission.")
        return data

    def permissions(self) -> Permissions:
        """The permissions that were chosen, within what the maker holds where a preset was."""
        data = self.cleaned_data
        plain = (ALL - ADMIN_LEVEL) & self.holder
        chosen: Permissions
        if data.get("preset") == "read":
            chosen = frozenset(p for p in plain if p.reads)
        elif data.get("preset") == "write":
            chosen = plain
        else:
            chosen = known(
                f"{resource}:{level}"
                for resource in RESOURCES
                for level in {"read": ["read"], "write": ["read", "write"]}.get(
                    data.get(f"resource_{resource}", ""), []
                )
            )
        return chosen | known(data.get("admin", []))

    def expires_time(self) -> datetime | None:
        """The end of the day, or so many days from now."""
        match self.cleaned_data["expiry"]:
            case "never":
                return None
            case "date":
                return datetime.combine(self.cleaned_data["expiry_date"], time.max, tzinfo=UTC)
            case days:
                return self.now + timedelta(days=int(days))


class RollForm(forms.Form):
    overlap = forms.ChoiceField(choices=list(OVERLAPS.items()), initial="24")

    def overlap_time(self) -> timedelta:
        return timedelta(hours=int(self.cleaned_data["overlap"]))


def permission_summary(permissions: list[str]) -> str:
    """A key's permissions in a few words."""
    held = known(permissions)
    plain = ALL - ADMIN_LEVEL
    reads = frozenset(p for p in plain if p.reads)
    if held == ALL:
        return "Everything, administration included"
    admin = " and administration" if held & ADMIN_LEVEL else ""
    if plain <= held:
        return f"Read and write everything{admin}"
    if held - ADMIN_LEVEL == reads:
        return f"Read everything{admin}"
    return ", ".join(in_order(held))
