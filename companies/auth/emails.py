"""Security notifications to a user, by e-mail and in their security log.

E-mails are in the language of the user's profile and sent after the commit; the log is in English. Links
lead to our own pages and carry no secret.
"""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from companies import mailer
from companies.auth import security_log
from companies.auth.log_translations import translate_log_entry
from companies.locales import get_current_locale, get_user_locale, use_locale
from companies.models import ApiKey, AuditContext, SecurityEvent, User

MAX_TEXT_LENGTH = 200  # characters of a name, or of what changed


def send_new_device_email(*, user: User, request: Any, now: datetime) -> None:
    """Notify about a sign-in with a browser that was not used for this account in the last 90 days."""
    with use_locale(get_user_locale(user)):
        body = _(
            "{device} (IP address {address}) signed in to your account {when}. This browser is new or was not "
            "used for 90 days."
        )
        send_security_email(
            user,
            subject=_("New sign-in to your account"),
            body=body.format(**describe_request_origin(request), when=format_email_time(now)),
        )


def send_password_changed_email(*, user: User, now: datetime, request: Any = None) -> None:
    """Notify about a new password. Without `request` it was set by staff or on the command line."""
    if request is None:
        security_log.record_security_action(
            user=user, event=SecurityEvent.PASSWORD_CHANGED, context=AuditContext(time=now), detail="by support"
        )
    else:
        security_log.record_security_event(user=user, event=SecurityEvent.PASSWORD_CHANGED, request=request, now=now)
    with use_locale(get_user_locale(user)):
        if request is None:
            body = _("Support changed the password of your account {when}. All other sessions were signed out.").format(
                when=format_email_time(now)
            )
        else:
            body = _(
                "The password of your account was changed {when} from {device} (IP address {address}). "
                "All other sessions were signed out."
            ).format(when=format_email_time(now), **describe_request_origin(request))
        send_security_email(user, subject=_("Password changed"), body=body)


def send_api_key_created_email(*, key: ApiKey, context: AuditContext) -> None:
    """Hook: notify the user who created an API key. Keys created by other keys or commands are announced to
    owners. A sandbox sends no email; the key is in the user's own log.
    """
    user = User.objects.filter(pk=context.user_id).first() if context.user_id else None
    if user is None:
        return
    detail = f"{truncate_name(key.name)}, ending in {key.last_four}"
    security_log.record_security_action(user=user, event=SecurityEvent.API_KEY_CREATED, context=context, detail=detail)
    if key.company.is_sandbox:
        return
    with use_locale(get_user_locale(user)):
        body = _("API key {key} (…{last}) was created for {company} from your account {when}.").format(
            key=mailer.format_quoted_name(truncate_name(key.name)),
            last=key.last_four,
            company=mailer.format_quoted_name(key.company.name),
            when=format_email_time(context.time),
        )
        send_security_email(user, subject=_("API key created"), body=body)


def send_mfa_changed_email(*, user: User, event: str, context: AuditContext) -> None:
    """Hook: notify about a change of MFA devices; `event` is an English sentence such as "A passkey was added"."""
    change_text = mailer.to_one_line(event).rstrip(".")[:MAX_TEXT_LENGTH]
    security_log.record_security_action(
        user=user, event=SecurityEvent.FACTOR_CHANGED, context=context, detail=change_text
    )
    with use_locale(get_user_locale(user)):
        body = _("{what} {when}.").format(what=translate_log_entry(change_text), when=format_email_time(context.time))
        send_security_email(user, subject=_("Two-factor authentication changed"), body=body)


def send_email_change_requested_email(*, user: User, address: str, context: AuditContext) -> None:
    """Notify the current address about a requested change."""
    with use_locale(get_user_locale(user)):
        body = _(
            "A change of your email address to {address} was requested {when}. It takes effect when "
            "the link sent there is opened."
        ).format(address=mailer.to_one_line(address), when=format_email_time(context.time))
        send_security_email(user, subject=_("Email address change requested"), body=body)


def send_email_changed_email(*, user: User, old_email: str, context: AuditContext) -> None:
    """Notify the old address that it was replaced."""
    with use_locale(get_user_locale(user)):
        subject = _("Email address changed")
        message = _(
            "The email address of your account was changed to {address} {when}. Use it to sign in "
            "from now on.\n\nIf this was not you, contact the operator of this service immediately to "
            "recover your account."
        ).format(address=mailer.to_one_line(user.email), when=format_email_time(context.time))
    transaction.on_commit(lambda: mailer.send_email_later(to=[old_email], subject=subject, message=message))


def describe_request_origin(request: Any) -> dict[str, str]:
    """Return device and address of a request, for the text of an e-mail."""
    return {
        "device": translate_log_entry(security_log.get_device_name(request)),
        "address": security_log.get_client_address(request),
    }


def truncate_name(name: str) -> str:
    """Truncate a name to MAX_TEXT_LENGTH characters."""
    return name if len(name) <= MAX_TEXT_LENGTH else f"{name[: MAX_TEXT_LENGTH - 1]}…"


def format_email_time(moment: datetime) -> str:
    """Format a time for an e-mail, in UTC."""
    return _("on {day} at {time} UTC").format(day=get_current_locale().format_long_day(moment), time=f"{moment:%H:%M}")


def send_security_email(user: User, *, subject: str, body: str) -> None:
    """Send a security e-mail after the commit, with the usual advice."""
    message = _(
        "{body}\n\nIf this was you, ignore this email. If not, reset your password to sign out all "
        "other sessions:\n\n{reset}\n\nReview recent activity and sessions:\n\n{security}"
    ).format(body=body, reset=f"{settings.APP_URL}/password-reset", security=f"{settings.APP_URL}/security")
    transaction.on_commit(lambda: mailer.send_email_later(to=[user.email], subject=subject, message=message))
