"""What may be done: permissions are strings, and roles are sets of them."""

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
    AUDIT_READ = "audit:read"

    @property
    def reads(self) -> bool:
        return self.value.endswith(":read")

    @property
    def writes(self) -> bool:
        return self.value.endswith(":write")

    @property
    def seeing(self) -> "Permission":
        """What it takes to see what this one changes; itself where it changes nothing."""
        return Permission(self.value.replace(":write", ":read"))

    @property
    def admin_level(self) -> bool:
        """Held by people and by keys that an owner made; never by apps."""
        return self.value.endswith(":manage") or self is Permission.AUDIT_READ


Permissions = frozenset[Permission]
ALL: Permissions = frozenset(Permission)
ADMIN_LEVEL: Permissions = frozenset(p for p in Permission if p.admin_level)


class Role(StrEnum):
    OWNER = "owner"
    ADMIN = "admin"
    EDITOR = "editor"
    VIEWER = "viewer"

    @property
    def permissions(self) -> Permissions:
        return ROLE_PERMISSIONS[self]


_READS = frozenset(p for p in Permission if p.reads) - {Permission.AUDIT_READ}
ROLE_PERMISSIONS: dict[Role, Permissions] = {
    Role.OWNER: ALL,
    Role.ADMIN: ALL - {Permission.COMPANY_MANAGE},
    Role.EDITOR: _READS | {p for p in Permission if p.writes},
    Role.VIEWER: _READS | {Permission.NOTIFICATIONS_WRITE},
}


def known(permissions: Iterable[str]) -> Permissions:
    """The permissions among the strings; stored strings that no longer name one give nothing."""
    values = set(permissions)
    return frozenset(p for p in Permission if p.value in values)


def in_order(permissions: Iterable[Permission]) -> list[str]:
    """The strings in the order of the enumeration, so that answers are stable."""
    held = set(permissions)
    return [p.value for p in Permission if p in held]


def membership_permissions(*, role: str, explicit: list[str] | None) -> Permissions:
    """A membership's own list in place of its role's, where it carries one."""
    return Role(role).permissions if explicit is None else known(explicit)


def in_words(permissions: list[str]) -> str:
    """What a key may do, in a few words."""
    held = known(permissions)
    plain = ALL - ADMIN_LEVEL
    reads = frozenset(p for p in plain if p.reads)
    if held == ALL:
        return _("Everything, administration included")
    admin = bool(held & ADMIN_LEVEL)
    if plain <= held:
        return _("Read and write everything and administration") if admin else _("Read and write everything")
    if held - ADMIN_LEVEL == reads:
        return _("Read everything and administration") if admin else _("Read everything")
    return ", ".join(in_order(held))
