"""Settings pages of permissions: of a member, and one's own."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from companies.actions import members
from companies.models import Membership
from companies.pages.context import (
    CompanyPage,
    company_page,
    get_access_or_404,
    redirect_unless_recent_login,
    require_sign_in,
)
from companies.pages.forms import BoundForm, bind_body
from companies.pages.settings.api_key_form import ADMIN_LABELS, RESOURCE_LABELS, RESOURCES
from companies.permissions import ADMIN_PERMISSIONS, ALL_PERMISSIONS, Permission, Permissions, Role, sort_permissions
from companies.serializers import MemberInput

TICKS_DIFFER_TEXT = gettext_lazy("The selection differs from the role. Choose “Custom” to save it.")
LIST_KIND_LABELS = {
    "role": gettext_lazy("Same as role"),
    "own": gettext_lazy("Custom, as selected below"),
}


@company_page(reads=Permission.MEMBERS_MANAGE, writes=Permission.MEMBERS_MANAGE)
def edit_member_permissions_page(page: CompanyPage, member_id: UUID) -> HttpResponse:
    """Show and change the permissions of a member."""
    rows = Membership.objects.for_company(page.company.id).select_related("user")
    member = get_object_or_404(rows, id=member_id)
    held_permissions = sort_permissions(member.effective_permissions)
    form = BoundForm(values={"kind": "role" if member.permissions is None else "own", "permissions": held_permissions})
    label_text = _("Save the permissions of {name}.")
    if login_redirect := redirect_unless_recent_login(
        page.request, next_path=page.request.path, get_action_label=lambda: label_text.format(name=member.display_name)
    ):
        return login_redirect
    if page.is_post:
        form = parse_permission_form(page, held_permissions=held_permissions, role=member.role)
        if form.is_valid:
            with page.handle_errors(form):
                values = {"permissions": form.data["permissions"]}
                member = members.update_member(
                    company=page.company,
                    context=page.audit_context,
                    actor_access=page.access,
                    member_id=member_id,
                    values=values,
                )
                return page.redirect_with_message(
                    _("Permissions of {name} saved.").format(name=member.display_name), "members"
                )
    return page.render(
        "companies/settings/permission_fields.html",
        status=400 if form.errors else 200,
        section="members",
        form=form,
        member=member,
        seen=page.get_seen_version(member),
        kinds=LIST_KIND_LABELS,
        resources=list_permission_rows(form.values["permissions"]),
        administrative=list_admin_permissions(form.values["permissions"]),
    )


def parse_permission_form(page: CompanyPage, *, held_permissions: list[str], role: str) -> BoundForm:
    """Parse the form; null stands for the role's permissions. Contradicting checkboxes are an error."""
    post_data = page.request.POST
    values: dict[str, Any] = {"kind": post_data.get("kind", ""), "permissions": post_data.getlist("permissions")}
    body = {"permissions": None if values["kind"] == "role" else values["permissions"]}
    form = bind_body(MemberInput, body, values=values, fields={"permissions": "permissions"}, partial=True)
    if values["kind"] not in LIST_KIND_LABELS:
        form.errors["kind"] = _("Choose an option.")
    elif values["kind"] == "role" and set(values["permissions"]) not in (
        set(),
        set(held_permissions),
        set(Role(role).permissions),
    ):
        form.errors["kind"] = str(TICKS_DIFFER_TEXT)
    return form


@require_http_methods(["GET", "HEAD"])
@require_sign_in
def show_own_permissions(request: HttpRequest, company_id: str) -> HttpResponse:
    """Show the user's own permissions in the company."""
    page = CompanyPage(request=request, access=get_access_or_404(request, company_id), now=timezone.now())
    held_permissions = sort_permissions(page.access.permissions)
    return page.render(
        "companies/settings/member_permissions.html",
        section="access",
        whole=page.access.permissions == Role(page.access.role).permissions,
        resources=list_permission_rows(held_permissions),
        administrative=[each for each in list_admin_permissions(held_permissions) if each["held"]],
    )


def list_permission_rows(held_permissions: Collection[str]) -> list[dict[str, Any]]:
    """Return one table row per resource, with its read and write permission."""
    known_values = {each.value for each in ALL_PERMISSIONS}
    return [
        {
            "label": RESOURCE_LABELS[name],
            "cells": [
                {"value": value, "held": value in held_permissions, "does": does} if value in known_values else None
                for does, value in ((_("view"), f"{name}:read"), (_("change"), f"{name}:write"))
            ],
        }
        for name in RESOURCES
    ]


def list_admin_permissions(held_permissions: Collection[str]) -> list[dict[str, Any]]:
    """Return the administrative permissions, each with whether it is held."""
    return [
        {"value": permission.value, "label": label, "held": permission.value in held_permissions}
        for permission, label in ADMIN_LABELS.items()
    ]


def summarize_permissions(held_permissions: Permissions) -> str:
    """Summarize permissions: Sees everything, changes 3 of 10, administers."""
    regular_permissions = ALL_PERMISSIONS - ADMIN_PERMISSIONS
    read_count, read_total = count_held_permissions(
        held_permissions, frozenset(each for each in regular_permissions if not each.is_write)
    )
    write_count, write_total = count_held_permissions(
        held_permissions, frozenset(each for each in regular_permissions if each.is_write)
    )
    phrases = [READ_PHRASES[get_extent_key(read_count, read_total)].format(there=read_count, all=read_total)]
    phrases.append(WRITE_PHRASES[get_extent_key(write_count, write_total)].format(there=write_count, all=write_total))
    if held_permissions & ADMIN_PERMISSIONS:
        phrases.append(_("administration"))
    text = ", ".join(phrases)
    return text[:1].upper() + text[1:]


READ_PHRASES = {
    "nothing": gettext_lazy("view none"),
    "everything": gettext_lazy("view all"),
    "some": gettext_lazy("view {there} of {all}"),
}
WRITE_PHRASES = {
    "nothing": gettext_lazy("edit none"),
    "everything": gettext_lazy("edit all"),
    "some": gettext_lazy("edit {there} of {all}"),
}


def count_held_permissions(held_permissions: Permissions, permissions: Permissions) -> tuple[int, int]:
    """Return (how many of the permissions are held, how many there are)."""
    return len(held_permissions & permissions), len(permissions)


def get_extent_key(held_count: int, total: int) -> str:
    """Return "nothing", "everything" or "some"."""
    return {0: "nothing", total: "everything"}.get(held_count, "some")
