"""What somebody is told comes by mail too, where they asked for it: one fixed text, and a link to the notification.

Nothing of what people or banks wrote goes into a mail but the company's name, and no amount: a mail is read by others.
"""

from collections.abc import Iterable
from uuid import UUID

from django.conf import settings
from django.db import transaction

from companies.models import Company, User
from companies.running import mailing
from notifications.models import NotificationType

TOLD = {
    NotificationType.CASH_BELOW_ZERO: "Cash is forecast to fall below zero",
    NotificationType.BALANCE_MISMATCH: "The bank’s balance differs from the books",
    NotificationType.IMPORT_FINISHED: "An import was stored",
    NotificationType.IMPORT_UNDONE: "An import was taken back",
    NotificationType.MEMBER_JOINED: "Somebody joined the company",
    NotificationType.API_KEY_CREATED: "An API key was created",
    NotificationType.API_KEY_CREATOR_LEFT: "The creator of an API key left",
    NotificationType.APP_CONNECTED: "An app was connected",
    NotificationType.APP_REVOKED: "An app was disconnected",
    NotificationType.WEBHOOK_DISABLED: "A webhook was disabled",
}
"""Each kind as the choice and the mail's subject say it."""


def mail(*, company_id: UUID, kind: NotificationType, recipients: Iterable[UUID]) -> None:
    """To those of the recipients who asked for this kind; after the change is committed."""
    people = User.objects.filter(pk__in=list(recipients), is_active=True, mailed__contains=[kind.value])
    addresses = [*people.values_list("email", flat=True)]
    if addresses:
        name = mailing.quoted(Company.objects.only("name").get(pk=company_id).name)
        transaction.on_commit(lambda: send(addresses, TOLD[kind], name, company_id))


def send(addresses: list[str], told: str, name: str, company_id: UUID) -> None:
    """One mail to each: nobody sees the others' addresses."""
    message = (
        f"{told}, in the company {name}. The notification says more:\n\n"
        f"{settings.APP_URL}/companies/{company_id}/notifications\n\n"
        f"Which notifications come by mail you choose here:\n\n{settings.APP_URL}/profile/notifications"
    )
    for address in addresses:
        mailing.send_later(to=[address], subject=f"{told}: {name}", message=message)
