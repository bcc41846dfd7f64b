"""A company with a row of every resource, created once per module to save time.

Each nullable object is null in one row and filled in another. Each test runs in a nested transaction.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import override_settings

from companies.auth import api_keys
from companies.models import AuditContext
from companies.permissions import ALL_PERMISSIONS, Role
from ledger.models import Account
from tests import factories
from tests.api.request_bodies import create_all_rows
from tests.conftest import Api

CONNECTION = {
    "type": "bankProviderA",
    "countryCode": "DE",
    "status": "active",
    "integrationId": "i-1",
    "lastSyncTime": "2026-01-01T00:00:00Z",
    "bankProviderAAccount": {"id": 7, "iban": "DE00", "institution": {"id": 1, "name": "Bank"}},
}
PARSED = {"amount": {"value": 1.5, "currency": "EUR"}, "date": "2024-01-01", "type": "invoice"}

TEXTS = {name: {"operator": "contains", "value": "seeded"} for name in ("fromTo", "description")}


@dataclass
class Seeded:
    """An API client of the company, and {name of each list: the id of a row in it}."""

    api: Api
    rows: dict[str, str]


@pytest.fixture(scope="module")
def shared_seeded_company(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: Any) -> Iterator[Seeded]:
    """The company, for all tests of a module; use `seeded_company` in tests."""
    location = str(tmp_path_factory.mktemp("seeded"))
    files = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": location}}
    storages = {**django_settings.STORAGES, "default": files, "assets": files}
    with django_db_blocker.unblock(), override_settings(STORAGES=storages), transaction.atomic():
        company = factories.make_company(name="Acme")
        factories.make_member(company, "owner@acme.example", role=Role.OWNER)
        audit_context = AuditContext(time=datetime.now(tz=UTC))
        key = api_keys.create_api_key(
            company=company, context=audit_context, name="seeded", permissions=ALL_PERMISSIONS, creator=None
        )
        api = Api(company, key=key.text)
        yield Seeded(api=api, rows=create_rows(api))
        transaction.set_rollback(True)


def create_rows(api: Api) -> dict[str, str]:
    """Create a row of every resource, and another one with each nullable object in its other state."""
    rows = create_all_rows(api)
    create_row(api, "accounts", {"type": "cash", "name": "Plain"})
    till = create_row(api, "accounts", {"type": "cash", "name": "Till", "importSettings": {"csv": None}})
    vault = create_row(api, "accounts", {"type": "cash", "name": "Vault"})
    accounts = Account.objects.for_company(api.company.id)
    accounts.filter(id=rows["accounts"]).update(bank_connection=CONNECTION)
    without_institution = {**CONNECTION, "bankProviderAAccount": {"id": 8}}
    accounts.filter(id=till).update(bank_connection=without_institution)
    accounts.filter(id=vault).update(bank_connection={"type": "statementFile", "status": "active"})
    update_row(api, f"accounts/{till}/initial_balance", {"date": "2024-01-01", "amountValue": "5.00"})
    upload_file(api)
    party = {"name": "Nordwind GmbH"}
    for parsed in (PARSED | {"seller": party, "buyer": party}, {"type": "invoice"}):
        update_row(api, f"files/{upload_file(api)}", {"parseData": parsed})
    shared = {"splits": [{"categoryId": rows["categories"], "plType": "ga", "amountValue": "900000.00"}]}
    more = {"servicePeriod": {"months": 3, "start": "nextMonth"}, "counterpartyFrom": "fromTo", **shared}
    action = {"categoryId": rows["categories"], **more}
    create_row(api, "categorization_rules", {"name": "y", "conditions": TEXTS, "action": action})
    once = {"accountId": till, "name": "Once", "startDate": "2024-02-01", "amountValue": "-7.00"}
    party = {"type": "customer", "id": rows["counterparties"]}
    planned = create_row(api, "planned_transactions", {**once, "counterparty": party, "autoSettle": False})
    paid = {"accountId": till, "date": "2024-02-01", "amountValue": "-7.00"}
    settled = {"date": "2024-02-01", "transactionId": create_row(api, "transactions", paid)}
    assert api.post(f"planned_transactions/{planned}/settle", settled).status_code == 200
    create_row(api, "planned_transactions", {**once, "amountValue": "9.00", "invoiceDate": "2024-01-09"})
    payment = {"accountId": till, "name": "Salary", "startDate": "2024-02-01", "amountValue": "-9.00"}
    amount = {"type": "fixed", "amount": {"value": 5, "currency": "EUR"}}
    item = {"month": "2024-02", "plType": "ga", "categoryId": rows["categories"], "amount": amount}
    monthly = payment | {
        "counterparty": {"type": "customer", "id": rows["counterparties"]},
        "recurrence": {"frequency": "month"},
        "externalData": {"invoiceNumber": "7"},
    }
    changes = [
        {"kind": "add", "plannedTransaction": payment},
        {"kind": "add", "plannedTransaction": monthly},
        {"kind": "add", "planItem": item},
    ]
    create_row(api, "scenarios", {"name": "More people", "changes": changes})
    return rows


def create_row(api: Api, path: str, body: dict[str, Any]) -> str:
    response = api.post(path, body)
    assert response.status_code == 201, response.content
    return response.json()["id"]


def update_row(api: Api, path: str, body: dict[str, Any]) -> None:
    response = api.put(path, body)
    assert response.status_code == 200, response.content


def upload_file(api: Api) -> str:
    response = api.client.post(
        api.path("files"), {"file": SimpleUploadedFile("c.csv", b"a,b\n5,6\n")}, headers=api.headers
    )
    assert response.status_code == 201, response.content
    return response.json()["id"]


@pytest.fixture
def seeded_company(shared_seeded_company: Seeded) -> Seeded:
    """The company for one test, with its own HTTP client; changes are rolled back."""
    return Seeded(
        Api(shared_seeded_company.api.company, key=shared_seeded_company.api.key), dict(shared_seeded_company.rows)
    )
