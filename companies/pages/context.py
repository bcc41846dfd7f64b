"""Page context: signed-in user, company access, permissions and error handling of HTML pages."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property, partial, wraps
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit

from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods
from rest_framework.exceptions import ValidationError

from companies.api import request_slots
from companies.api.errors import build_validation_error
from companies.api.pagination import list_keyset_page
from companies.auth import login_redirects, pending_form, sessions, throttling
from companies.auth.access import Access
from companies.auth.authentication import SessionCredential
from companies.errors import DomainError, NotFoundError, ValidationFailed
from companies.models import AuditContext, Company, User
from companies.models.tenancy import parse_id
from companies.pages.concurrent_change import ConcurrentChange
from companies.pages.double_submit import reject_duplicate_submission
from companies.pages.form_messages import to_form_message
from companies.pages.table_csv import MAX_ROWS, TABLE_PARAMETER, TOO_MANY_ROWS, serve_table
from companies.permissions import Permission
from companies.time_zones import get_today
from companies.versions import PreconditionFailed, compute_version

HOME_PATH = "/app/"
ROWS_PER_PAGE = 50  # rows of a list
PageFunction = Callable[..., HttpResponse]


def require_sign_in(page_function: PageFunction) -> PageFunction:
    """Decorate a page that needs a signed-in user; responses are private."""

    @wraps(page_function)
    def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            if request.method in ("GET", "HEAD"):
                return redirect_to_sign_in(request.get_full_path())
            return redirect_to_sign_in(get_referring_path(request), form_expired=True)
        count_page_request(request)
        response = serve_table(request, lambda: page_function(request, *args, **kwargs))
        response.headers.setdefault("Cache-Control", "private, no-cache")
        return response

    return view


def count_page_request(request: HttpRequest) -> None:
    """Count one request of the user's rate limit, which pages and API share, and take a concurrency slot.

    Raises RateLimited, TooManyInWork.
    """
    credential = SessionCredential(user=get_signed_in_user(request)).key
    budget = throttling.consume_budget(credential, now=timezone.now().timestamp())
    if budget.is_exceeded:
        raise throttling.RateLimited(wait=budget.resets_in)
    request_slots.get_request_slots(request).take_credential_slot(credential)


def redirect_to_sign_in(next_path: str, *, reauthenticate: bool = False, form_expired: bool = False) -> HttpResponse:
    """Redirect to the sign-in page."""
    return redirect(
        login_redirects.build_sign_in_url(next_path, reauthenticate=reauthenticate, form_expired=form_expired)
    )


def redirect_unless_recent_login(
    request: HttpRequest, *, next_path: str, get_action_label: Callable[[], str] | None = None
) -> HttpResponse | None:
    """Return a redirect to sign-in if the last sign-in is too old for a sensitive operation; None otherwise.

    A posted form is stored and can be resubmitted afterwards; `get_action_label` describes what it does.
    """
    now = timezone.now()
    if sessions.is_recently_authenticated(request, now=now):
        return None
    if request.method == "POST":
        if get_action_label and pending_form.store_pending_form(
            request, action_label=get_action_label(), now=now.timestamp()
        ):
            next_path = f"{reverse('send-again')}?{urlencode({'next': next_path})}"
            message = _("Confirm your identity to submit your input. Nothing was changed yet.")
        else:
            message = _("Confirm your identity, then repeat the action. Nothing was changed yet.")
        messages.info(request, message)
    return redirect_to_sign_in(next_path, reauthenticate=True)


def get_referring_path(request: HttpRequest) -> str:
    """Return the path of the page whose form was submitted, from the Referer: a form's own URL may have no page."""
    try:
        referrer = urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        return HOME_PATH
    if referrer.netloc != request.get_host() or not referrer.path.startswith(HOME_PATH):
        return HOME_PATH
    return f"{referrer.path}?{referrer.query}" if referrer.query else referrer.path


def get_signed_in_user(request: HttpRequest) -> User:
    """Return the signed-in user of a request."""
    user = request.user
    assert isinstance(user, User)  # noqa: S101 - pages for people stand behind signed_in
    return user


