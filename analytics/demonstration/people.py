"""Who works in the demonstration company."""

from companies import hooks
from companies.changing import changing
from companies.models import Company, Membership, Stamp, User
from companies.permissions import Role

OWNER = ("demo@example.com", "Dana Demo")
COLLEAGUES = (
    ("finn.finance@example.com", "Finn Falk", Role.ADMIN),
    ("elin.books@example.com", "Elin Ek", Role.EDITOR),
    ("vera.board@example.com", "Vera Vance", Role.VIEWER),
)


def owner_with(password: str) -> User:
    """The owner, with a new password where there is one already."""
    user = user_of(*OWNER)
    user.set_password(password)
    user.save(update_fields=["password"])
    return user


def user_of(email: str, name: str) -> User:
    return User.objects.with_email(email) or User.objects.create_user(email, name=name)


def add_colleagues(*, company: Company, stamp: Stamp) -> None:
    """An admin, an editor and a viewer, who belong to it at once; they have no password until they set one."""
    with changing(company, stamp=stamp) as change:
        for email, name, role in COLLEAGUES:
            member = change.store(Membership(company=company, user=user_of(email, name), role=role))
            change.record(member, "member.joined", after={"email": email, "role": role, "permissions": None})
            hooks.member_joined.run(membership=member, stamp=stamp)
