"""Telling people what happened. Who acted is told; what keys and the service did is told to owners and admins.

The functions named for events are called by the act itself, or through hooks (companies.hooks), in its transaction.
"""

from collections.abc import Iterable
from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any
from uuid import UUID

from babel.numbers import get_currency_precision
from django.conf import settings

from companies.locales import EVERYBODYS, reading_as
from companies.models import ApiKey, Membership, Stamp
from companies.permissions import Permission, membership_permissions
from notifications import mailing, words
from notifications.models import Notification, NotificationType

# What it takes to see what a notification is about.
NEEDED_PERMISSIONS = {
    NotificationType.IMPORT_FINISHED: Permission.TRANSACTIONS_READ,
    NotificationType.IMPORT_UNDONE: Permission.TRANSACTIONS_READ,
    NotificationType.APP_CONNECTED: Permission.APPS_MANAGE,
    NotificationType.APP_REVOKED: Permission.APPS_MANAGE,
    NotificationType.API_KEY_CREATED: Permission.API_KEYS_MANAGE,
    NotificationType.API_KEY_CREATOR_LEFT: Permission.API_KEYS_MANAGE,
    NotificationType.BALANCE_MISMATCH: Permission.BALANCES_READ,
    NotificationType.CASH_BELOW_ZERO: Permission.BALANCES_READ,
    NotificationType.MEMBER_JOINED: Permission.MEMBERS_MANAGE,
    NotificationType.WEBHOOK_DISABLED: Permission.COMPANY_MANAGE,
}


def tell(
    *,
    company_id: UUID,
    stamp: Stamp,
    type: NotificationType,  # noqa: A002 - the resource's own word
    link: str | None,
    entity_type: str,
    entity_id: UUID | str | None,
    recipients: Iterable[UUID] | None = None,
    unless_unread: Iterable[str] | None = None,
    **more: Any,
) -> int:
    """One notification to each recipient, in one statement; answers how many were told.

    Without ``recipients`` the person who acted is told, and the company's owners and admins where no person did.
    ``unless_unread`` leaves out those who have not yet read the last one about the same thing that says the same under
    these keys. ``more`` are further keys of the payload, in camelCase, of which its words are made; values must be JSON
    or dates.
    """
    told = set(list_default_recipients(company_id, stamp, type) if recipients is None else recipients)
    about = {"entityType": entity_type, "entityId": None if entity_id is None else str(entity_id)}
    if unless_unread is not None:
        same = about | {name: more[name] for name in unless_unread}
        waiting = Notification.objects.of(company_id).unread().filter(type=type, payload__contains=same)
        told -= set(waiting.values_list("recipient_id", flat=True))
    with reading_as(EVERYBODYS):  # it is kept, and the API answers it
        title, body = words.said(type, more)
    payload = {"title": title, "body": body, "link": link, **about, **more}
    rows = [
        Notification(company_id=company_id, type=type, recipient_id=user_id, payload=payload).stamp_new(stamp)
        for user_id in sorted(told)
    ]
    Notification.objects.bulk_create(rows)
    mailing.mail(company_id=company_id, kind=type, recipients=told)
    return len(rows)


def list_default_recipients(company_id: UUID, stamp: Stamp, kind: NotificationType) -> list[UUID]:
    """The person who acted; for acts of keys and of the service the owners and admins who may see what happened."""
    if stamp.user_id is not None:
        return [stamp.user_id]
    return list_managers(company_id, NEEDED_PERMISSIONS[kind])


def list_managers(company_id: UUID, permission: Permission) -> list[UUID]:
    """The company's owners and admins who hold a permission: a membership may have a narrower list than its role's."""
    rows = Membership.objects.of(company_id).managers().values_list("user_id", "role", "permissions")
    return [user_id for user_id, role, own in rows if permission in membership_permissions(role=role, explicit=own)]


def page(company_id: UUID, path: str = "") -> str:
    """The address of a company's page in the web application."""
    return f"{settings.APP_URL}/companies/{company_id}{path}"


def written(amount: Decimal, currency: str) -> str:
    """An amount as the API writes it: with the currency's decimals."""
    return str(amount.quantize(Decimal(1).scaleb(-get_currency_precision(currency)), ROUND_HALF_UP, Context(prec=50)))


API_KEYS_PAGE = "/settings/api-keys"
IMPORTS_PAGE = "/imports"
MEMBERS_PAGE = "/settings/members"
WEBHOOKS_PAGE = "/settings/webhooks"

# ---------------------------------------------------------------------------------------------- people, keys and apps


def member_joined(*, membership: Membership, stamp: Stamp) -> None:
    """Somebody accepted: owners and admins are told, who asked them or might ask who it is."""
    tell(
        company_id=membership.company_id,
        stamp=stamp,
        type=NotificationType.MEMBER_JOINED,
        link=page(membership.company_id, MEMBERS_PAGE),
        entity_type="member",
        entity_id=membership.id,
        recipients=set(list_managers(membership.company_id, Permission.MEMBERS_MANAGE)) - {membership.user_id},
        name=membership.called,
        email=membership.shown_email,
        role=membership.role,
    )


