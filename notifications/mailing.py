"""What somebody is told comes by mail too, where they asked for it: one fixed text, and a link to the notification.

Nothing of what people or banks wrote goes into a mail but the company's name, and no amount: a mail is read by others.
"""

from collections.abc import Iterable
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companies.locales import locale_of_person, reading_as
from companies.models import Company, User
from companies.running import mailing
from notifications.models import NotificationType

TOLD = {
    NotificationType.CASH_BELOW_ZERO: _("Cash is forecast to fall below zero"),
    NotificationType.BALANCE_MISMATCH: _("The bank’s balance differs from the books"),
    NotificationType.IMPORT_FINISHED: _("An import was stored"),
    NotificationType.IMPORT_UNDONE: _("An import was taken back"),
    NotificationType.MEMBER_JOINED: _("Somebody joined the company"),
    NotificationType.API_KEY_CREATED: _("An API key was created"),
    NotificationType.API_KEY_CREATOR_LEFT: _("The creator of an API key left"),
    NotificationType.APP_CONNECTED: _("An app was connected"),
    NotificationType.APP_REVOKED: _("An app was disconnected"),
    NotificationType.WEBHOOK_DISABLED: _("A webhook was disabled"),
}
"""Each kind as the choice and the mail's subject say it."""


def choose(*, user: User, kinds: Iterable[str]) -> None:
    """Which kinds somebody wants by mail, for all their companies; a kind that there is not is none."""
    wanted = {*kinds}
    user.mailed = [kind.value for kind in TOLD if kind.value in wanted]
    user.save(update_fields=["mailed"])


def mail(*, company_id: UUID, kind: NotificationType, recipients: Iterable[UUID]) -> None:
    """To those of the recipients who asked for this kind; after the change is committed."""
    people = [*User.objects.filter(pk__in=list(recipients), is_active=True, mailed__contains=[kind.value])]
    if people:
        company = Company.objects.only("name").get(pk=company_id)
        transaction.on_commit(lambda: send(people, kind, company))


def send(people: list[User], kind: NotificationType, company: Company) -> None:
    """One mail to each, in their language: nobody sees the others' addresses."""
    for person in people:
        with reading_as(locale_of_person(person)):
            told, name = str(TOLD[kind]), mailing.quoted(company.name)
            message = gettext(
                "{told}, in the company {name}. The notification says more:\n\n{notifications}\n\n"
                "Which notifications come by mail you choose here:\n\n{choice}"
            ).format(
                told=told,
                name=name,
                notifications=f"{settings.APP_URL}/companies/{company.pk}/notifications",
                choice=f"{settings.APP_URL}/profile/notifications",
            )
        mailing.send_later(to=[person.email], subject=f"{told}: {name}", message=message)
