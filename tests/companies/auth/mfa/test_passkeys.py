"""Passkeys over HTTP, with a device in software; in a real browser: tests/browser/test_passkeys.py."""

import json
import re
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from django.test import Client

from companies.auth.mfa import devices
from companies.models import Passkey
from tests.authenticator import PRESENT, PasskeyDevice
from tests.companies.auth.mfa.test_mfa import FACTORS, SECOND, age_sign_in, enter_password, list_recovery_codes
from tests.rollback import undo_changes

pytestmark = pytest.mark.django_db
ORIGIN = "https://app.example"
ADD, SIGN_IN = f"{FACTORS}/passkeys", "/app/sign-in/passkey"


@pytest.fixture(autouse=True)
def use_named_host(settings):
    """Serve pages from a named host, which passkeys require."""
    settings.APP_URL = f"{ORIGIN}/app"


def get_options(client: Client, page: str, **query):
    answer = client.post(f"{page}/options", query_params=query)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    return json.loads(answer.content)


def add_passkey(client: Client, device: PasskeyDevice, *, name: str = "Laptop", **wrong):
    return client.post(ADD, {"name": name, "answer": device.create_credential(get_options(client, ADD), **wrong)})


@pytest.fixture
def passkey_user(alice):
    """Alice with one passkey as her only second factor."""
    client, device = Client(), PasskeyDevice(ORIGIN)
    enter_password(client, alice.email)
    done = add_passkey(client, device)
    assert len(list_recovery_codes(done)) == 10
    alice.refresh_from_db()
    return SimpleNamespace(client=client, device=device, user=alice, codes=list_recovery_codes(done))


# ---------------------------------------------------------------------------------------------- setting up


def test_passkey_registration_requires_discoverable_verified_credential(passkey_user):
    options = get_options(passkey_user.client, ADD)
    assert options["rp"] == {"id": "app.example", "name": "Tidebook"}
    chosen = options["authenticatorSelection"]
    assert (chosen["residentKey"], chosen["userVerification"]) == ("required", "required")
    assert [each["id"] for each in options["excludeCredentials"]] == [
        json.loads(passkey_user.device.format_response({}))["id"]
    ]
    assert "Laptop" in passkey_user.client.get(FACTORS).content.decode()


WRONG_ANSWERS = {
    "another site's origin": {"origin": "https://evil.example"},
    "an origin that begins like ours": {"origin": f"{ORIGIN}.evil.example"},
    "another site's id": {"rp": "evil.example"},
    "another challenge": {"challenge": "AAAA"},
    "an answer to another question": {"type": "payment.get"},
    "nobody touched the device": {"flags": 0},
    "nobody proved to be its owner": {"flags": PRESENT},
}


def test_passkey_registration_with_invalid_answer_is_rejected(alice):
    client = Client()
    enter_password(client, alice.email)
    for case, wrong in WRONG_ANSWERS.items():
        refused = add_passkey(client, PasskeyDevice(ORIGIN), **wrong)
        assert refused.status_code == 400, case
        assert "Passkey not accepted." in refused.content.decode(), case
        alice.refresh_from_db()
        assert (Passkey.objects.count(), alice.second_factor_since) == (0, None), case


GARBAGE = ["", "{}", "[]", "null", "1", '"x"', "{", '{"id": 1, "rawId": 1, "type": "public-key", "response": 1}',
           '{"id": "a", "rawId": "a", "type": "public-key", "response": {}}', '{"rawId": "\\u0000"}', "x" * 20_000,
           '{"id":"AAAA","rawId":"AAAA","type":"public-key","response":{"clientDataJSON":"AAAA",'
           '"authenticatorData":"AAAA","signature":"AAAA","attestationObject":"oA","userHandle":5}}',
           '{"id":"AAAA","rawId":"AAAA","type":"public-key","response":{"clientDataJSON":"e30",'
           '"authenticatorData":"","signature":"","attestationObject":"/////w","userHandle":""}}',
           "[" * 9_000]  # fmt: skip


def test_passkey_answer_with_malformed_content_is_rejected(passkey_user):
    for answer in GARBAGE:
        with undo_changes():  # or the failures would lock the sign-in
            get_options(passkey_user.client, ADD)
            assert passkey_user.client.post(ADD, {"name": "x", "answer": answer}).status_code == 400, answer[:100]
            client = Client()
            get_options(client, SIGN_IN)
            assert client.post(SIGN_IN, {"answer": answer})["Location"].startswith("/app/sign-in?"), answer[:100]
            assert Passkey.objects.count() == 1


