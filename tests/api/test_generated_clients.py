"""Clients that generators make of the OpenAPI document: without a warning, and fit for use."""

import importlib
import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

import pytest

from companies.api.document.reference import document
from ledger.exporting import files
from tests.npm import TESTS, installed

pytestmark = pytest.mark.server
PACKAGE = "finance_client"
# The generator knows JSON, text and bytes; which of them a workbook is, it has to be told.
KINDS = {"content_type_overrides": {files.XLSX: "application/octet-stream"}}
BIN = Path(sys.executable).parent  # the generator calls ruff, which lies beside


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    """A directory with the document in it."""
    where = tmp_path_factory.mktemp("generated")
    (where / "openapi.json").write_bytes(document())
    (where / "config.json").write_text(json.dumps(KINDS))
    return where


# ---------------------------------------------------------------------------------------------- Python


@pytest.fixture(scope="module")
def generated(kept):
    """The Python client, to be imported."""
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    generator = [BIN / "openapi-python-client", "generate", "--meta", "none", "--fail-on-warning"]
    places = ["--path", "openapi.json", "--config", "config.json", "--output-path", PACKAGE]
    done = run(*generator, *places, cwd=kept, PATH=path)
    assert done.returncode == 0, done.stdout
    assert "arning" not in done.stdout
    sys.path.insert(0, str(kept))
    yield Generated(importlib.import_module(PACKAGE))
    sys.path.remove(str(kept))


class Generated:
    """A generated client: its operations and its types, by name."""

    def __init__(self, package: ModuleType):
        self.package = package
        self.models: Any = importlib.import_module(f"{PACKAGE}.models")

    def operation(self, tag: str, name: str) -> Any:
        return importlib.import_module(f"{PACKAGE}.api.{tag}.{name}")


@pytest.fixture
def client(generated, site, make_api, acme):
    key = make_api(acme).key
    with generated.package.AuthenticatedClient(base_url=site, token=key, raise_on_unexpected_status=True) as client:
        yield client  # a connection left open would keep a thread of the server, and that one the database


@pytest.fixture
def account(generated, client, acme):
    models = generated.models
    body = models.AccountRequest(type_=models.AccountType.BANK, name="Main", default_currency=models.Currency.EUR)
    return generated.operation("accounts", "create_account").sync(acme.id, client=client, body=body)


def test_a_generated_client_has_every_operation(generated, kept):
    described = json.loads((kept / "openapi.json").read_text())
    count = sum(len(item) for item in described["paths"].values())
    modules = [path for path in (kept / PACKAGE / "api").glob("*/*.py") if path.stem != "__init__"]
    assert len(modules) == count
    for path in modules:
        assert generated.operation(path.parent.name, path.stem).sync_detailed


def test_a_generated_client_lists_and_creates(generated, client, acme, account):
    (company,) = generated.operation("companies", "list_companies").sync(client=client)
    assert (company.id, company.name, company.role) == (acme.id, "Acme", generated.models.CallerRole.APIKEY)
    assert isinstance(account, generated.models.Account)
    assert isinstance(account.id, UUID)
    (listed,) = generated.operation("accounts", "list_accounts").sync(acme.id, client=client)
    assert (listed.id, listed.default_currency) == (account.id, generated.models.Currency.EUR)


def test_a_generated_client_imports_pages_and_asks_for_balances(generated, client, acme, account):
    models = generated.models
    rows = [
        models.ImportItemRequest(account_id=account.id, date=date(2026, 1, day), amount_value=f"{day}.50")
        for day in range(1, 6)
    ]
    imported = generated.operation("imports", "import_transactions").sync(
        acme.id, client=client, body=models.ImportRequest(transactions=rows)
    )
    assert (imported.count, imported.errors) == (5, [])
    listing, found, cursor, pages = generated.operation("transactions", "list_transactions"), [], None, 0
    while True:
        more = {} if cursor is None else {"cursor": cursor}
        page = listing.sync_detailed(acme.id, client=client, limit=2, account_id=[account.id], **more)
        found += page.parsed
        pages += 1
        if "Link" not in page.headers:
            break
        cursor = parse_qs(urlsplit(page.headers["Link"].partition(">")[0]).query)["cursor"][0]
    assert pages == 3
    assert [each.date.day for each in found] == [5, 4, 3, 2, 1]
    balances = generated.operation("data", "account_balance_by_account").sync(
        acme.id,
        client=client,
        body=models.AccountBalanceQuery(start_date=date(2026, 1, 3), end_date=date(2026, 1, 5)),
    )
    balance = balances.additional_properties[str(account.id)]
    assert (balance.value, balance.value_previous_period) == (17.5, 4)


def test_a_generated_client_sends_a_document(generated, client, acme):
    types = importlib.import_module(f"{PACKAGE}.types")
    paper = types.File(payload=b"a,b\n1,2\n", file_name="a.csv", mime_type="text/csv")
    body = generated.models.UploadRequest(file=paper)
    stored = generated.operation("files", "create_file").sync(acme.id, client=client, body=body)
    assert (stored.filename, stored.size) == ("a.csv", 8)


def test_a_generated_client_has_types_for_refusals(generated, client, acme, site):
    models, opening = generated.models, generated.operation("accounts", "create_account")
    wrong = opening.sync_detailed(
        acme.id, client=client, body=models.AccountRequest(type_=models.AccountType.BANK, name="")
    )
    assert wrong.status_code == 400
    assert isinstance(wrong.parsed, models.Problem)
    assert wrong.parsed.code == "validation_failed"
    assert [(each.pointer, each.code) for each in wrong.parsed.errors] == [("#/name", "blank")]
    missing = generated.operation("accounts", "get_account").sync_detailed(acme.id, uuid4(), client=client)
    assert (missing.status_code, missing.parsed.code) == (404, "not_found")
    with generated.package.Client(base_url=site) as nobody:
        refused = generated.operation("companies", "list_companies").sync_detailed(client=nobody)
    assert (refused.status_code, refused.parsed.code) == (401, "not_authenticated")


# ---------------------------------------------------------------------------------------------- TypeScript


def test_generated_typescript_types_are_strict(kept):
    """The sample takes what the types allow, and says with @ts-expect-error what they do not."""
    binaries = installed("openapi", package="openapi-typescript") / "node_modules" / ".bin"
    # What has a default may be left out of a request.
    options = ["--default-non-nullable", "false", "--output", "api.d.ts"]
    made = run(binaries / "openapi-typescript", "openapi.json", *options, cwd=kept)
    assert made.returncode == 0, made.stdout
    assert not [line for line in made.stdout.splitlines() if "⚠" in line or "arning" in line]
    (kept / "sample.ts").write_text((TESTS / "openapi" / "sample.ts").read_text())
    checked = run(binaries / "tsc", "--noEmit", "--strict", "--target", "es2022", "sample.ts", cwd=kept)
    assert (checked.returncode, checked.stdout) == (0, "")


def run(*command: Any, cwd: Path, **environment: str) -> Any:
    """A finished command with all that it said as ``stdout``."""
    return subprocess.run(
        command,
        check=False,
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
