"""What was typed before a new proof was asked for, and is sent after it."""

from urllib.parse import urlsplit

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import resolve
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from companies.callers import waiting
from companies.pages.people.signing_in import safe_next
from companies.pages.visits import Visit, prove_again, reached, signed_in


@require_GET  # to look at its head would take the form away
@signed_in
def send_again(request: HttpRequest) -> HttpResponse:
    """Asks whether the form that waits is to be sent now, to where it was sent before; shown once."""
    if asking := prove_again(request, then=request.get_full_path()):
        return asking
    then, form = safe_next(request), waiting.take(request)
    if form is None:
        messages.info(
            request, _("Nothing that you typed is kept here any more. Fill in the form again if it was not sent.")
        )
        return redirect(then)
    context = {"form": form, "then": then}
    company_id = resolve(urlsplit(form["address"]).path).kwargs.get("company_id")
    if company_id is None:
        response = render(request, "companies/send_again.html", context)
    else:
        visit = Visit(request=request, access=reached(request, company_id), now=timezone.now())
        response = visit.show("companies/send_again.html", section="send-again", **context)
    response["Cache-Control"] = "no-store"
    return response
