"""Security page: active sessions and the security log of the signed-in user."""

from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from companies.auth import security_log, session_revocation, sessions
from companies.auth.log_translations import translate_log_entry
from companies.models import SecurityEvent, SecurityLogEntry
from companies.pages.context import get_signed_in_user, list_page_rows, redirect_to_sign_in, require_sign_in

SECURITY_PATH = "/app/security"
ENTRIES_PER_PAGE = 20  # of a page
VISIBLE_SESSION_COUNT = 10  # sessions that are shown at once
OTHER_SESSIONS = "others"


@require_safe
@require_sign_in
def show_security(request: HttpRequest) -> HttpResponse:
    """Show the user's sessions, the current one first, and the latest log entries."""
    user, now = get_signed_in_user(request), timezone.now()
    rows = SecurityLogEntry.objects.for_user(user).since(now - security_log.LOG_RETENTION)
    entries, cursor = list_page_rows(request, rows, order=("-time", "-id"), limit=ENTRIES_PER_PAGE)
    session_key = request.session.session_key
    sorted_sessions = sorted(
        session_revocation.list_active_sessions(user, now=now), key=lambda row: row.session_key != session_key
    )
    context = {
        "sessions": sorted_sessions[:VISIBLE_SESSION_COUNT],
        "more": sorted_sessions[VISIBLE_SESSION_COUNT:],
        "here": session_key,
        "others": OTHER_SESSIONS,
    }
    context |= {"entries": entries, "cursor": cursor}
    return render(request, "companies/user/security.html", context)


@require_POST
@require_sign_in
def revoke_sessions_page(request: HttpRequest) -> HttpResponse:
    """Revoke one session or all others. Needs a recent sign-in, so that an unattended browser cannot lock its
    owner out.
    """
    now, user = timezone.now(), get_signed_in_user(request)
    if not sessions.is_recently_authenticated(request, now=now):
        return redirect_to_sign_in(SECURITY_PATH, reauthenticate=True)
    session_choice, session_key = request.POST.get("session", ""), request.session.session_key
    if session_choice == OTHER_SESSIONS:
        count = session_revocation.revoke_other_sessions(user, except_session_key=session_key)
        detail = f"{count} other session{'' if count == 1 else 's'}" if count else ""
    else:
        ended_session = session_revocation.revoke_session(user, handle=session_choice)
        if ended_session is not None and ended_session.session_key == session_key:
            logout(request)
            return redirect("sign-in")
        detail = f"{ended_session.device} ({ended_session.address})" if ended_session else ""
    if detail:
        security_log.record_security_event(
            user=user, event=SecurityEvent.SESSIONS_ENDED, request=request, now=now, detail=detail
        )
        messages.success(request, _("Signed out: {what}.").format(what=translate_log_entry(detail)))
    else:
        messages.info(request, _("This session is already signed out."))
    return redirect("security")
