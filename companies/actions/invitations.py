"""Operations on invitations.

An invitation is a membership without a user: only an e-mail address, which never reveals whether there
is an account. It grants nothing until the holder of the mailed link accepts it.
"""

import hashlib
import secrets
from datetime import datetime, timedelta
from hmac import compare_digest
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from companies import email_addresses, email_limits, hooks, mailer
from companies.actions.companies import CompanyExpired
from companies.actions.members import check_can_change_member, check_can_grant
from companies.auth import throttling
from companies.auth.access import Access
from companies.change import CompanyChange, change_company
from companies.errors import ConflictError, PermissionDeniedError, TooManyRequestsError
from companies.locales import DEFAULT_LOCALE, get_user_locale, use_locale
from companies.models import AlreadyMember, ApiKey, AuditContext, AuditEntry, Company, Membership, User, parse_id
from companies.sandboxes import refuse_in_sandbox

INVITATION_TTL = timedelta(days=7)
ONE_DAY, MAX_INVITATIONS_PER_DAY = timedelta(days=1), 20  # e-mails of a company; cancelled invitations count
MAX_INVITATIONS_PER_USER_PER_DAY = 40  # in all companies together
MAX_EMAILS_PER_ADDRESS_PER_DAY = 10  # in all companies together, per day
INVITATION_ACTIONS = ("member.invited", "member.invitedAgain")
API_KEY_INVITER_TEXT = gettext_noop("An API key")  # inviter, if it was no user


class TooManyInvitations(TooManyRequestsError):
    """Invitation limit reached: 20 per company or 40 per person within a day. Try again later."""

    code = "too_many_invitations"


class NotInvited(ConflictError):
    """This person is already a member."""

    code = "not_invited"


class InvitationEnded(ConflictError):
    """This invitation is no longer valid. Ask for a new one."""

    code = "invitation_ended"


class InvitationForOtherAddress(PermissionDeniedError):
    """This invitation was sent to a different email address. Sign in with that address."""


class AccountThere(ConflictError):
    """An account with this email address already exists. Open the link again and sign in."""

    code = "account_there"


def invite_member(
    *,
    company: Company,
    context: AuditContext,
    actor_access: Access,
    email: str,
    role: str,
    permissions: list[str] | None,
) -> Membership:
    """Invite an e-mail address; the result is the same whether or not it has an account.

    Raises:
        AlreadyMember, AlreadyInvited, OwnerRequired, TooManyInvitations, InvalidEmail, NotInSandbox
    """
    refuse_in_sandbox(company)
    address, token = email_addresses.to_canonical_email(email), secrets.token_urlsafe(32)
    with change_company(company, context=context) as change:
        check_can_grant(actor_access=actor_access, role=role, permissions=permissions)
        check_daily_invitations(company_id=company.id, now=context.time)
        count_invitation(company.id, context)
        if Membership.objects.for_company(company.id).filter(user__canonical_email=address).exists():
            raise AlreadyMember
        invitation = Membership(
            company=company,
            invited_email=address,
            role=role,
            permissions=permissions,
            token_digest=hash_invitation_token(token),
            expires_time=context.time + INVITATION_TTL,
        )
        change.insert(invitation)
        after = {"email": address, "role": role, "permissions": permissions}
        change.record(invitation, "member.invited", after=after)
        transaction.on_commit(lambda: send_invitation_email(invitation, token=token, now=context.time))
    return invitation


def resend_invitation(
    *, company: Company, context: AuditContext, actor_access: Access, member_id: UUID | str
) -> Membership:
    """Mail a new link, valid for seven days; the previous link becomes invalid.

    Raises:
        NotFoundError, PreconditionFailed, NotInvited, OwnerRequired, TooManyInvitations
    """
    token = secrets.token_urlsafe(32)
    with change_company(company, context=context) as change:
        invitation = change.lock(Membership.objects.select_related("user"), member_id)
        if invitation.user_id is not None:
            raise NotInvited
        check_can_change_member(actor_access=actor_access, membership=invitation)
        check_can_grant(actor_access=actor_access, role=invitation.role, permissions=invitation.permissions)
        check_daily_invitations(company_id=company.id, now=context.time)
        count_invitation(company.id, context)
        invitation.apply_changes(
            context, token_digest=hash_invitation_token(token), expires_time=context.time + INVITATION_TTL
        )
        change.record(invitation, "member.invitedAgain", after={"email": invitation.invited_email})
        transaction.on_commit(lambda: send_invitation_email(invitation, token=token, now=context.time))
    return invitation


def find_invitation_by_token(*, company_id: str, member_id: str, token: str, now: datetime) -> Membership | None:
    """Return the invitation of a mailed link; None if it ended or never existed."""
    company_uuid, member_uuid = parse_id(company_id), parse_id(member_id)
    if company_uuid is None or member_uuid is None:
        return None
    rows = Membership.objects.for_company(company_uuid).select_related("company")
    invitation = rows.filter(id=member_uuid, user=None).first()
    return invitation if invitation and is_invitation_valid(invitation, token=token, now=now) else None


def is_invitation_valid(invitation: Membership, *, token: str, now: datetime) -> bool:
    """Return whether the token matches the invitation and has not expired."""
    stored_digest, expires_time = invitation.token_digest, invitation.expires_time
    return (
        stored_digest is not None
        and expires_time is not None
        and compare_digest(stored_digest, hash_invitation_token(token))
        and now < expires_time
    )


