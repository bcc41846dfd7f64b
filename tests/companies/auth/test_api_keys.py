"""API keys: their text, who may make which, and how they end."""

import secrets
import uuid
import zlib
from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings as live
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from companies.auth import api_keys, authentication
from companies.models import ApiKey, AuditEntry, Membership
from companies.permissions import Permission, Role
from tests import factories
from tests.conftest import Api
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
NEW_KEY = {"name": "ci", "permissions": ["accounts:read"]}


def compute_base62_crc(text):
    number, digits = zlib.crc32(text.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits = DIGITS[digit] + digits
    return digits


def list_distinct_bodies(answers):
    """The bodies without what names the request."""
    return {str({k: v for k, v in answer.json().items() if k != "requestId"}) for answer in answers}


@pytest.fixture
def owner(sign_in_browser, alice, acme):
    return sign_in_browser(alice, acme)


def test_api_key_text_consists_of_id_secret_and_checksum(owner):
    made = owner.post("api_keys", NEW_KEY).json()
    text = made["key"]
    assert len(text) == 4 + 36 + 36
    assert text[:4] == "svc_"
    assert text[4:40] == made["id"] == str(uuid.UUID(made["id"]))
    assert set(text[40:]) <= set(DIGITS)
    assert text[-6:] == compute_base62_crc(text[:-6])
    assert text[-4:] == made["lastFour"]


def test_new_api_key_returns_every_field_and_its_text_once(owner, alice):
    made = owner.post("api_keys", NEW_KEY | {"expiresTime": "2999-01-01T00:00:00+02:00"})
    assert made.status_code == 201
    assert made["Cache-Control"] == "no-store"
    body = made.json()
    assert body["lastUpdatedTime"] == body["createdTime"]
    assert body | {"id": 0, "createdTime": 0, "lastUpdatedTime": 0, "key": 0, "lastFour": 0} == {
        "id": 0, "companyId": str(owner.company.id), "name": "ci", "permissions": ["accounts:read"], "lastFour": 0,
        "createdTime": 0, "createdUserId": str(alice.id), "expiresTime": "2998-12-31T22:00:00Z", "lastUsedTime": None,
        "revokedTime": None, "key": 0, "lastUpdatedTime": 0, "lastUpdatedUserId": str(alice.id),
    }  # fmt: skip
    (listed,) = owner.get("api_keys").json()
    assert "key" not in listed
    assert listed == {name: value for name, value in body.items() if name != "key"}


def test_api_key_stores_only_digest_of_secret(owner):
    text = owner.post("api_keys", NEW_KEY).json()["key"]
    stored = ApiKey.objects.get(id=text[4:40])
    assert bytes(stored.digest) == authentication.hash_api_key_secret(text[40:])
    assert text[40:].encode() not in bytes(stored.digest)
    entry = AuditEntry.objects.get(action="apiKey.created")
    assert text[40:] not in str(entry.after)


def test_invalid_expired_and_revoked_api_keys_get_same_response(client, owner, monkeypatch):
    good = owner.post("api_keys", NEW_KEY).json()
    expired = owner.post(
        "api_keys", NEW_KEY | {"expiresTime": (datetime.now(tz=UTC) + timedelta(hours=1)).isoformat()}
    ).json()
    ApiKey.objects.filter(id=expired["id"]).update(expires_time=datetime.now(tz=UTC) - timedelta(seconds=1))
    revoked = owner.post("api_keys", NEW_KEY).json()
    owner.delete(f"api_keys/{revoked['id']}")
    head = good["key"][:40] + "".join(secrets.choice(DIGITS) for _ in range(30))
    unknown = api_keys.generate_api_key_text(uuid.uuid4())
    mistyped = good["key"][:-1] + ("a" if good["key"][-1] != "a" else "b")
    tokens = {
        "unknown": unknown, "wrong": head + compute_base62_crc(head), "mistyped": mistyped, "expired": expired["key"],
        "revoked": revoked["key"], "short": "svc_", "long": good["key"] + "a", "cut": good["key"][:-1],
        "case": "svc_" + good["key"][4:40].upper() + good["key"][40:], "nul": "svc_\0", "unicode": "svc_ü",
    }  # fmt: skip
    answers = {n: client.get("/companies", headers={"Authorization": f"Bearer {t}"}) for n, t in tokens.items()}
    assert {answer.status_code for answer in answers.values()} == {401}
    assert len(list_distinct_bodies(answers.values())) == 1
    assert len({answer["WWW-Authenticate"] for answer in answers.values()}) == 1
    assert 'error="invalid_token"' in answers["unknown"]["WWW-Authenticate"]
    assert client.get("/companies", headers={"Authorization": f"Bearer {good['key']}"}).status_code == 200


def test_mistyped_api_key_is_rejected_without_query(client, owner, django_assert_num_queries):
    key = owner.post("api_keys", NEW_KEY).json()["key"]
    with django_assert_num_queries(0):
        client.get("/companies", headers={"Authorization": f"Bearer {key[:-1]}!"})


KEY_LOOKUP, DIRECTORY_LOOKUP = "k.company_id = '", "companies_directoryentry"


@pytest.mark.parametrize(
    ("named", "looks"),
    [
        ("own", [KEY_LOOKUP]),
        ("none", [DIRECTORY_LOOKUP, KEY_LOOKUP]),
        ("another", [KEY_LOOKUP, DIRECTORY_LOOKUP, KEY_LOOKUP]),
    ],
)
def test_api_key_lookup_uses_company_of_url_or_directory(acme, globex, make_api, now, named, looks):
    """There by its whole primary key, which one machine of a cluster answers; else the directory knows its company."""
    text = make_api(acme).key
    company_id = {"own": acme.id, "none": None, "another": globex.id}[named]
    with CaptureQueriesContext(connection) as queries:
        caller = authentication.authenticate_api_key(text, now=now, company_id=company_id)
    assert caller is not None
    assert caller.company_access.company.id == acme.id
    assert len(queries) == len(looks)
    assert all(look in query["sql"] for look, query in zip(looks, queries, strict=True))


def test_api_key_under_another_pepper_is_rejected(api, settings):
    settings.API_KEY_PEPPER = "another pepper, as long as it has to be"
    assert api.get("/companies").status_code == 401


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
def test_bearer_scheme_is_case_insensitive(client, api, scheme):
    assert client.get("/companies", headers={"Authorization": f"{scheme} {api.key}"}).status_code == 200


def test_other_authorization_header_returns_401_even_with_valid_session(client, owner, api):
    for header in [
        "",
        " ",
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        "Token x",
        "{key}",
        "Bearer{key}",
        "Bearer a b",
        "Bearer {key} x",
        "Digest username=x",
        "ü",
    ]:
        given = {"Authorization": header.format(key=api.key)}
        for caller in (client, owner.client):
            answer = caller.get("/companies", headers=given)
            assert answer.status_code == 401, header
            assert answer.json()["code"] == "invalid_credentials", header
            assert answer["WWW-Authenticate"].startswith("Bearer "), header


def test_authenticate_header_names_resource_metadata_and_error(client):
    nothing = client.get("/companies")["WWW-Authenticate"]
    assert "error" not in nothing
    assert f'resource_metadata="{live.BASE_URL}/.well-known/oauth-protected-resource"' in nothing
    wrong = client.get("/companies", headers={"Authorization": "Bearer x"})["WWW-Authenticate"]
    assert 'error="invalid_token"' in wrong


USED_EVERY = authentication.LAST_USED_INTERVAL  # as it is outside of tests


def test_api_key_last_used_time_is_written_at_most_once_a_minute(api, monkeypatch, now):
    monkeypatch.setattr(authentication, "LAST_USED_INTERVAL", USED_EVERY)

    def used_at(moment):
        monkeypatch.setattr("django.utils.timezone.now", lambda: moment)
        assert api.get("").status_code == 200
        return ApiKey.objects.get(company=api.company).last_used_time

    assert used_at(now) == now
    assert used_at(now + timedelta(seconds=59)) == now
    assert used_at(now + timedelta(seconds=61)) == now + timedelta(seconds=61)


def test_api_key_expires_on_time(api, client, owner, monkeypatch, now):
    made = owner.post("api_keys", NEW_KEY | {"expiresTime": (now + timedelta(days=1)).isoformat()}).json()
    headers = {"Authorization": f"Bearer {made['key']}"}
    monkeypatch.setattr("django.utils.timezone.now", lambda: now + timedelta(hours=23))
    assert client.get("/companies", headers=headers).status_code == 200
    monkeypatch.setattr("django.utils.timezone.now", lambda: now + timedelta(days=1))
    assert client.get("/companies", headers=headers).status_code == 401


def test_invalid_api_key_request_is_rejected_and_not_stored(owner):
    for change, pointer, code in [
        ({"name": None}, "#/name", "must_not_be_null"),
        ({"name": "x" * 201}, "#/name", "too_long"),
        ({"name": 1}, "#/name", "invalid_value"),
        ({"permissions": []}, "#/permissions", "must_not_be_empty"),
        ({"permissions": None}, "#/permissions", "must_not_be_null"),
        ({"permissions": "accounts:read"}, "#/permissions", "invalid_value"),
        ({"permissions": ["accounts:fly"]}, "#/permissions/0", "invalid_choice"),
        ({"permissions": ["accounts:read", 7]}, "#/permissions/1", "invalid_choice"),
        ({"permissions": [["accounts:read"]]}, "#/permissions/0", "invalid_choice"),
        ({"expiresTime": "2001-01-01T00:00:00Z"}, "#/expiresTime", "expires_in_past"),
        ({"expiresTime": "2999-01-01T00:00:00"}, "#/expiresTime", "invalid_value"),
        ({"expiresTime": "2999-01-01"}, "#/expiresTime", "invalid_value"),
        ({"expiresTime": "9999-12-31T23:59:59-23:00"}, "#/expiresTime", "invalid_value"),
        ({"expiresTime": "0001-01-01T00:00:00+14:00"}, "#/expiresTime", "invalid_value"),
    ]:
        answer = owner.post("api_keys", NEW_KEY | change)
        assert answer.status_code == 400, answer.content
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [(pointer, code)], change
        assert not ApiKey.objects.exists(), change


def test_api_key_permissions_are_deduplicated_in_catalogue_order(owner):
    made = owner.post("api_keys", NEW_KEY | {"permissions": ["company:read", "accounts:read", "company:read"]}).json()
    assert made["permissions"] == ["accounts:read", "company:read"]


ADMINISTRATIVE = [p.value for p in Permission if p.value.endswith(":manage") or p.value == "audit:read"]


def test_administrative_api_keys_can_be_created_only_by_signed_in_owners(owner, api, sign_in_browser, acme):
    admin = sign_in_browser(factories.make_member(acme, "admin@acme.example", role=Role.ADMIN), acme)
    for permission in ADMINISTRATIVE:
        with undo_changes():
            body = {"name": "x", "permissions": ["accounts:read", permission]}
            before = ApiKey.objects.count()
            for caller in (admin, api):
                answer = caller.post("api_keys", body)
                assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied"), permission
            assert ApiKey.objects.count() == before, permission
            assert owner.post("api_keys", body).status_code == 201, permission


def test_api_key_creation_needs_recent_login_for_users_but_not_for_keys(owner, api, monkeypatch):
    assert owner.post("api_keys", NEW_KEY).status_code == 201
    later = datetime.now(tz=UTC) + timedelta(minutes=11)
    monkeypatch.setattr("django.utils.timezone.now", lambda: later)
    refused = owner.post("api_keys", NEW_KEY)
    assert (refused.status_code, refused.json()["code"]) == (403, "sign_in_again")
    assert owner.post("api_keys", {}).json()["code"] == "sign_in_again"
    assert ApiKey.objects.filter(name="ci").count() == 1
    assert owner.get("api_keys").status_code == 200
    assert api.post("api_keys", NEW_KEY).status_code == 201


def test_api_key_revocation_needs_recent_login(owner, acme, age_session):
    key_id = owner.post("api_keys", NEW_KEY).json()["id"]
    age_session(owner.client)
    refused = owner.delete(f"api_keys/{key_id}")
    assert (refused.status_code, refused.json()["code"]) == (403, "sign_in_again")
    page = owner.client.post(f"/app/companies/{acme.id}/settings/api-keys/{key_id}/revoke")
    assert page["Location"].startswith("/app/sign-in?again=1")
    assert ApiKey.objects.get(id=key_id).revoked_time is None


@pytest.mark.parametrize(("days", "status"), [(1, 201), (2, 201), (3, 403), (None, 403)])
def test_api_key_with_expiry_cannot_create_one_that_outlives_it(days, status, owner, acme, now):
    admin_level = {"name": "short", "permissions": ["apiKeys:manage", "accounts:read"]}
    end = (now + timedelta(days=2)).isoformat()
    short = Api(acme, key=owner.post("api_keys", admin_level | {"expiresTime": end}).json()["key"])
    wanted = {"name": "next", "permissions": ["accounts:read"]}
    if days:
        wanted["expiresTime"] = (now + timedelta(days=days)).isoformat()
    answer = short.post("api_keys", wanted)
    assert answer.status_code == status
    assert status == 201 or answer.json()["code"] == "permission_denied"


def test_api_key_cannot_have_more_permissions_than_its_creator(sign_in_browser, acme, make_api):
    narrow = ["apiKeys:manage", "accounts:read"]
    person = sign_in_browser(factories.make_member(acme, "n@acme.example", role=Role.EDITOR, permissions=narrow), acme)
    for caller in (person, make_api(acme, *narrow)):
        assert caller.post("api_keys", NEW_KEY).status_code == 201
        refused = caller.post("api_keys", {"name": "x", "permissions": ["accounts:read", "accounts:write"]})
        assert refused.status_code == 403
        assert "accounts:write" in refused.json()["detail"]


def test_api_key_stays_valid_after_its_creator_leaves(owner, alice, acme, api, client):
    key = owner.post("api_keys", NEW_KEY).json()
    factories.make_member(acme, "second@acme.example", role=Role.OWNER)
    membership = Membership.objects.get(user=alice, company=acme)
    assert owner.delete(f"members/{membership.id}").status_code == 200
    assert owner.get("api_keys").status_code == 404
    headers = {"Authorization": f"Bearer {key['key']}"}
    assert client.get("/companies", headers=headers).json()[0]["permissions"] == ["accounts:read"]


def test_revoked_api_key_stays_listed_and_is_revoked_once(owner, client):
    key = owner.post("api_keys", NEW_KEY).json()
    assert owner.delete(f"api_keys/{key['id']}").json() == {"success": True}
    (listed,) = owner.get("api_keys").json()
    assert listed["revokedTime"] == listed["lastUpdatedTime"]
    assert owner.delete(f"api_keys/{key['id']}").json() == {"success": True}
    assert owner.get("api_keys").json() == [listed]
    assert AuditEntry.objects.filter(action="apiKey.revoked").count() == 1


def test_api_key_can_revoke_itself(make_api, acme):
    caller = make_api(acme, "apiKeys:manage")
    assert caller.delete(f"api_keys/{caller.key[4:40]}").json() == {"success": True}
    assert caller.get("/companies").status_code == 401


def test_api_key_created_on_command_line_has_no_creator(acme, capsys, client, api):
    call_command("create_api_key", company=str(acme.id), permissions="accounts:read,company:read", name="cli")
    text = capsys.readouterr().out.strip()
    assert client.get(f"/companies/{acme.id}", headers={"Authorization": f"Bearer {text}"}).status_code == 200
    made = next(each for each in api.get("api_keys").json() if each["name"] == "cli")
    assert made["createdUserId"] is None
    assert made["permissions"] == ["accounts:read", "company:read"]


def test_api_key_is_found_at_its_location_without_its_text(owner, globex_api):
    made = owner.post("api_keys", NEW_KEY)
    assert owner.get(made["Location"]).json() == {k: v for k, v in made.json().items() if k != "key"}
    assert globex_api.get(f"api_keys/{made.json()['id']}").status_code == 404


def test_api_key_etag_changes_with_its_use_and_guards_revocation(owner, client):
    made = owner.post("api_keys", NEW_KEY)
    path = f"api_keys/{made.json()['id']}"
    assert owner.get(path)["ETag"] == made["ETag"]
    assert owner.get(path, if_none_match=made["ETag"]).status_code == 304
    client.get("/companies", headers={"Authorization": f"Bearer {made.json()['key']}"})
    used = owner.get(path, if_none_match=made["ETag"])
    assert (used.status_code, used.json()["lastUsedTime"] is None) == (200, False)
    assert owner.delete(path, if_match='"other"').status_code == 412
    assert owner.get(path).json()["revokedTime"] is None
    assert owner.delete(path, if_match=used["ETag"]).status_code == 200
