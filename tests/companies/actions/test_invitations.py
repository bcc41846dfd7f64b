"""Invitations give no access before they are accepted, reveal nothing about accounts, and expire."""

from datetime import timedelta

import pytest
from django.test import Client

from companies import mailer
from companies.actions import invitations
from companies.auth import throttling
from companies.models import AuditEntry, Membership, User
from companies.permissions import Role
from tests import factories
from tests.conftest import PASSWORD, find_mailed_link

pytestmark = pytest.mark.django_db
LINK_EXPIRED_MESSAGE = "Invitation no longer valid"


@pytest.fixture
def owner(sign_in_browser, alice, acme):
    return sign_in_browser(alice, acme)


@pytest.fixture
def clock(monkeypatch, now):
    """The current time as a list of one value; change the value to move the clock."""
    times = [now]
    monkeypatch.setattr("django.utils.timezone.now", lambda: times[0])
    return times


def renew_authentication(caller, clock) -> None:
    """The person gives the password again: members are changed within ten minutes of that."""
    session = caller.client.session
    session["auth_time"] = clock[0].timestamp()
    session.save()


@pytest.fixture
def carla(db):
    """Carla, who has an account and is a member of no company."""
    return factories.UserFactory(email="Carla@Globex.example", name="Carla Coe")


def get_text(answer):
    return answer.content.decode()


def find_member(caller, email):
    return next(each for each in caller.get("members").json() if each["email"] == email)


def sign_in(user, **where):
    client = Client()
    answer = client.post("/app/sign-in", {"username": user.email, "password": PASSWORD, **where})
    assert answer.status_code == 303
    return client


# ---------------------------------------------------------------------------------------------- before the answer


def test_invitation_hides_whether_invitee_has_an_account(owner, invite_member, carla):
    for email in (carla.email, "nobody@globex.example"):
        body = invite_member(owner, email).response.json()
        assert (body["status"], body["email"]) == ("invited", email.lower())
        assert (body["userId"], body["name"], body["joinedTime"]) == (None, None, None)
        assert body in owner.get("members").json()


def test_invitee_has_no_access_before_accepting(owner, invite_member, sign_in_browser, carla, acme):
    invite_member(owner, carla.email, role="owner")
    hers = sign_in_browser(carla, acme)
    assert hers.get("/companies").json() == []
    assert hers.get("").status_code == hers.get("members").status_code == hers.delete("members/me").status_code == 404
    assert hers.get(f"/app/companies/{acme.id}").status_code == 404
    assert hers.get("/auth/oauth2/userinfo").status_code == 401
    assert not Membership.objects.filter(user=carla).exists()
    payload = {"type": "bank", "name": "Main"}
    account = owner.post("accounts", payload).json()["id"]
    row = {"accountId": account, "date": "2024-01-01", "amountValue": "1.00", "assignedUserId": str(carla.id)}
    assert owner.post("transactions", row).status_code == 400


def test_invitation_creates_no_account_before_acceptance(owner, invite_member):
    invite_member(owner, "dora@acme.example")
    assert User.objects.find_by_email("dora@acme.example") is None


def test_email_address_is_invited_once_regardless_of_case(owner, invite_member, alice):
    invite_member(owner, "dora@acme.example")
    again = owner.post("members", {"email": "DORA@acme.EXAMPLE", "role": "viewer"})
    assert (again.status_code, again.json()["code"]) == (409, "already_invited")
    joined = owner.post("members", {"email": alice.email.upper(), "role": "viewer"})
    assert (joined.status_code, joined.json()["code"]) == (409, "already_member")


def test_invited_owner_does_not_count_as_owner(owner, invite_member, alice):
    for other in Membership.objects.filter(company=owner.company).exclude(user=alice):
        other.delete()
    invite_member(owner, "second@acme.example", role="owner")
    refused = owner.delete(f"members/{find_member(owner, alice.email)['id']}")
    assert (refused.status_code, refused.json()["code"]) == (409, "last_owner")


def test_invited_role_can_be_changed(owner, invite_member):
    dora = invite_member(owner, "dora@acme.example", role="owner")
    assert owner.put(f"members/{dora.id}", {"role": "editor"}).json()["status"] == "invited"
    dora.accept()
    assert find_member(owner, "dora@acme.example")["role"] == "editor"


def test_admin_cannot_resend_or_cancel_owner_invitation(owner, invite_member, sign_in_browser, acme):
    dora = invite_member(owner, "dora@acme.example", role="owner")
    admin = sign_in_browser(factories.make_member(acme, "admin@acme.example", role=Role.ADMIN), acme)
    for answer in (admin.post(f"members/{dora.id}/resend"), admin.delete(f"members/{dora.id}")):
        assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")


