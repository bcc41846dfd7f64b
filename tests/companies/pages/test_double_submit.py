"""Forms that make something: whoever sends one twice, without JavaScript that would hold it back, makes one thing."""

import re
import threading

import pytest
from django.db import connection

from companies.errors import ConflictError
from companies.models import ApiKey, Company
from companies.models.companies import CompanyQuerySet
from ledger.models import Account, Transaction
from planning.models import PlannedTransaction
from tests.ledger.conftest import Books
from tests.run_date import TODAY

pytestmark = pytest.mark.django_db
ONCE_FIELD = re.compile(r'<input type="hidden" name="once" value="([^"]+)">')
DUPLICATE_MESSAGE = "This form was already submitted. Submit it again to repeat the action."

RENT = {"name": "Rent", "direction": "out", "amountValue": "900.00", "startDate": str(TODAY), "frequency": "month"}
FORMS = {
    "transactions/new": (Transaction, {"date": str(TODAY), "amountValue": "-5.00", "fromTo": "Baker"}),
    "planned/new": (PlannedTransaction, RENT | {"interval": "1", "endType": "never"}),
    "accounts/new": (Account, {"name": "Savings", "type": "bank", "defaultCurrency": "EUR"}),
    "settings/api-keys/new": (ApiKey, {"name": "Export", "preset": "read", "expiry": "never"}),
    "": (Company, {"name": "Hooli", "baseCurrency": "EUR"}),
}


@pytest.fixture(params=FORMS, ids=lambda path: path or "companies/new")
def form(request, acme, api, owner):
    """(model that the form creates, its path, its fields as on the page)"""
    model, values = FORMS[request.param]
    account = Books(api).create_account()
    address = f"/app/companies/{acme.id}/{request.param}" if request.param else "/app/companies/new"
    page = owner.get(address)
    assert page.status_code == 200, page.content
    token = ONCE_FIELD.search(page.content.decode())[1]
    own = {"accountId": account} if model in {Transaction, PlannedTransaction} else {}
    return model, address, values | own | {"once": token}


def test_form_sent_twice_creates_one_object(form, owner):
    model, address, values = form
    before = model.objects.count()
    first, second = owner.post(address, values), owner.post(address, values)
    assert first.status_code < 400, first.content
    assert model.objects.count() == before + 1
    assert second.status_code == 400
    assert DUPLICATE_MESSAGE in second.content.decode()


def test_form_sent_again_on_purpose_or_with_other_values_creates_another(form, owner):
    model, address, values = form
    before = model.objects.count()
    owner.post(address, values)
    again = ONCE_FIELD.search(owner.post(address, values).content.decode())[1]
    assert owner.post(address, values | {"once": again}).status_code < 400
    name = "name" if "name" in values else "fromTo"
    assert owner.post(address, values | {name: "Other"}).status_code < 400
    assert model.objects.count() == before + 3


def test_rejected_form_can_be_sent_again(acme, api, owner, monkeypatch):
    account = Books(api).create_account()
    address = f"/app/companies/{acme.id}/transactions/new"
    values = {"accountId": account, "date": str(TODAY), "amountValue": "-5.00", "once": "7"}
    with monkeypatch.context() as refusing:
        refusing.setattr(CompanyQuerySet, "touch", raise_conflict)  # the last step of every change
        assert [owner.post(address, values).status_code for _ in range(2)] == [400, 400]
    assert owner.post(address, values).status_code == 303
    assert Transaction.objects.count() == 1


def raise_conflict(*_):
    raise ConflictError("Not now.")


@pytest.mark.parametrize("spelling", ["{}------", "{{{}}}", "urn:uuid:{}"])
def test_form_url_has_only_one_accepted_spelling(acme, owner, spelling):
    """Another would be another form, and a long one more than is kept of it."""
    address = f"/app/companies/{spelling.format(acme.id)}/accounts/new"
    assert owner.get(address).status_code == 404
    assert owner.post(address, FORMS["accounts/new"][1] | {"once": "7"}).status_code == 404


@pytest.mark.parametrize("token", ["\0", "7" * 50_000, "\U0001f40d"])
def test_form_with_any_token_creates_one_object(acme, owner, token):
    address, values = f"/app/companies/{acme.id}/accounts/new", FORMS["accounts/new"][1] | {"once": token}
    assert [owner.post(address, values).status_code for _ in range(2)] == [303, 400]
    assert Account.objects.count() == 1


def test_form_token_is_separate_per_user(acme, alice, bob, sign_in_browser):
    """Who learns it can make nobody else's form fail."""
    address, values = "/app/companies/new", FORMS[""][1] | {"once": "7"}
    assert [sign_in_browser(each, acme).client.post(address, values).status_code for each in (alice, bob)] == [303, 303]


@pytest.mark.django_db(transaction=True)
def test_form_sent_concurrently_creates_one_object(acme, api, alice, sign_in_browser):
    account = Books(api).create_account()
    address = f"/app/companies/{acme.id}/transactions/new"
    values = {"accountId": account, "date": str(TODAY), "amountValue": "-5.00", "once": "7"}
    clients, answers, start = [sign_in_browser(alice, acme).client for _ in range(4)], [], threading.Barrier(4)

    def send(client):
        start.wait()
        answers.append(client.post(address, values).status_code)
        connection.close()

    threads = [threading.Thread(target=send, args=[client]) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [303, 400, 400, 400]
    assert Transaction.objects.count() == 1
