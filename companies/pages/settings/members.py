"""Who belongs to a company, as what."""

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

from companies.membership import inviting, members
from companies.models import Membership
from companies.pages.settings.permissions import in_short
from companies.pages.settings.roles import DOES, role_word
from companies.pages.typed import Typed, typed
from companies.pages.visits import Visit, company_page, person, prove_again, reached, signed_in
from companies.permissions import Permission, Role
from companies.serializers import MemberInput, NewMember


@company_page(reads=Permission.MEMBERS_MANAGE, writes=Permission.MEMBERS_MANAGE)
def everyone(visit: Visit) -> HttpResponse:
    """The members, who is invited, and a form to invite somebody."""
    if visit.request.method != "POST":
        return shown(visit, Typed(values={"email": "", "role": Role.VIEWER.value}))
    form = typed(NewMember, visit.request.POST, texts=("email", "role"))
    asks = _("Invite {email} as {role}.")
    if asking := again(visit, lambda: asks.format(email=form.values["email"], role=role_word(form.values["role"]))):
        return asking
    if form.valid:
        with visit.sending(form):
            inviting.invite(company=visit.company, stamp=visit.stamp, by=visit.access, **form.data)
            said = _("{email} was invited as {role}.")
            said = said.format(email=form.data["email"], role=role_word(form.data["role"]))
            return visit.done(said, "members")
    return shown(visit, form)


def again(visit: Visit, asks: Callable[[], str]) -> HttpResponse | None:
    """Who changes members proved lately who they are."""
    return prove_again(visit.request, then=reverse("members", kwargs={"company_id": visit.company.id}), asks=asks)


def email_of(visit: Visit, member_id: UUID) -> str:
    return get_object_or_404(Membership.objects.of(visit.company.id).with_people(), id=member_id).shown_email


def shown(visit: Visit, form: Typed) -> HttpResponse:
    rows: list[Any] = list(Membership.objects.of(visit.company.id).with_people())
    for row in rows:
        row.may = in_short(row.effective_permissions)
    return visit.show(
        "settings/members.html",
        status=400 if form.errors else 200,
        section="members",
        form=form,
        rows=rows,
        now=visit.now,
        roles=DOES,
    )


@company_page(writes=Permission.MEMBERS_MANAGE)
def change(visit: Visit, member_id: UUID) -> HttpResponse:
    """Another role, with the permissions of that role; who keeps theirs keeps a list of their own too."""
    form = typed(MemberInput, visit.request.POST, texts=("role",))
    if not form.valid:
        raise Http404
    asks, role = _("Make {email} {role}."), role_word(form.data["role"])
    if asking := again(visit, lambda: asks.format(email=email_of(visit, member_id), role=role)):
        return asking
    with visit.sending():
        member, gave_up = members.change_role(
            company=visit.company, stamp=visit.stamp, by=visit.access, member_id=member_id, role=form.data["role"]
        )
        said = (
            _("{email} is {role} now, with all permissions of that role.") if gave_up else _("{email} is {role} now.")
        )
        return visit.done(said.format(email=member.shown_email, role=role_word(member.role)), "members")
    return visit.to("members")


@company_page(writes=Permission.MEMBERS_MANAGE)
def remove(visit: Visit, member_id: UUID) -> HttpResponse:
    """Ends a membership, or cancels an invitation; the keys that the member made live on."""
    asks = _("Remove {email} from the company.")
    if asking := again(visit, lambda: asks.format(email=email_of(visit, member_id))):
        return asking
    with visit.sending():
        member = members.remove(company=visit.company, stamp=visit.stamp, by=visit.access, member_id=member_id)
        if member.user_id is None:
            said = _("The invitation of {email} was cancelled.").format(email=member.shown_email)
            return visit.done(said, "members")
        said = _("{email} no longer belongs to the company.").format(email=member.shown_email)
        messages.success(visit.request, said)
        return redirect("home") if member.user_id == visit.stamp.user_id else visit.to("members")
    return visit.to("members")


@company_page(writes=Permission.MEMBERS_MANAGE)
def resend(visit: Visit, member_id: UUID) -> HttpResponse:
    """Mails another link; the one before it ends."""
    asks = _("Send the invitation to {email} again.")
    if asking := again(visit, lambda: asks.format(email=email_of(visit, member_id))):
        return asking
    with visit.sending():
        member = inviting.resend(company=visit.company, stamp=visit.stamp, by=visit.access, member_id=member_id)
        said = _("The invitation was sent to {email} again.").format(email=member.shown_email)
        return visit.done(said, "members")
    return visit.to("members")


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def leave(request: HttpRequest, company_id: str) -> HttpResponse:
    """Everyone may go, but for the last owner."""
    visit = Visit(request=request, access=reached(request, company_id), now=timezone.now())
    if visit.sent:
        with visit.sending():
            members.leave(company=visit.company, stamp=visit.stamp)
            messages.success(request, _("You no longer belong to {company}.").format(company=visit.company.name))
            return redirect("home")
    last = members.is_last_owner(company=visit.company, user_id=person(request).pk)
    return visit.show("settings/leave.html", section="leave", last_owner=last)
