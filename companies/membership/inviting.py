"""Who is asked to join a company, and what they answer.

An invitation is a membership without a user: an address, which tells nobody whether there is an account, and whose. It
opens nothing until somebody who holds the mailed link says yes.
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

from companies import emails, hooks
from companies.api import throttling
from companies.callers.access import Access
from companies.changing import Change, changing
from companies.errors import Conflict, Denied, TooMany
from companies.locales import EVERYBODYS, locale_of_person, reading_as
from companies.membership.founding import CompanyExpired
from companies.membership.members import check_grant, check_reach
from companies.models import AlreadyMember, ApiKey, AuditEntry, Company, Membership, Stamp, User, id_from
from companies.running import letters, mailing

HOLDS = timedelta(days=7)
A_DAY, MOST_A_DAY = timedelta(days=1), 20  # mails of a company; an invitation that is taken back has counted
MAX_PER_PERSON_A_DAY = 40  # that one person sends, in all companies together
MOST_AN_ADDRESS = 10  # mails a day to one address, of all companies together
MAILS = ("member.invited", "member.invitedAgain")
A_KEY = gettext_noop("An API key of the company")  # who invited, where no person did


class TooManyInvitations(TooMany):
    """20 invitations were mailed for this company within a day, or 40 by this person; see `Retry-After`."""

    code = "too_many_invitations"


class NotInvited(Conflict):
    """This person has joined: there is no invitation to send again."""

    code = "not_invited"


class InvitationEnded(Conflict):
    """The invitation was used, declined or cancelled, or is older than seven days."""

    code = "invitation_ended"


class ForSomebodyElse(Denied):
    """The invitation is for another e-mail address than the one that is signed in."""


class AccountThere(Conflict):
    """There is an account for this address by now: open the link again and sign in."""

    code = "account_there"


def invite(
    *, company: Company, stamp: Stamp, by: Access, email: str, role: str, permissions: list[str] | None
) -> Membership:
    """Asks the holder of an address to join; what is done and answered is the same whether there is an account.

    Raises AlreadyMember, AlreadyInvited, OwnersOnly, TooManyInvitations, InvalidEmail.
    """
    address, token = emails.canonical(email), secrets.token_urlsafe(32)
    with changing(company, stamp=stamp) as change:
        check_grant(by=by, role=role, permissions=permissions)
        check_day(company_id=company.id, now=stamp.time)
        count_invitation(company.id, stamp)
        if Membership.objects.of(company.id).filter(user__canonical_email=address).exists():
            raise AlreadyMember
        invitation = Membership(
            company=company,
            invited_email=address,
            role=role,
            permissions=permissions,
            token_digest=digest(token),
            expires_time=stamp.time + HOLDS,
        )
        change.store(invitation)
        after = {"email": address, "role": role, "permissions": permissions}
        change.record(invitation, "member.invited", after=after)
        transaction.on_commit(lambda: mail(invitation, token=token, now=stamp.time))
    return invitation


def resend(*, company: Company, stamp: Stamp, by: Access, member_id: UUID | str) -> Membership:
    """Mails another link, which holds for seven days from now; the one before it ends.

    Raises Missing, Stale, NotInvited, OwnersOnly, TooManyInvitations.
    """
    token = secrets.token_urlsafe(32)
    with changing(company, stamp=stamp) as change:
        invitation = change.locked(Membership.objects.select_related("user"), member_id)
        if invitation.user_id is not None:
            raise NotInvited
        check_reach(by=by, membership=invitation)
        check_grant(by=by, role=invitation.role, permissions=invitation.permissions)
        check_day(company_id=company.id, now=stamp.time)
        count_invitation(company.id, stamp)
        invitation.change(stamp, token_digest=digest(token), expires_time=stamp.time + HOLDS)
        change.record(invitation, "member.invitedAgain", after={"email": invitation.invited_email})
        transaction.on_commit(lambda: mail(invitation, token=token, now=stamp.time))
    return invitation


def opened(*, company_id: str, member_id: str, token: str, now: datetime) -> Membership | None:
    """The invitation that a mailed link leads to; None where it ended, and where there never was one."""
    company, member = id_from(company_id), id_from(member_id)
    if company is None or member is None:
        return None
    rows = Membership.objects.of(company).select_related("company")
    invitation = rows.filter(id=member, user=None).first()
    return invitation if invitation and holds(invitation, token=token, now=now) else None


def holds(invitation: Membership, *, token: str, now: datetime) -> bool:
    stored, until = invitation.token_digest, invitation.expires_time
    return stored is not None and until is not None and compare_digest(stored, digest(token)) and now < until


def accept(
    *, invitation: Membership, token: str, account: User, stamp: Stamp, first_password: bool = False
) -> Membership:
    """The holder of the address joins with their account. ``first_password`` says that it is new, or had no password,
    and was given one: it is stored then.

    Raises InvitationEnded, ForSomebodyElse, AlreadyMember, CompanyExpired.
    """
    with changing(invitation.company, stamp=stamp) as change:
        membership = locked(change, invitation, token=token)
        if emails.canonical(account.email) != membership.invited_email:
            raise ForSomebodyElse
        if membership.company.read_only:
            raise CompanyExpired
        if first_password:
            store(account)
        membership.change(
            stamp, user=account, joined_time=stamp.time, invited_email=None, token_digest=None, expires_time=None
        )
        after = {"email": membership.shown_email, "role": membership.role, "permissions": membership.permissions}
        change.record(membership, "member.joined", after=after)
        hooks.member_joined.run(membership=membership, stamp=stamp)
    return membership


def decline(*, invitation: Membership, token: str, stamp: Stamp) -> None:
    """Says no, by whoever holds the link: the log says of nobody that it was theirs. Raises InvitationEnded."""
    with changing(invitation.company, stamp=stamp) as change:
        declined = locked(change, invitation, token=token)
        before = {"email": declined.shown_email, "role": declined.role}
        change.delete(declined, "member.declined", before=before)


def locked(change: Change, invitation: Membership, *, token: str) -> Membership:
    row = change.locked_or_none(Membership, invitation.id)
    if row is None or row.user_id is not None or not holds(row, token=token, now=change.stamp.time):
        raise InvitationEnded
    return row


def store(account: User) -> None:
    """Raises AccountThere where somebody signs in with the account already: its password is not chosen here."""
    stored = User.objects.with_email(account.email)
    if stored is not None and (stored.pk != account.pk or stored.has_usable_password()):
        raise AccountThere
    account.save()


def inviter_of(invitation: Membership) -> str:
    """What to call who invited, to the one who is."""
    person = id_from(invitation.created_user_id or "")
    user = User.objects.filter(pk=person).first() if person else None
    if user is None:
        return _(A_KEY)
    return f"{user.name} ({user.email})" if user.name else user.email


def check_day(*, company_id: UUID, now: datetime) -> None:
    """Raises TooManyInvitations."""
    mailed = AuditEntry.objects.of(company_id).filter(action__in=MAILS, time__gt=now - A_DAY)
    oldest = mailed.order_by("-time").values_list("time", flat=True)[MOST_A_DAY - 1 : MOST_A_DAY].first()
    if oldest is not None:
        raise TooManyInvitations(wait=int((oldest + A_DAY - now).total_seconds()) + 1)


def count_invitation(company_id: UUID, stamp: Stamp) -> None:
    """Count one for the person who sends it, or who made the API key. Raises TooManyInvitations."""
    person: Any = stamp.user_id
    if person is None and stamp.credential.startswith("apiKey:"):
        keys = ApiKey.objects.of(company_id).filter(id=stamp.credential.removeprefix("apiKey:"))
        person = keys.values_list("created_user_id", flat=True).first()
    name = f"invitations-by:{person or stamp.credential}"
    day = int(A_DAY.total_seconds())
    budget = throttling.spend(name, now=stamp.time.timestamp(), limit=MAX_PER_PERSON_A_DAY, seconds=day, exact=True)
    if budget.exceeded:
        raise TooManyInvitations(wait=budget.resets_in)


def digest(token: str) -> str:
    """What is stored of a token, which has 256 random bits."""
    return hashlib.sha256(token.encode()).hexdigest()


def mail(invitation: Membership, *, token: str, now: datetime) -> None:
    """One text for all, in the language of the account if there is one; of what people choose it has the company's name
    alone. Past an address's share of the day none is sent; no company is told, for who else invites is not its matter.
    """
    share = f"invitations:{invitation.invited_email}"
    day = int(A_DAY.total_seconds())
    budget = throttling.spend(share, now=now.timestamp(), limit=MOST_AN_ADDRESS, seconds=day, exact=True)
    if budget.exceeded or not letters.may_send(invitation.shown_email, now=now):
        return
    account = User.objects.with_email(invitation.shown_email)
    link = f"{settings.APP_URL}/invitations/{invitation.company_id}/{invitation.id}/{token}"
    with reading_as(locale_of_person(account) if account else EVERYBODYS):
        name = mailing.quoted(invitation.company.name)
        message = _(
            "You are invited to work with {company} in Tidebook. Accept or decline here:\n\n{link}\n\n"
            "The link holds for seven days and works once. If you did not expect this, you can ignore this message."
        )
        mailing.send_later(
            to=[invitation.shown_email],
            subject=_("Invitation to {company}").format(company=name),
            message=message.format(company=name, link=link),
        )
