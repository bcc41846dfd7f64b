"""Sign-up of new users: a mailed link confirms the address, and the account is created behind it.

Nothing is stored before that: the link carries the address, signed.
"""

from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from companies import email_limits, mailer
from companies.actions.invitations import AccountThere, store_invited_user
from companies.errors import ConflictError
from companies.locales import Locale, get_user_locale, use_locale
from companies.models import AuditContext, User

LINK_TTL = timedelta(days=1)
LINK_PURPOSE = "companies.sign_up"  # so that no other signed text is a link


class SignUpEnded(ConflictError):
    """This link is no longer valid. Sign up again, or sign in if you have an account."""

    code = "sign_up_ended"


def request_sign_up(*, email: str, locale: Locale, context: AuditContext) -> None:
    """Mail a link to create an account, or how to sign in where there is one.

    The work is the same, so that neither the answer nor its time reveals which it was.

    Nothing is sent to deactivated users, and beyond the limit of an address.

    Args:
        locale: the visitor's, for an address without an account.
    """
    may_send = email_limits.consume_email_limit(email, now=context.time)
    user = User.objects.find_by_email(email)
    with use_locale(get_user_locale(user) if user else locale):
        new_text = _(
            "Create your Tidebook account here:\n\n{link}\n\nThe link is valid for one day. "
            "If you did not request this, ignore this email."
        ).format(link=f"{settings.APP_URL}/sign-up/{build_sign_up_token(email)}")
        known_text = _(
            "You already have a Tidebook account. Sign in:\n\n{link}\n\nIf you forgot your password, set a new one:\n\n"
            "{reset}\n\nIf you did not request this, ignore this email."
        ).format(link=f"{settings.APP_URL}/sign-in", reset=f"{settings.APP_URL}/password-reset")
        has_account = user is not None and user.has_usable_password()
        mailer.send_email_later(
            to=[email] if may_send and (user is None or user.is_active) else [],
            subject=_("Your Tidebook account"),
            message=known_text if has_account else new_text,
        )


def build_sign_up_token(email: str) -> str:
    return signing.dumps(email, salt=LINK_PURPOSE)


def get_user_to_sign_up(token: str) -> User:
    """Return the user of a mailed link, not saved yet: a new one, or one who never had a password.

    Raises:
        SignUpEnded: the link is wrong or too old, or the address has an account.
    """
    try:
        email = signing.loads(token, salt=LINK_PURPOSE, max_age=LINK_TTL)
    except signing.BadSignature:
        raise SignUpEnded from None
    user = User.objects.find_by_email(email)
    if user is not None and (user.has_usable_password() or not user.is_active):
        raise SignUpEnded
    return user or User(email=User.objects.normalize_email(email))


def create_signed_up_user(user: User) -> None:
    """Save the user of a link with the password that was chosen.

    Raises:
        SignUpEnded: the link was used in the meantime.
    """
    try:
        with transaction.atomic():
            store_invited_user(user)
    except (AccountThere, IntegrityError):
        raise SignUpEnded from None
