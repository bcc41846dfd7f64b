"""Starting a company and changing its own facts."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from companies import hooks
from companies.api import throttling
from companies.changing import changing
from companies.errors import Conflict, Denied, TooMany
from companies.models import STATUS_MOVES, Company, Membership, Stamp, SystemStatus, User
from companies.permissions import Permission, Permissions, Role

TRIAL = timedelta(days=14)
MAX_COMPANIES_A_DAY, DAY_SECONDS = 10, 24 * 3600  # that one person starts
MANAGED = {"base_currency", "data_start_date", "require_second_factor"}  # a change is one for everybody
OF_STAFF = {"system_status", "system_trial_until"}  # what the admin and the passing of time change
RECOMPUTES = {"base_currency", "pl_recognize_revenue_on_invoice"}  # derived rows depend on these


class NeedsManager(Denied):
    """The base currency, the data start date and requireSecondFactor need the permission company:manage."""


class PersonNeeded(Denied):
    """Only a member who signed in can change requireSecondFactor, not an API key."""

    code = "permission_denied"


class FactorFirst(Conflict):
    """Set up a second factor of your own before you ask everybody for one."""

    code = "second_factor_missing"


class TooManyCompanies(TooMany):
    """You started ten companies today. Try again tomorrow."""

    code = "too_many_companies"


class IllegalMove(Conflict):
    """The company's status cannot become this one; it was moved by somebody else meanwhile, perhaps."""

    code = "illegal_status_move"


class CompanyExpired(Denied):
    """The company is read-only: its trial or its subscription has ended."""

    code = "company_expired"


def found_company(
    *,
    name: str,
    base_currency: str,
    owner: User,
    stamp: Stamp,
    domain: str | None = None,
    status: SystemStatus = SystemStatus.TRIAL,
    demonstration: dict[str, int] | None = None,
) -> tuple[Company, Membership]:
    """Create a company, in its trial unless said otherwise, with its owner and whatever other apps give to a new one.

    Raises TooManyCompanies where a person asks for it; commands may create as many as they like.
    """
    if stamp.user_id is not None:
        count_company(owner, now=stamp.time)
    company = Company(
        name=name,
        base_currency=base_currency,
        domain=domain,
        last_overall_updated_time=stamp.time,
        system_status=status,
        system_trial_until=stamp.time + TRIAL if status == SystemStatus.TRIAL else None,
        demonstration=demonstration,
    ).stamp_new(stamp)
    with transaction.atomic():
        company.save(force_insert=True)
        with changing(company, stamp=stamp) as change:
            membership = change.store(Membership(company=company, user=owner, role=Role.OWNER))
            after = {"name": name, "base_currency": base_currency, "owner": str(owner.id)}
            change.record(company, "company.created", after=after)
            hooks.company_created.run(company=company, stamp=stamp)
    return company, membership


def count_company(person: User, *, now: datetime) -> None:
    """Raises TooManyCompanies."""
    budget = throttling.spend(
        f"companies:{person.pk}", now=now.timestamp(), limit=MAX_COMPANIES_A_DAY, seconds=DAY_SECONDS, exact=True
    )
    if budget.exceeded:
        raise TooManyCompanies(wait=budget.resets_in)


def change_company(*, company: Company, stamp: Stamp, permissions: Permissions, values: dict[str, Any]) -> Company:
    """Stores changed facts of a company.

    Raises Stale, NeedsManager, FactorFirst, IllegalMove, and CompanyExpired for other facts of a read-only one.
    """
    with changing(company, stamp=stamp) as change:
        stored = change.locked_company()
        changed = {name for name, value in values.items() if getattr(stored, name) != value}
        if stored.read_only and changed - MANAGED - OF_STAFF:
            raise CompanyExpired
        if changed & MANAGED and Permission.COMPANY_MANAGE not in permissions:
            raise NeedsManager
        if "require_second_factor" in changed:
            check_demand(stamp, demanded=values["require_second_factor"])
        if "system_status" in changed:
            if values["system_status"] not in STATUS_MOVES[stored.system_status]:
                raise IllegalMove
            expired = values["system_status"] == SystemStatus.EXPIRED
            values = {**values, "system_expired_at": stamp.time if expired else None}
        if changed:
            change.update(stored, "company.updated", last_overall_updated_time=stamp.time, **values)
        if changed & RECOMPUTES:
            hooks.company_settings_changed.run(company=stored, stamp=stamp, changed=changed & RECOMPUTES)
    return stored


def check_demand(stamp: Stamp, *, demanded: bool) -> None:
    """An owner decides it in person, and asks nothing of others that they have not done. Raises PersonNeeded for a
    key, FactorFirst."""
    if stamp.user_id is None:
        raise PersonNeeded
    if demanded and not User.objects.filter(pk=stamp.user_id, second_factor_since__isnull=False).exists():
        raise FactorFirst


def end_trial(*, company: Company, stamp: Stamp, becomes: str) -> bool:
    """Moves a company whose trial is over to the status that follows; False where there was nothing to move."""
    if not trial_is_over(company, stamp.time):
        return False
    with changing(company, stamp=stamp) as change:
        stored = change.locked_company()
        if not trial_is_over(stored, stamp.time):  # somebody prolonged it meanwhile
            return False
        change_company(company=stored, stamp=stamp, permissions=frozenset(), values={"system_status": becomes})
    return True


def trial_is_over(company: Company, now: datetime) -> bool:
    until = company.system_trial_until
    return company.system_status == SystemStatus.TRIAL and until is not None and until <= now
