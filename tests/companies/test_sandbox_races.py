"""Copying beside other writers, in transactions that are really committed."""

import io

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from companies.models import Company
from ledger.models import File, Transaction
from tests.conftest import Api
from tests.ledger.test_concurrent_writers import run_concurrently

pytestmark = pytest.mark.django_db(transaction=True)


def test_copy_beside_an_import_has_all_of_its_rows_or_none(api, alice, acme, sign_in_browser):
    bank = api.post("accounts", {"name": "Bank", "type": "bank"}).json()["id"]
    rows = [{"accountId": bank, "date": "2026-03-20", "amountValue": "-1.00"} for _ in range(300)]
    statuses = {}

    def bring():
        statuses["import"] = api.post("transactions/import", {"transactions": rows}).status_code

    def copy():
        statuses["copy"] = sign_in_browser(alice, acme).post("copy", {"name": "What if"}).status_code

    run_concurrently(bring, copy)
    assert statuses == {"import": 200, "copy": 201}
    sandbox = Company.objects.get(system_status="sandbox")
    assert Transaction.objects.for_company(sandbox.id).count() in (0, 300)
    assert Transaction.objects.for_company(acme.id).count() == 300
    call_command("rebuild_derived", check=True, company=str(sandbox.id), stdout=io.StringIO())


def test_copies_at_once_stay_within_the_limit(api, alice, acme, sign_in_browser):
    answers = []

    def copy():
        answers.append(sign_in_browser(alice, acme).post("copy", {"name": "What if"}).status_code)

    for _ in range(4):
        copy()
    run_concurrently(copy, copy, copy)
    assert sorted(answers) == [*[201] * 5, 409, 409]


def test_file_deleted_in_original_and_copy_at_once_is_gone(api, alice, acme, sign_in_browser):
    file = SimpleUploadedFile("a.csv", b"a,b\n1,2\n", content_type="text/csv")
    paper = api.client.post(api.path("files"), {"file": file}, headers=api.headers).json()["id"]
    path = File.objects.get().storage_path
    member = sign_in_browser(alice, acme)
    copied = member.post("copy", {"name": "What if"}).json()["id"]
    sandbox = Api(Company.objects.get(id=copied), session=sign_in_browser(alice, acme).client)
    run_concurrently(lambda: api.delete(f"files/{paper}"), lambda: sandbox.delete(f"files/{paper}"))
    assert not File.objects.exists()
    assert not default_storage.exists(path)
