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
    Role.ADMIN: _("Everything but the currency and start date of the books"),
    Role.EDITOR: _("Reads and writes the books"),
    Role.VIEWER: _("Reads the books"),
}


def get_role_label(role: str) -> str:
    """Return the label of a role; other text is unchanged."""
    return str(ROLE_LABELS.get(role, role))
