"""What roles are called on pages."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from companies.permissions import Role

NAMES: dict[str, Any] = {
    Role.OWNER: _("owner"),
    Role.ADMIN: _("admin"),
    Role.EDITOR: _("editor"),
    Role.VIEWER: _("viewer"),
}
DOES = {
    Role.OWNER: _("Everything"),
    Role.ADMIN: _("Everything but the currency and start date of the books"),
    Role.EDITOR: _("Reads and writes the books"),
    Role.VIEWER: _("Reads the books"),
}


def role_word(role: str) -> str:
    """The role of a member; what is none stays as it is."""
    return str(NAMES.get(role, role))
