"""Permissions and roles; a role is a set of permissions."""

from collections.abc import Iterable
from enum import StrEnum

from django.utils.translation import gettext as _


class Permission(StrEnum):
    ACCOUNTS_READ = "accounts:read"
    ACCOUNTS_WRITE = "accounts:write"
    TRANSACTIONS_READ = "transactions:read"
    TRANSACTIONS_WRITE = "transactions:write"
    CATEGORIES_READ = "categories:read"
    CATEGORIES_WRITE = "categories:write"
    COUNTERPARTIES_READ = "counterparties:read"
    COUNTERPARTIES_WRITE = "counterparties:write"
    FILES_READ = "files:read"
    FILES_WRITE = "files:write"
    PLANNING_READ = "planning:read"
    PLANNING_WRITE = "planning:write"
    PRODUCTS_READ = "products:read"
    PRODUCTS_WRITE = "products:write"
    SUBSCRIPTIONS_READ = "subscriptions:read"
    SUBSCRIPTIONS_WRITE = "subscriptions:write"
    NOTIFICATIONS_READ = "notifications:read"
    NOTIFICATIONS_WRITE = "notifications:write"
    COMPANY_READ = "company:read"
    COMPANY_WRITE = "company:write"
    BALANCES_READ = "balances:read"
    FINANCIALS_READ = "financials:read"
    COMPANY_MANAGE = "company:manage"
    MEMBERS_MANAGE = "members:manage"
    API_KEYS_MANAGE = "apiKeys:manage"
    APPS_MANAGE = "apps:manage"
    NOTIFICATIONS_MANAGE = "notifications:manage"
    CLOSINGS_MANAGE = "closings:manage"
    AUDIT_READ = "audit:read"

    @property
    def is_read(self) -> bool:
        return self.value.endswith(":read")

    @property
    def is_write(self) -> bool:
        return self.value.endswith(":write")

    @property
    def read_permission(self) -> "Permission":
        """The permission to read what this one changes; itself for a read permission."""
        return Permission(self.value.replace(":write", ":read"))

    @property
    def is_admin(self) -> bool:
        """Whether it is administrative: for users and keys created by an owner, never for apps."""
        return self.value.endswith(":manage") or self is Permission.AUDIT_READ


Permissions = frozenset[Permission]
ALL_PERMISSIONS: Permissions = frozenset(Permission)
ADMIN_PERMISSIONS: Permissions = frozenset(p for p in Permission if p.is_admin)


class Role(StrEnum):
    OWNER = "owner"
    ADMIN = "admin"
    EDITOR = "editor"
    VIEWER = "viewer"

    @property
    def permissions(self) -> Permissions:
        return ROLE_PERMISSIONS[self]


_READ_PERMISSIONS = frozenset(p for p in Permission if p.is_read) - {Permission.AUDIT_READ}
ROLE_PERMISSIONS: dict[Role, Permissions] = {
    Role.OWNER: ALL_PERMISSIONS,
    Role.ADMIN: ALL_PERMISSIONS - {Permission.COMPANY_MANAGE},
    Role.EDITOR: _READ_PERMISSIONS | {p for p in Permission if p.is_write},
    Role.VIEWER: _READ_PERMISSIONS | {Permission.NOTIFICATIONS_WRITE},
}


def parse_permissions(permissions: Iterable[str]) -> Permissions:
    """Return the permissions among the strings; unknown strings are ignored."""
    known_values = set(permissions)
    return frozenset(p for p in Permission if p.value in known_values)


def sort_permissions(permissions: Iterable[Permission]) -> list[str]:
    """Return the permissions as strings, in the order of the enumeration."""
    held_permissions = set(permissions)
    return [p.value for p in Permission if p in held_permissions]


def get_membership_permissions(*, role: str, explicit: list[str] | None) -> Permissions:
    """Return the permissions of a membership: its own list, otherwise those of its role."""
    return Role(role).permissions if explicit is None else parse_permissions(explicit)


def describe_permissions(permissions: list[str]) -> str:
    """Describe the permissions of a key in a few words."""
    held_permissions = parse_permissions(permissions)
    regular_permissions = ALL_PERMISSIONS - ADMIN_PERMISSIONS
    reads = frozenset(p for p in regular_permissions if p.is_read)
    if held_permissions == ALL_PERMISSIONS:
        return _("Everything including administration")
    has_admin = bool(held_permissions & ADMIN_PERMISSIONS)
    if regular_permissions <= held_permissions:
        return _("Read and write everything, including administration") if has_admin else _("Read and write everything")
    if held_permissions - ADMIN_PERMISSIONS == reads:
        return _("Read everything, including administration") if has_admin else _("Read everything")
    return ", ".join(sort_permissions(held_permissions))
