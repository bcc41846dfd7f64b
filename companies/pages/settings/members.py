"""Settings pages of members: invite, change role, remove, leave."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from companies.actions import invitations, members
from companies.models import Membership
from companies.pages.context import (
    CompanyPage,
    company_page,
    get_access_or_404,
    get_signed_in_user,
    redirect_unless_recent_login,
    require_sign_in,
)
from companies.pages.forms import BoundForm, bind_form
from companies.pages.settings.member_permissions import summarize_permissions
from companies.pages.settings.role_labels import ROLE_DESCRIPTIONS, get_role_label
from companies.permissions import Permission, Role
from companies.serializers import MemberInput, NewMember


@company_page(reads=Permission.MEMBERS_MANAGE, writes=Permission.MEMBERS_MANAGE)
def show_members(page: CompanyPage) -> HttpResponse:
    """Show members and invitations; the form invites somebody."""
    if page.request.method != "POST":
        return render_members(page, BoundForm(values={"email": "", "role": Role.VIEWER.value}))
    form = bind_form(NewMember, page.request.POST, texts=("email", "role"))
    label_text = _("Invite {email} as {role}.")
    if login_redirect := redirect_members_unless_recent_login(
        page, lambda: label_text.format(email=form.values["email"], role=get_role_label(form.values["role"]))
    ):
        return login_redirect
    if form.is_valid:
        with page.handle_errors(form):
            invitations.invite_member(
                company=page.company, context=page.audit_context, actor_access=page.access, **form.data
            )
            message = _("{email} was invited as {role}.")
            message = message.format(email=form.data["email"], role=get_role_label(form.data["role"]))
            return page.redirect_with_message(message, "members")
    return render_members(page, form)


def redirect_members_unless_recent_login(page: CompanyPage, get_action_label: Callable[[], str]) -> HttpResponse | None:
    """Return a redirect to sign-in if the last sign-in is too old for changing members; None otherwise."""
    return redirect_unless_recent_login(
        page.request,
        next_path=reverse("members", kwargs={"company_id": page.company.id}),
        get_action_label=get_action_label,
    )


def get_member_email(page: CompanyPage, member_id: UUID) -> str:
    """Return the e-mail address of a member."""
    return get_object_or_404(Membership.objects.for_company(page.company.id).with_users(), id=member_id).shown_email


def render_members(page: CompanyPage, form: BoundForm) -> HttpResponse:
    """Render the members."""
    rows: list[Any] = list(Membership.objects.for_company(page.company.id).with_users())
    for row in rows:
        row.may = summarize_permissions(row.effective_permissions)
    return page.render(
        "companies/settings/members.html",
        status=400 if form.errors else 200,
        section="members",
        form=form,
        rows=rows,
        now=page.now,
        roles=ROLE_DESCRIPTIONS,
    )


@company_page(writes=Permission.MEMBERS_MANAGE)
def update_member_role_page(page: CompanyPage, member_id: UUID) -> HttpResponse:
    """Change a member's role; its permissions apply unless the role stays the same."""
    form = bind_form(MemberInput, page.request.POST, texts=("role",))
    if not form.is_valid:
        raise Http404
    label_text, role = _("Change the role of {email} to {role}."), get_role_label(form.data["role"])
    if login_redirect := redirect_members_unless_recent_login(
        page, lambda: label_text.format(email=get_member_email(page, member_id), role=role)
    ):
        return login_redirect
    with page.handle_errors():
        member, gave_up = members.update_member_role(
            company=page.company,
            context=page.audit_context,
            actor_access=page.access,
            member_id=member_id,
            role=form.data["role"],
        )
        message = (
            _("{email} is now {role} with all permissions of that role.") if gave_up else _("{email} is now {role}.")
        )
        return page.redirect_with_message(
            message.format(email=member.shown_email, role=get_role_label(member.role)), "members"
        )
    return page.redirect("members")


@company_page(writes=Permission.MEMBERS_MANAGE)
def remove_member_page(page: CompanyPage, member_id: UUID) -> HttpResponse:
    """Remove a member or cancel an invitation; API keys of the member stay."""
    label_text = _("Remove {email} from the company.")
    if login_redirect := redirect_members_unless_recent_login(
        page, lambda: label_text.format(email=get_member_email(page, member_id))
    ):
        return login_redirect
    with page.handle_errors():
        member = members.remove_member(
            company=page.company, context=page.audit_context, actor_access=page.access, member_id=member_id
        )
        if member.user_id is None:
            message = _("Invitation to {email} withdrawn.").format(email=member.shown_email)
            return page.redirect_with_message(message, "members")
        message = _("{email} was removed from the company.").format(email=member.shown_email)
        messages.success(page.request, message)
        return redirect("home") if member.user_id == page.audit_context.user_id else page.redirect("members")
    return page.redirect("members")


@company_page(writes=Permission.MEMBERS_MANAGE)
def resend_invitation_page(page: CompanyPage, member_id: UUID) -> HttpResponse:
    """Mail a new invitation link; the previous one becomes invalid."""
    label_text = _("Resend the invitation to {email}.")
    if login_redirect := redirect_members_unless_recent_login(
        page, lambda: label_text.format(email=get_member_email(page, member_id))
    ):
        return login_redirect
    with page.handle_errors():
        member = invitations.resend_invitation(
            company=page.company, context=page.audit_context, actor_access=page.access, member_id=member_id
        )
        message = _("Invitation to {email} resent.").format(email=member.shown_email)
        return page.redirect_with_message(message, "members")
    return page.redirect("members")


@require_http_methods(["GET", "HEAD", "POST"])
@require_sign_in
def leave_company_page(request: HttpRequest, company_id: str) -> HttpResponse:
    """Leave the company; the last owner cannot."""
    page = CompanyPage(request=request, access=get_access_or_404(request, company_id), now=timezone.now())
    if page.is_post:
        with page.handle_errors():
            members.leave_company(company=page.company, context=page.audit_context)
            messages.success(request, _("You left {company}.").format(company=page.company.name))
            return redirect("home")
    is_last_owner = members.is_last_owner(company=page.company, user_id=get_signed_in_user(request).pk)
    return page.render("companies/settings/leave_company.html", section="leave", last_owner=is_last_owner)
