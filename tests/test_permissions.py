"""Every operation of the OpenAPI document × every credential: who gets in, and what the others are told.

Two tables say it, read from the decisions and not from the code: NEEDS, an operation's permission, and CREDENTIALS, how
far each kind of caller comes. How many pairs that are: ``pytest -sk every_operation_stands tests/test_permissions.py``.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.urls import get_resolver

from companies.api.company_viewset import CompanyViewSet
from companies.api.viewsets import ApiViewSet
from companies.models import Company
from companies.permissions import Permission, Role
from oauth.registration import register_app
from tests import factories
from tests.api.request_bodies import UNKNOWN_ID
from tests.conftest import Api
from tests.oauth.conftest import REDIRECT, OAuthFlow
from tests.openapi_document import load_document

pytestmark = pytest.mark.django_db

ANY_MEMBER = "any member"

# Below /companies/{companyId}, with {} for an id: the permission of each method.
NEEDS: dict[str, dict[str, str]] = {
    "": {"GET": "company:read", "PUT": "company:write", "DELETE": "company:manage"},
    "copy": {"POST": "company:manage"},
    "logo": {"PUT": "company:write", "DELETE": "company:write"},
    "members": {"GET": "members:manage", "POST": "members:manage"},
    "members/{}": {"GET": "members:manage", "PUT": "members:manage", "DELETE": "members:manage"},
    "members/{}/resend": {"POST": "members:manage"},
    "members/me": {"DELETE": ANY_MEMBER},
    "api_keys": {"GET": "apiKeys:manage", "POST": "apiKeys:manage"},
    "api_keys/{}": {"GET": "apiKeys:manage", "DELETE": "apiKeys:manage"},
    "connected_apps": {"GET": ANY_MEMBER},
    "connected_apps/{}": {"DELETE": ANY_MEMBER},
    "audit_log": {"GET": "audit:read"},
    "events": {"GET": "audit:read"},
    "accounts": {"GET": "accounts:read", "POST": "accounts:write"},
    "accounts/{}": {"GET": "accounts:read", "PUT": "accounts:write", "DELETE": "accounts:write"},
    "accounts/{}/archive": {"PUT": "accounts:write"},
    "accounts/{}/unarchive": {"PUT": "accounts:write"},
    "accounts/{}/change_group": {"PUT": "accounts:write"},
    "accounts/{}/initial_balance": {"GET": "accounts:read", "PUT": "accounts:write"},
    "account_groups": {"GET": "accounts:read", "POST": "accounts:write"},
    "account_groups/{}": {"GET": "accounts:read", "PUT": "accounts:write", "DELETE": "accounts:write"},
    "closings": {"GET": "financials:read", "POST": "closings:manage"},
    "closings/{}": {"GET": "financials:read"},
    "closings/{}/reopen": {"POST": "closings:manage"},
    "closings/{}/differences": {"GET": "financials:read"},
    "closings/{}/links": {"GET": "closings:manage", "POST": "closings:manage"},
    "closings/{}/links/{}": {"DELETE": "closings:manage"},
    "reports/{}/commentary": {"GET": "financials:read", "PUT": "planning:write"},
    "reports/{}/links": {"GET": "closings:manage", "POST": "closings:manage"},
    "reports/{}/links/{}": {"DELETE": "closings:manage"},
    "transactions": {"GET": "transactions:read", "POST": "transactions:write"},
    "transactions/{}": {"GET": "transactions:read", "PUT": "transactions:write", "DELETE": "transactions:write"},
    "transactions/{}/categorizations": {"PUT": "transactions:write"},
    "transactions/import": {"POST": "transactions:write"},
    "transactions/batch_delete": {"POST": "transactions:write"},
    "transactions/categorize": {"POST": "transactions:write"},
    "transactions/uncategorize": {"POST": "transactions:write"},
    "transactions/categorization_status": {"POST": "transactions:read"},
    "transactions/link_transfer": {"POST": "transactions:write"},
    "transactions/unlink_transfer": {"POST": "transactions:write"},
    "statements": {"POST": "transactions:write"},
    "accounts/{}/reconciliation": {"GET": "balances:read"},
    "rates": {"GET": "balances:read"},
    "transactions/proposals": {"POST": "transactions:read"},
    "transactions/transfer_proposals": {"POST": "transactions:read"},
    "categorization_rules": {"GET": "transactions:read", "POST": "transactions:write"},
    "categorization_rules/{}": {
        "GET": "transactions:read",
        "PUT": "transactions:write",
        "DELETE": "transactions:write",
    },
    "categorization_rules/order": {"PUT": "transactions:write"},
    "categorization_rules/preview": {"POST": "transactions:read"},
    "categorization_rules/from_transaction": {"POST": "transactions:read"},
    "categorization_rules/suggestions": {"GET": "transactions:read"},
    "categorization_rules/apply": {"POST": "transactions:write"},
    "categorization_runs/{}": {"DELETE": "transactions:write"},
    "imports": {"GET": "transactions:read"},
    "imports/{}": {"GET": "transactions:read", "DELETE": "transactions:write"},
    "categories": {"GET": "categories:read", "POST": "categories:write"},
    "categories/{}": {"GET": "categories:read", "PUT": "categories:write", "DELETE": "categories:write"},
    "counterparties": {"GET": "counterparties:read", "POST": "counterparties:write"},
    "counterparties/{}": {
        "GET": "counterparties:read",
        "PUT": "counterparties:write",
        "DELETE": "counterparties:write",
    },
    "files": {"GET": "files:read", "POST": "files:write"},
    "files/{}": {"GET": "files:read", "PUT": "files:write", "DELETE": "files:write"},
    "files/{}/content": {"GET": "files:read"},
    "files/{}/plan": {"POST": "planning:write"},
    "planned_transactions": {"GET": "planning:read", "POST": "planning:write"},
    "planned_transactions/{}": {"GET": "planning:read", "PUT": "planning:write", "DELETE": "planning:write"},
    "planned_transactions/due": {"GET": "planning:read"},
    "planned_transactions/matches": {"POST": "planning:read"},
    "planned_transactions/proposals": {"POST": "planning:read"},
    "planned_transactions/{}/occurrences": {"GET": "planning:read"},
    "planned_transactions/{}/settle": {"POST": "planning:write"},
    "planned_transactions/{}/unsettle": {"POST": "planning:write"},
    "planned_transactions/{}/write_off": {"POST": "planning:write"},
    "planned_transactions/{}/overrides/{}": {"PUT": "planning:write", "DELETE": "planning:write"},
    "plan_items": {"GET": "planning:read", "POST": "planning:write"},
    "plan_items/proposals": {"POST": "planning:read"},
    "plan_items/{}": {"GET": "planning:read", "PUT": "planning:write", "DELETE": "planning:write"},
    "scenarios": {"GET": "planning:read", "POST": "planning:write"},
    "scenarios/{}": {"GET": "planning:read", "PUT": "planning:write", "DELETE": "planning:write"},
    "scenarios/{}/adopt": {"POST": "planning:write", "DELETE": "planning:write"},
    "products": {"GET": "products:read", "POST": "products:write"},
    "products/{}": {"GET": "products:read", "PUT": "products:write", "DELETE": "products:write"},
    "product_groups": {"GET": "products:read", "POST": "products:write"},
    "product_groups/{}": {"GET": "products:read", "PUT": "products:write", "DELETE": "products:write"},
    "subscriptions": {"GET": "subscriptions:read", "POST": "subscriptions:write"},
    "subscriptions/{}": {
        "GET": "subscriptions:read",
        "PUT": "subscriptions:write",
        "DELETE": "subscriptions:write",
    },
    "subscription_events": {"GET": "subscriptions:read", "POST": "subscriptions:write"},
    "subscription_events/{}": {"GET": "subscriptions:read", "DELETE": "subscriptions:write"},
    "subscription_events/import": {"POST": "subscriptions:write"},
    "subscription_events/import_file": {"POST": "subscriptions:write"},
    "subscription_event_imports": {"GET": "subscriptions:read"},
    "subscription_event_imports/{}": {"GET": "subscriptions:read", "DELETE": "subscriptions:write"},
    "data/monthlyData": {"POST": "subscriptions:read"},
    "data/recurringRevenueSummary": {"POST": "subscriptions:read"},
    "data/cohorts": {"POST": "subscriptions:read"},
    "data/accountBalanceByAccount": {"POST": "balances:read"},
    "data/balanceByCashType": {"POST": "balances:read"},
    "data/cashFlowTimeSeries": {"POST": "balances:read"},
    "data/forecastCashFlowTimeSeries": {"POST": "balances:read"},
    "data/forecastBalanceTimeSeries": {"POST": "balances:read"},
    "data/cashBridge": {"POST": "balances:read"},
    "data/openTransactions": {"POST": "financials:read"},
    "data/runway": {"POST": "balances:read"},
    "data/aging": {"POST": "planning:read"},
    "receivables": {"GET": "planning:read"},
    "payables": {"GET": "planning:read"},
    "receivables/import": {"POST": "planning:write"},
    "invoice_imports": {"GET": "planning:read"},
    "invoice_imports/{}": {"GET": "planning:read", "DELETE": "planning:write"},
    "payables/import": {"POST": "planning:write"},
    "data/revenueExpensesBar": {"POST": "financials:read"},
    "data/profitAndLoss": {"POST": "financials:read"},
    "exports/transactions.csv": {"GET": "transactions:read"},
    "exports/transactions.xlsx": {"GET": "transactions:read"},
    "exports/journal.beancount": {"GET": "transactions:read"},
    "exports/journal.hledger": {"GET": "transactions:read"},
    "exports/receivables.csv": {"GET": "planning:read"},
    "exports/payables.csv": {"GET": "planning:read"},
    "exports/profitAndLoss.xlsx": {"GET": "financials:read"},
    "webhook_endpoints": {"GET": "company:manage", "POST": "company:manage"},
    "webhook_endpoints/{}": {"GET": "company:manage", "PUT": "company:manage", "DELETE": "company:manage"},
    "webhook_endpoints/{}/roll_secret": {"POST": "company:manage"},
    "webhook_endpoints/{}/test": {"POST": "company:manage"},
    "webhook_endpoints/{}/deliveries": {"GET": "company:manage"},
    "webhook_endpoints/{}/deliveries/{}/redeliver": {"POST": "company:manage"},
    "notifications": {"GET": "notifications:read"},
    "notifications/{}/read": {"PUT": "notifications:write"},
    "notifications/read_all": {"POST": "notifications:write"},
    "notifications/batch_delete": {"POST": "notifications:write"},
}

# What is answered to those who get in, with an empty body, about things that do not exist: 404 where the address has
# an id, 200 to a read, 400 to a write; but these take an empty body, or a form.
SUCCESS_STATUS = {
    ("", "PUT"): 200, ("", "DELETE"): 409, ("logo", "DELETE"): 200, ("notifications/read_all", "POST"): 200,
    ("files", "POST"): 415, ("statements", "POST"): 415, ("receivables/import", "POST"): 415,
    ("payables/import", "POST"): 415, ("subscription_events/import_file", "POST"): 415,
    ("data/runway", "POST"): 200,
    ("data/recurringRevenueSummary", "POST"): 200, ("planned_transactions/due", "GET"): 400,
    ("categorization_rules/preview", "POST"): 200, ("planned_transactions/proposals", "POST"): 200,
}  # fmt: skip

READS = {p.value for p in Permission if p.value.endswith(":read")} - {"audit:read"}
WRITES = {p.value for p in Permission if p.value.endswith(":write")}
ALL_PERMISSIONS = {p.value for p in Permission}
ROLES = {
    Role.OWNER: ALL_PERMISSIONS,
    Role.ADMIN: ALL_PERMISSIONS - {"company:manage"},
    Role.EDITOR: READS | WRITES,
    Role.VIEWER: READS | {"notifications:write"},
}

ALLOWED = (0, "")  # let in
NOT_AUTHENTICATED, REFUSED = (401, "not_authenticated"), (401, "invalid_credentials")
NOT_FOUND = (404, "not_found")
DENIED, FORGED = (403, "permission_denied"), (403, "csrf_failed")
Outcome = tuple[int, str]


def strip_company_path(path: str) -> str:
    """/companies/{companyId}/accounts/{accountId} → accounts/{}"""
    return re.sub(r"{\w+}", "{}", path).removeprefix("/companies/{}").removeprefix("/")


DOCUMENT = load_document()
DOCUMENTED = [(path, method.upper()) for path, item in DOCUMENT["paths"].items() for method in item]
OPERATIONS = sorted((strip_company_path(path), method) for path, method in DOCUMENTED if "{companyId}" in path)
OUTSIDE = [("/companies", "GET"), ("/companies", "POST")]


class PermissionWorld:
    """Acme with its people, Globex with Carol, and the credentials of all of them, each made when it is first asked."""

    def __init__(self, *, acme: Company, globex: Company, make_api: Any, sign_in_browser: Any):
        self.acme, self.globex, self.make_api, self.sign_in_browser = acme, globex, make_api, sign_in_browser
        self.made: dict[Any, Api] = {}

    def once(self, name: Any, make: Callable[[], Api]) -> Api:
        if name not in self.made:
            self.made[name] = make()
        return self.made[name]

    def header(self, text: str, *, beside: Api | None = None) -> Api:
        caller = Api(self.acme, session=beside.client if beside else None)
        caller.headers = {"Authorization": text}
        return caller

    def key(self, *permissions: str) -> Api:
        return self.once(permissions, lambda: self.make_api(self.acme, *permissions))

    def all_but(self, needed: str) -> Api:
        return self.key(*sorted(ALL_PERMISSIONS - {needed}))

    def foreign_key(self) -> Api:
        return self.once("foreign", lambda: Api(self.acme, key=self.make_api(self.globex).key))

    def session(self, role: Role, company: Company | None = None) -> Api:
        of = company or self.acme

        def make() -> Api:
            person = factories.make_member(of, f"{role}@{of.name}.example", role=role)
            return self.sign_in_browser(person, self.acme)

        return self.once((role, of.id), make)

    def forged(self) -> Api:
        """The owner's session in a browser that another site makes call."""
        browser = self.session(Role.OWNER)
        browser.client.handler.enforce_csrf_checks = True
        return browser

    def token(self, company: Company, scope: str) -> Api:
        """An app's token that the company's owner agreed to."""

        def make() -> Api:
            owner = factories.make_member(company, f"owner@{company.name}.example", role=Role.OWNER)
            app = register_app(name="Forecaster", redirect_uris=[REDIRECT], allowed=[], confidential=False).application
            flow = OAuthFlow(application=app)
            flow.sign_in(owner)
            return self.header(f"Bearer {flow.tokens(company, scope=scope)['access_token']}")

        return self.once((company.id, scope), make)


