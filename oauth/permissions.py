"""What an app may do: one pure function."""

from collections.abc import Iterable

from companies.permissions import ADMIN_LEVEL, Permission, Permissions
from oauth.wire.scopes import READ, WRITE

SCOPE_PERMISSIONS: dict[str, Permissions] = {
    READ: frozenset(p for p in Permission if p.reads),
    WRITE: frozenset(p for p in Permission if p.writes),
}


def effective(*, scopes: Iterable[str], snapshot: Permissions, current: Permissions) -> Permissions:
    """What the scope grants, the user held at consent, and still holds; never what is administrative.

    A permission gained after consent is not in the snapshot; one lost is not in ``current``, and counts again when it
    is given back. service.md, part 5.3.
    """
    granted: Permissions = frozenset().union(*(SCOPE_PERMISSIONS.get(scope, frozenset()) for scope in scopes))
    return (granted & snapshot & current) - ADMIN_LEVEL
