"""Send notifications. A user's own actions notify that user; those of API keys and the service notify
managers.

The `notify_…` functions are called by the action itself or as hooks, in its transaction.
"""

from collections.abc import Iterable
from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any
from uuid import UUID

from babel.numbers import get_currency_precision
from django.conf import settings

from companies.locales import DEFAULT_LOCALE, use_locale
from companies.models import ApiKey, AuditContext, Company, Membership
from companies.permissions import Permission, get_membership_permissions
from notifications import emails, messages
from notifications.models import Notification, NotificationType

# The permission needed to see the subject of a notification.
NEEDED_PERMISSIONS = {
    NotificationType.IMPORT_FINISHED: Permission.TRANSACTIONS_READ,
    NotificationType.IMPORT_UNDONE: Permission.TRANSACTIONS_READ,
    NotificationType.APP_CONNECTED: Permission.APPS_MANAGE,
    NotificationType.APP_REVOKED: Permission.APPS_MANAGE,
    NotificationType.API_KEY_CREATED: Permission.API_KEYS_MANAGE,
    NotificationType.API_KEY_CREATOR_LEFT: Permission.API_KEYS_MANAGE,
    NotificationType.BALANCE_MISMATCH: Permission.BALANCES_READ,
    NotificationType.CASH_BELOW_ZERO: Permission.BALANCES_READ,
    NotificationType.CLOSING_REOPENED: Permission.FINANCIALS_READ,
    NotificationType.MEMBER_JOINED: Permission.MEMBERS_MANAGE,
    NotificationType.SANDBOX_EXPIRING: Permission.COMPANY_READ,
    NotificationType.WEBHOOK_DISABLED: Permission.COMPANY_MANAGE,
}


def send_notification(
    *,
    company_id: UUID,
    context: AuditContext,
    type: NotificationType,  # noqa: A002 - the resource's own word
    link: str | None,
    entity_type: str,
    entity_id: UUID | str | None,
    recipients: Iterable[UUID] | None = None,
    unless_unread: Iterable[str] | None = None,
    **payload_values: Any,
) -> int:
    """Create a notification for each recipient, in one statement; return their number.

    Args:
        recipients: default: the user who acted, or the managers if no user did.
        unless_unread: leave out recipients with an unread notification of the same entity and the same
            values of these keys.
        payload_values: more keys of the payload in camelCase, from which the texts are made; JSON values
            or dates.
    """
    recipient_ids = set(list_recipients_for_actor(company_id, context, type) if recipients is None else recipients)
    entity = {"entityType": entity_type, "entityId": None if entity_id is None else str(entity_id)}
    if unless_unread is not None:
        matching_payload = entity | {name: payload_values[name] for name in unless_unread}
        unread = (
            Notification.objects.for_company(company_id).unread().filter(type=type, payload__contains=matching_payload)
        )
        recipient_ids -= set(unread.values_list("recipient_id", flat=True))
    with use_locale(DEFAULT_LOCALE):  # stored texts are English, since the API returns them
        title, body = messages.render_message(type, payload_values)
    payload = {"title": title, "body": body, "link": link, **entity, **payload_values}
    rows = [
        Notification(company_id=company_id, type=type, recipient_id=user_id, payload=payload).mark_created(context)
        for user_id in sorted(recipient_ids)
    ]
    Notification.objects.bulk_create(rows)
    emails.queue_notification_emails(company_id=company_id, kind=type, recipients=recipient_ids)
    return len(rows)


def list_recipients_for_actor(company_id: UUID, context: AuditContext, kind: NotificationType) -> list[UUID]:
    """Return the user who acted; for actions of keys and the service the managers who may see the subject."""
    if context.user_id is not None:
        return [context.user_id]
    return list_manager_ids(company_id, NEEDED_PERMISSIONS[kind])


def list_manager_ids(company_id: UUID, permission: Permission) -> list[UUID]:
    """Return the owners and admins who have a permission; a membership may have fewer than its role."""
    rows = Membership.objects.for_company(company_id).managers().values_list("user_id", "role", "permissions")
    return [
        user_id
        for user_id, role, explicit_permissions in rows
        if permission in get_membership_permissions(role=role, explicit=explicit_permissions)
    ]


