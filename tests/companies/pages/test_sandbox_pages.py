"""Pages: create a sandbox, see that it is one, set its day, delete it."""

from datetime import timedelta

import pytest

from companies.models import Company
from tests import factories
from tests.conftest import Api
from tests.ledger.conftest import get_page_text

pytestmark = pytest.mark.django_db


@pytest.fixture
def settings_path(acme):
    return f"/app/companies/{acme.id}/settings"


@pytest.fixture
def sandbox(owner, settings_path):
    answer = owner.post(f"{settings_path}/sandbox", {"name": "What if", "expiresInDays": "14"})
    assert answer.status_code == 303, answer.content
    return Company.objects.get(system_status="sandbox")


def test_sandbox_is_created_from_the_settings(owner, settings_path, sandbox):
    assert f"{settings_path}/sandbox" in owner.get(settings_path).content.decode()
    form = owner.get(f"{settings_path}/sandbox")
    assert 'value="Acme (sandbox)"' in form.content.decode()
    assert 'value="30"' in form.content.decode()
    assert sandbox.name == "What if"
    assert sandbox.system_sandbox_expire_time - sandbox.created_time == timedelta(days=14)


@pytest.mark.parametrize("days", ["", "0", "366", "two"])
def test_wrong_number_of_days_is_shown_at_the_field(owner, settings_path, days):
    answer = owner.post(f"{settings_path}/sandbox", {"name": "x", "expiresInDays": days})
    assert answer.status_code == 400
    assert 'aria-invalid="true"' in answer.content.decode()
    assert Company.objects.count() == 1


def test_sixth_sandbox_is_refused_above_the_form(owner, settings_path):
    for _ in range(5):
        owner.post(f"{settings_path}/sandbox", {"name": "x", "expiresInDays": "1"})
    answer = owner.post(f"{settings_path}/sandbox", {"name": "x", "expiresInDays": "1"})
    assert answer.status_code == 400
    assert "You can have up to 5 sandboxes." in get_page_text(answer)


def test_pages_of_a_sandbox_name_it_and_its_end(owner, sandbox, acme):
    path = f"/app/companies/{sandbox.id}"
    for page in ("", "/settings", "/transactions"):
        assert "Sandbox “What if”. It will be deleted on " in get_page_text(owner.get(path + page))
    assert "Sandbox “" not in get_page_text(owner.get(f"/app/companies/{acme.id}"))
    assert owner.get(f"{path}/settings/sandbox").status_code == 404


def test_day_of_a_sandbox_is_set_in_its_settings(owner, sandbox, acme, settings_path):
    path = f"/app/companies/{sandbox.id}/settings"
    form = {"name": "What if", "baseCurrency": "EUR", "dataStartDate": "", "domain": "", "timeZone": "UTC",
            "valuationCategory": "", "valuationLens": "", "testToday": "2026-02-28"}  # fmt: skip
    assert owner.post(path, form).status_code == 303
    assert str(Company.objects.get(id=sandbox.id).test_today) == "2026-02-28"
    assert "Today is set to" in get_page_text(owner.get(path))
    assert owner.post(path, form | {"testToday": ""}).status_code == 303
    assert Company.objects.get(id=sandbox.id).test_today is None
    assert 'name="testToday"' not in owner.get(settings_path).content.decode()


def test_sandbox_is_deleted_after_confirmation(owner, sandbox):
    path = f"/app/companies/{sandbox.id}/settings"
    assert f"{path}/sandbox/delete" in owner.get(path).content.decode()
    assert "You cannot undo this." in get_page_text(owner.get(f"{path}/sandbox/delete"))
    assert Company.objects.filter(id=sandbox.id).exists()
    answer = owner.post(f"{path}/sandbox/delete", follow=True)
    assert answer.redirect_chain[-1][0] == "/app/"
    assert "Sandbox “What if” deleted." in get_page_text(answer)
    assert not Company.objects.filter(id=sandbox.id).exists()


def test_other_companies_cannot_be_deleted(owner, settings_path, acme):
    assert owner.get(f"{settings_path}/sandbox/delete").status_code == 404
    assert owner.post(f"{settings_path}/sandbox/delete").status_code == 404
    assert Company.objects.filter(id=acme.id).exists()


def test_admin_sees_no_way_to_create_a_sandbox(sign_in_browser, acme, settings_path):
    admin: Api = sign_in_browser(factories.make_member(acme, "finn@acme.example", role="admin"), acme)
    assert f"{settings_path}/sandbox" not in admin.client.get(settings_path).content.decode()
    assert admin.client.get(f"{settings_path}/sandbox").status_code == 403
    assert admin.client.post(f"{settings_path}/sandbox", {"name": "x", "expiresInDays": "1"}).status_code == 403