@dataclass(frozen=True)
class Credential:
    """A kind of caller: how one is made for an operation, what it holds, or what it is told whatever it asks."""

    caller: Callable[[PermissionWorld, str], Api]  # (world, the permission that the operation needs)
    holds: Callable[[str], bool] = lambda needed: True
    fixed_outcome: Outcome | None = None
    app: bool = False
    person: bool = False

    def outcome(self, path: str, method: str) -> Outcome:
        if self.fixed_outcome in (NOT_AUTHENTICATED, REFUSED) or (self.fixed_outcome == FORGED and method != "GET"):
            return self.fixed_outcome
        if path == "/companies":
            return ALLOWED if method == "GET" or self.person else DENIED
        if self.fixed_outcome == NOT_FOUND:
            return NOT_FOUND
        needed = NEEDS[path][method]
        if path == "copy" and not self.person:
            return DENIED
        return ALLOWED if needed == ANY_MEMBER or self.holds(needed) else DENIED


def build_key_with(world: PermissionWorld, needed: str) -> Api:
    return world.key("accounts:read" if needed == ANY_MEMBER else needed)


CREDENTIALS: dict[str, Credential] = {
    "no credential": Credential(lambda world, _: Api(world.acme), fixed_outcome=NOT_AUTHENTICATED),
    "a garbage key": Credential(lambda world, _: world.header("Bearer svc_garbage"), fixed_outcome=REFUSED),
    "a garbage token": Credential(
        lambda world, _: world.header("Bearer eyJhbGciOiJub25lIn0.e30."), fixed_outcome=REFUSED
    ),
    "another scheme": Credential(lambda world, _: world.header("Basic YTpi"), fixed_outcome=REFUSED),
    "garbage beside a session": Credential(
        lambda world, _: world.header("Bearer x", beside=world.session(Role.OWNER)), fixed_outcome=REFUSED
    ),
    "a key with exactly the permission": Credential(build_key_with),
    "a key with all others": Credential(lambda world, needed: world.all_but(needed), holds=lambda needed: False),
    "another company's key": Credential(lambda world, _: world.foreign_key(), fixed_outcome=NOT_FOUND),
    "the owner's session": Credential(lambda world, _: world.session(Role.OWNER), person=True),
    "an admin's session": Credential(
        lambda world, _: world.session(Role.ADMIN), holds=lambda needed: needed in ROLES[Role.ADMIN], person=True
    ),
    "an editor's session": Credential(
        lambda world, _: world.session(Role.EDITOR), holds=lambda needed: needed in ROLES[Role.EDITOR], person=True
    ),
    "a viewer's session": Credential(
        lambda world, _: world.session(Role.VIEWER), holds=lambda needed: needed in ROLES[Role.VIEWER], person=True
    ),
    "another company's owner's session": Credential(
        lambda world, _: world.session(Role.OWNER, world.globex), fixed_outcome=NOT_FOUND, person=True
    ),
    "a session without the CSRF token": Credential(lambda world, _: world.forged(), fixed_outcome=FORGED, person=True),
    "an app that may read": Credential(
        lambda world, _: world.token(world.acme, "svc:read"), holds=lambda needed: needed in READS, app=True
    ),
    "an app that may write": Credential(
        lambda world, _: world.token(world.acme, "svc:write"), holds=lambda needed: needed in WRITES, app=True
    ),
    "another company's app": Credential(
        lambda world, _: world.token(world.globex, "svc:read svc:write"), fixed_outcome=NOT_FOUND, app=True
    ),
}


