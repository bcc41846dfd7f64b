"""Security: where somebody is signed in, and what happened to their account. Everybody sees their own."""

from django.contrib import messages
from django.contrib.auth import logout
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe
from rest_framework.exceptions import ValidationError

from companies.api.pagination import keyset_rows
from companies.callers import sessions
from companies.models import PersonalEntry, PersonalEvent
from companies.pages.visits import person, signed_in, to_sign_in
from companies.security import ending, log
from companies.security.words_told import retold

PAGE = "/app/security"
ENTRIES = 20  # of a page
UNFOLDED = 10  # sessions that are shown at once
OTHERS = "others"


@require_safe
@signed_in
def security(request: HttpRequest) -> HttpResponse:
    """The sessions, the one that asks first among them, and the log's latest lines."""
    user, now = person(request), timezone.now()
    rows = PersonalEntry.objects.of(user).since(now - log.KEPT)
    try:
        entries, cursor = keyset_rows(request, rows, order=("-time", "-id"), limit=ENTRIES)
    except ValidationError:
        raise Http404 from None
    here = request.session.session_key
    live = sorted(ending.live(user, now=now), key=lambda row: row.session_key != here)
    context = {"sessions": live[:UNFOLDED], "more": live[UNFOLDED:], "here": here, "others": OTHERS}
    context |= {"entries": entries, "cursor": cursor}
    return render(request, "security/security.html", context)


@require_POST
@signed_in
def end(request: HttpRequest) -> HttpResponse:
    """Ends the session that the form names, or all others; after a recent sign-in, for whoever found a browser open
    could lock its owner out."""
    now, user = timezone.now(), person(request)
    if not sessions.signed_in_recently(request, now=now):
        return to_sign_in(PAGE, again=True)
    wanted, here = request.POST.get("session", ""), request.session.session_key
    if wanted == OTHERS:
        count = ending.end_others(user, but=here)
        said = f"{count} other session{'' if count == 1 else 's'}" if count else ""
    else:
        ended = ending.end_one(user, handle=wanted)
        if ended is not None and ended.session_key == here:
            logout(request)
            return redirect("sign-in")
        said = f"{ended.device} ({ended.address})" if ended else ""
    if said:
        log.note(user=user, event=PersonalEvent.SESSIONS_ENDED, request=request, now=now, detail=said)
        messages.success(request, _("Signed out: {what}.").format(what=retold(said)))
    else:
        messages.info(request, _("That session had ended already."))
    return redirect("security")