def test_invitation_token_is_stored_only_as_digest(owner, invite_member):
    link = invite_member(owner, "dora@acme.example").link
    token = link.rpartition("/")[2]
    row = Membership.objects.get(invited_email="dora@acme.example")
    assert len(token) >= 43
    assert token not in str(vars(row))
    assert token not in str([vars(entry) for entry in AuditEntry.objects.all()])
    assert row.token_digest not in get_text(owner.get("members")) + get_text(owner.get("audit_log"))


# ---------------------------------------------------------------------------------------------- the answer


def test_invitation_page_names_company_and_inviter_and_changes_nothing(owner, invite_member, alice):
    dora = invite_member(owner, "dora@acme.example")
    for _ in range(2):
        seen = Client().get(dora.link)
        assert seen.status_code == 200
        assert seen["Cache-Control"] == "no-store"
        assert "Join Acme" in get_text(seen)
        assert f"{alice.name} (alice@acme.example) invited dora@acme.example" in get_text(seen)
    assert find_member(owner, "dora@acme.example")["status"] == "invited"


def test_invitation_page_names_inviting_api_key(api, invite_member):
    assert "An API key invited" in get_text(Client().get(invite_member(api, "dan@acme.example").link))


def test_new_user_accepts_invitation_and_gets_account(owner, invite_member, acme):
    dora, client = invite_member(owner, "dora@acme.example", role="editor"), Client()
    joined = dora.accept(client, name="Dora Dee")
    assert (joined.status_code, joined["Location"]) == (303, f"/app/companies/{acme.id}")
    assert client.get(f"/companies/{acme.id}").status_code == 200
    body = find_member(owner, "dora@acme.example")
    user = User.objects.find_by_email("dora@acme.example")
    assert (body["id"], body["status"], body["role"]) == (dora.id, "active", "editor")
    assert (body["name"], body["userId"], body["expiresTime"]) == ("Dora Dee", str(user.id), None)
    assert body["joinedTime"] > body["createdTime"]
    sign_in(user)


@pytest.mark.parametrize(
    ("form_values", "message"),
    [
        ({"new_password1": "short"}, "at least 12 characters"),
        ({"new_password1": ""}, "required"),
        ({"name": "Dora\u202eDee"}, "single line"),
        ({"name": "x" * 201}, "at most 200 characters"),
    ],
)
def test_invitation_with_invalid_account_data_creates_no_account(owner, invite_member, form_values, message):
    answer = invite_member(owner, "dora@acme.example").accept(**form_values)
    assert answer.status_code == 400
    assert message in get_text(answer)
    assert User.objects.find_by_email("dora@acme.example") is None
    assert find_member(owner, "dora@acme.example")["status"] == "invited"


def test_existing_user_signs_in_and_accepts_invitation(owner, invite_member, carla, acme):
    hers, client = invite_member(owner, carla.email), Client()
    seen = client.get(hers.link)
    assert "Sign in to accept" in get_text(seen)
    assert "new_password1" not in get_text(seen)
    sent_on = hers.accept(client)
    assert sent_on["Location"] == f"/app/sign-in?next={hers.link.replace('/', '%2F')}"
    carla.refresh_from_db()
    assert carla.check_password(PASSWORD)
    signed = client.post("/app/sign-in", {"username": carla.email, "password": PASSWORD, "next": hers.link})
    assert signed["Location"] == hers.link
    assert find_member(owner, "carla@globex.example")["status"] == "invited"
    assert hers.accept(client)["Location"] == f"/app/companies/{acme.id}"
    assert find_member(owner, carla.email)["name"] == "Carla Coe"


def test_invitation_cannot_change_password_of_existing_account(owner, invite_member, carla):
    hers = invite_member(owner, carla.email)
    hers.accept(new_password1="another horse battery")
    carla.refresh_from_db()
    assert carla.check_password(PASSWORD)
    assert find_member(owner, "carla@globex.example")["status"] == "invited"


def test_invitation_sets_first_password_of_account_without_password(owner, invite_member):
    old = User.objects.create_user("old@acme.example", name="Olga")
    invite_member(owner, "old@acme.example").accept()
    old.refresh_from_db()
    assert old.check_password(PASSWORD)
    assert find_member(owner, "old@acme.example")["name"] == "Olga"