def build_page_url(company_id: UUID, path: str = "") -> str:
    """Build the URL of a page of the company."""
    return f"{settings.APP_URL}/companies/{company_id}{path}"


def format_api_amount(amount: Decimal, currency: str) -> str:
    """Format an amount as the API does, with the currency's decimals."""
    return str(amount.quantize(Decimal(1).scaleb(-get_currency_precision(currency)), ROUND_HALF_UP, Context(prec=50)))


COMPANY_PAGE = "/settings"
API_KEYS_PAGE = "/settings/api-keys"
IMPORTS_PAGE = "/imports"
MEMBERS_PAGE = "/settings/members"
WEBHOOKS_PAGE = "/settings/webhooks"
CLOSINGS_PAGE = "/closings"

# ---------------------------------------------------------------------------------------------- people, keys and apps


def notify_member_joined(*, membership: Membership, context: AuditContext) -> None:
    """Notify managers that a user joined the company."""
    send_notification(
        company_id=membership.company_id,
        context=context,
        type=NotificationType.MEMBER_JOINED,
        link=build_page_url(membership.company_id, MEMBERS_PAGE),
        entity_type="member",
        entity_id=membership.id,
        recipients=set(list_manager_ids(membership.company_id, Permission.MEMBERS_MANAGE)) - {membership.user_id},
        name=membership.display_name,
        email=membership.shown_email,
        role=membership.role,
    )


def notify_api_key_created(*, key: ApiKey, context: AuditContext) -> None:
    """Notify that an API key was created."""
    send_notification(
        company_id=key.company_id,
        context=context,
        type=NotificationType.API_KEY_CREATED,
        link=build_page_url(key.company_id, API_KEYS_PAGE),
        entity_type="apiKey",
        entity_id=key.id,
        name=key.name,
        lastFour=key.last_four,
        permissions=key.permissions,
    )


def notify_api_key_creator_left(*, membership: Membership, keys: list[ApiKey], context: AuditContext) -> None:
    """Notify owners that the creator of API keys left; the keys stay valid."""
    owners = list(Membership.objects.for_company(membership.company_id).owners().values_list("user_id", flat=True))
    for key in keys:
        send_notification(
            company_id=membership.company_id,
            context=context,
            type=NotificationType.API_KEY_CREATOR_LEFT,
            link=build_page_url(membership.company_id, API_KEYS_PAGE),
            entity_type="apiKey",
            entity_id=key.id,
            recipients=owners,
            name=key.name,
            lastFour=key.last_four,
            email=membership.shown_email,
        )


def notify_app_connected(*, consent: Any, context: AuditContext) -> None:
    """Notify that an app was connected. `consent` has company_id, id, scopes, user and application."""
    send_notification(
        company_id=consent.company_id,
        context=context,
        type=NotificationType.APP_CONNECTED,
        link=build_page_url(consent.company_id, API_KEYS_PAGE),
        entity_type="connectedApp",
        entity_id=consent.id,
        applicationName=consent.application.name,
        email=consent.user.email,
        scopes=list(consent.scopes),
    )


def notify_app_revoked(*, consent: Any, context: AuditContext) -> None:
    """Notify that an app was disconnected."""
    send_notification(
        company_id=consent.company_id,
        context=context,
        type=NotificationType.APP_REVOKED,
        link=build_page_url(consent.company_id, API_KEYS_PAGE),
        entity_type="connectedApp",
        entity_id=consent.id,
        applicationName=consent.application.name,
        email=consent.user.email,
    )


def notify_sandbox_expiring(*, company: Company, context: AuditContext) -> None:
    """Notify all members of a sandbox that it will be deleted soon."""
    members = Membership.objects.for_company(company.id).active()
    send_notification(
        company_id=company.id,
        context=context,
        type=NotificationType.SANDBOX_EXPIRING,
        link=build_page_url(company.id, COMPANY_PAGE),
        entity_type="company",
        entity_id=company.id,
        recipients=members.values_list("user_id", flat=True),
        name=company.name,
        expireTime=company.system_sandbox_expire_time,
    )


