"""The Python client of the shelf: installed as its README says, and used against a running server."""

import asyncio
import base64
import hashlib
import hmac
import importlib
import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import httpx
import pytest

from companies.models import AuditEntry, Company, IdempotencyRecord
from ledger.models import Account
from oauth.registration import register_app
from tests.api.seeded_company import CONNECTION, upload_file
from tests.clients.client_packages import GENERATED
from tests.ledger.bank_file_builders import build_simple_camt
from tests.oauth.conftest import PASSWORD, REDIRECT, OAuthFlow
from tests.webhooks.conftest import Deliverer
from tests.webhooks.receiver import Receiver

pytestmark = pytest.mark.server


@pytest.fixture
def client(generated, site, make_api, acme):
    with generated.tidebook.connect(site, make_api(acme).key) as client:
        yield client  # a connection left open would keep a thread of the server, and that one the database


@pytest.fixture
def account(generated, client, acme):
    models = generated.models
    body = models.AccountRequest(type_=models.AccountType.BANK, name="Main", default_currency=models.Currency.EUR)
    opening = generated.operation("accounts", "create_account")
    return generated.tidebook.unwrap(opening.sync_detailed(acme.id, client=client, body=body))


def test_generated_client_has_every_operation(generated, python_shelf):
    described = json.loads((python_shelf / "openapi.json").read_text())
    count = sum(len(item) for item in described["paths"].values())
    modules = [
        path for path in (python_shelf / "site/tidebook/generated/api").glob("*/*.py") if path.stem != "__init__"
    ]
    assert len(modules) == count
    for path in modules:
        assert generated.operation(path.parent.name, path.stem).sync_detailed


def test_generated_client_lists_and_creates(generated, client, acme, account):
    (company,) = generated.operation("companies", "list_companies").sync(client=client)
    assert (company.id, company.name, company.role) == (acme.id, "Acme", generated.models.CallerRole.APIKEY)
    assert isinstance(account, generated.models.Account)
    assert isinstance(account.id, UUID)
    (listed,) = generated.operation("accounts", "list_accounts").sync(acme.id, client=client)
    assert (listed.id, listed.default_currency) == (account.id, generated.models.Currency.EUR)


def find_untyped(value: Any, place: str) -> list[str]:
    """The places of a model at which there is plain JSON instead of another model."""
    if isinstance(value, dict):
        return [place]
    if isinstance(value, list):
        return [result for part in value for result in find_untyped(part, f"{place}[]")]
    if not hasattr(value, "__attrs_attrs__"):
        return []
    fields = [each.name for each in value.__attrs_attrs__ if each.name != "additional_properties"]
    inner = [result for name in fields for result in find_untyped(getattr(value, name), f"{place}.{name}")]
    return inner + [
        result for part in getattr(value, "additional_properties", {}).values() for result in find_untyped(part, place)
    ]


def test_generated_models_are_typed_at_every_level(generated, client, settings, api, acme, account):
    """A member that the document calls non-null and the answer leaves null would make plain JSON of what it is in."""
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    Account.objects.filter(id=account.id).update(bank_connection=CONNECTION)
    till = api.post("accounts", {"type": "cash", "name": "Till"}).json()["id"]
    Account.objects.filter(id=till).update(bank_connection={"type": "statementFile", "status": "active"})
    Company.objects.filter(id=acme.id).update(system_payment_provider={"customerId": "cus_1"})
    api.put(f"files/{upload_file(api)}", {"parseData": {"type": "invoice"}})
    listed = {
        "accounts": generated.operation("accounts", "list_accounts").sync(acme.id, client=client),
        "files": generated.operation("files", "list_files").sync(acme.id, client=client),
        "company": generated.operation("companies", "get_company").sync(acme.id, client=client),
    }
    assert find_untyped(listed["company"], "company") == []
    assert [
        result for name in ("accounts", "files") for row in listed[name] for result in find_untyped(row, name)
    ] == []
    assert {type(row.bank_connection) for row in listed["accounts"]} == {generated.models.BankConnection}
    assert type(listed["files"][0].parse_data) is generated.models.ParseData