def test_managers_are_notified_if_invitee_joins(owner, invite_member, sign_in_browser, acme):
    dora = invite_member(owner, "dora@acme.example")
    types = [each["type"] for each in owner.get("notifications").json()]
    assert "member.joined" not in types
    dora.accept()
    answer = next(each for each in owner.get("notifications").json() if each["type"] == "member.joined")
    assert answer["payload"]["email"] == "dora@acme.example"
    hers = sign_in_browser(User.objects.find_by_email("dora@acme.example"), acme)
    assert hers.get("notifications").json() == []


def test_audit_log_names_inviter_and_accepting_user(owner, invite_member, alice):
    dora = invite_member(owner, "dora@acme.example")
    dora.accept()
    user = User.objects.find_by_email("dora@acme.example")
    entries = AuditEntry.objects.filter(entity_id=dora.id).order_by("number")
    assert [(each.action, each.actor) for each in entries] == [
        ("member.invited", str(alice.id)), ("member.joined", str(user.id)),
    ]  # fmt: skip


def test_declined_invitation_can_be_sent_again(owner, invite_member):
    dora = invite_member(owner, "dora@acme.example")
    answer = Client().post(dora.link, {"decision": "decline"})
    assert answer.status_code == 200
    assert "You declined the invitation to Acme" in get_text(answer)
    assert "dora@acme.example" not in get_text(owner.get("members"))
    entry = AuditEntry.objects.get(action="member.declined")
    assert (entry.actor, entry.before["email"]) == (None, "dora@acme.example")
    assert User.objects.find_by_email("dora@acme.example") is None
    invite_member(owner, "dora@acme.example").accept()
    assert find_member(owner, "dora@acme.example")["status"] == "active"


@pytest.mark.parametrize("form", [{}, {"decision": "maybe"}])
def test_invitation_form_without_decision_changes_nothing(owner, invite_member, form):
    dora = invite_member(owner, "dora@acme.example")
    assert Client().post(dora.link, form).status_code == 400
    assert find_member(owner, "dora@acme.example")["status"] == "invited"


def test_invitation_decision_requires_csrf_token(owner, invite_member):
    dora, strict = invite_member(owner, "dora@acme.example"), Client(enforce_csrf_checks=True)
    strict.get(dora.link)
    for decision in ("accept", "decline"):
        assert strict.post(dora.link, {"decision": decision}).status_code == 403
    assert find_member(owner, "dora@acme.example")["status"] == "invited"


# ---------------------------------------------------------------------------------------------- links that are dead


def is_unknown_link(link, client=None):
    """Whether the link answers as one that never was."""
    nothing = link[:-6] + "nobody"
    client = client or Client()
    for act in (client.get, lambda at: client.post(at, {"decision": "accept"})):
        there, nowhere = act(link), act(nothing)
        assert (there.status_code, nowhere.status_code) == (410, 410)
        assert LINK_EXPIRED_MESSAGE in get_text(there)
        assert "Acme" not in get_text(there)
        assert get_text(there) == get_text(nowhere)
    assert client.post(link, {"decision": "decline"}).status_code == 410


def test_invitation_link_works_once(owner, invite_member):
    dora, client = invite_member(owner, "dora@acme.example"), Client()
    dora.accept(client)
    is_unknown_link(dora.link)
    is_unknown_link(dora.link, client)
    assert Membership.objects.filter(company=owner.company, user__email="dora@acme.example").count() == 1


def test_invitation_link_is_valid_for_seven_days(owner, invite_member, clock):
    dora, dan = invite_member(owner, "dora@acme.example"), invite_member(owner, "dan@acme.example")
    clock[0] += timedelta(days=7, seconds=-1)
    assert dan.accept().status_code == 303
    clock[0] += timedelta(seconds=1)
    is_unknown_link(dora.link)
    assert find_member(owner, "dora@acme.example")["status"] == "invited"


def test_cancelled_invitation_link_is_invalid(owner, invite_member):
    dora = invite_member(owner, "dora@acme.example")
    assert owner.delete(f"members/{dora.id}").json() == {"success": True}
    is_unknown_link(dora.link)
    assert "dora@acme.example" not in get_text(owner.get("members"))


def test_resent_invitation_invalidates_older_link(
    owner, invite_member, mailoutbox, django_capture_on_commit_callbacks, clock
):
    dora = invite_member(owner, "dora@acme.example")
    clock[0] += timedelta(days=8)
    renew_authentication(owner, clock)
    with django_capture_on_commit_callbacks(execute=True):
        again = owner.post(f"members/{dora.id}/resend")
    assert (again.status_code, again.json()["status"], again.json()["id"]) == (200, "invited", dora.id)
    assert again.json()["expiresTime"] > dora.response.json()["expiresTime"]
    is_unknown_link(dora.link)
    dora.link = find_mailed_link(mailoutbox[-1])
    assert dora.accept().status_code == 303
    refused = owner.post(f"members/{dora.id}/resend")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_invited")


