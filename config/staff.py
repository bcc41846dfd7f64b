"""Who gets into the admin: staff, who sign in as everybody does, with a second factor where STAFF_MFA asks for one."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from companies.callers import addresses, sessions

SET_UP_FIRST = "The staff's pages ask for a second factor. Set one up, then open them again."


class StaffSite(AdminSite):
    """Staff sign in as everybody does; with STAFF_MFA on, only those with a second factor get in."""

    def has_permission(self, request: HttpRequest) -> bool:
        """A session of somebody with a second factor has proven it, or it ends (companies.callers.sessions)."""
        return super().has_permission(request) and (not settings.STAFF_MFA or sessions.has_factor(request.user))

    @method_decorator(never_cache)
    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        if self.has_permission(request):
            return redirect("admin:index")
        if request.user.is_active and request.user.is_staff:
            messages.info(request, SET_UP_FIRST)
            return redirect("factors")
        somebody = request.user.is_authenticated
        address = addresses.sign_in_page_from_api(request.GET.get("next") or reverse("admin:index"), again=somebody)
        return redirect(f"{address}&else=1" if somebody else address)


def site() -> AdminSite:
    staff = StaffSite()
    staff.site_header = staff.site_title = "Staff"
    staff.index_title = "Companies, people and apps"
    return staff
