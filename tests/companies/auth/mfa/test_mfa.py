"""Authenticator apps and recovery codes: set up, asked for, proven again, taken away."""

import re
import time
from base64 import b32decode
from datetime import UTC, datetime, timedelta
from html import unescape
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from django_otp.oath import TOTP
from django_otp.plugins.otp_totp import models as otp
from django_otp.plugins.otp_totp.models import TOTPDevice

from companies.actions.members import build_password_link
from companies.auth import emails
from companies.models import AuditEntry, Membership, RecoveryCode, User

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
RFC_6238 = b"12345678901234567890".hex()  # the seed of its appendix B
# Seconds and code of appendix B, whose eight digits end in the six that apps show.
VECTORS = [(59, "287082"), (1111111109, "081804"), (1111111111, "050471"), (1234567890, "005924"),
           (2000000000, "279037"), (20000000000, "353130")]  # fmt: skip
FACTORS, ADD, SECOND = "/app/security/factors", "/app/security/factors/app", "/app/sign-in/second"


def generate_code(seed: str, *, steps: int = 0) -> str:
    """What an app shows now, or so many steps away."""
    totp = TOTP(bytes.fromhex(seed))
    totp.time = time.time() + 30 * steps
    return f"{totp.token():06}"


def find_seed(page) -> str:
    shown = re.search(r"data-seed>([a-z2-7-]+)<", page.content.decode())[1]
    return b32decode(shown.replace("-", "").upper()).hex()


def list_recovery_codes(page) -> list[str]:
    return re.search(r"data-codes[^>]*>([^<]+)<", page.content.decode())[1].split()


def set_up_app(client: Client) -> tuple[str, list[str]]:
    """(seed, recovery codes) of a new app."""
    seed = find_seed(client.get(ADD))
    done = client.post(ADD, {"code": generate_code(seed)})
    assert done.status_code == 200, done.content.decode()
    return seed, list_recovery_codes(done)


def forget_used_codes() -> None:
    """As if half a minute had passed since the last code."""
    TOTPDevice.objects.update(last_t=-1, throttling_failure_count=0, throttling_failure_timestamp=None)


def enter_password(client: Client, email: str, then: str = "/app/"):
    return client.post("/app/sign-in", {"username": email, "password": PASSWORD, "next": then})


def age_sign_in(client: Client, minutes: int) -> None:
    """Whoever uses the client signed in that many minutes ago, with the second factor that they had then already."""
    User.objects.filter(second_factor_since__isnull=False).update(
        second_factor_since=timezone.now() - timedelta(days=1)
    )
    session = client.session
    session["auth_time"] = session["seen_time"] = time.time() - 60 * minutes
    session.save()


@pytest.fixture
def alice_browser(alice) -> Client:
    client = Client()
    assert enter_password(client, alice.email).status_code == 303
    return client


@pytest.fixture
def totp_user(alice_browser, alice):
    """Alice with an authenticator app: client, seed, recovery codes; no code is used yet."""
    seed, codes = set_up_app(alice_browser)
    forget_used_codes()
    alice.refresh_from_db()
    return SimpleNamespace(client=alice_browser, seed=seed, codes=codes, user=alice)


# ---------------------------------------------------------------------------------------------- setting up


def test_totp_setup_confirms_with_code_and_shows_recovery_codes_once(alice_browser, alice):
    page = alice_browser.get(ADD)
    assert "<svg" in page.content.decode()
    assert find_seed(alice_browser.get(ADD)) == find_seed(page)  # looked at again it is the same
    seed, codes = set_up_app(alice_browser)
    assert (len(codes), len(set(codes)), len(codes[0].replace("-", ""))) == (10, 10, 24)
    listed = alice_browser.get(FACTORS).content.decode()
    assert "10 of 10 left" in listed
    for secret in (seed, *codes):
        assert secret not in listed
    assert alice.second_factor_since is None
    alice.refresh_from_db()
    assert alice.second_factor_since is not None