def accept_invitation(
    *, invitation: Membership, token: str, account: User, context: AuditContext, first_password: bool = False
) -> Membership:
    """Accept an invitation with a user's account.

    `first_password`: the account is new or had no password; it is saved with the password that was chosen.

    Raises:
        InvitationEnded, InvitationForOtherAddress, AlreadyMember, CompanyExpired
    """
    with change_company(invitation.company, context=context) as change:
        membership = lock_invitation(change, invitation, token=token)
        if email_addresses.to_canonical_email(account.email) != membership.invited_email:
            raise InvitationForOtherAddress
        if membership.company.read_only:
            raise CompanyExpired
        if first_password:
            store_invited_user(account)
        membership.apply_changes(
            context, user=account, joined_time=context.time, invited_email=None, token_digest=None, expires_time=None
        )
        after = {"email": membership.shown_email, "role": membership.role, "permissions": membership.permissions}
        change.record(membership, "member.joined", after=after)
        hooks.member_joined.run(membership=membership, context=context)
    return membership


def decline_invitation(*, invitation: Membership, token: str, context: AuditContext) -> None:
    """Decline an invitation. Anyone with the link can, so the audit log names no user. Raises InvitationEnded."""
    with change_company(invitation.company, context=context) as change:
        invitation_row = lock_invitation(change, invitation, token=token)
        before = {"email": invitation_row.shown_email, "role": invitation_row.role}
        change.delete(invitation_row, "member.declined", before=before)


def lock_invitation(change: CompanyChange, invitation: Membership, *, token: str) -> Membership:
    """Lock the invitation's row. Raises InvitationEnded."""
    row = change.lock_or_none(Membership, invitation.id)
    if row is None or row.user_id is not None or not is_invitation_valid(row, token=token, now=change.context.time):
        raise InvitationEnded
    return row


def store_invited_user(account: User) -> None:
    """Save an account with its first password. Raises AccountThere if the account can already sign in."""
    stored_user = User.objects.find_by_email(account.email)
    if stored_user is not None and (stored_user.pk != account.pk or stored_user.has_usable_password()):
        raise AccountThere
    account.save()


def get_inviter_name(invitation: Membership) -> str:
    """Return the name of the inviter, as shown to the invited person."""
    user_id = parse_id(invitation.created_user_id or "")
    user = User.objects.filter(pk=user_id).first() if user_id else None
    if user is None:
        return _(API_KEY_INVITER_TEXT)
    return f"{user.name} ({user.email})" if user.name else user.email


def check_daily_invitations(*, company_id: UUID, now: datetime) -> None:
    """Check the company's daily limit of invitations. Raises TooManyInvitations."""
    sent_entries = AuditEntry.objects.for_company(company_id).filter(
        action__in=INVITATION_ACTIONS, time__gt=now - ONE_DAY
    )
    oldest_time = (
        sent_entries.order_by("-time")
        .values_list("time", flat=True)[MAX_INVITATIONS_PER_DAY - 1 : MAX_INVITATIONS_PER_DAY]
        .first()
    )
    if oldest_time is not None:
        raise TooManyInvitations(wait=int((oldest_time + ONE_DAY - now).total_seconds()) + 1)


def count_invitation(company_id: UUID, context: AuditContext) -> None:
    """Count one more invitation of the user who sends it, or who created the API key. Raises TooManyInvitations."""
    sender_id: Any = context.user_id
    if sender_id is None and context.credential.startswith("apiKey:"):
        keys = ApiKey.objects.for_company(company_id).filter(id=context.credential.removeprefix("apiKey:"))
        sender_id = keys.values_list("created_user_id", flat=True).first()
    limit_name = f"invitations-by:{sender_id or context.credential}"
    day = int(ONE_DAY.total_seconds())
    budget = throttling.consume_budget(
        limit_name, now=context.time.timestamp(), limit=MAX_INVITATIONS_PER_USER_PER_DAY, seconds=day, exact=True
    )
    if budget.is_exceeded:
        raise TooManyInvitations(wait=budget.resets_in)


def hash_invitation_token(token: str) -> str:
    """Return the stored digest of a token, which has 256 random bits."""
    return hashlib.sha256(token.encode()).hexdigest()


def send_invitation_email(invitation: Membership, *, token: str, now: datetime) -> None:
    """Send the invitation e-mail, in the language of the account if there is one. The only user text in it is
    the company name.

    Beyond the daily limit of an address nothing is sent, silently: one company must not learn who else
    invites the address.
    """
    limit_name = f"invitations:{invitation.invited_email}"
    day = int(ONE_DAY.total_seconds())
    budget = throttling.consume_budget(
        limit_name, now=now.timestamp(), limit=MAX_EMAILS_PER_ADDRESS_PER_DAY, seconds=day, exact=True
    )
    if budget.is_exceeded or not email_limits.consume_email_limit(invitation.shown_email, now=now):
        return
    account = User.objects.find_by_email(invitation.shown_email)
    link = f"{settings.APP_URL}/invitations/{invitation.company_id}/{invitation.id}/{token}"
    with use_locale(get_user_locale(account) if account else DEFAULT_LOCALE):
        name = mailer.format_quoted_name(invitation.company.name)
        message = _(
            "You have been invited to join {company} in Tidebook. Accept or decline the invitation:\n\n"
            "{link}\n\nThe link is valid for 7 days and can be used once. If you did not expect this, "
            "ignore this email."
        )
        mailer.send_email_later(
            to=[invitation.shown_email],
            subject=_("Invitation to {company}").format(company=name),
            message=message.format(company=name, link=link),
        )
