"""What a member may do: their own list in place of their role's, and what oneself may do."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from companies.membership import members
from companies.models import Membership
from companies.pages.settings.key_form import ADMIN_LABELS, LABELS, RESOURCES
from companies.pages.typed import Typed, of_body
from companies.pages.visits import Visit, company_page, prove_again, reached, signed_in
from companies.permissions import ADMIN_LEVEL, ALL, Permission, Permissions, Role, in_order
from companies.serializers import MemberInput

TICKED = gettext_lazy("What is ticked differs from the role. Choose a list of their own to give just that.")
KINDS = {"role": gettext_lazy("Those of the role"), "own": gettext_lazy("A list of their own, as ticked below")}


@company_page(reads=Permission.MEMBERS_MANAGE, writes=Permission.MEMBERS_MANAGE)
def of_member(visit: Visit, member_id: UUID) -> HttpResponse:
    """Which permissions a member has, and others in their place."""
    rows = Membership.objects.of(visit.company.id).select_related("user")
    member = get_object_or_404(rows, id=member_id)
    held = in_order(member.effective_permissions)
    form = Typed(values={"kind": "role" if member.permissions is None else "own", "permissions": held})
    asks = _("Save what {name} may do.")
    if asking := prove_again(visit.request, then=visit.request.path, asks=lambda: asks.format(name=member.called)):
        return asking
    if visit.sent:
        form = read(visit, held=held, role=member.role)
        if form.valid:
            with visit.sending(form):
                values = {"permissions": form.data["permissions"]}
                member = members.change(
                    company=visit.company, stamp=visit.stamp, by=visit.access, member_id=member_id, values=values
                )
                return visit.done(_("What {name} may do was saved.").format(name=member.called), "members")
    return visit.show(
        "settings/permissions.html",
        status=400 if form.errors else 200,
        section="members",
        form=form,
        member=member,
        seen=visit.seen(member),
        kinds=KINDS,
        resources=resources(form.values["permissions"]),
        administrative=administrative(form.values["permissions"]),
    )


def read(visit: Visit, *, held: list[str], role: str) -> Typed:
    """What was chosen; null stands for the role's. Ticks that say something else are not passed over."""
    posted = visit.request.POST
    values: dict[str, Any] = {"kind": posted.get("kind", ""), "permissions": posted.getlist("permissions")}
    body = {"permissions": None if values["kind"] == "role" else values["permissions"]}
    form = of_body(MemberInput, body, values=values, fields={"permissions": "permissions"}, partial=True)
    if values["kind"] not in KINDS:
        form.errors["kind"] = _("Choose one of these.")
    elif values["kind"] == "role" and set(values["permissions"]) not in (set(), set(held), set(Role(role).permissions)):
        form.errors["kind"] = str(TICKED)
    return form


@require_http_methods(["GET", "HEAD"])
@signed_in
def own(request: HttpRequest, company_id: str) -> HttpResponse:
    """What the visitor may do in the company: everybody may know that."""
    visit = Visit(request=request, access=reached(request, company_id), now=timezone.now())
    held = in_order(visit.access.permissions)
    return visit.show(
        "settings/access.html",
        section="access",
        whole=visit.access.permissions == Role(visit.access.role).permissions,
        resources=resources(held),
        administrative=[each for each in administrative(held) if each["held"]],
    )


def resources(held: Collection[str]) -> list[dict[str, Any]]:
    """One line a resource: seeing it, and changing it where that is a permission."""
    known = {each.value for each in ALL}
    return [
        {
            "label": LABELS[name],
            "cells": [
                {"value": value, "held": value in held, "does": does} if value in known else None
                for does, value in ((_("see"), f"{name}:read"), (_("change"), f"{name}:write"))
            ],
        }
        for name in RESOURCES
    ]


def administrative(held: Collection[str]) -> list[dict[str, Any]]:
    return [{"value": each.value, "label": label, "held": each.value in held} for each, label in ADMIN_LABELS.items()]


def in_short(held: Permissions) -> str:
    """Sees everything, changes 3 of 10, administers"""
    plain = ALL - ADMIN_LEVEL
    seen, all_seen = part_of(held, frozenset(each for each in plain if not each.writes))
    changed, all_changed = part_of(held, frozenset(each for each in plain if each.writes))
    words = [SEES[how_much(seen, all_seen)].format(there=seen, all=all_seen)]
    words.append(CHANGES[how_much(changed, all_changed)].format(there=changed, all=all_changed))
    if held & ADMIN_LEVEL:
        words.append(_("administers"))
    text = ", ".join(words)
    return text[:1].upper() + text[1:]


SEES = {
    "nothing": gettext_lazy("sees nothing"),
    "everything": gettext_lazy("sees everything"),
    "some": gettext_lazy("sees {there} of {all}"),
}
CHANGES = {
    "nothing": gettext_lazy("changes nothing"),
    "everything": gettext_lazy("changes everything"),
    "some": gettext_lazy("changes {there} of {all}"),
}


def part_of(held: Permissions, all_of_them: Permissions) -> tuple[int, int]:
    """(how many of them are held, of how many)"""
    return len(held & all_of_them), len(all_of_them)


def how_much(there: int, of_all: int) -> str:
    return {0: "nothing", of_all: "everything"}.get(there, "some")