def test_recovery_codes_are_stored_as_digests(totp_user):
    remaining = b"".join(bytes(each.digest) for each in RecoveryCode.objects.for_user(totp_user.user.pk))
    assert len(remaining) == 10 * 32
    assert not any(each.replace("-", "").encode() in remaining for each in totp_user.codes)


@pytest.mark.parametrize("wrong", ["", "000000", "12345", "1234567", "１２３４５６", "abcdef", "-12345"])
def test_totp_setup_with_wrong_code_is_rejected(wrong, alice_browser, alice):
    seed = find_seed(alice_browser.get(ADD))
    if wrong == generate_code(seed):
        return  # pragma: no cover - one in a million
    refused = alice_browser.post(ADD, {"code": wrong})
    assert refused.status_code == 400
    assert "The code is incorrect. Check your device's clock and enter the next code." in unescape(
        refused.content.decode()
    )
    assert not TOTPDevice.objects.exists()
    assert find_seed(alice_browser.get(ADD)) == seed


def test_user_can_have_only_one_totp_device(totp_user):
    assert totp_user.client.get(ADD)["Location"] == FACTORS
    assert "already" in totp_user.client.post(ADD, {"code": "123456"}, follow=True).content.decode()


def test_adding_first_mfa_method_ends_other_sessions(alice):
    here, there = Client(), Client()
    for client in (here, there):
        enter_password(client, alice.email)
    set_up_app(here)
    assert there.get("/app/").status_code == 302
    assert there.get("/companies").status_code == 401
    assert here.get("/app/").status_code == 200
    assert here.get("/companies").status_code == 200


def test_removing_last_mfa_method_deletes_codes_and_allows_password_only(totp_user):
    assert totp_user.client.post(f"{ADD}/remove").status_code == 303
    assert not RecoveryCode.objects.exists()
    totp_user.user.refresh_from_db()
    assert totp_user.user.second_factor_since is None
    assert enter_password(Client(), totp_user.user.email)["Location"] == "/app/"
    assert totp_user.client.post(f"{ADD}/remove").status_code == 404
    assert totp_user.client.post(f"{FACTORS}/codes").status_code == 404


def test_new_recovery_codes_invalidate_old_ones(totp_user):
    fresh = list_recovery_codes(totp_user.client.post(f"{FACTORS}/codes"))
    for typed, status in ((totp_user.codes[0], 400), (fresh[0], 303)):
        client = Client()
        enter_password(client, totp_user.user.email)
        assert client.post(SECOND, {"code": typed}).status_code == status


def test_change_of_second_factor_notifies_the_user(alice_browser, alice, monkeypatch):
    answers = []

    def note(*, user, event, context):
        answers.append((user, event))
        assert context.user_id == user.pk

    monkeypatch.setattr(emails, "send_mfa_changed_email", note)
    set_up_app(alice_browser)
    alice_browser.post(f"{FACTORS}/codes")
    alice_browser.post(f"{ADD}/remove")
    assert [event for user, event in answers if user == alice] == [
        "An authenticator app was added.", "New recovery codes were created.", "The authenticator app was removed."
    ]  # fmt: skip


def test_mfa_pages_require_session():
    for path in (FACTORS, ADD):
        assert Client().get(path)["Location"].startswith("/app/sign-in")
    for path in (ADD, f"{ADD}/remove", f"{FACTORS}/codes", f"{FACTORS}/passkeys", f"{FACTORS}/passkeys/options"):
        assert Client().post(path)["Location"].startswith("/app/sign-in")


# ---------------------------------------------------------------------------------------------- the second step


def test_password_alone_does_not_sign_in_user_with_mfa(totp_user):
    client = Client()
    first = enter_password(client, totp_user.user.email, then="/app/companies/new")
    assert first["Location"].startswith(SECOND)
    assert client.get("/app/").status_code == 302
    assert client.get("/companies").status_code == 401
    assert client.get("/admin/").status_code == 302
    assert "Two-factor authentication" in client.get(first["Location"]).content.decode()
    done = client.post(SECOND, {"code": generate_code(totp_user.seed), "next": "/app/companies/new"})
    assert (done.status_code, done["Location"]) == (303, "/app/companies/new")
    assert client.get("/companies").status_code == 200