def test_passkey_name_must_be_a_single_line(passkey_user):
    for name in ["", " ", "x" * 101, "two\nlines", "\u200b"]:
        refused = add_passkey(passkey_user.client, PasskeyDevice(ORIGIN), name=name)
        assert (
            refused.status_code,
            "Enter a name of at most 100 characters on a single line, such as Laptop." in refused.content.decode(),
        ) == (400, True), name


def test_passkey_challenge_is_accepted_once_and_only_for_its_purpose(passkey_user):
    other = PasskeyDevice(ORIGIN)
    answer = other.create_credential(get_options(passkey_user.client, ADD))
    assert passkey_user.client.post(ADD, {"name": "Phone", "answer": answer}).status_code == 303
    again = passkey_user.client.post(ADD, {"name": "Phone", "answer": answer})
    assert (again.status_code, Passkey.objects.count()) == (400, 2)
    options = get_options(passkey_user.client, SIGN_IN)
    made = PasskeyDevice(ORIGIN).create_credential(options | {"rp": {"id": "app.example"}, "user": {"id": "AAAA"}})
    assert passkey_user.client.post(ADD, {"name": "Phone", "answer": made}).status_code == 400


def test_passkey_of_another_user_cannot_be_registered_again(passkey_user, bob):
    client = Client()
    enter_password(client, bob.email)
    refused = add_passkey(client, passkey_user.device)
    assert (refused.status_code, "This passkey is already set up." in refused.content.decode()) == (400, True)


def test_passkey_count_is_limited(passkey_user, monkeypatch):
    monkeypatch.setattr(devices, "MAX_PASSKEYS", 2)
    assert add_passkey(passkey_user.client, PasskeyDevice(ORIGIN)).status_code == 303
    assert add_passkey(passkey_user.client, PasskeyDevice(ORIGIN)).status_code == 400


def test_passkey_can_be_removed_only_by_its_owner(passkey_user, bob):
    client, row = Client(), Passkey.objects.get()
    enter_password(client, bob.email)
    assert client.post(f"{ADD}/{row.id}/remove").status_code == 404
    assert passkey_user.client.post(f"{ADD}/{row.id}/remove")["Location"] == FACTORS
    assert not Passkey.objects.exists()
    passkey_user.user.refresh_from_db()
    assert passkey_user.user.second_factor_since is None


def test_passkeys_are_not_offered_on_host_without_domain_name(settings, alice):
    settings.APP_URL = "http://127.0.0.1:8000/app"
    client = Client()
    assert "data-passkey" not in client.get("/app/sign-in").content.decode()
    enter_password(client, alice.email)
    page = client.get(FACTORS).content.decode()
    assert "data-passkey" not in page
    assert "Passkeys need a domain name, and this server uses an IP address. Ask the operator for one." in page


# ---------------------------------------------------------------------------------------------- signing in


def test_passkey_alone_signs_in(passkey_user):
    client = Client()
    options = get_options(client, SIGN_IN)
    assert (options["allowCredentials"], options["userVerification"]) == ([], "required")  # it names nobody
    answer = client.post(SIGN_IN, {"answer": passkey_user.device.get_credential(options), "next": "/app/companies/new"})
    assert (answer.status_code, answer["Location"]) == (303, "/app/companies/new")
    assert client.get("/companies").status_code == 200
    assert Passkey.objects.get().sign_count == 1
    passkey_user.user.refresh_from_db()


def test_passkey_works_as_second_factor(passkey_user):
    client = Client()
    enter_password(client, passkey_user.user.email)
    options = get_options(client, SIGN_IN, known="1")
    assert len(options["allowCredentials"]) == 1
    assert client.post(SECOND, {"answer": passkey_user.device.get_credential(options)})["Location"] == "/app/"
    assert client.get("/companies").status_code == 200


WRONG_ASSERTIONS = WRONG_ANSWERS | {
    "a counter that stands still": {"count": 5},
    "a counter that goes back": {"count": 4},
    "another device's signature": {"key": ec.generate_private_key(ec.SECP256R1())},
    "another person's handle": {"handle": b"x" * 16},
    "an unknown passkey": {"id": b"y" * 32},
}


