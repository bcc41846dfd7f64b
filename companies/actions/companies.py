"""Operations on companies: creating, updating, ending the trial."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction

from companies import hooks
from companies.auth import throttling
from companies.change import change_company
from companies.closed_periods import PeriodClosed
from companies.errors import ConflictError, PermissionDeniedError, TooManyRequestsError
from companies.models import STATUS_TRANSITIONS, AuditContext, Company, Membership, SystemStatus, User
from companies.permissions import Permission, Permissions, Role
from companies.sandboxes import require_sandbox
from companies.time_zones import UTC_NAME

TRIAL_PERIOD = timedelta(days=14)
MAX_COMPANIES_PER_DAY, DAY_SECONDS = 10, 24 * 3600  # per user
FIXED_WHILE_CLOSED = {"base_currency": "#/baseCurrency", "data_start_date": "#/dataStartDate"}
MANAGED_FIELDS = {"base_currency", "data_start_date", "require_second_factor"}  # affect everyone's figures
STAFF_FIELDS = {"system_status", "system_trial_until"}  # changed by staff or by time
SANDBOX_FIELDS = (  # cleared when staff turn a sandbox into a customer's company
    "test_today",
    "system_sandbox_expire_time",
    "system_deletion_warning",
    "system_deletion_scheduled_time",
)
RECOMPUTE_FIELDS = {"base_currency", "pl_recognize_revenue_on_invoice"}  # derived data depends on these


class CompanyManageRequired(PermissionDeniedError):
    """You need the permission company:manage to change baseCurrency, dataStartDate or requireSecondFactor."""


class SignedInMemberRequired(PermissionDeniedError):
    """API keys cannot change requireSecondFactor. Sign in to change it."""

    code = "permission_denied"


class SecondFactorMissing(ConflictError):
    """Set up two-factor authentication for yourself before you require it."""

    code = "second_factor_missing"


class TooManyCompanies(TooManyRequestsError):
    """You can create up to 10 companies a day. Try again tomorrow."""

    code = "too_many_companies"


class IllegalStatusMove(ConflictError):
    """The company's status changed in the meantime. Reload and try again."""

    code = "illegal_status_move"


class CompanyExpired(PermissionDeniedError):
    """This company is read-only because its trial or subscription has ended."""

    code = "company_expired"


def create_company(
    *,
    name: str,
    base_currency: str,
    owner: User,
    context: AuditContext,
    domain: str | None = None,
    time_zone: str = UTC_NAME,
    standard_tax_percent: Decimal | None = None,
    status: SystemStatus = SystemStatus.TRIAL,
    demonstration: dict[str, int | None] | None = None,
) -> tuple[Company, Membership]:
    """Create a company with its owner, in trial by default, and run the hooks of other apps.

    Raises TooManyCompanies for a user; commands are not limited.
    """
    if context.user_id is not None:
        count_company_creation(owner, now=context.time)
    company = Company(
        name=name,
        base_currency=base_currency,
        domain=domain,
        time_zone=time_zone,
        standard_tax_percent=standard_tax_percent,
        last_overall_updated_time=context.time,
        system_status=status,
        system_trial_until=context.time + TRIAL_PERIOD if status == SystemStatus.TRIAL else None,
        demonstration=demonstration,
    ).mark_created(context)
    with transaction.atomic():
        company.save(force_insert=True)
        with change_company(company, context=context) as change:
            membership = change.insert(Membership(company=company, user=owner, role=Role.OWNER))
            after = {"name": name, "base_currency": base_currency, "owner": str(owner.id)}
            change.record(company, "company.created", after=after)
            hooks.company_created.run(company=company, context=context)
    return company, membership


def count_company_creation(person: User, *, now: datetime) -> None:
    """Count one more company of the user. Raises TooManyCompanies."""
    budget = throttling.consume_budget(
        f"companies:{person.pk}", now=now.timestamp(), limit=MAX_COMPANIES_PER_DAY, seconds=DAY_SECONDS, exact=True
    )
    if budget.is_exceeded:
        raise TooManyCompanies(wait=budget.resets_in)


def update_company(
    *, company: Company, context: AuditContext, permissions: Permissions, values: dict[str, Any]
) -> Company:
    """Update a company's settings.

    Raises:
        PreconditionFailed, CompanyManageRequired, SecondFactorMissing, IllegalStatusMove, NotASandbox
        CompanyExpired: other settings of a read-only company.
    """
    with change_company(company, context=context, closed_pointers=("#/plRecognizeRevenueOnInvoice",)) as change:
        stored_company = change.lock_company_row()
        changed_fields = {name for name, value in values.items() if getattr(stored_company, name) != value}
        if stored_company.read_only and changed_fields - MANAGED_FIELDS - STAFF_FIELDS:
            raise CompanyExpired
        if changed_fields & MANAGED_FIELDS and Permission.COMPANY_MANAGE not in permissions:
            raise CompanyManageRequired
        check_period_open_for_settings(company, changed_fields)
        if "require_second_factor" in changed_fields:
            check_mfa_requirement(context, is_required=values["require_second_factor"])
        if "system_status" in changed_fields:
            values = {**values, **build_status_values(stored_company, values["system_status"], context)}
        if changed_fields:
            change.update(stored_company, "company.updated", last_overall_updated_time=context.time, **values)
        if changed_fields & RECOMPUTE_FIELDS:
            hooks.company_settings_changed.run(
                company=stored_company, context=context, changed=changed_fields & RECOMPUTE_FIELDS
            )
    return stored_company


def check_period_open_for_settings(company: Company, changed: set[str]) -> None:
    """Raise PeriodClosed where a setting changes that figures of closed months depend on, and NotASandbox for the
    day of a company that has the clock's.
    """
    if "test_today" in changed:
        require_sandbox(company)
    fixed = [pointer for name, pointer in FIXED_WHILE_CLOSED.items() if name in changed]
    if fixed and company.closed_through is not None:
        raise PeriodClosed.for_company(company, *fixed)


def build_status_values(company: Company, status: str, context: AuditContext) -> dict[str, Any]:
    """Return the values that change with a company's status. Raises IllegalStatusMove."""
    if status not in STATUS_TRANSITIONS[company.system_status]:
        raise IllegalStatusMove
    values: dict[str, Any] = {"system_expired_at": context.time if status == SystemStatus.EXPIRED else None}
    return values | (dict.fromkeys(SANDBOX_FIELDS) if company.is_sandbox else {})


def check_mfa_requirement(context: AuditContext, *, is_required: bool) -> None:
    """Check who changes the MFA requirement: an owner in person, who has MFA.

    Raises SignedInMemberRequired for an API key, SecondFactorMissing.
    """
    if context.user_id is None:
        raise SignedInMemberRequired
    if is_required and not User.objects.filter(pk=context.user_id, second_factor_since__isnull=False).exists():
        raise SecondFactorMissing


def end_trial(*, company: Company, context: AuditContext, next_status: str) -> bool:
    """Move a company whose trial has ended to `next_status`; False if there was nothing to do."""
    if not is_trial_over(company, context.time):
        return False
    with change_company(company, context=context) as change:
        stored_company = change.lock_company_row()
        if not is_trial_over(stored_company, context.time):  # the trial was extended meanwhile
            return False
        update_company(
            company=stored_company, context=context, permissions=frozenset(), values={"system_status": next_status}
        )
    return True


def is_trial_over(company: Company, now: datetime) -> bool:
    """Return whether the company's trial has ended."""
    until = company.system_trial_until
    return company.system_status == SystemStatus.TRIAL and until is not None and until <= now
