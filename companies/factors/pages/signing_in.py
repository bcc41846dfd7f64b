"""The second step of signing in, signing in with a passkey alone, and proving again who one is with either."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from companies.api import throttling
from companies.callers import addresses, passwords, sessions
from companies.callers.client_network import get_client_network
from companies.factors import keeping, passkeys, proving, steps
from companies.models import Passkey, RecoveryCode, User
from companies.pages.people.signing_in import allow_return_to_app, safe_next

PROVING = "prove"  # the purpose of a challenge
WRONG_CODE = gettext_lazy(
    "The code is wrong, was used already, or came too soon after a wrong one. Wait for the next code."
)
WRONG_PASSKEY = gettext_lazy("The passkey was not accepted. Try again, or another way.")
ENDED = gettext_lazy("Signing in took too long. Begin again.")


@allow_return_to_app
@csrf_protect
@require_http_methods(["GET", "HEAD", "POST"])
def second_step(request: HttpRequest) -> HttpResponse:
    """Asks for the second factor of somebody who gave the password, or who is signed in and must prove it anew."""
    now, then = timezone.now(), safe_next(request)
    user = steps.asked(request, now=now)
    if user is None:
        messages.error(request, str(ENDED))
        return redirect(addresses.sign_in_page(then))
    if request.method != "POST":
        return shown(request, user, then)
    if "answer" in request.POST:
        found, wrong = by_passkey(request, user.email), WRONG_PASSKEY
    else:
        typed = {"username": user.email, "code": request.POST.get("code", "")}
        found, wrong = tried(request, typed), WRONG_CODE
    return let_in(request, found, then) if found else shown(request, user, then, wrong=str(wrong))


def shown(request: HttpRequest, user: User, then: str, *, wrong: str = "") -> HttpResponse:
    context = {
        "person": user,
        "next": then,
        "again": steps.pending(request, now=timezone.now()) is None,
        "app": keeping.app_of(user),
        "has_passkeys": passkeys.possible() and Passkey.objects.of(user.pk).exists(),
        "wrong": wrong,
    }
    return render(request, "companies/second_step.html", context, status=400 if wrong else 200)


@allow_return_to_app
@csrf_protect
@require_POST
def with_passkey(request: HttpRequest) -> HttpResponse:
    """A passkey alone signs in: it proves the device and, by its own lock, the person."""
    then = safe_next(request)
    found = by_passkey(request, "")
    if found is None:
        messages.error(request, str(WRONG_PASSKEY))
        return redirect(addresses.sign_in_page(then))
    return let_in(request, found, then)


@csrf_protect
@require_POST
def passkey_options(request: HttpRequest) -> HttpResponse:
    """What the browser is asked for a proof. Who is not known yet is asked for any passkey of this site."""
    now = timezone.now()
    place = f"challenges:{get_client_network(request)}"
    budget = throttling.spend(
        place, now=now.timestamp(), limit=settings.SIGN_IN_LIMIT, seconds=passwords.WINDOW, exact=True
    )  # each makes a row of a session
    if budget.exceeded:
        raise passwords.TurnedAway(wait=budget.resets_in)
    user = steps.asked(request, now=now) if "known" in request.GET else None
    known = list(Passkey.objects.of(user.pk)) if user else []
    challenge = steps.new_challenge(request, purpose=PROVING, now=now)
    response = HttpResponse(passkeys.to_prove(challenge=challenge, known=known), content_type="application/json")
    response["Cache-Control"] = "no-store"
    return response


def by_passkey(request: HttpRequest, username: str) -> User | None:
    challenge = steps.challenge(request, purpose=PROVING, now=timezone.now())
    return tried(request, {"username": username, "assertion": request.POST.get("answer", ""), "challenge": challenge})


def tried(request: HttpRequest, credentials: Mapping[str, Any]) -> User | None:
    """Who proved it. A failure counts like a wrong password, at the address and at the account."""
    found = authenticate(request, **credentials)
    return found if isinstance(found, User) else None


def let_in(request: HttpRequest, user: User, then: str) -> HttpResponse:
    sessions.sign_in(request, user, now=timezone.now(), factor=user.proven_by)
    steps.done(request)
    keeping.forgive(user.pk)
    left = RecoveryCode.objects.of(user.pk).count()
    if user.proven_by == proving.RECOVERY:
        said = gettext("You used a recovery code. {left} are left; make new ones before they run out.")
        messages.info(request, said.format(left=left))
    return redirect(then)
