"""Notification emails: a fixed text and a link, for the types that a user chose.

An email holds no data of users or banks but the company's name, and no amounts, since others may read it.
"""

from collections.abc import Iterable
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from companies import mailer
from companies.locales import get_user_locale, use_locale
from companies.models import Company, User
from notifications.models import NotificationType

EMAIL_SUBJECTS = {
    NotificationType.CASH_BELOW_ZERO: _("Cash is forecast to fall below zero"),
    NotificationType.BALANCE_MISMATCH: _("Account out of balance"),
    NotificationType.IMPORT_FINISHED: _("Import finished"),
    NotificationType.IMPORT_UNDONE: _("Import undone"),
    NotificationType.MEMBER_JOINED: _("New member"),
    NotificationType.CLOSING_REOPENED: _("A closed month was reopened"),
    NotificationType.API_KEY_CREATED: _("API key created"),
    NotificationType.API_KEY_CREATOR_LEFT: _("API key of a removed member"),
    NotificationType.APP_CONNECTED: _("App connected"),
    NotificationType.APP_REVOKED: _("App disconnected"),
    NotificationType.WEBHOOK_DISABLED: _("Webhook disabled"),
}
"""Each kind as the choice and the mail's subject say it."""


def update_email_preferences(*, user: User, kinds: Iterable[str]) -> None:
    """Store which notification types a user wants by email, for all their companies; unknown types are ignored."""
    chosen_kinds = {*kinds}
    user.mailed = [kind.value for kind in EMAIL_SUBJECTS if kind.value in chosen_kinds]
    user.save(update_fields=["mailed"])


def queue_notification_emails(*, company_id: UUID, kind: NotificationType, recipients: Iterable[UUID]) -> None:
    """Queue emails to the recipients who chose this type, after the transaction commits; none from a sandbox."""
    users = [*User.objects.filter(pk__in=list(recipients), is_active=True, mailed__contains=[kind.value])]
    if users:
        company = Company.objects.only("name", "system_status").get(pk=company_id)
        if company.is_sandbox:
            return
        transaction.on_commit(lambda: send_notification_emails(users, kind, company))


def send_notification_emails(users: list[User], kind: NotificationType, company: Company) -> None:
    """Send one email to each user, in their language, so that nobody sees other addresses."""
    for user in users:
        with use_locale(get_user_locale(user)):
            subject, name = str(EMAIL_SUBJECTS[kind]), mailer.format_quoted_name(company.name)
            message = gettext(
                "{subject} in {name}. See the notification:\n\n{notifications}\n\nChange which notifications "
                "you receive by email:\n\n{choice}"
            ).format(
                subject=subject,
                name=name,
                notifications=f"{settings.APP_URL}/companies/{company.pk}/notifications",
                choice=f"{settings.APP_URL}/profile/notifications",
            )
        mailer.send_email_later(to=[user.email], subject=f"{subject}: {name}", message=message)
