"""Builders of rows with visible defaults."""

from datetime import UTC, datetime
from typing import Any

import factory
from django.db import connection

from companies.actions.companies import create_company
from companies.models import AuditContext, Company, Membership, User
from companies.permissions import Role
from ledger.models import Counterparty


class UserFactory(factory.django.DjangoModelFactory[User]):
    class Meta:
        model = User
        skip_postgeneration_save = True

    email = factory.Sequence(lambda n: f"person{n}@example.com")
    name = "Some Person"
    password = factory.django.Password("correct horse battery")


def make_audit_context() -> AuditContext:
    return AuditContext(time=datetime.now(tz=UTC))


def make_company(*, name: str = "Acme", base_currency: str = "EUR", owner: User | None = None) -> Company:
    """Create a company with default categories and an owner."""
    company, _ = create_company(
        name=name, base_currency=base_currency, owner=owner or UserFactory(), context=make_audit_context()
    )
    return company


def force_company_values(company: Company, **values: Any) -> None:
    """Change columns of a company that are fixed at its creation, such as demo or sandbox status."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE companies_company DISABLE TRIGGER ledger_check_company")
        Company.objects.filter(id=company.id).update(**values)
        cursor.execute("ALTER TABLE companies_company ENABLE TRIGGER ledger_check_company")


def make_member(
    company: Company, email: str, *, role: Role = Role.EDITOR, permissions: list[str] | None = None
) -> User:
    user = User.objects.find_by_email(email) or UserFactory(email=email)
    Membership(company=company, user=user, role=role, permissions=permissions).mark_created(make_audit_context()).save(
        force_insert=True
    )
    return user


def make_customer(company: Company, name: str = "Initech", *, external_id: str | None = None) -> Counterparty:
    customer = Counterparty(company=company, type="customer", name=name, external_id=external_id).mark_created(
        make_audit_context()
    )
    customer.save(force_insert=True)
    return customer
