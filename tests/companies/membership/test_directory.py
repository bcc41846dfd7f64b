"""The directory: under the id of a person or a key, the companies to look into."""

import io
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from companies.models import ApiKey, DirectoryEntry, Membership
from tests import factories

pytestmark = pytest.mark.django_db


def companies_of(subject: UUID | str) -> set[UUID]:
    return set(DirectoryEntry.objects.companies_of(subject))


def test_who_starts_a_company_is_found_and_so_is_a_key(owner, alice, acme):
    founded = owner.post("/companies", {"name": "Second"}, content_type="application/json").json()
    assert companies_of(alice.id) == {acme.id, UUID(founded["id"])}
    body = {"name": "x", "permissions": ["accounts:read"]}
    made = owner.post(f"/companies/{acme.id}/api_keys", body, content_type="application/json").json()
    assert companies_of(made["id"]) == {acme.id}


def test_who_is_invited_is_found_once_they_have_joined_and_until_they_leave(api, acme, carol, invited, client):
    before = companies_of(carol.id)
    asked = invited(api, carol.email)
    assert companies_of(carol.id) == before
    client.force_login(carol, backend="django.contrib.auth.backends.ModelBackend")
    asked.accept(client)
    assert companies_of(carol.id) == before | {acme.id}
    assert {each["name"] for each in client.get("/companies").json()} == {"Acme", "Globex"}
    assert client.delete(f"/companies/{acme.id}/members/me").status_code == 200
    assert companies_of(carol.id) == before


def test_who_is_removed_is_found_no_more_and_a_key_that_was_revoked_still_is(api, acme, bob):
    member = Membership.objects.of(acme.id).get(user=bob)
    assert api.put(f"members/{member.id}", {"role": "editor"}).status_code == 200
    assert companies_of(bob.id) == {acme.id}
    assert api.delete(f"members/{member.id}").status_code == 200
    assert companies_of(bob.id) == set()
    key = api.post("api_keys", {"name": "x", "permissions": ["accounts:read"]}).json()["id"]
    api.delete(f"api_keys/{key}")
    assert companies_of(key) == {acme.id}


def test_an_entry_opens_nothing(browser_of, carol, globex, acme):
    """What is left over costs a look; it shows no company."""
    DirectoryEntry.objects.create(subject=carol.id, company_id=acme.id)
    assert [each["name"] for each in browser_of(carol, globex).get("/companies").json()] == ["Globex"]
    assert browser_of(carol, acme).get("accounts").status_code == 404


@pytest.mark.parametrize(("model", "column"), [(Membership, "user_id"), (ApiKey, "id")])
def test_the_database_refuses_who_does_not_stand_in_it(model, column, acme, api, alice):
    with pytest.raises(IntegrityError, match="_listed"), transaction.atomic():
        DirectoryEntry.objects.filter(company_id=acme.id).delete()
    rows, other = model.objects.of(acme.id), factories.UserFactory()
    with pytest.raises(IntegrityError, match="_listed"), transaction.atomic():
        rows.filter(id=rows.last().id).update(**{column: other.id})


def test_what_is_left_over_is_told_and_taken_out(acme, bob, api):
    Membership.objects.of(acme.id).filter(user=bob).delete()
    said = io.StringIO()
    with pytest.raises(CommandError, match="1 differences"):
        call_command("rebuild_derived", "--check", stderr=said)
    assert f"{acme.id} companies_directoryentry: too much {bob.id}" in said.getvalue()
    call_command("rebuild_derived", stdout=io.StringIO())
    assert companies_of(bob.id) == set()
    call_command("rebuild_derived", "--check", stdout=io.StringIO())
