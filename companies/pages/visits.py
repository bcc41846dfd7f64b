"""Who opens a page, of which company, and how a page changes something."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property, partial, wraps
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods
from rest_framework.exceptions import ValidationError

from companies.api import concurrency, throttling
from companies.api.errors import refusal_of
from companies.api.pagination import Near, keyset_rows
from companies.callers import addresses, sessions, waiting
from companies.callers.access import Access
from companies.callers.authentication import SessionCredential
from companies.errors import FieldErrors, Missing, Refusal
from companies.models import Company, Stamp, User
from companies.models.tenancy import id_from
from companies.pages.repeated import only_once
from companies.pages.unchanged import ChangedMeanwhile
from companies.permissions import Permission
from companies.time_zones import get_today
from companies.versions import Stale, version_of

HOME = "/app/"
A_PAGE = 50  # rows of a list
Page = Callable[..., HttpResponse]


def signed_in(page: Page) -> Page:
    """Lets nobody in who has not signed in; what is shown is theirs alone."""

    @wraps(page)
    def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            if request.method in ("GET", "HEAD"):
                return to_sign_in(request.get_full_path())
            return to_sign_in(where_it_stood(request), ended=True)
        admit(request)
        response = page(request, *args, **kwargs)
        response.headers.setdefault("Cache-Control", "private, no-cache")
        return response

    return view


def admit(request: HttpRequest) -> None:
    """Spend one request of the person's budget, which pages and the API share, and count it as in work.

    Raises RateLimited, TooManyInWork.
    """
    credential = SessionCredential(user=person(request)).key
    budget = throttling.spend(credential, now=timezone.now().timestamp())
    if budget.exceeded:
        raise throttling.RateLimited(wait=budget.resets_in)
    concurrency.slots_of(request).hold_credential(credential)


def to_sign_in(then: str, *, again: bool = False, ended: bool = False) -> HttpResponse:
    return redirect(addresses.sign_in_page(then, again=again, ended=ended))


def prove_again(request: HttpRequest, *, then: str, asks: Callable[[], str] | None = None) -> HttpResponse | None:
    """The page that asks for a new proof, where the last one is too old for a sensitive act; None where it is not.

    A form for which ``asks`` says in words what it is for waits until then, and can be sent without typing it again.
    """
    now = timezone.now()
    if sessions.signed_in_recently(request, now=now):
        return None
    if request.method == "POST":
        if asks and waiting.keep(request, asks=asks(), now=now.timestamp()):
            then = f"{reverse('send-again')}?{urlencode({'next': then})}"
            said = _("Nothing was changed yet. Confirm that it is you; then what you typed can be sent.")
        else:
            said = _("Nothing was changed yet. Confirm that it is you, then do it again.")
        messages.info(request, said)
    return to_sign_in(then, again=True)


def where_it_stood(request: HttpRequest) -> str:
    """The page of ours whose form was sent, by the word of the browser: a form's own address may show nothing."""
    try:
        stood = urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        return HOME
    if stood.netloc != request.get_host() or not stood.path.startswith(HOME):
        return HOME
    return f"{stood.path}?{stood.query}" if stood.query else stood.path


def person(request: HttpRequest) -> User:
    """The signed-in user."""
    user = request.user
    assert isinstance(user, User)  # noqa: S101 - pages for people stand behind signed_in
    return user


class FactorNeeded(PermissionDenied):
    """A page of a company that demands a second factor, for somebody who has none."""


def reached(request: HttpRequest, company_id: str) -> Access:
    """The user's access to the company of the address. Raises Http404 where there is none, FactorNeeded."""
    accesses = SessionCredential(user=person(request)).accesses()
    access = next((each for each in accesses if each.company.id == id_from(company_id)), None)
    if access is None:
        raise Http404
    if access.waits:
        raise FactorNeeded
    concurrency.slots_of(request).hold_company(access.company.id)
    # For what stands on every page of a company: who looks at it, and where else they may go.
    request.access, request.accesses = access, accesses  # type: ignore[attr-defined]
    return access


def page_stamp(request: HttpRequest, *, now: datetime | None = None) -> Stamp:
    """Who changes something on a page, and when; a form that is sent twice changes it once."""
    return stamp_of(person(request), request, now=now)


def stamp_of(user: User, request: HttpRequest, *, now: datetime | None = None) -> Stamp:
    """The same where the person is known by other means than a session."""
    now = now or timezone.now()
    return Stamp(
        time=now,
        actor=str(user.pk),
        user_id=user.pk,
        credential=f"session:{user.pk}",
        request_id=getattr(request, "request_id", ""),
        expected=frozenset({request.POST["seen"]}) if "seen" in request.POST else None,  # of the form
        claims=[partial(only_once, request, now=now)],
    )


class Refusing(Protocol):
    """A form that shows what an act refused."""

    def refuse(self, refusal: Refusal, /) -> None: ...