def api_key_created(*, key: ApiKey, stamp: Stamp) -> None:
    """There is a new way into the company."""
    tell(
        company_id=key.company_id,
        stamp=stamp,
        type=NotificationType.API_KEY_CREATED,
        link=page(key.company_id, API_KEYS_PAGE),
        entity_type="apiKey",
        entity_id=key.id,
        name=key.name,
        lastFour=key.last_four,
        permissions=key.permissions,
    )


def api_key_creator_left(*, membership: Membership, keys: list[ApiKey], stamp: Stamp) -> None:
    """Keys outlive the membership of their creator: owners decide what becomes of each."""
    owners = list(Membership.objects.of(membership.company_id).owners().values_list("user_id", flat=True))
    for key in keys:
        tell(
            company_id=membership.company_id,
            stamp=stamp,
            type=NotificationType.API_KEY_CREATOR_LEFT,
            link=page(membership.company_id, API_KEYS_PAGE),
            entity_type="apiKey",
            entity_id=key.id,
            recipients=owners,
            name=key.name,
            lastFour=key.last_four,
            email=membership.shown_email,
        )


def app_connected(*, consent: Any, stamp: Stamp) -> None:
    """An app may reach the company's data. ``consent`` has company_id, id, scopes, user and application."""
    tell(
        company_id=consent.company_id,
        stamp=stamp,
        type=NotificationType.APP_CONNECTED,
        link=page(consent.company_id, API_KEYS_PAGE),
        entity_type="connectedApp",
        entity_id=consent.id,
        applicationName=consent.application.name,
        email=consent.user.email,
        scopes=list(consent.scopes),
    )


def app_revoked(*, consent: Any, stamp: Stamp) -> None:
    """An app can no longer reach the company's data."""
    tell(
        company_id=consent.company_id,
        stamp=stamp,
        type=NotificationType.APP_REVOKED,
        link=page(consent.company_id, API_KEYS_PAGE),
        entity_type="connectedApp",
        entity_id=consent.id,
        applicationName=consent.application.name,
        email=consent.user.email,
    )


def webhook_disabled(*, endpoint: Any, stamp: Stamp) -> None:
    """No events are sent any more. ``endpoint`` has company_id, id, url, failing_since and last_status."""
    owners = list(Membership.objects.of(endpoint.company_id).owners().values_list("user_id", flat=True))
    tell(
        company_id=endpoint.company_id,
        stamp=stamp,
        type=NotificationType.WEBHOOK_DISABLED,
        link=page(endpoint.company_id, WEBHOOKS_PAGE),
        entity_type="webhookEndpoint",
        entity_id=endpoint.id,
        recipients=owners,
        url=endpoint.url,
        failingSince=endpoint.failing_since,
        lastStatus=endpoint.last_status,
    )


# ---------------------------------------------------------------------------------------------- money


def import_finished(
    *, company_id: UUID, stamp: Stamp, import_id: UUID, count: int, skipped_before_data_start: int, duplicates: int
) -> None:
    """An import was stored; ``count`` rows of it are new."""
    tell(
        company_id=company_id,
        stamp=stamp,
        type=NotificationType.IMPORT_FINISHED,
        link=page(company_id, IMPORTS_PAGE),
        entity_type="import",
        entity_id=import_id,
        count=count,
        skippedBeforeDataStart=skipped_before_data_start,
        duplicates=duplicates,
    )


def import_undone(
    *, company_id: UUID, stamp: Stamp, import_id: UUID, deleted_count: int, changed_count: int = 0
) -> None:
    """An import was taken back; ``changed_count`` of its rows had been changed since."""
    tell(
        company_id=company_id,
        stamp=stamp,
        type=NotificationType.IMPORT_UNDONE,
        link=page(company_id, IMPORTS_PAGE),
        entity_type="import",
        entity_id=import_id,
        deletedCount=deleted_count,
        changedCount=changed_count,
    )


def balance_mismatch(
    *,
    company_id: UUID,
    stamp: Stamp,
    account_id: UUID,
    account_name: str,
    reported: Decimal,
    calculated: Decimal,
    currency: str,
    day: date,
) -> None:
    """The balance that the bank reports of an evening is not what the transactions add up to. Owners and admins are
    told, of the same balance once until it is read."""
    tell(
        company_id=company_id,
        stamp=stamp,
        type=NotificationType.BALANCE_MISMATCH,
        link=page(company_id, f"/accounts/{account_id}"),
        entity_type="account",
        entity_id=account_id,
        recipients=list_managers(company_id, Permission.BALANCES_READ),
        unless_unread=("date", "reported", "currency"),
        accountName=account_name,
        date=day.isoformat(),
        reported=written(reported, currency),
        calculated=written(calculated, currency),
        currency=currency,
    )


def cash_below_zero(*, company_id: UUID, stamp: Stamp, day: date, amount: Decimal, currency: str) -> None:
    """By the forecast the cash runs out on a day. Said once until it is read."""
    tell(
        company_id=company_id,
        stamp=stamp,
        type=NotificationType.CASH_BELOW_ZERO,
        link=page(company_id),
        entity_type="company",
        entity_id=company_id,
        unless_unread=(),
        date=day,
        amount=written(amount, currency),
        currency=currency,
    )
