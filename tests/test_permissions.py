"""Every endpoint × every kind of caller: the table below is the whole of who may do what.

The endpoints come from the address space itself: one that is missing in the table fails a test.
"""

import re
from collections.abc import Iterator

import pytest
from django.urls import get_resolver

from companies.api.viewsets import ApiViewSet, CompanyViewSet
from companies.permissions import ALL, Permission, Role
from tests import factories
from tests.conftest import Api

pytestmark = pytest.mark.django_db

ANYONE = "any member"
UNKNOWN = "00000000-0000-7000-8000-000000000000"

# Below /companies/{companyId}, with {} for an id: the permission of each method, read from the decisions, not the code.
NEEDS: dict[str, dict[str, str]] = {
    "": {"GET": "company:read", "PUT": "company:write"},
    "logo": {"PUT": "company:write", "DELETE": "company:write"},
    "members": {"GET": "members:manage", "POST": "members:manage"},
    "members/{}": {"GET": "members:manage", "PUT": "members:manage", "DELETE": "members:manage"},
    "api_keys": {"GET": "apiKeys:manage", "POST": "apiKeys:manage"},
    "api_keys/{}": {"GET": "apiKeys:manage", "DELETE": "apiKeys:manage"},
    "connected_apps": {"GET": ANYONE},
    "connected_apps/{}": {"DELETE": ANYONE},
    "audit_log": {"GET": "audit:read"},
    "accounts": {"GET": "accounts:read", "POST": "accounts:write"},
    "accounts/{}": {"GET": "accounts:read", "PUT": "accounts:write", "DELETE": "accounts:write"},
    "accounts/{}/archive": {"PUT": "accounts:write"},
    "accounts/{}/unarchive": {"PUT": "accounts:write"},
    "accounts/{}/change_group": {"PUT": "accounts:write"},
    "accounts/{}/initial_balance": {"GET": "accounts:read", "PUT": "accounts:write"},
    "account_groups": {"GET": "accounts:read", "POST": "accounts:write"},
    "account_groups/{}": {"GET": "accounts:read", "PUT": "accounts:write", "DELETE": "accounts:write"},
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
    "planned_transactions": {"GET": "planning:read", "POST": "planning:write"},
    "planned_transactions/{}": {"GET": "planning:read", "PUT": "planning:write", "DELETE": "planning:write"},
    "planned_transactions/{}/occurrences": {"GET": "planning:read"},
    "planned_transactions/{}/overrides/{}": {"PUT": "planning:write", "DELETE": "planning:write"},
    "plan_items": {"GET": "planning:read", "POST": "planning:write"},
    "plan_items/{}": {"GET": "planning:read", "PUT": "planning:write", "DELETE": "planning:write"},
    "products": {"GET": "products:read", "POST": "products:write"},
    "products/{}": {"GET": "products:read", "PUT": "products:write", "DELETE": "products:write"},
    "product_groups": {"GET": "products:read", "POST": "products:write"},
    "product_groups/{}": {"GET": "products:read", "PUT": "products:write", "DELETE": "products:write"},
    "subscriptions": {"GET": "subscriptions:read", "POST": "subscriptions:write"},
    "subscriptions/{}": {"GET": "subscriptions:read", "PUT": "subscriptions:write", "DELETE": "subscriptions:write"},
    "subscription_events": {"GET": "subscriptions:read", "POST": "subscriptions:write"},
    "subscription_events/{}": {"GET": "subscriptions:read", "DELETE": "subscriptions:write"},
    "subscription_events/import": {"POST": "subscriptions:write"},
    "data/monthlyData": {"POST": "subscriptions:read"},
    "data/accountBalanceByAccount": {"POST": "balances:read"},
    "data/balanceByCashType": {"POST": "balances:read"},
    "data/cashFlowTimeSeries": {"POST": "balances:read"},
    "data/forecastCashFlowTimeSeries": {"POST": "balances:read"},
    "data/revenueExpensesBar": {"POST": "financials:read"},
    "data/profitAndLoss": {"POST": "financials:read"},
    "notifications": {"GET": "notifications:read"},
    "notifications/{}/read": {"PUT": "notifications:write"},
    "notifications/read_all": {"POST": "notifications:write"},
    "notifications/batch_delete": {"POST": "notifications:write"},
}

