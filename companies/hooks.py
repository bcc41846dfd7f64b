"""Hooks: what an app announces to apps above it, which it cannot import.

An app declares a hook as a function signature and runs it; an app above registers a function of the same signature in
its ``AppConfig.ready``. The type checker holds both sides against the signature. Registered functions run in the
transaction of the caller, in the order of INSTALLED_APPS; an error in one of them ends the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, ParamSpec, TypeVar
from uuid import UUID

if TYPE_CHECKING:
    from django.db.models import Model

    from companies.audit.changes import FieldChange
    from companies.audit.names import AuditNames
    from companies.auth.access import Access
    from companies.models import ApiKey, AuditContext, AuditEntry, Company, Membership, User
    from companies.pages.context import CompanyPage
    from companies.permissions import Permission

P = ParamSpec("P")
R = TypeVar("R")


class Hook(Generic[P, R]):
    """A named list of functions of one signature."""

    def __init__(self, signature: Callable[P, R]) -> None:
        self.name = signature.__name__
        self.__doc__ = signature.__doc__
        self.functions: list[Callable[P, R]] = []

    def register(self, function: Callable[P, R]) -> None:
        """Add a function; registering it again changes nothing."""
        if function not in self.functions:
            self.functions.append(function)

    def run(self, *args: P.args, **kwargs: P.kwargs) -> list[R]:
        """Call every registered function and return their results, in order."""
        return [function(*args, **kwargs) for function in self.functions]


@Hook
def company_created(*, company: Company, context: AuditContext) -> None:
    """A company was created."""


@Hook
def list_zone_taxes() -> Mapping[str, Decimal]:
    """Return the standard VAT rates in percent, by time zone of a country."""
    return {}


@Hook
def company_copied(*, source: Company, company: Company, counts: dict[str, int], context: AuditContext) -> None:
    """A company's rows were copied to a sandbox; ``counts`` says how many by table."""


@Hook
def company_rows_deleting(*, company: Company) -> None:
    """All rows of a company are about to be deleted."""


@Hook
def sandbox_expiring(*, company: Company, context: AuditContext) -> None:
    """A sandbox will be deleted soon."""


@Hook
def company_settings_changed(*, company: Company, context: AuditContext, changed: set[str]) -> None:
    """Settings changed that figures depend on; ``changed`` names the columns."""


@Hook
def member_joined(*, membership: Membership, context: AuditContext) -> None:
    """A person accepted an invitation."""


@Hook
def member_left(*, membership: Membership, context: AuditContext) -> None:
    """A membership ended."""


@Hook
def user_deactivated(*, user: User, context: AuditContext) -> None:
    """An account of a person was deactivated."""


@Hook
def connected_apps_revoked(*, user: User, context: AuditContext) -> None:
    """A person changed the password and asked to sign out connected apps too."""


@Hook
def api_key_created(*, key: ApiKey, context: AuditContext) -> None:
    """An API key was created."""


@Hook
def api_key_creator_left(*, membership: Membership, keys: list[ApiKey], context: AuditContext) -> None:
    """A member left whose API keys still work."""


@Hook
def app_connected(*, consent: Any, context: AuditContext) -> None:
    """A person allowed an app to use a company; ``consent`` is an oauth.ConsentGrant."""


@Hook
def app_revoked(*, consent: Any, context: AuditContext) -> None:
    """A consent ended; ``consent`` is an oauth.ConsentGrant."""


@Hook
def list_home_figures(*, accesses: Iterable[Access], now: datetime) -> dict[Any, list[tuple[str, str]]]:
    """Return figures for the cards of the home page: (label, text) by company id."""
    return {}


@Hook
def prune_expired(*, now: datetime) -> int:
    """Delete expired rows of one kind and return how many."""
    return 0


@Hook
def change_completed(*, company: Company, entries: list[AuditEntry]) -> None:
    """Run before the outermost change of a company with closings ends; ``entries`` are its audit entries."""


@Hook
def rebuild_derived_tables(company_id: UUID) -> None:
    """Compute a company's rows of derived tables anew from the facts."""


@Hook
def find_derived_differences(company_id: UUID) -> list[str]:
    """Return where a company's rows of derived tables differ from the facts, one line each."""
    return []


class AuditedModel(NamedTuple):
    """How the audit log page names an entity: its model, and the permission that it takes to see it."""

    model: type[Model]
    permission: Permission


# By entity type of the audit log, such as "account"; apps add theirs in AppConfig.ready.
AUDITED_MODELS: dict[str, AuditedModel] = {}
# Models whose rows are not simply copied with a company, and why; apps add theirs in AppConfig.ready. All other tables
# are copied.
UNCOPIED_MODELS: dict[type[Model], str] = {}
# By entity type: reads fields from entries that the columns do not show by themselves, by id of the entry.
AUDIT_FIELDS: dict[str, Callable[[Sequence[AuditEntry], AuditNames], Mapping[UUID, Sequence[FieldChange]]]] = {}
# By action: returns the URL of the records that it changed; "" if there is none.
AUDIT_LINKS: dict[str, Callable[[CompanyPage, AuditEntry], str]] = {}
# By column: the label of each code that the audit log stores, such as {"cac": "Sales and marketing"}.
AUDIT_LABELS: dict[str, Mapping[Any, Any]] = {}
