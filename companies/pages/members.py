"""Who belongs to a company, as what."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect

from companies import members
from companies.models import Membership
from companies.pages.typed import Typed, typed
from companies.pages.visits import Visit, company_page
from companies.permissions import Permission, Role
from companies.serializers import MemberInput, NewMember

ROLES = {
    Role.OWNER: "Everything",
    Role.ADMIN: "Everything but the currency and start date of the books",
    Role.EDITOR: "Reads and writes the books",
    Role.VIEWER: "Reads the books",
}
ALL = ", with all permissions of that role"


@company_page(reads=Permission.MEMBERS_MANAGE, writes=Permission.MEMBERS_MANAGE)
def everyone(visit: Visit) -> HttpResponse:
    """The members, and a form to add one."""
    if visit.request.method != "POST":
        return shown(visit, Typed(values={"email": "", "role": Role.VIEWER.value}))
    form = typed(NewMember, visit.request.POST, texts=("email", "role"))
    if form.valid:
        with visit.sending(form):
            members.add(company=visit.company, stamp=visit.stamp, by=visit.access, **form.data)
            return visit.done(f"{form.data['email']} was added as {form.data['role']}.", "members")
    return shown(visit, form)


def shown(visit: Visit, form: Typed) -> HttpResponse:
    rows = list(Membership.objects.of(visit.company.id).with_people())
    return visit.show(
        "settings/members.html",
        status=400 if form.errors else 200,
        section="members",
        form=form,
        rows=rows,
        roles=ROLES,
    )


@company_page(writes=Permission.MEMBERS_MANAGE)
def change(visit: Visit, member_id: UUID) -> HttpResponse:
    """Another role, with the permissions of that role; who keeps theirs keeps a list of their own too."""
    form = typed(MemberInput, visit.request.POST, texts=("role",))
    if not form.valid:
        raise Http404
    with visit.sending():
        member, gave_up = members.change_role(
            company=visit.company, stamp=visit.stamp, by=visit.access, member_id=member_id, role=form.data["role"]
        )
        return visit.done(f"{member.shown_email} is {member.role} now{ALL if gave_up else ''}.", "members")
    return visit.to("members")


@company_page(writes=Permission.MEMBERS_MANAGE)
def remove(visit: Visit, member_id: UUID) -> HttpResponse:
    """Ends a membership; the keys that the member made live on."""
    with visit.sending():
        member = members.remove(company=visit.company, stamp=visit.stamp, by=visit.access, member_id=member_id)
        messages.success(visit.request, f"{member.shown_email} no longer belongs to the company.")
        return redirect("home") if member.user_id == visit.stamp.user_id else visit.to("members")
    return visit.to("members")
