"""The directory: under the id of a person or a key, the companies to look into."""

import io
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from companies.models import ApiKey, DirectoryEntry, Membership
from tests import factories

pytestmark = pytest.mark.django_db


def list_companies(subject: UUID | str) -> set[UUID]:
    return set(DirectoryEntry.objects.list_company_ids(subject))


def test_directory_lists_founder_and_api_key(owner, alice, acme):
    founded = owner.post("/companies", {"name": "Second"}, content_type="application/json").json()
    assert list_companies(alice.id) == {acme.id, UUID(founded["id"])}
    body = {"name": "x", "permissions": ["accounts:read"]}
    made = owner.post(f"/companies/{acme.id}/api_keys", body, content_type="application/json").json()
    assert list_companies(made["id"]) == {acme.id}


def test_directory_lists_members_during_membership(api, acme, carol, invite_member, client):
    before = list_companies(carol.id)
    invitation = invite_member(api, carol.email)
    assert list_companies(carol.id) == before
    client.force_login(carol, backend="django.contrib.auth.backends.ModelBackend")
    invitation.accept(client)
    assert list_companies(carol.id) == before | {acme.id}
    assert {each["name"] for each in client.get("/companies").json()} == {"Acme", "Globex"}
    assert client.delete(f"/companies/{acme.id}/members/me").status_code == 200
    assert list_companies(carol.id) == before


def test_directory_drops_removed_members_and_keeps_revoked_keys(api, acme, bob):
    member = Membership.objects.for_company(acme.id).get(user=bob)
    assert api.put(f"members/{member.id}", {"role": "editor"}).status_code == 200
    assert list_companies(bob.id) == {acme.id}
    assert api.delete(f"members/{member.id}").status_code == 200
    assert list_companies(bob.id) == set()
    key = api.post("api_keys", {"name": "x", "permissions": ["accounts:read"]}).json()["id"]
    api.delete(f"api_keys/{key}")
    assert list_companies(key) == {acme.id}


def test_directory_entry_alone_grants_no_access(sign_in_browser, carol, globex, acme):
    """What is left over costs a look; it shows no company."""
    DirectoryEntry.objects.create(subject=carol.id, company_id=acme.id)
    assert [each["name"] for each in sign_in_browser(carol, globex).get("/companies").json()] == ["Globex"]
    assert sign_in_browser(carol, acme).get("accounts").status_code == 404


@pytest.mark.parametrize(("model", "column"), [(Membership, "user_id"), (ApiKey, "id")])
def test_database_rejects_rows_without_directory_entry(model, column, acme, api, alice):
    with pytest.raises(IntegrityError, match="_listed"), transaction.atomic():
        DirectoryEntry.objects.filter(company_id=acme.id).delete()
    rows, other = model.objects.for_company(acme.id), factories.UserFactory()
    with pytest.raises(IntegrityError, match="_listed"), transaction.atomic():
        rows.filter(id=rows.last().id).update(**{column: other.id})


def test_directory_check_reports_and_removes_leftovers(acme, bob, api):
    Membership.objects.for_company(acme.id).filter(user=bob).delete()
    text = io.StringIO()
    with pytest.raises(CommandError, match="1 differences"):
        call_command("rebuild_derived", "--check", stderr=text)
    assert f"{acme.id} companies_directoryentry: too much {bob.id}" in text.getvalue()
    call_command("rebuild_derived", stdout=io.StringIO())
    assert list_companies(bob.id) == set()
    call_command("rebuild_derived", "--check", stdout=io.StringIO())
