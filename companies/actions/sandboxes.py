"""Sandboxes: copy a company to try things out, warn before the copy expires, and delete it."""

import math
from datetime import datetime, timedelta
from uuid import UUID

from django.core.files.storage import storages
from django.db import connection

from companies import hooks
from companies.actions.companies import CompanyExpired
from companies.actions.company_data import copy_company_rows, delete_company_rows, list_company_models
from companies.change import change_company
from companies.errors import ConflictError, NotFoundError
from companies.models import AuditContext, Company, DirectoryEntry, Membership, SystemStatus, User, generate_id
from companies.sandboxes import require_sandbox
from companies.storage.actions import delete_from_storage, delete_from_storage_after_commit, save_to_storage

DEFAULT_DAYS, MAX_DAYS = 30, 365  # until a sandbox expires
MAX_SANDBOXES = 5  # of a user at the same time
WARNING_PERIOD = timedelta(days=7)  # before a sandbox is deleted
UNCOPIED_FIELDS = {  # of the company's row; all others are settings
    "id", "datastore_id", "name", "custom_logo_path", "site_logo_path", "site_logo_domain", "site_logo_time",
    "last_overall_updated_time", "closed_through", "reported_through", "system_status", "system_trial_until",
    "system_expired_at", "system_deletion_warning", "system_sandbox_expire_time", "system_deletion_scheduled_time",
    "system_payment_provider", "system_tier_overage_since", "test_today", "demonstration", "copied_company_id",
    "created_time", "created_user_id", "last_updated_time", "last_updated_user_id",
}  # fmt: skip


class CopyOfSandbox(ConflictError):
    """A sandbox cannot be copied. Copy the original company instead."""

    code = "copy_of_sandbox"


class TooManySandboxes(ConflictError):
    """You can have up to 5 sandboxes. Delete one to create another."""

    code = "too_many_sandboxes"


def copy_company(*, company: Company, context: AuditContext, name: str, expires_in_days: int = DEFAULT_DAYS) -> Company:
    """Copy a company as a sandbox of the user, in one transaction during which nothing else changes the company.

    The user has the same role and permissions in it. Files are shared by both: the content is stored once.

    Raises:
        CopyOfSandbox, CompanyExpired, TooManySandboxes.
        NotFoundError: the user is no member.
        QuotaExceeded: the files do not fit into the user's storage.
    """
    logo_path = copy_logo(company)
    try:
        with change_company(company, context=context) as change:
            source = Company.objects.get(id=company.id)
            if source.is_sandbox:
                raise CopyOfSandbox
            if source.read_only:
                raise CompanyExpired
            membership = Membership.objects.for_company(company.id).active().filter(user=context.user_id).first()
            if membership is None or context.user_id is None:
                raise NotFoundError
            check_sandbox_count(context.user_id)
            expire_time = context.time + timedelta(days=expires_in_days)
            sandbox = build_sandbox(source, name=name, expire_time=expire_time, context=context)
            sandbox.custom_logo_path = logo_path
            sandbox.save(force_insert=True)
            fill_sandbox(source=source, sandbox=sandbox, membership=membership, context=context)
            after = {"sandbox": str(sandbox.id), "name": name, "system_sandbox_expire_time": expire_time}
            change.record(source, "company.copied", after=after)
    except BaseException:
        if logo_path:
            delete_from_storage(storage=storages["assets"], name=logo_path)
        raise
    return Company.objects.get(id=sandbox.id)


def check_sandbox_count(user_id: UUID) -> None:
    """Raise TooManySandboxes where the user has the maximum; locks the user's row, so that copies are counted."""
    User.objects.select_for_update(no_key=True).get(id=user_id)
    company_ids = DirectoryEntry.objects.list_company_ids(user_id)
    own_sandboxes = Company.objects.filter(
        id__in=company_ids, system_status=SystemStatus.SANDBOX, created_user_id=str(user_id)
    )
    if own_sandboxes.count() >= MAX_SANDBOXES:
        raise TooManySandboxes


