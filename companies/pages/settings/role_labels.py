"""Labels of roles."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from companies.permissions import Role

ROLE_LABELS: dict[str, Any] = {
    Role.OWNER: _("owner"),
    Role.ADMIN: _("admin"),
    Role.EDITOR: _("editor"),
    Role.VIEWER: _("viewer"),
}
ROLE_DESCRIPTIONS = {
    Role.OWNER: _("Everything"),
    Role.ADMIN: _("Everything except base currency and data start date"),
    Role.EDITOR: _("View and edit all company data"),
    Role.VIEWER: _("View all company data"),
}


def get_role_label(role: str) -> str:
    """Return the label of a role; other text is unchanged."""
    return str(ROLE_LABELS.get(role, role))