def test_generated_client_imports_paginates_and_queries_balances(generated, client, acme, account):
    models = generated.models
    rows = [
        models.ImportItemRequest(account_id=account.id, date=date(2026, 1, day), amount_value=f"{day}.50")
        for day in range(1, 6)
    ]
    imported = generated.operation("imports", "import_transactions").sync(
        acme.id, client=client, body=models.ImportRequest(transactions=rows)
    )
    assert (imported.count, imported.errors) == (5, [])
    queries = []

    def listing(*arguments, **more):
        queries.append(more)
        return generated.operation("transactions", "list_transactions").sync_detailed(*arguments, **more)

    result = list(generated.tidebook.iterate(listing, acme.id, client=client, limit=2, account_id=[account.id]))
    assert len(queries) == 3
    assert [each.date.day for each in result] == [5, 4, 3, 2, 1]
    balances = generated.operation("data", "account_balance_by_account").sync(
        acme.id,
        client=client,
        body=models.AccountBalanceQuery(start_date=date(2026, 1, 3), end_date=date(2026, 1, 5)),
    )
    balance = balances.additional_properties[str(account.id)]
    assert (balance.value, balance.value_previous_period) == (17.5, 4)


def test_generated_client_uploads_and_downloads_file(generated, client, acme):
    types = importlib.import_module(f"{GENERATED}.types")
    paper = types.File(payload=b"a,b\n1,2\n", file_name="a.csv", mime_type="text/csv")
    body = generated.models.UploadRequest(file=paper)
    stored = generated.operation("files", "create_file").sync(acme.id, client=client, body=body)
    assert (stored.filename, stored.size) == ("a.csv", 8)
    back = generated.operation("files", "download_file").sync(acme.id, stored.id, client=client)
    assert back.payload.read() == b"a,b\n1,2\n"


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("transactions_csv", b"Date,Account"),
        ("beancount_journal", b"option"),
        ("hledger_journal", b"; "),
        ("transactions_xlsx", b"PK"),
    ],
)
def test_generated_client_downloads_exports(generated, client, acme, account, name, begins):
    row = generated.models.TransactionRequest(account_id=account.id, date=date(2026, 1, 5), amount_value="1.50")
    generated.operation("transactions", "create_transaction").sync(acme.id, client=client, body=row)
    file = generated.operation("exports", f"export_{name}").sync(acme.id, client=client)
    assert file.payload.read().startswith(begins)


def test_generated_client_previews_and_imports_statement(generated, client, acme, account):
    types = importlib.import_module(f"{GENERATED}.types")
    ask = generated.operation("imports", "import_statement").sync
    results = []
    for dry_run in (True, False):
        paper = types.File(payload=build_simple_camt("-40.00", iban=None), file_name="january.xml")
        body = generated.models.StatementUploadRequest(file=paper, account_id=account.id, dry_run=dry_run)
        answer = ask(acme.id, client=client, body=body)
        results.append((answer.dry_run, answer.count, answer.statements[0].closing_balance))
    assert results == [(True, 1, "60.00"), (False, 1, "60.00")]


def test_generated_client_has_types_for_errors(generated, client, acme, site):
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


# ---------------------------------------------------------------------------------------------- refusals, pages, tries


def test_client_raises_exception_with_error_code(generated, client, acme):
    models, unwrap = generated.models, generated.tidebook.unwrap
    opening = generated.operation("accounts", "create_account")
    body = models.AccountRequest(type_=models.AccountType.BANK, name="")
    with pytest.raises(generated.tidebook.ApiError) as refused:
        unwrap(opening.sync_detailed(acme.id, client=client, body=body))
    answer = refused.value
    assert (answer.status, answer.code, answer.errors[0].pointer) == (400, "validation_failed", "#/name")
    assert answer.request_id


def test_client_iterates_event_feed_to_its_end(generated, client, acme, account):
    listing = generated.operation("audit_log", "list_events")
    result = list(generated.tidebook.iterate(listing.sync_detailed, acme.id, client=client, limit=1))
    numbered = AuditEntry.objects.for_company(acme.id).order_by("number").values_list("action", flat=True)
    assert [each.type_ for each in result] == list(numbered)
    assert len(result) > 1


class LossyTransport(httpx.BaseTransport):
    """Answers get lost on their way: each of ``faults`` says how, then all is well."""

    def __init__(self, *faults: Any):
        self.faults, self.sent, self.real = list(faults), [], httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request.headers.get("Idempotency-Key"))
        answer = self.real.handle_request(request)  # it reaches the server in any case
        fault = self.faults.pop(0) if self.faults else None
        if fault is None:
            return answer
        b"".join(answer.stream)
        answer.close()
        if isinstance(fault, Exception):
            raise fault
        return fault

    def close(self) -> None:
        self.real.close()


