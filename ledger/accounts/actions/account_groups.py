"""Create, update, move and delete account groups."""

from typing import Any
from uuid import UUID

from companies.change import change_company
from companies.models import AuditContext, Company
from ledger.models import (
    AccountGroup,
)


def create_account_group(*, company: Company, context: AuditContext, values: dict[str, Any]) -> AccountGroup:
    """Create an account group."""
    with change_company(company, context=context) as change:
        return change.create(AccountGroup(company=company, **values), "accountGroup.created")


def update_account_group(
    *, company: Company, context: AuditContext, group_id: UUID | str, values: dict[str, Any]
) -> AccountGroup:
    """Rename, reorder or archive an account group; its accounts do not change.

    Raises:
        NotFoundError, PreconditionFailed.
    """
    with change_company(company, context=context) as change:
        group = change.lock(AccountGroup, group_id)
        change.update(group, "accountGroup.updated", **values)
    return group


def move_account_group(*, company: Company, context: AuditContext, group_id: UUID, down: bool) -> AccountGroup:
    """Move an account group up or down by one position. Raises NotFoundError."""
    with change_company(company, context=context) as change:
        groups = AccountGroup.objects.for_company(company.id).in_display_order()
        return change.move_row(groups, group_id, action="accountGroup.updated", move_down=down)


def delete_account_group(*, company: Company, context: AuditContext, group_id: UUID | str) -> None:
    """Delete an empty account group.

    Raises:
        NotFoundError, PreconditionFailed, AccountGroupNotEmpty.
    """
    with change_company(company, context=context) as change:
        change.delete(change.lock(AccountGroup, group_id), "accountGroup.deleted")
