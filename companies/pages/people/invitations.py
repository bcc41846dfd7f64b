"""Where somebody who is invited says yes or no. The mailed link leads here; what it shows is for its holder alone."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from companies.callers import sessions
from companies.membership import inviting
from companies.models import Membership, Stamp, User
from companies.pages.people.forms import AccountForm
from companies.pages.typed import Typed
from companies.pages.visits import person, sending, stamp_of, to_sign_in

ENDED = gettext_lazy("This invitation was used, declined or cancelled, or is older than seven days. Ask for a new one.")
ELSE = gettext_lazy(
    "This invitation is for another e-mail address than the one you are signed in with. Sign out, then open it again."
)


@require_http_methods(["GET", "HEAD", "POST"])
def answer(request: HttpRequest, company_id: str, member_id: str, token: str) -> HttpResponse:
    """Names the company and who invites. Somebody with an account signs in; somebody without one sets it up here."""
    invitation = inviting.opened(company_id=company_id, member_id=member_id, token=token, now=timezone.now())
    account = User.objects.with_email(invitation.shown_email) if invitation else None
    if invitation is None or (account and not account.is_active):
        return page(request, status=410, title=_("This invitation no longer works"), text=ENDED)
    if request.user.is_authenticated and person(request) != account:
        return page(request, status=403, title=_("Not your invitation"), text=ELSE, somebody_else=True)
    if request.POST.get("decision") == "decline":
        return declined(request, invitation, token)
    if request.user.is_authenticated:
        return for_account(request, invitation, token)
    if account and account.has_usable_password():
        return to_be_signed_in(request, invitation)
    return for_newcomer(request, invitation, token, account or User(email=invitation.shown_email))


def page(request: HttpRequest, *, status: int = 200, **context: Any) -> HttpResponse:
    response = render(request, "companies/invitation.html", context, status=status)
    response["Cache-Control"] = "no-store"
    return response


def asking(request: HttpRequest, invitation: Membership, **context: Any) -> HttpResponse:
    """The question itself."""
    status = 400 if request.method == "POST" else 200
    shown = {"invitation": invitation, "inviter": inviting.inviter_of(invitation), **context}
    title = _("Join {company}").format(company=invitation.company.name)
    return page(request, status=status, title=title, **shown)


def declined(request: HttpRequest, invitation: Membership, token: str) -> HttpResponse:
    refused = Typed(values={})
    with sending(request, refused):
        stamp = Stamp(time=timezone.now(), request_id=getattr(request, "request_id", ""))
        inviting.decline(invitation=invitation, token=token, stamp=stamp)
        text = _("You do not join {company}. Nothing was set up for you.").format(company=invitation.company.name)
        return page(request, title=_("Declined"), text=text)
    return page(request, status=410, title=_("This invitation no longer works"), text=refused.general)


def for_account(request: HttpRequest, invitation: Membership, token: str) -> HttpResponse:
    """For the one who is invited, and is signed in."""
    refused = Typed(values={})
    if request.POST.get("decision") == "accept":
        with sending(request, refused):
            stamp = stamp_of(person(request), request)
            inviting.accept(invitation=invitation, token=token, account=person(request), stamp=stamp)
            return redirect("company", company_id=invitation.company_id)
    return asking(request, invitation, refused=refused.general)


def to_be_signed_in(request: HttpRequest, invitation: Membership) -> HttpResponse:
    if request.POST.get("decision") == "accept":
        return to_sign_in(request.get_full_path())
    return asking(request, invitation, sign_in=True)


def for_newcomer(request: HttpRequest, invitation: Membership, token: str, account: User) -> HttpResponse:
    """An account is set up with the first password, signed in, and joins."""
    refused = Typed(values={})
    form = AccountForm(account, request.POST if request.method == "POST" else None)
    if request.POST.get("decision") == "accept" and form.is_valid():
        account, now = form.account(), timezone.now()
        with sending(request, refused):
            stamp = stamp_of(account, request, now=now)
            inviting.accept(invitation=invitation, token=token, account=account, stamp=stamp, first_password=True)
            sessions.sign_in(request, account, now=now)
            return redirect("company", company_id=invitation.company_id)
    return asking(request, invitation, form=form, refused=refused.general)