def test_passkey_sign_in_with_invalid_answer_is_rejected(passkey_user, caplog):
    Passkey.objects.update(sign_count=5)
    for name, wrong in WRONG_ASSERTIONS.items():
        passkey_user.device.count = 5
        caplog.clear()
        client, answers = Client(), set()
        with undo_changes():  # or the failures would lock the sign-in
            for page, first in ((SIGN_IN, None), (SECOND, passkey_user.user.email)):
                if first:
                    enter_password(client, first)
                options = get_options(client, SIGN_IN)
                credential = passkey_user.device.get_credential(options, **wrong)
                answer = client.post(page, {"answer": credential}, follow=True)
                answers.add("Passkey not accepted. Try again or use another method." in answer.content.decode())
                assert client.get("/companies").status_code == 401, name
            assert answers == {True}, name
            assert re.search(r"Passkey rejected: [^%\s]", caplog.text), name
            assert Passkey.objects.get().sign_count == 5, name


def test_passkey_answer_is_accepted_once(passkey_user):
    client = Client()
    answer = passkey_user.device.get_credential(get_options(client, SIGN_IN))
    assert client.post(SIGN_IN, {"answer": answer})["Location"] == "/app/"
    client.post("/app/sign-out")
    for other in (client, Client()):
        assert other.post(SIGN_IN, {"answer": answer})["Location"].startswith("/app/sign-in?")
        get_options(other, SIGN_IN)
        assert other.post(SIGN_IN, {"answer": answer})["Location"].startswith("/app/sign-in?")


def test_passkey_device_without_counter_is_accepted(passkey_user):
    Passkey.objects.update(sign_count=0)
    for _ in range(2):
        client = Client()
        proof = passkey_user.device.get_credential(get_options(client, SIGN_IN), count=0)
        assert client.post(SIGN_IN, {"answer": proof})["Location"] == "/app/"


def test_passkey_of_another_user_is_no_second_factor(passkey_user, bob):
    client, mine = Client(), PasskeyDevice(ORIGIN)
    enter_password(client, bob.email)
    add_passkey(client, mine)
    other = Client()
    enter_password(other, passkey_user.user.email)
    assert other.post(SECOND, {"answer": mine.get_credential(get_options(other, SIGN_IN))}).status_code == 400
    assert other.get("/companies").status_code == 401


def test_passkey_does_not_sign_in_deactivated_user(passkey_user):
    passkey_user.user.is_active = False
    passkey_user.user.save()
    client = Client()
    proof = passkey_user.device.get_credential(get_options(client, SIGN_IN))
    assert client.post(SIGN_IN, {"answer": proof})["Location"].startswith("/app/sign-in?")


def test_passkey_failures_and_challenges_are_limited_by_ip_address(passkey_user, settings):
    settings.SIGN_IN_LIMIT = 4
    client = Client(REMOTE_ADDR="192.0.2.78")
    assert [client.post(SIGN_IN, {"answer": "{}"}).status_code for _ in range(5)] == [303] * 4 + [429]
    assert [client.post(f"{SIGN_IN}/options").status_code for _ in range(5)] == [200] * 4 + [429]


def test_passkey_satisfies_step_up_authentication(passkey_user):
    age_sign_in(passkey_user.client, 11)
    assert passkey_user.client.post(f"{FACTORS}/codes")["Location"].startswith("/app/sign-in?again=1")
    options = get_options(passkey_user.client, SIGN_IN, known="1")
    assert (
        passkey_user.client.post(SECOND, {"answer": passkey_user.device.get_credential(options), "next": FACTORS})[
            "Location"
        ]
        == FACTORS
    )
    assert len(list_recovery_codes(passkey_user.client.post(f"{FACTORS}/codes"))) == 10


def test_passkey_pages_run_only_own_scripts(passkey_user):
    for client, path in ((Client(), "/app/sign-in"), (passkey_user.client, SECOND), (passkey_user.client, FACTORS)):
        page = client.get(path)
        assert "data-passkey" in page.content.decode()
        assert "unsafe" not in page["Content-Security-Policy"]
        assert "<script>" not in page.content.decode()
