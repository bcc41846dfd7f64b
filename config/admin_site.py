"""Access to the admin: staff users, with MFA if STAFF_MFA is on."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from companies.auth import login_redirects, sessions

MFA_REQUIRED_TEXT = "Staff pages require two-factor authentication. Set it up, then open them again."


class StaffSite(AdminSite):
    """Admin site with our own sign-in pages; with STAFF_MFA only staff with MFA have access."""

    def has_permission(self, request: HttpRequest) -> bool:
        """Check staff status and MFA; a session without the user's MFA is ended by companies.auth.sessions."""
        return super().has_permission(request) and (not settings.STAFF_MFA or sessions.has_mfa(request.user))

    @method_decorator(never_cache)
    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        if self.has_permission(request):
            return redirect("admin:index")
        if request.user.is_active and request.user.is_staff:
            messages.info(request, MFA_REQUIRED_TEXT)
            return redirect("factors")
        somebody = request.user.is_authenticated
        address = login_redirects.build_sign_in_url_from_api(
            request.GET.get("next") or reverse("admin:index"), reauthenticate=somebody
        )
        return redirect(f"{address}&else=1" if somebody else address)


def build_staff_site() -> AdminSite:
    """Build the admin site."""
    staff = StaffSite()
    staff.site_header = staff.site_title = "Staff"
    staff.index_title = "Companies, people and apps"
    return staff