class MfaRequired(PermissionDenied):
    """The company requires MFA and the user has none."""


def get_access_or_404(request: HttpRequest, company_id: str) -> Access:
    """Return the user's access to the company. Raises Http404, MfaRequired."""
    accesses = SessionCredential(user=get_signed_in_user(request)).accesses()
    access = next((each for each in accesses if each.company.id == parse_id(company_id)), None)
    if access is None:
        raise Http404
    if access.needs_mfa_setup:
        raise MfaRequired
    request_slots.get_request_slots(request).take_company_slot(access.company.id)
    # Used by the page header: access, and the companies to switch to.
    request.access, request.accesses = access, accesses  # type: ignore[attr-defined]
    return access


def build_audit_context(request: HttpRequest, *, now: datetime | None = None) -> AuditContext:
    """Build the audit context of a page; a form submitted twice takes effect once."""
    return build_user_audit_context(get_signed_in_user(request), request, now=now)


def build_user_audit_context(user: User, request: HttpRequest, *, now: datetime | None = None) -> AuditContext:
    """Build the audit context of a user who is known by other means than the session."""
    now = now or timezone.now()
    return AuditContext(
        time=now,
        actor=str(user.pk),
        user_id=user.pk,
        credential=f"session:{user.pk}",
        request_id=getattr(request, "request_id", ""),
        expected_versions=frozenset({request.POST["seen"]})
        if "seen" in request.POST
        else None,  # version sent by the form
        claims=[partial(reject_duplicate_submission, request, now=now)],
    )


class InvalidListPage(BadRequest):
    """The cursor or page number of a list is not valid."""


class ErrorForm(Protocol):
    """A form that can show domain errors."""

    def add_error(self, error: DomainError, /) -> None: ...


@contextmanager
def handle_form_errors(request: HttpRequest, form: ErrorForm | None = None) -> Iterator[None]:
    """Handle the errors of a form's action and of the response that follows it.

    Domain errors are shown at the form's fields, or above the next page without a form; then the code below
    continues:

        with page.handle_errors(form):
            account = create_account(…)
            return page.redirect_with_message(f"{account.name} was created.", "account", account_id=account.id)
        return render_account_form(page, form)

    Raises Http404 if the row is gone.
    """
    try:
        with transaction.atomic():
            yield
        return
    except NotFoundError:
        raise Http404 from None
    except ValidationError as error:
        domain_error: DomainError = build_validation_error(error)
    except PreconditionFailed:
        domain_error = ConcurrentChange()
    except DomainError as raised_error:
        domain_error = raised_error
    if form is None:
        messages.error(request, get_error_message(domain_error))
    else:
        form.add_error(domain_error)


def get_error_message(error: DomainError) -> str:
    """Return the text of a domain error, for a page without a form."""
    return (
        " ".join(to_form_message(text, code) for _, code, text in error.errors)
        if isinstance(error, ValidationFailed)
        else error.detail
    )


def list_page_rows(
    request: HttpRequest,
    rows: QuerySet[Any],
    *,
    order: Sequence[str],
    limit: int = ROWS_PER_PAGE,
) -> tuple[list[Any], str | None]:
    """Return (rows of the requested page, cursor of the next one); for a CSV file the rows of all pages.

    Raises:
        InvalidListPage: the cursor is invalid.
    """
    is_for_file = TABLE_PARAMETER in request.GET
    limit = MAX_ROWS if is_for_file else limit
    try:
        page_rows, cursor = list_keyset_page(request, rows, order=order, limit=limit)
    except ValidationError:
        raise InvalidListPage from None
    if is_for_file and cursor:
        TOO_MANY_ROWS.set(True)
    return page_rows, cursor


# ---------------------------------------------------------------------------------------------- pages of a company


