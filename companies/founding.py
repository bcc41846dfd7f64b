"""Starting a company and changing its own facts."""

from datetime import timedelta
from typing import Any

from companies.errors import Denied
from companies.follow_ups import follow_up
from companies.models import AuditEntry, Company, Membership, Stamp, SystemStatus, User, snapshot
from companies.permissions import Permission, Permissions, Role

TRIAL = timedelta(days=14)
MANAGED = {"base_currency", "data_start_date"}  # a change recomputes, or hides, what everyone sees
RECOMPUTES = {"base_currency", "pl_recognize_revenue_on_invoice"}  # derived rows depend on these


class NeedsManager(Denied):
    """A change of the base currency or the data start date needs the permission company:manage."""


def found_company(
    *, name: str, base_currency: str, owner: User, stamp: Stamp, domain: str | None = None
) -> tuple[Company, Membership]:
    """A new company in its trial, with its owner and whatever other apps give to a new company."""
    company = Company(
        name=name,
        base_currency=base_currency,
        domain=domain,
        last_overall_updated_time=stamp.time,
        system_status=SystemStatus.TRIAL,
        system_trial_until=stamp.time + TRIAL,
    ).stamp_new(stamp)
    company.save(force_insert=True)
    owner_membership = Membership(company=company, user=owner, role=Role.OWNER).stamp_new(stamp)
    owner_membership.save(force_insert=True)
    AuditEntry.objects.record(
        stamp,
        company_id=company.id,
        action="company.created",
        entity_type="company",
        entity_id=company.id,
        after={"name": name, "base_currency": base_currency, "owner": str(owner.id)},
    )
    follow_up("company_founded", company=company, stamp=stamp)
    return company, owner_membership


def change_company(*, company: Company, stamp: Stamp, permissions: Permissions, values: dict[str, Any]) -> Company:
    """Stores changed facts of a company. Raises NeedsManager."""
    changed = {name for name, value in values.items() if getattr(company, name) != value}
    if changed & MANAGED and Permission.COMPANY_MANAGE not in permissions:
        raise NeedsManager
    before = snapshot(company)
    if changed:
        company.change(stamp, last_overall_updated_time=stamp.time, **values)
        after = snapshot(company)
        AuditEntry.objects.record(
            stamp,
            company_id=company.id,
            action="company.updated",
            entity_type="company",
            entity_id=company.id,
            before={name: before[name] for name in changed},
            after={name: after[name] for name in changed},
        )
        if changed & RECOMPUTES:
            follow_up("company_rules_changed", company=company, stamp=stamp, changed=changed & RECOMPUTES)
    return company