@pytest.fixture
def losing(generated, site, make_api, acme):
    """Makes a client some of whose answers are lost."""
    made = []

    def make(*faults: Any, tries: int = 4) -> Any:
        transport = LossyTransport(*faults)
        retrying = generated.tidebook.RetryTransport(tries=tries, pause=0.01, transport=transport)
        key = make_api(acme).key
        client = generated.package.AuthenticatedClient(base_url=site, token=key, httpx_args={"transport": retrying})
        made.append(transport)
        return client, transport

    yield make
    for transport in made:
        transport.close()


def build_transaction_request(generated, account, amount="-4.00"):
    return generated.models.TransactionRequest(account_id=account.id, date=date(2026, 1, 31), amount_value=amount)


@pytest.mark.parametrize(
    "fault",
    [httpx.ReadError("lost"), httpx.ReadTimeout("late"), httpx.Response(503), httpx.Response(429)],
    ids=["lost", "late", "503", "429"],
)
def test_client_retries_post_with_lost_answer_and_books_once(generated, losing, acme, account, fault):
    client, transport = losing(fault)
    booking = generated.operation("transactions", "create_transaction")
    answer = booking.sync_detailed(acme.id, client=client, body=build_transaction_request(generated, account))
    assert answer.status_code == 201
    assert len(transport.sent) == 2
    assert len({*transport.sent}) == 1
    assert answer.headers["Idempotency-Replayed"] == "true"
    listing = generated.operation("transactions", "list_transactions")
    assert [each.id for each in generated.tidebook.iterate(listing.sync_detailed, acme.id, client=client)] == [
        answer.parsed.id
    ]


def test_async_client_retries_post_and_books_once(generated, losing, acme, account):
    client, transport = losing(httpx.ReadError("lost"))
    booking = generated.operation("transactions", "create_transaction")
    call = booking.asyncio_detailed(acme.id, client=client, body=build_transaction_request(generated, account))
    with ThreadPoolExecutor(1) as apart:  # for a browser's tests may have left a loop running in this thread
        answer = apart.submit(asyncio.run, call).result(120)
    assert (answer.status_code, len(transport.sent), len({*transport.sent})) == (201, 2, 1)
    assert IdempotencyRecord.objects.filter(key=transport.sent[0]).count() == 1


def test_client_does_not_retry_client_errors(generated, losing, acme, account):
    client, transport = losing()
    booking = generated.operation("transactions", "create_transaction")
    answer = booking.sync_detailed(acme.id, client=client, body=build_transaction_request(generated, account, "much"))
    assert (answer.status_code, len(transport.sent)) == (400, 1)


def test_client_raises_last_error_after_all_retries(generated, losing, acme):
    client, transport = losing(*[httpx.ReadError("lost")] * 3, tries=3)
    with pytest.raises(httpx.ReadError):
        generated.operation("accounts", "list_accounts").sync_detailed(acme.id, client=client)
    assert (len(transport.sent), {*transport.sent}) == (3, {None})


def test_client_waits_for_a_running_request(generated):
    answers = [httpx.Response(409, json={"code": code}) for code in ("idempotency_in_progress", "other")]
    transport = httpx.MockTransport(lambda request: answers.pop(0))
    retrying = generated.tidebook.RetryTransport(pause=0.01, transport=transport)
    with httpx.Client(transport=retrying) as http:
        assert http.post("https://api.example/").json() == {"code": "other"}
    assert answers == []


# ---------------------------------------------------------------------------------------------- webhooks


SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = b'{"type":"transaction.created"}'


def sign_webhook(body=BODY, secret=SECRET, moment=None, scheme="v1"):
    moment = str(int(time.time()) if moment is None else moment)
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.digest(key, f"msg_1.{moment}.".encode() + body, hashlib.sha256)
    return {
        "Webhook-Id": "msg_1",
        "Webhook-Timestamp": moment,
        "Webhook-Signature": f"v1,AAAA {scheme},{base64.b64encode(digest).decode()}",
    }


@pytest.fixture
def receiver(settings):
    settings.OUTBOUND_ALLOW_PRIVATE = True
    made = Receiver()
    made.start()
    yield made
    made.stop()