@dataclass
class CompanyPage:
    """One request for a page of a company: user, time, access."""

    request: HttpRequest
    access: Access
    now: datetime
    actor_names: dict[str, str] = field(default_factory=dict)  # of people and keys, by `find_actor_names`
    is_outdated = False  # the form was rejected because the row has changed

    @property
    def company(self) -> Company:
        return self.access.company

    @cached_property
    def today(self) -> date:
        return get_today(self.company, self.now)

    def has_permission(self, permission: Permission) -> bool:
        return permission in self.access.permissions and not (self.company.read_only and permission.is_write)

    @cached_property
    def audit_context(self) -> AuditContext:
        return build_audit_context(self.request, now=self.now)

    @property
    def is_post(self) -> bool:
        return self.request.method == "POST"

    @contextmanager
    def handle_errors(self, form: ErrorForm | None = None) -> Iterator[None]:
        """Handle errors of a form's action; see ``handle_form_errors``."""
        with handle_form_errors(self.request, form):
            try:
                yield
            except PreconditionFailed:
                self.is_outdated = True
                raise

    def get_seen_version(self, row: Any) -> str:
        """Return the row's version that the form sends back; after an error the version it was rendered from."""
        submitted_version = self.request.POST.get("seen")
        return compute_version(row) if submitted_version is None or self.is_outdated else submitted_version

    def redirect_with_message(self, message: str, url_name: str, **url_kwargs: Any) -> HttpResponse:
        """Redirect to a page of the company with a success message."""
        messages.success(self.request, message)
        return self.redirect(url_name, **url_kwargs)

    def redirect(self, url_name: str, **url_kwargs: Any) -> HttpResponse:
        """Redirect to a page of the company."""
        return redirect(url_name, company_id=self.company.id, **url_kwargs)

    def paginate(
        self,
        rows: QuerySet[Any],
        *,
        order: Sequence[str],
        limit: int = ROWS_PER_PAGE,
    ) -> tuple[list[Any], str | None]:
        """Return (rows of the requested page, cursor of the next one). Raises InvalidListPage."""
        return list_page_rows(self.request, rows, order=order, limit=limit)

    def render(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        """Render the page; ``tab`` is its main section, ``section`` its place in the settings.

        Times are shown in the company's time zone.
        """
        with timezone.override(self.company.time_zone):
            return render(
                self.request, template, {"access": self.access, "company": self.company, **context}, status=status
            )


class CompanyReadOnly(PermissionDenied):
    """A write to a company whose trial or subscription has ended."""


def is_write_request(request: HttpRequest, permission: Permission) -> bool:
    """Return whether the request would change a read-only company; the page of a form counts too."""
    return permission.is_write or (request.method == "POST" and permission is not Permission.COMPANY_MANAGE)


def company_page(
    *,
    reads: Permission | None = None,
    writes: Permission | None = None,
    reads_also: Sequence[Permission] = (),
    uploads: bool = False,
) -> Callable[[PageFunction], PageFunction]:
    """Decorate a page below /app/companies/{company_id}: company and permission are checked before it runs.

    The page gets a CompanyPage. ``reads`` is needed for GET (without it there is only a form to submit),
    ``writes`` for POST, with files if ``uploads``. Users who may write but not read have no page. A page that shows
    data of several kinds needs the permissions of ``reads_also`` too.
    """
    permission_by_method = {"GET": reads, "HEAD": reads, "POST": writes}

    def wrap(page: PageFunction) -> PageFunction:
        @require_http_methods([method for method, permission in permission_by_method.items() if permission])
        @require_sign_in
        @wraps(page)
        def view(request: HttpRequest, company_id: str, **kwargs: Any) -> HttpResponse:
            access = get_access_or_404(request, company_id)
            permission = permission_by_method[request.method or ""]
            if permission is None or not ({permission, permission.read_permission, *reads_also} <= access.permissions):
                raise PermissionDenied
            if access.company.read_only and is_write_request(request, permission):
                raise CompanyReadOnly
            return page(CompanyPage(request=request, access=access, now=timezone.now()), **kwargs)

        view.permission_for = permission_by_method  # type: ignore[attr-defined]
        view.reads_also = reads_also  # type: ignore[attr-defined]
        view.takes_uploads = uploads  # type: ignore[attr-defined]
        return view

    return wrap