@pytest.fixture
def world(acme, globex, make_api, sign_in_browser) -> PermissionWorld:
    return PermissionWorld(acme=acme, globex=globex, make_api=make_api, sign_in_browser=sign_in_browser)


def call_operation(api: Api, method: str, path: str) -> Any:
    """A call with an empty body about things that do not exist."""
    return getattr(api, method.lower())(path.replace("{}", UNKNOWN_ID), *([{}] if method in ("POST", "PUT") else []))


def test_every_operation_is_in_the_permission_table():
    """In the document as in the address space: one that is left out of either is found."""
    pairs = len(DOCUMENTED) * len(CREDENTIALS)
    print(f"{len(DOCUMENTED)} operations × {len(CREDENTIALS)} credentials = {pairs} pairs")  # noqa: T201 - what was asked
    in_table = {(path, method) for path, methods in NEEDS.items() for method in methods}
    assert set(OPERATIONS) == in_table
    assert sorted(set(DOCUMENTED) - {each for each in DOCUMENTED if "{companyId}" in each[0]}) == OUTSIDE
    assert {(re.sub(r"{\w+}", "{}", path), method) for path, method in DOCUMENTED} == set(list_routes())


def list_routes(patterns: Any = None, prefix: str = "/") -> Iterator[tuple[str, str]]:
    """(address, method) of every operation that is routed."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        address = prefix + re.sub(r"<[^>]+>", "{}", str(pattern.pattern))
        if hasattr(pattern, "url_patterns"):
            yield from list_routes(pattern.url_patterns, address)
        elif issubclass(getattr(pattern.callback, "cls", object), ApiViewSet):
            yield from ((address, method.upper()) for method in pattern.callback.actions if method != "head")


@pytest.mark.parametrize("name", CREDENTIALS)
def test_credential_access_matches_the_permission_table(world, name):
    credential, wrong = CREDENTIALS[name], {}
    for path, method in sorted([*OPERATIONS, *OUTSIDE], key=LEAVING.__eq__):  # whoever left gets in nowhere
        needed = NEEDS.get(path, {}).get(method, ANY_MEMBER)
        caller = credential.caller(world, needed)
        answer = call_operation(caller, method, path)
        outcome = credential.outcome(path, method)
        if outcome == ALLOWED:
            found = [answer.status_code != get_success_status(path, method, credential) and answer.content]
        else:
            found = [(answer.status_code, answer.json()["code"]) != outcome and answer.content]
            found += list(list_mistakes(answer, credential, needed))
        if outcome in (NOT_AUTHENTICATED, REFUSED, NOT_FOUND):
            found.append(
                normalize_answer(answer) != normalize_answer(call_unknown_company(caller, method, path))
                and "tells what there is"
            )
        found.append("RateLimit-Remaining" not in answer.headers and "no budget")
        if any(found):
            wrong[f"{method} {path}"] = (outcome, [each for each in found if each])
    assert wrong == {}


LEAVING = ("members/me", "DELETE")


def get_success_status(path: str, method: str, credential: Credential) -> int:
    """The status of those who get in."""
    if (path, method) == LEAVING:
        return 200 if credential.person else 404  # keys and apps are no members
    if "{}" in path:
        return 404
    return SUCCESS_STATUS.get((path, method), 200 if method == "GET" else 400)


def list_mistakes(answer: Any, credential: Credential, needed: str) -> Iterator[str]:
    """What a refusal should say and does not."""
    challenge = answer.get("WWW-Authenticate", "")
    if answer.status_code == 401 and not challenge.startswith("Bearer "):
        yield f"no challenge: {challenge}"
    if answer.status_code == 401 and ('error="invalid_token"' in challenge) != (credential.fixed_outcome == REFUSED):
        yield f"the challenge names the wrong error: {challenge}"
    if answer.json()["code"] != "permission_denied" or needed == ANY_MEMBER:
        return
    if needed not in answer.json()["detail"]:
        yield "the permission is not named"
    if ('error="insufficient_scope"' in challenge) != credential.app:
        yield f"the challenge is not one for this caller: {challenge}"
    if credential.app and ("scope=" in challenge) != (needed in READS | WRITES):
        yield f"the challenge offers what no scope gives: {challenge}"


def call_unknown_company(caller: Api, method: str, path: str) -> Any:
    """The same call about a company that does not exist."""
    return call_operation(
        caller, method, path if path.startswith("/") else f"/companies/{UNKNOWN_ID}/{path}".rstrip("/")
    )


def normalize_answer(answer: Any) -> tuple[int, str | None, dict[str, Any]]:
    """An answer but for what names the request."""
    body = {name: value for name, value in answer.json().items() if name not in {"instance", "requestId"}}
    return answer.status_code, answer.get("WWW-Authenticate"), body


def test_view_with_missing_action_permission_cannot_be_routed():
    class Forgetful(CompanyViewSet):
        permission_for = {"list": Permission.ACCOUNTS_READ}

    with pytest.raises(Exception, match="no permission for create"):
        Forgetful.as_view({"get": "list", "post": "create"})
