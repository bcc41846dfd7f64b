"""Members of the demo company."""

import secrets

from companies import hooks
from companies.change import change_company
from companies.models import AuditContext, Company, Membership, User
from companies.permissions import Role

OWNER = ("demo@example.com", "Dana Demo")
DEMO_MEMBERS = (
    ("finn.finance@example.com", "Finn Falk", Role.ADMIN),
    ("elin.books@example.com", "Elin Ek", Role.EDITOR),
    ("vera.board@example.com", "Vera Vance", Role.VIEWER),
)


def prepare_demo_owner() -> tuple[User, str | None]:
    """Return the owner's user, and the password of a new one; one that exists keeps its password."""
    user = get_or_create_user(*OWNER)
    if user.has_usable_password():
        return user, None
    password = secrets.token_urlsafe(12)
    user.set_password(password)
    user.save(update_fields=["password"])
    return user, password


def get_or_create_user(email: str, name: str) -> User:
    return User.objects.find_by_email(email) or User.objects.create_user(email, name=name)


def add_demo_members(*, company: Company, context: AuditContext) -> None:
    """Add an admin, an editor and a viewer as members; they have no password until they set one."""
    with change_company(company, context=context) as change:
        for email, name, role in DEMO_MEMBERS:
            member = change.insert(Membership(company=company, user=get_or_create_user(email, name), role=role))
            change.record(member, "member.joined", after={"email": email, "role": role, "permissions": None})
            hooks.member_joined.run(membership=member, context=context)