@pytest.mark.django_db
def test_client_verifies_delivered_webhook(generated, api, receiver):
    made = api.post("webhook_endpoints", {"url": receiver.url()}).json()
    api.post("account_groups", {"name": "Banks"})
    assert Deliverer().run() > 0
    for message in receiver.came:
        assert generated.tidebook.verify(made["secret"], message.raw, message.headers) == message.event
    with pytest.raises(generated.tidebook.InvalidSignature):
        generated.tidebook.verify(made["secret"], message.raw + b" ", message.headers)


FORGED = {
    "another secret": (sign_webhook(secret="whsec_" + base64.b64encode(b"x" * 24).decode()), BODY),
    "another body": (sign_webhook(), BODY + b" "),
    "another scheme": (sign_webhook(scheme="v0"), BODY),
    "too old": (sign_webhook(moment=int(time.time()) - 301), BODY),
    "too new": (sign_webhook(moment=int(time.time()) + 86_400), BODY),  # the run itself takes longer than a few minutes
    "no time": (sign_webhook() | {"Webhook-Timestamp": "now"}, BODY),
    "no signature": ({"webhook-id": "msg_1", "webhook-timestamp": "1"}, BODY),
    "nothing": ({}, b""),
}


@pytest.mark.parametrize("name", FORGED)
def test_client_rejects_forged_webhook(generated, name):
    headers, body = FORGED[name]
    with pytest.raises(generated.tidebook.InvalidSignature):
        generated.tidebook.verify(SECRET, body, headers)
    assert generated.tidebook.verify(SECRET, BODY, sign_webhook()) == {"type": "transaction.created"}


# ---------------------------------------------------------------------------------------------- sign-in


@pytest.fixture
def app(generated, site, settings):
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]  # the browser's name for the server
    application = register_app(name="Forecaster", redirect_uris=[REDIRECT], allowed=[], confidential=False).application
    return generated.tidebook.App(site, application.client_id, REDIRECT), OAuthFlow(application)


def finish_authorization(flow, sign_in, alice, acme, **form):
    """Where a person is sent who opens the address, signs in and agrees."""
    alice.set_password(PASSWORD)
    alice.save()
    flow.sign_in(alice)
    address = urlsplit(sign_in.url)
    flow.url = lambda **_: f"{address.path}?{address.query}"
    return flow.decide(acme, **form)["Location"]


def test_client_signs_in_with_pkce_refreshes_and_revokes_tokens(generated, app, alice, acme, site):
    registered, flow = app
    sign_in = registered.begin()
    tokens = registered.finish(sign_in, finish_authorization(flow, sign_in, alice, acme))
    assert tokens.expires > time.time() + 3000
    listing = generated.operation("companies", "list_companies")

    def names(token):
        with generated.tidebook.connect(site, token) as client:
            return [each.name for each in generated.tidebook.unwrap(listing.sync_detailed(client=client))]

    assert names(tokens.access_token) == ["Acme"]
    fresh = registered.refresh(tokens)
    assert fresh.refresh_token != tokens.refresh_token
    assert names(fresh.access_token) == ["Acme"]
    registered.revoke(fresh)
    with pytest.raises(generated.tidebook.ApiError) as refused:
        names(fresh.access_token)
    assert refused.value.status == 401
    with pytest.raises(generated.tidebook.SignInError, match="invalid_grant"):
        registered.refresh(fresh)


def test_client_rejects_callback_with_foreign_state_issuer_or_verifier(generated, app, alice, acme):
    registered, flow = app
    sign_in = registered.begin()
    callback = finish_authorization(flow, sign_in, alice, acme)
    for other, address, error in (
        (registered.begin(), callback, "invalid_state"),
        (sign_in, callback.replace("iss=", "iss=x"), "invalid_issuer"),
        (replace(sign_in, verifier="x" * 64), callback, "invalid_grant"),
    ):
        with pytest.raises(generated.tidebook.SignInError, match=error):
            registered.finish(other, address)


def test_client_reports_denied_consent(generated, app, alice, acme):
    registered, flow = app
    sign_in = registered.begin()
    callback = finish_authorization(flow, sign_in, alice, acme, decision="deny")
    with pytest.raises(generated.tidebook.SignInError, match="access_denied"):
        registered.finish(sign_in, callback)