def test_second_step_requires_password_first(totp_user):
    answer = Client().post(SECOND, {"code": generate_code(totp_user.seed)})
    assert answer["Location"].startswith("/app/sign-in?")


def test_second_step_expires_after_ten_minutes_or_password_change(totp_user):
    for late in (True, False):
        client = Client()
        enter_password(client, totp_user.user.email)
        if late:
            session = client.session
            session["second_step"] = session["second_step"] | {"time": time.time() - 601}
            session.save()
        else:
            totp_user.user.set_password("another horse battery")
            totp_user.user.save()
        assert client.post(SECOND, {"code": generate_code(totp_user.seed)})["Location"].startswith("/app/sign-in?")
        assert client.get("/companies").status_code == 401


def test_totp_code_is_accepted_once(totp_user):
    typed = generate_code(totp_user.seed)
    for status in (303, 400):
        client = Client()
        enter_password(client, totp_user.user.email)
        assert client.post(SECOND, {"code": typed}).status_code == status


def test_totp_code_used_for_setup_cannot_sign_in(alice_browser, alice):
    seed = find_seed(alice_browser.get(ADD))
    typed = generate_code(seed)
    assert alice_browser.post(ADD, {"code": typed}).status_code == 200
    client = Client()
    enter_password(client, alice.email)
    assert client.post(SECOND, {"code": typed}).status_code == 400


