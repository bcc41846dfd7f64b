"""Page of an invitation, opened by the mailed link."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from companies.actions import invitations
from companies.auth import sessions
from companies.models import AuditContext, Membership, User
from companies.pages.context import (
    build_user_audit_context,
    get_signed_in_user,
    handle_form_errors,
    redirect_to_sign_in,
)
from companies.pages.forms import BoundForm
from companies.pages.user.forms import InvitedUserForm

INVITATION_ENDED_TEXT = gettext_lazy("This invitation is no longer valid. Ask for a new one.")
SIGN_UP_CLOSED_TEXT = gettext_lazy("New accounts cannot be created here. Ask the operator of this service.")
OTHER_ADDRESS_TEXT = gettext_lazy(
    "This invitation was sent to a different email address. Sign out, then open the link again."
)


@require_http_methods(["GET", "HEAD", "POST"])
def answer_invitation_page(request: HttpRequest, company_id: str, member_id: str, token: str) -> HttpResponse:
    """Accept or decline an invitation. Users with an account sign in; others set up their account here."""
    invitation = invitations.find_invitation_by_token(
        company_id=company_id, member_id=member_id, token=token, now=timezone.now()
    )
    account = User.objects.find_by_email(invitation.shown_email) if invitation else None
    if invitation is None or (account and not account.is_active):
        return render_invitation(request, status=410, title=_("Invitation no longer valid"), text=INVITATION_ENDED_TEXT)
    if request.user.is_authenticated and get_signed_in_user(request) != account:
        return render_invitation(
            request, status=403, title=_("Invitation for another address"), text=OTHER_ADDRESS_TEXT, somebody_else=True
        )
    if request.POST.get("decision") == "decline":
        return decline_invitation_page(request, invitation, token)
    if request.user.is_authenticated:
        return accept_invitation_as_user(request, invitation, token)
    if account and account.has_usable_password():
        return require_sign_in_for_invitation(request, invitation)
    if account is None and settings.SIGN_UP == "closed":
        return render_invitation(request, status=403, title=_("Sign-up is closed"), text=SIGN_UP_CLOSED_TEXT)
    return accept_invitation_as_new_user(request, invitation, token, account or User(email=invitation.shown_email))


def render_invitation(request: HttpRequest, *, status: int = 200, **context: Any) -> HttpResponse:
    """Render the page of the invitation."""
    response = render(request, "companies/invitation.html", context, status=status)
    response["Cache-Control"] = "no-store"
    return response


def render_invitation_question(request: HttpRequest, invitation: Membership, **context: Any) -> HttpResponse:
    """Render the question whether to join."""
    status = 400 if request.method == "POST" else 200
    page_context = {"invitation": invitation, "inviter": invitations.get_inviter_name(invitation), **context}
    title = _("Join {company}").format(company=invitation.company.name)
    return render_invitation(request, status=status, title=title, **page_context)


def decline_invitation_page(request: HttpRequest, invitation: Membership, token: str) -> HttpResponse:
    """Decline the invitation."""
    error_form = BoundForm(values={})
    with handle_form_errors(request, error_form):
        context = AuditContext(time=timezone.now(), request_id=getattr(request, "request_id", ""))
        invitations.decline_invitation(invitation=invitation, token=token, context=context)
        text = _("You declined the invitation to {company}. No account was created.").format(
            company=invitation.company.name
        )
        return render_invitation(request, title=_("Invitation declined"), text=text)
    return render_invitation(request, status=410, title=_("Invitation no longer valid"), text=error_form.general)


def accept_invitation_as_user(request: HttpRequest, invitation: Membership, token: str) -> HttpResponse:
    """Accept the invitation as the signed-in user."""
    error_form = BoundForm(values={})
    if request.POST.get("decision") == "accept":
        with handle_form_errors(request, error_form):
            context = build_user_audit_context(get_signed_in_user(request), request)
            invitations.accept_invitation(
                invitation=invitation, token=token, account=get_signed_in_user(request), context=context
            )
            return redirect("company", company_id=invitation.company_id)
    return render_invitation_question(request, invitation, refused=error_form.general)


def require_sign_in_for_invitation(request: HttpRequest, invitation: Membership) -> HttpResponse:
    """Ask an invited user with an account to sign in first."""
    if request.POST.get("decision") == "accept":
        return redirect_to_sign_in(request.get_full_path())
    return render_invitation_question(request, invitation, sign_in=True)


def accept_invitation_as_new_user(
    request: HttpRequest, invitation: Membership, token: str, account: User
) -> HttpResponse:
    """Set up the invited user's account, sign them in and accept the invitation."""
    error_form = BoundForm(values={})
    form = InvitedUserForm(account, request.POST if request.method == "POST" else None)
    if request.POST.get("decision") == "accept" and form.is_valid():
        account, now = form.build_user(), timezone.now()
        with handle_form_errors(request, error_form):
            context = build_user_audit_context(account, request, now=now)
            invitations.accept_invitation(
                invitation=invitation, token=token, account=account, context=context, first_password=True
            )
            sessions.sign_in_user(request, account, now=now)
            return redirect("company", company_id=invitation.company_id)
    return render_invitation_question(request, invitation, form=form, refused=error_form.general)
