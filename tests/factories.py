"""Builders with visible defaults."""

from datetime import UTC, datetime

import factory

from companies.membership.founding import found_company
from companies.models import Company, Membership, Stamp, User
from companies.permissions import Role
from ledger.models import Counterparty


class UserFactory(factory.django.DjangoModelFactory[User]):
    class Meta:
        model = User
        skip_postgeneration_save = True

    email = factory.Sequence(lambda n: f"person{n}@example.com")
    name = "Some Person"
    password = factory.django.Password("correct horse battery")


def stamp() -> Stamp:
    return Stamp(time=datetime.now(tz=UTC))


def company(*, name: str = "Acme", base_currency: str = "EUR", owner: User | None = None) -> Company:
    """A company with its default set and an owner of its own."""
    founded, _ = found_company(name=name, base_currency=base_currency, owner=owner or UserFactory(), stamp=stamp())
    return founded


def member(of: Company, email: str, *, role: Role = Role.EDITOR, permissions: list[str] | None = None) -> User:
    user = User.objects.with_email(email) or UserFactory(email=email)
    Membership(company=of, user=user, role=role, permissions=permissions).stamp_new(stamp()).save(force_insert=True)
    return user


def customer(of: Company, name: str = "Initech", *, external_id: str | None = None) -> Counterparty:
    made = Counterparty(company=of, type="customer", name=name, external_id=external_id).stamp_new(stamp())
    made.save(force_insert=True)
    return made