@pytest.mark.parametrize(("steps", "status"), [(-2, 400), (-1, 303), (0, 303), (1, 303), (2, 400)])
def test_totp_tolerates_clock_drift_of_one_step_only(steps, status, totp_user, monkeypatch):
    at = 30 * (int(time.time()) // 30) + 15  # the middle of a step
    monkeypatch.setattr(otp, "time", SimpleNamespace(time=lambda: at))
    monkeypatch.setattr(f"{__name__}.time", SimpleNamespace(time=lambda: at))
    for _ in range(2):  # nor is the skew added up
        forget_used_codes()
        client = Client()
        enter_password(client, totp_user.user.email)
        assert client.post(SECOND, {"code": generate_code(totp_user.seed, steps=steps)}).status_code == status


@pytest.mark.parametrize(("at", "typed"), VECTORS)
def test_totp_codes_match_rfc_6238(at, typed, totp_user, monkeypatch):
    TOTPDevice.objects.update(key=RFC_6238)
    monkeypatch.setattr(otp, "time", SimpleNamespace(time=lambda: at))
    client = Client()
    enter_password(client, totp_user.user.email)
    assert client.post(SECOND, {"code": typed}).status_code == 303


def test_totp_code_is_delayed_after_wrong_code(totp_user):
    client = Client()
    enter_password(client, totp_user.user.email)
    for typed in ("000000", generate_code(totp_user.seed)):
        refused = client.post(SECOND, {"code": typed})
        assert refused.status_code == 400
        assert "The code is incorrect or was already used. Wait for the next code." in refused.content.decode()
    TOTPDevice.objects.update(throttling_failure_timestamp=datetime.now(tz=UTC) - timedelta(seconds=5))
    assert client.post(SECOND, {"code": generate_code(totp_user.seed)}).status_code == 303


def test_ten_wrong_totp_codes_lock_sign_in_despite_correct_passwords(totp_user, caplog):
    client = Client()
    for number in range(10):
        enter_password(client, totp_user.user.email)
        answer = client.post(SECOND, {"code": f"{number:06}"})
    assert answer.status_code == 429
    assert f"Code of user {totp_user.user.pk} rejected" in caplog.text
    forget_used_codes()
    assert client.post(SECOND, {"code": generate_code(totp_user.seed)}).status_code == 429
    assert enter_password(Client(), totp_user.user.email).status_code == 429


def test_wrong_totp_codes_count_against_ip_address(totp_user, settings):
    settings.SIGN_IN_LIMIT = 5
    client = Client(REMOTE_ADDR="192.0.2.77")
    enter_password(client, totp_user.user.email)
    texts = [client.post(SECOND, {"code": "000000"}).status_code for _ in range(6)]
    assert texts == [400, 400, 400, 400, 429, 429]


def test_recovery_code_works_once_in_any_spelling(totp_user):
    typed = totp_user.codes[3].upper().replace("-", " ")
    for status in (303, 400):
        client = Client()
        enter_password(client, totp_user.user.email)
        answer = client.post(SECOND, {"code": typed})
        assert answer.status_code == status
        if status == 303:
            assert "9 left" in client.get("/app/").content.decode()
        else:
            assert "The code is incorrect or was already used." in answer.content.decode()


def test_recovery_code_does_not_work_for_another_user(totp_user, bob):
    client = Client()
    enter_password(client, bob.email)
    set_up_app(client)
    other = Client()
    enter_password(other, bob.email)
    assert other.post(SECOND, {"code": totp_user.codes[0]}).status_code == 400


def test_password_reset_does_not_bypass_mfa(totp_user):
    link = build_password_link(totp_user.user).partition("/app/")[2]
    client = Client()
    form = client.get(f"/app/{link}", follow=True)
    there = form.redirect_chain[-1][0]
    client.post(there, {"new_password1": "another horse battery", "new_password2": "another horse battery"})
    assert client.get("/companies").status_code == 401
    answer = client.post("/app/sign-in", {"username": totp_user.user.email, "password": "another horse battery"})
    assert answer["Location"].startswith(SECOND)


# ---------------------------------------------------------------------------------------------- proving it again


def test_mfa_changes_require_step_up_after_ten_minutes(totp_user):
    age_sign_in(totp_user.client, 11)
    for path in (f"{ADD}/remove", f"{FACTORS}/codes", f"{FACTORS}/passkeys"):
        answer = totp_user.client.post(path, follow=True)
        assert answer.redirect_chain[-1][0].startswith(SECOND)
        assert "Nothing was changed yet" in answer.content.decode()
    assert TOTPDevice.objects.exists()
    sign_in_path = totp_user.client.post(f"{ADD}/remove", follow=True).redirect_chain[-1][0]
    assert "Confirm your identity" in totp_user.client.get(sign_in_path).content.decode()
    done = totp_user.client.post(SECOND, {"code": generate_code(totp_user.seed), "next": FACTORS})
    assert done["Location"] == FACTORS
    assert totp_user.client.post(f"{ADD}/remove")["Location"] == FACTORS
    assert not TOTPDevice.objects.exists()


def test_step_up_without_mfa_asks_for_password(alice_browser):
    age_sign_in(alice_browser, 11)
    answer = alice_browser.get(ADD, follow=True)
    assert answer.redirect_chain[-1][0].startswith("/app/sign-in?again=1")
    assert "Enter your password" in answer.content.decode()


def test_password_change_does_not_count_as_step_up_for_user_with_mfa(totp_user):
    age_sign_in(totp_user.client, 11)
    new = "another horse battery"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert totp_user.client.post("/app/password", form).status_code == 303
    assert totp_user.client.get(ADD)["Location"].startswith("/app/sign-in?again=1")


def test_member_changes_require_step_up(totp_user, acme, bob):
    row = Membership.objects.for_company(acme.id).get(user=bob)
    members = f"/app/companies/{acme.id}/settings/members"
    api = f"/companies/{acme.id}/members"
    age_sign_in(totp_user.client, 11)
    pages = [(members, {"email": "new@acme.example", "role": "viewer"}), (f"{members}/{row.id}", {"role": "editor"}),
             (f"{members}/{row.id}/remove", {}), (f"{members}/{row.id}/resend", {})]  # fmt: skip
    for path, form in pages:
        assert totp_user.client.post(path, form)["Location"].startswith("/app/sign-in?again=1")
    body = {"email": "new@acme.example", "role": "viewer"}
    answers = [
        totp_user.client.post(api, body, content_type="application/json"),
        totp_user.client.put(f"{api}/{row.id}", {"role": "editor"}, content_type="application/json"),
        totp_user.client.delete(f"{api}/{row.id}"),
        totp_user.client.post(f"{api}/{row.id}/resend"),
    ]
    assert [(each.status_code, each.json()["code"]) for each in answers] == [(403, "sign_in_again")] * 4
    assert not Membership.objects.for_company(acme.id).filter(user=None).exists()
    assert Membership.objects.for_company(acme.id).get(user=bob).role == "viewer"
    totp_user.client.post(SECOND, {"code": generate_code(totp_user.seed)})
    assert totp_user.client.post(members, pages[0][1])["Location"] == members


# ---------------------------------------------------------------------------------------------- who lost it


def test_restore_access_command_removes_mfa(totp_user, acme, capsys):
    call_command("restore_access", totp_user.user.email.upper())
    assert "without two-factor authentication" in capsys.readouterr().out
    assert enter_password(Client(), totp_user.user.email)["Location"] == "/app/"
    assert not RecoveryCode.objects.exists()
    entry = AuditEntry.objects.for_company(acme.id).order_by("-number").first()
    assert (entry.action, entry.before) == ("member.secondFactorRemoved", {"email": totp_user.user.email})
    for email, answer in (
        (totp_user.user.email, "This user does not use two-factor authentication."),
        ("nobody@acme.example", "No user with this email address."),
    ):
        with pytest.raises(CommandError, match=answer):
            call_command("restore_access", email)


# ---------------------------------------------------------------------------------------------- staff


def test_staff_without_mfa_are_redirected_to_mfa_setup(settings, totp_user, bob):
    settings.STAFF_MFA = True
    User.objects.update(is_staff=True, is_superuser=True)
    assert totp_user.client.get("/admin/").status_code == 200
    client = Client()
    assert client.get("/admin/", follow=True).redirect_chain[-1][0] == "/app/sign-in?next=%2Fadmin%2F"
    enter_password(client, bob.email)
    led = client.get("/admin/", follow=True)
    assert led.redirect_chain[-1][0] == FACTORS
    assert "Staff pages require two-factor authentication. Set it up, then open them again." in led.content.decode()
    set_up_app(client)
    assert client.get("/admin/").status_code == 200


def test_session_verified_with_removed_mfa_method_is_ended(totp_user):
    other = Client()
    enter_password(other, totp_user.user.email)
    assert other.post(SECOND, {"code": totp_user.codes[0]}).status_code == 303
    assert totp_user.client.post(f"{ADD}/remove").status_code in (302, 303)
    set_up_app(totp_user.client)
    assert other.get("/app/security").headers["Location"].startswith("/app/sign-in")
    assert totp_user.client.get("/app/security").status_code == 200


def test_totp_lockout_delay_is_at_most_about_a_minute(totp_user):
    for count in (30, 31):
        before = datetime.now(tz=UTC) - timedelta(seconds=65)
        TOTPDevice.objects.update(throttling_failure_count=count, throttling_failure_timestamp=before)
        client = Client()
        enter_password(client, totp_user.user.email)
        assert client.post(SECOND, {"code": generate_code(totp_user.seed)}).status_code == 303
        forget_used_codes()


def test_successful_sign_in_ends_the_code_lockout(totp_user):
    TOTPDevice.objects.update(throttling_failure_count=7, throttling_failure_timestamp=datetime.now(tz=UTC))
    client = Client()
    enter_password(client, totp_user.user.email)
    assert client.post(SECOND, {"code": generate_code(totp_user.seed)}).status_code == 400
    assert client.post(SECOND, {"code": totp_user.codes[0]}).status_code == 303
    again = Client()
    enter_password(again, totp_user.user.email)
    assert again.post(SECOND, {"code": generate_code(totp_user.seed)}).status_code == 303


def test_restore_access_command_ends_sessions(totp_user):
    call_command("restore_access", totp_user.user.email)
    assert totp_user.client.get("/app/security").headers["Location"].startswith("/app/sign-in")