def test_invitation_is_hidden_from_another_signed_in_user(owner, invite_member, carol, carla):
    dora = invite_member(owner, "dora@acme.example")
    client = sign_in(carol)
    for answer in (client.get(dora.link), dora.accept(client), client.post(dora.link, {"decision": "decline"})):
        assert answer.status_code == 403
        assert "This invitation was sent to a different email address. Sign out, then open" in get_text(answer)
        assert "Acme" not in get_text(answer)
        assert "dora" not in get_text(answer)
    assert find_member(owner, "dora@acme.example")["status"] == "invited"


def test_deactivated_user_cannot_accept_invitation(owner, invite_member, carla):
    hers = invite_member(owner, carla.email)
    User.objects.filter(pk=carla.pk).update(is_active=False)
    is_unknown_link(hers.link)


def test_invitation_token_opens_no_other_invitation(owner, invite_member, sign_in_browser, carol, globex):
    dora, dan = invite_member(owner, "dora@acme.example"), invite_member(owner, "dan@acme.example")
    theirs = invite_member(sign_in_browser(carol, globex), "dora@acme.example")
    token = dora.link.rpartition("/")[2]
    for other in (dan, theirs):
        assert Client().get(f"{other.link.rpartition('/')[0]}/{token}").status_code == 410
    assert Client().get(dora.link.replace(str(owner.company.id), str(globex.id))).status_code == 410
    assert Client().get("/app/invitations/x/y/z").status_code == 410


def test_invitation_to_read_only_company_can_only_be_declined(owner, invite_member, acme):
    dora = invite_member(owner, "dora@acme.example")
    acme.system_status = "expired"
    acme.save()
    refused = dora.accept()
    assert refused.status_code == 400
    assert "read-only" in get_text(refused)
    assert User.objects.find_by_email("dora@acme.example") is None
    assert Client().post(dora.link, {"decision": "decline"}).status_code == 200


# ---------------------------------------------------------------------------------------------- the mail, and how many

INJECTED_NAME = "Acme\r\nBcc: all@widgets.example\n\nGo to https://evil.example/now \u202e\u2028”"


def test_invitation_email_neutralizes_injection_in_company_name(owner, invite_member, acme, mailoutbox):
    acme.name = INJECTED_NAME
    acme.save()
    invite_member(owner, "dora@acme.example")
    (mail,) = mailoutbox
    name = "“Acme Bcc: all widgets example Go to https evil example/now”"
    assert mail.subject == f"Invitation to {name}"
    assert mail.body.startswith(
        f"You have been invited to join {name} in Tidebook. Accept or decline the invitation:\n\nhttp"
    )
    assert mail.recipients() == ["dora@acme.example"]
    assert "Bcc" not in mail.message()
    assert len(mail.body.splitlines()) == 5


@pytest.mark.parametrize(
    ("name", "shown"),
    [("evil。example", "evil example"), ("evil．example/x", "evil example/x"), ("//evil", "evil"), ("1․2｡3", "1 2 3"),
     ("evil﹒example", "evil example"), ("a﹫b", "a b"), ("https﹕//x", "https x"),
     ("mailto:a＠b", "mailto a b"), ("Re: Acme & Co., Köln", "Re: Acme & Co., Köln")],
)  # fmt: skip
def test_quoted_name_in_email_contains_no_linkable_domain(name, shown):
    assert mailer.format_quoted_name(name) == f"“{shown}”"


def test_invitation_email_is_same_for_known_and_unknown_addresses(owner, invite_member, carla, mailoutbox):
    for email in (carla.email, "nobody@acme.example"):
        invite_member(owner, email)
    first, second = ((each.subject, each.body.replace(find_mailed_link(each), "")) for each in mailoutbox)
    assert first == second


