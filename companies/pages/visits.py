"""Who opens a page, of which company, and how a page changes something."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property, wraps
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import PermissionDenied
from django.db import OperationalError, transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods
from rest_framework.exceptions import ValidationError

from companies import addresses
from companies.access import Access
from companies.api.errors import SAME_MOMENT, lost_race
from companies.api.pagination import keyset_rows
from companies.authentication import SessionCredential
from companies.errors import Conflict, Refusal
from companies.models import Company, Stamp, User
from companies.pages.repeated import only_once
from companies.permissions import Permission

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
        response = page(request, *args, **kwargs)
        response.headers.setdefault("Cache-Control", "private, no-cache")
        return response

    return view


def to_sign_in(then: str, *, again: bool = False, ended: bool = False) -> HttpResponse:
    return redirect(addresses.sign_in_page(then, again=again, ended=ended))


def where_it_stood(request: HttpRequest) -> str:
    """The page of ours whose form was sent, by the word of the browser: a form's own address may show nothing."""
    stood = urlsplit(request.headers.get("Referer", ""))
    if stood.netloc != request.get_host() or not stood.path.startswith(HOME):
        return HOME
    return f"{stood.path}?{stood.query}" if stood.query else stood.path


def person(request: HttpRequest) -> User:
    """The signed-in user."""
    user = request.user
    assert isinstance(user, User)  # noqa: S101 - pages for people stand behind signed_in
    return user


def reached(request: HttpRequest, company_id: str) -> Access:
    """The user's access to the company of the address. Raises Http404 where there is none."""
    access = SessionCredential(user=person(request)).access(company_id)
    if access is None:
        raise Http404
    request.access = access  # type: ignore[attr-defined] # for what stands on every page of a company
    return access


def page_stamp(request: HttpRequest, *, now: datetime | None = None) -> Stamp:
    """Who changes something on a page, and when."""
    user = person(request)
    return Stamp(
        time=now or timezone.now(),
        actor=str(user.pk),
        user_id=user.pk,
        credential=f"session:{user.pk}",
        request_id=getattr(request, "request_id", ""),
    )


# ---------------------------------------------------------------------------------------------- pages of a company


@dataclass
class Change:
    """What became of a change that a page asked for: ``refusal`` says why nothing was done."""

    refusal: Refusal | None = None


@dataclass
class Visit:
    """One request for a page of a company: who asks, when, and what they may do there."""

    request: HttpRequest
    access: Access
    now: datetime

    @property
    def company(self) -> Company:
        return self.access.company

    @property
    def today(self) -> date:
        return self.now.date()

    def may(self, permission: Permission) -> bool:
        return permission in self.access.permissions

    @cached_property
    def stamp(self) -> Stamp:
        return page_stamp(self.request, now=self.now)

    @contextmanager
    def change(self) -> Iterator[Change]:
        """One transaction for all that the page changes. A refusal undoes the whole of it and is told, not raised.

        So is a race that was lost against another change.
        """
        change = Change()
        try:
            with transaction.atomic():
                yield change
                only_once(self.request, now=self.now)
                if self.company.id in self.stamp.changed:
                    Company.objects.touch(self.company.id, self.now)
        except Refusal as refusal:
            change.refusal = refusal
        except OperationalError as error:
            if not lost_race(error):
                raise
            change.refusal = Conflict(SAME_MOMENT)
        if change.refusal:
            self.stamp.changed.clear()  # nothing was: what follows on this page marks nothing as updated

    def page_of(self, rows: QuerySet[Any], *, order: Sequence[str]) -> tuple[list[Any], str | None]:
        """(rows of the page that the address asks for, the next one's cursor). Raises Http404 for a strange cursor."""
        try:
            return keyset_rows(self.request, rows, order=order, limit=A_PAGE)
        except ValidationError:
            raise Http404 from None

    def show(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        """The page; ``tab`` names its part of the company, ``section`` its page among the settings."""
        return render(
            self.request, template, {"access": self.access, "company": self.company, **context}, status=status
        )


def company_page(*, reads: Permission | None = None, writes: Permission | None = None) -> Callable[[Page], Page]:
    """A page below /app/companies/{company_id}: the company is found and the permission checked before it runs.

    The page gets a Visit. ``reads`` is needed to look (without it there is nothing to see, only a form to send),
    ``writes`` to send its form.
    """
    needed = {"GET": reads, "HEAD": reads, "POST": writes}

    def wrap(page: Page) -> Page:
        @require_http_methods([method for method, permission in needed.items() if permission])
        @signed_in
        @wraps(page)
        def view(request: HttpRequest, company_id: str, **kwargs: Any) -> HttpResponse:
            access = reached(request, company_id)
            if needed[request.method or ""] not in access.permissions:
                raise PermissionDenied
            return page(Visit(request=request, access=access, now=timezone.now()), **kwargs)

        view.permission_for = needed  # type: ignore[attr-defined]
        return view

    return wrap
