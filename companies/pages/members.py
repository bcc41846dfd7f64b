"""Who belongs to a company, as what."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect

from companies import members
from companies.models import Company, Membership
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
        with visit.change() as change:
            members.add(company=visit.company, stamp=visit.stamp, by=visit.access, **form.data)
        if change.refusal is None:
            messages.success(visit.request, f"{form.data['email']} was added as {form.data['role']}.")
            return redirect("members", company_id=visit.company.id)
        form.refuse(change.refusal)
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
    said = ""
    with visit.change() as done:
        row = member(visit, member_id)
        own = row.permissions
        kept = own if row.role == form.data["role"] else None
        members.change(membership=row, stamp=visit.stamp, by=visit.access, role=form.data["role"], permissions=kept)
        said = f"{row.user.email} is {form.data['role']} now{ALL if own != kept else ''}."
    told(visit, done.refusal.detail if done.refusal else None, said)
    return redirect("members", company_id=visit.company.id)


@company_page(writes=Permission.MEMBERS_MANAGE)
def remove(visit: Visit, member_id: UUID) -> HttpResponse:
    """Ends a membership; the keys that the member made live on."""
    said = ""
    with visit.change() as done:
        row = member(visit, member_id)
        members.remove(membership=row, stamp=visit.stamp, by=visit.access)
        said = f"{row.user.email} no longer belongs to the company."
    told(visit, done.refusal.detail if done.refusal else None, said)
    gone = done.refusal is None and row.user_id == visit.stamp.user_id
    return redirect("home") if gone else redirect("members", company_id=visit.company.id)


def member(visit: Visit, member_id: UUID) -> Membership:
    """The membership, locked behind its company, as for the API. Raises Http404."""
    Company.objects.select_for_update(no_key=True).get(id=visit.company.id)
    rows = Membership.objects.of(visit.company.id).select_related("user").select_for_update(of=("self",))
    row = rows.filter(id=member_id).first()
    if row is None:
        raise Http404
    return row


def told(visit: Visit, refusal: str | None, done: str) -> None:
    if refusal:
        messages.error(visit.request, refusal)
    else:
        messages.success(visit.request, done)