def test_company_sends_at_most_twenty_invitations_a_day(owner, sign_in_browser, carol, globex, acme, clock):
    for n in range(10):
        made = owner.post("members", {"email": f"p{n}@acme.example", "role": "viewer"})
        assert made.status_code == 201
        assert owner.post(f"members/{made.json()['id']}/resend").status_code == 200
        assert owner.delete(f"members/{made.json()['id']}").status_code == 200
        clock[0] += timedelta(minutes=1)
        renew_authentication(owner, clock)
    more = {"email": "more@acme.example", "role": "viewer"}
    refused = owner.post("members", more)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_invitations")
    assert int(refused["Retry-After"]) == 24 * 3600 - 10 * 60 + 1
    page = owner.client.post(f"/app/companies/{acme.id}/settings/members", more)
    assert "Invitation limit reached: 20 per company or 40 per person within a day. Try again later." in get_text(page)
    assert sign_in_browser(carol, globex).post("members", more).status_code == 201
    clock[0] += timedelta(seconds=int(refused["Retry-After"]))
    renew_authentication(owner, clock)
    made = owner.post("members", more)
    assert made.status_code == 201
    assert owner.post(f"members/{made.json()['id']}/resend").status_code == 200
    assert owner.post(f"members/{made.json()['id']}/resend").status_code == 429


def test_invitation_emails_are_limited_to_ten_per_address_and_day(
    owner, sign_in_browser, carol, globex, mailoutbox, django_capture_on_commit_callbacks, clock, monkeypatch
):
    """Beyond that none is sent, and no company is told that others invite the same person."""
    monkeypatch.setattr(invitations, "MAX_EMAILS_PER_ADDRESS_PER_DAY", 10)
    throttling.reset_local_counts()

    def mailed(caller, times):
        before = len(mailoutbox)
        with django_capture_on_commit_callbacks(execute=True):
            made = caller.post("members", {"email": "dora@dora.example", "role": "viewer"})
            statuses = {made.status_code} | {
                caller.post(f"members/{made.json()['id']}/resend").status_code for _ in range(times - 1)
            }
        assert statuses <= {200, 201}
        return len(mailoutbox) - before

    assert mailed(owner, 8) == 8
    assert mailed(sign_in_browser(carol, globex), 8) == 2
    clock[0] += timedelta(days=1)
    for caller in (owner, sign_in_browser(carol, globex)):
        renew_authentication(caller, clock)
    members = owner.get("members").json()
    invitation = next(each["id"] for each in members if each["email"] == "dora@dora.example")
    with django_capture_on_commit_callbacks(execute=True):
        assert owner.post(f"members/{invitation}/resend").status_code == 200
    assert len(mailoutbox) == 11


# ---------------------------------------------------------------------------------------------- the members page


def test_members_page_shows_resends_and_cancels_invitation(
    owner, invite_member, carla, acme, mailoutbox, django_capture_on_commit_callbacks
):
    hers, page = invite_member(owner, carla.email), f"/app/companies/{acme.id}/settings/members"
    shown = get_text(owner.get(page))
    assert "carla@globex.example" in shown
    assert "Carla" not in shown
    assert str(carla.id) not in shown
    with django_capture_on_commit_callbacks(execute=True):
        sent = owner.client.post(f"{page}/{hers.id}/resend", follow=True)
    assert "Invitation to carla@globex.example resent" in get_text(sent)
    assert find_mailed_link(mailoutbox[-1]) != hers.link
    gone = owner.client.post(f"{page}/{hers.id}/remove", follow=True)
    assert "Invitation to carla@globex.example withdrawn." in get_text(gone)
    assert not Membership.objects.filter(invited_email="carla@globex.example").exists()


# ---------------------------------------------------------------------------------------------- leaving


@pytest.mark.parametrize("door", ["api", "page"])
def test_member_can_leave_company(door, owner, sign_in_browser, bob, acme):
    hers = sign_in_browser(bob, acme)
    if door == "api":
        assert hers.delete("members/me").json() == {"success": True}
    else:
        page = f"/app/companies/{acme.id}/settings/leave"
        assert "Leave Acme" in get_text(hers.get(page))
        assert hers.client.post(page)["Location"] == "/app/"
    assert hers.get("").status_code == 404
    entry = AuditEntry.objects.get(action="member.left")
    assert (entry.actor, entry.before["email"]) == (str(bob.id), "bob@acme.example")


def test_last_owner_cannot_leave_company(owner, alice, acme):
    for other in Membership.objects.filter(company=acme, role=Role.OWNER).exclude(user=alice):
        other.delete()
    refused = owner.delete("members/me")
    assert (refused.status_code, refused.json()["code"]) == (409, "last_owner")
    answer = owner.client.post(f"/app/companies/{acme.id}/settings/leave", follow=True)
    assert "A company needs at least one owner. Make another member an owner first." in get_text(answer)
    assert owner.get("").status_code == 200


def test_member_can_leave_read_only_company(sign_in_browser, bob, acme):
    acme.system_status = "expired"
    acme.save()
    assert sign_in_browser(bob, acme).delete("members/me").status_code == 200


def test_api_key_cannot_leave_company(api):
    assert api.delete("members/me").status_code == 404