@contextmanager
def sending(request: HttpRequest, form: Refusing | None = None) -> Iterator[None]:
    """Around the act that a form asks for, and the page that follows it.

    What the act refuses is told at its field where there is a form, else above the next page; below goes on:

        with visit.sending(form):
            account = accounts.open_account(…)
            return visit.done(f"{account.name} was opened.", "account", account_id=account.id)
        return account_form(visit, form)

    Raises Http404 for a row that is gone.
    """
    try:
        with transaction.atomic():
            yield
        return
    except Missing:
        raise Http404 from None
    except ValidationError as error:
        refusal: Refusal = refusal_of(error)
    except Stale:
        refusal = ChangedMeanwhile()
    except Refusal as refused:
        refusal = refused
    if form is None:
        messages.error(request, told(refusal))
    else:
        form.refuse(refusal)


def told(refusal: Refusal) -> str:
    """What a refusal says above a page that has no fields to show it at."""
    return (
        " ".join(said for _pointer, _code, said in refusal.errors)
        if isinstance(refusal, FieldErrors)
        else refusal.detail
    )


# ---------------------------------------------------------------------------------------------- pages of a company


@dataclass
class Visit:
    """One request for a page of a company: who asks, when, and what they may do there."""

    request: HttpRequest
    access: Access
    now: datetime
    outdated = False  # the sender of a form was told that somebody changed what it is about

    @property
    def company(self) -> Company:
        return self.access.company

    @property
    def today(self) -> date:
        return get_today(self.company, self.now)

    def may(self, permission: Permission) -> bool:
        return permission in self.access.permissions and not (self.company.read_only and permission.writes)

    @cached_property
    def stamp(self) -> Stamp:
        return page_stamp(self.request, now=self.now)

    @property
    def sent(self) -> bool:
        return self.request.method == "POST"

    @contextmanager
    def sending(self, form: Refusing | None = None) -> Iterator[None]:
        """``sending`` for this visit."""
        with sending(self.request, form):
            try:
                yield
            except Stale:
                self.outdated = True
                raise

    def seen(self, row: Any) -> str:
        """What the form about the row sends back as ``seen``: the version that it was made of. One that comes back with
        mistakes was made of the same still, until its sender is told that there is another."""
        made_of = self.request.POST.get("seen")
        return version_of(row) if made_of is None or self.outdated else made_of

    def done(self, said: str, page: str, **names: Any) -> HttpResponse:
        """Says what was done, on another page of the company."""
        messages.success(self.request, said)
        return self.to(page, **names)

    def to(self, page: str, **names: Any) -> HttpResponse:
        """Another page of the company."""
        return redirect(page, company_id=self.company.id, **names)

    def page_of(
        self, rows: QuerySet[Any], *, order: Sequence[str], limit: int = A_PAGE, near: Near | None = None
    ) -> tuple[list[Any], str | None]:
        """(rows of the page that the address asks for, the next one's cursor). Raises Http404 for a strange cursor."""
        try:
            return keyset_rows(self.request, rows, order=order, limit=limit, near=near)
        except ValidationError:
            raise Http404 from None

    def show(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        """The page; ``tab`` names its part of the company, ``section`` its page among the settings."""
        return render(
            self.request, template, {"access": self.access, "company": self.company, **context}, status=status
        )


class ReadOnly(PermissionDenied):
    """A page that changes something, of a company whose trial or subscription has ended."""


def changes(request: HttpRequest, permission: Permission) -> bool:
    """Whether a page is there to change what a read-only company leaves as it is: a form's own page is, too."""
    return permission.writes or (request.method == "POST" and permission is not Permission.COMPANY_MANAGE)


def company_page(
    *, reads: Permission | None = None, writes: Permission | None = None, uploads: bool = False
) -> Callable[[Page], Page]:
    """A page below /app/companies/{company_id}: the company is found and the permission checked before it runs.

    The page gets a Visit. ``reads`` is needed to look (without it there is nothing to see, only a form to send),
    ``writes`` to send its form, with files where the page takes ``uploads``; whoever may write something and not see it
    has no pages of it.
    """
    needed = {"GET": reads, "HEAD": reads, "POST": writes}

    def wrap(page: Page) -> Page:
        @require_http_methods([method for method, permission in needed.items() if permission])
        @signed_in
        @wraps(page)
        def view(request: HttpRequest, company_id: str, **kwargs: Any) -> HttpResponse:
            access = reached(request, company_id)
            permission = needed[request.method or ""]
            if permission is None or not {permission, permission.seeing} <= access.permissions:
                raise PermissionDenied
            if access.company.read_only and changes(request, permission):
                raise ReadOnly
            return page(Visit(request=request, access=access, now=timezone.now()), **kwargs)

        view.permission_for = needed  # type: ignore[attr-defined]
        view.takes_uploads = uploads  # type: ignore[attr-defined]
        return view

    return wrap
