"""The permissions of an app, as a pure function."""

from collections.abc import Iterable

from companies.permissions import ADMIN_PERMISSIONS, Permission, Permissions
from oauth.protocol.scopes import READ, WRITE

SCOPE_PERMISSIONS: dict[str, Permissions] = {
    READ: frozenset(p for p in Permission if p.is_read),
    WRITE: frozenset(p for p in Permission if p.is_write),
}


def compute_effective_permissions(*, scopes: Iterable[str], snapshot: Permissions, current: Permissions) -> Permissions:
    """Compute what the scopes grant, the user held at consent, and still holds; never administrative permissions.

    A permission gained after consent is not in the snapshot. One that was lost is not in `current`, and counts
    again once it is given back.
    """
    granted: Permissions = frozenset().union(*(SCOPE_PERMISSIONS.get(scope, frozenset()) for scope in scopes))
    return (granted & snapshot & current) - ADMIN_PERMISSIONS