def build_sandbox(source: Company, *, name: str, expire_time: datetime, context: AuditContext) -> Company:
    """Build the row of a sandbox with the company's settings."""
    settings = {
        field.attname: getattr(source, field.attname)
        for field in Company._meta.concrete_fields
        if field.name not in UNCOPIED_FIELDS
    }
    return Company(
        **settings,
        name=name,
        last_overall_updated_time=context.time,
        system_status=SystemStatus.SANDBOX,
        copied_company_id=source.id,
        system_sandbox_expire_time=expire_time,
        system_deletion_scheduled_time=expire_time,
    ).mark_created(context)


def fill_sandbox(*, source: Company, sandbox: Company, membership: Membership, context: AuditContext) -> None:
    """Add the user as the only member, and copy the company's rows."""
    DirectoryEntry.objects.create(subject=source.id, company_id=sandbox.id)  # which finds the copies of a company
    with change_company(sandbox, context=context) as change:
        change.insert(
            Membership(
                company=sandbox,
                user_id=membership.user_id,
                role=membership.role,
                permissions=membership.permissions,
            )
        )
        counts = copy_company_rows(source=source, target=sandbox, user_id=membership.user_id)
        change.record(sandbox, "company.created", after={"name": sandbox.name, "copied_company_id": str(source.id)})
        hooks.company_copied.run(source=source, company=sandbox, counts=counts, context=context)


def copy_logo(company: Company) -> str | None:
    """Copy the company's own logo and return the path of the copy; None where there is no logo to read."""
    storage = storages["assets"]
    if company.custom_logo_path is None:
        return None
    try:
        with storage.open(company.custom_logo_path) as file:
            content = file.read()
    except OSError:
        return None
    return save_to_storage(storage=storage, name=f"logos/{generate_id()}.png", content=content)


def delete_sandbox(*, company: Company, context: AuditContext) -> None:
    """Delete a sandbox with everything in it, closed months and the audit log included.

    Raises:
        NotASandbox.
    """
    with change_company(company, context=context) as change:
        sandbox = change.lock_company_row()
        require_sandbox(sandbox)
        with connection.cursor() as cursor:  # what the audit log's trigger asks for
            cursor.execute("SELECT set_config('tidebook.deleted_company', %s, true)", [str(sandbox.id)])
        delete_company_rows(sandbox, list_company_models())
        DirectoryEntry.objects.filter(company_id=sandbox.id).delete()
        for path in filter(None, (sandbox.custom_logo_path, sandbox.site_logo_path)):
            delete_from_storage_after_commit(storage=storages["assets"], name=path)
        Company.objects.filter(id=sandbox.id).delete()


def delete_expired_sandbox(*, company: Company, context: AuditContext) -> bool:
    """Delete the company if it is a sandbox whose time is over; return whether it was."""
    expire_time = company.system_sandbox_expire_time
    if not company.is_sandbox or expire_time is None or expire_time > context.time:
        return False
    delete_sandbox(company=company, context=context)
    return True


def warn_of_sandbox_expiry(*, company: Company, context: AuditContext) -> bool:
    """Notify the members of a sandbox that will be deleted within a week, once; return whether they were."""
    if not needs_expiry_warning(company, context.time):
        return False
    with change_company(company, context=context) as change:
        sandbox = change.lock_company_row()
        expire_time = sandbox.system_sandbox_expire_time
        if expire_time is None or not needs_expiry_warning(sandbox, context.time):
            return False
        days_left = math.ceil((expire_time - context.time) / timedelta(days=1))
        change.update(sandbox, "company.updated", system_deletion_warning=days_left)
        hooks.sandbox_expiring.run(company=sandbox, context=context)
    return True


def needs_expiry_warning(company: Company, now: datetime) -> bool:
    expire_time = company.system_sandbox_expire_time
    is_soon = expire_time is not None and expire_time - now <= WARNING_PERIOD
    return company.is_sandbox and is_soon and company.system_deletion_warning is None