READS = {p.value for p in Permission if p.value.endswith(":read")} - {"audit:read"}
WRITES = {p.value for p in Permission if p.value.endswith(":write")}
ROLES = {
    Role.OWNER: {p.value for p in Permission},
    Role.ADMIN: {p.value for p in Permission} - {"company:manage"},
    Role.EDITOR: READS | WRITES,
    Role.VIEWER: READS | {"notifications:write"},
}


def routes(patterns=None, prefix: str = "") -> Iterator[tuple[type, str, str]]:
    """(view class, method, address) of every operation of the API."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        address = prefix + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from routes(pattern.url_patterns, address)
        elif issubclass(getattr(pattern.callback, "cls", object), ApiViewSet):
            for method in pattern.callback.actions:
                if method != "head":
                    yield pattern.callback.cls, method.upper(), address


def below_company(address: str) -> str:
    """companies/<str:company_id>/accounts/<str:account_id> → accounts/{}"""
    return re.sub(r"<[^>]+>", "{}", address).removeprefix("companies/{}").removeprefix("/")


OPERATIONS = sorted({(below_company(a), method) for view, method, a in routes() if issubclass(view, CompanyViewSet)})


def call(api: Api, method: str, path: str) -> int:
    """The status of a call with an empty body about things that do not exist."""
    answer = getattr(api, method.lower())(path.replace("{}", UNKNOWN), *([{}] if method in ("POST", "PUT") else []))
    if answer.status_code == 403:
        assert answer.json()["code"] == "permission_denied"
    return answer.status_code


def test_every_operation_stands_in_the_table():
    assert not [(path, method) for path, method in OPERATIONS if method not in NEEDS.get(path, {})]
    outside = {(method, address) for view, method, address in routes() if not issubclass(view, CompanyViewSet)}
    assert outside == {("GET", "companies"), ("POST", "companies")}


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_a_key_needs_exactly_the_operations_permission(make_api, acme, path, method):
    needed = NEEDS[path][method]
    if needed == ANYONE:
        assert call(make_api(acme, "accounts:read"), method, path) in (200, 404)
        return
    assert call(make_api(acme, needed), method, path) not in (401, 403, 405)
    without = make_api(acme, *(p.value for p in ALL if p.value != needed))
    answer = getattr(without, method.lower())(path.replace("{}", UNKNOWN))
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    assert needed in answer.json()["detail"]


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_people_may_what_their_role_may_and_strangers_nothing(browser_of, client, acme, globex, path, method):
    needed = NEEDS[path][method]
    for role, held in ROLES.items():
        person = browser_of(factories.member(acme, f"{role}@acme.example", role=role), acme)
        status = call(person, method, path)
        assert (status == 403) == (needed != ANYONE and needed not in held), (role, status)
        assert status not in (401, 405, 500)
    stranger = browser_of(factories.member(globex, "stranger@globex.example", role=Role.OWNER), acme)
    assert call(stranger, method, path) == 404
    assert call(Api(acme, session=client), method, path) == 401


def test_the_list_of_companies_is_for_every_caller_and_starting_one_for_people(client, api, browser_of, bob, acme):
    assert api.get("/companies").status_code == browser_of(bob, acme).get("/companies").status_code == 200
    assert client.get("/companies").status_code == 401
    assert api.post("/companies", {"name": "x"}).status_code == 403
    assert browser_of(bob, acme).post("/companies", {"name": "x"}).status_code == 201


def test_a_view_without_a_permission_for_an_action_cannot_be_routed():
    class Forgetful(CompanyViewSet):
        permission_for = {"list": Permission.ACCOUNTS_READ}

    with pytest.raises(Exception, match="no permission for create"):
        Forgetful.as_view({"get": "list", "post": "create"})