def notify_webhook_disabled(*, endpoint: Any, context: AuditContext) -> None:
    """Notify owners that a webhook was disabled.

    `endpoint` has company_id, id, url, failing_since and last_status.
    """
    owners = list(Membership.objects.for_company(endpoint.company_id).owners().values_list("user_id", flat=True))
    send_notification(
        company_id=endpoint.company_id,
        context=context,
        type=NotificationType.WEBHOOK_DISABLED,
        link=build_page_url(endpoint.company_id, WEBHOOKS_PAGE),
        entity_type="webhookEndpoint",
        entity_id=endpoint.id,
        recipients=owners,
        url=endpoint.url,
        failingSince=endpoint.failing_since,
        lastStatus=endpoint.last_status,
    )


# ---------------------------------------------------------------------------------------------- money


def notify_import_finished(
    *,
    company_id: UUID,
    context: AuditContext,
    import_id: UUID,
    count: int,
    skipped_before_data_start: int,
    duplicates: int,
    skipped_closed: int = 0,
    filename: str | None = None,
) -> None:
    """Notify that an import was stored; `count` is the number of new rows, `filename` the file that it came in."""
    named: dict[str, Any] = {"filename": filename} if filename else {}
    send_notification(
        company_id=company_id,
        context=context,
        type=NotificationType.IMPORT_FINISHED,
        link=build_page_url(company_id, IMPORTS_PAGE),
        entity_type="import",
        entity_id=import_id,
        count=count,
        skippedBeforeDataStart=skipped_before_data_start,
        skippedClosed=skipped_closed,
        duplicates=duplicates,
        **named,
    )


def notify_import_undone(
    *, company_id: UUID, context: AuditContext, import_id: UUID, deleted_count: int, changed_count: int = 0
) -> None:
    """Notify that an import was undone; `changed_count` of its rows had been changed since."""
    send_notification(
        company_id=company_id,
        context=context,
        type=NotificationType.IMPORT_UNDONE,
        link=build_page_url(company_id, IMPORTS_PAGE),
        entity_type="import",
        entity_id=import_id,
        deletedCount=deleted_count,
        changedCount=changed_count,
    )


def notify_balance_mismatch(
    *,
    company_id: UUID,
    context: AuditContext,
    account_id: UUID,
    account_name: str,
    reported: Decimal,
    calculated: Decimal,
    currency: str,
    day: date,
) -> None:
    """Notify managers that the bank's balance differs from the ledger's; once per balance until it is read."""
    send_notification(
        company_id=company_id,
        context=context,
        type=NotificationType.BALANCE_MISMATCH,
        link=build_page_url(company_id, f"/accounts/{account_id}"),
        entity_type="account",
        entity_id=account_id,
        recipients=list_manager_ids(company_id, Permission.BALANCES_READ),
        unless_unread=("date", "reported", "currency"),
        accountName=account_name,
        date=day.isoformat(),
        reported=format_api_amount(reported, currency),
        calculated=format_api_amount(calculated, currency),
        currency=currency,
    )


def notify_cash_below_zero(
    *, company_id: UUID, context: AuditContext, day: date, amount: Decimal, currency: str
) -> None:
    """Notify that cash is forecast to fall below zero; once until it is read."""
    send_notification(
        company_id=company_id,
        context=context,
        type=NotificationType.CASH_BELOW_ZERO,
        link=build_page_url(company_id),
        entity_type="company",
        entity_id=company_id,
        unless_unread=(),
        date=day,
        amount=format_api_amount(amount, currency),
        currency=currency,
    )


def notify_closing_reopened(
    *, company_id: UUID, context: AuditContext, closing_id: UUID, month: str, last_month: str, reason: str
) -> None:
    """Notify owners and admins that months from `month` to `last_month` (YYYY-MM) were reopened."""
    send_notification(
        company_id=company_id,
        context=context,
        type=NotificationType.CLOSING_REOPENED,
        link=build_page_url(company_id, CLOSINGS_PAGE),
        entity_type="closing",
        entity_id=closing_id,
        recipients=list_manager_ids(company_id, Permission.FINANCIALS_READ),
        month=month,
        lastMonth=last_month,
        reason=reason,
    )
