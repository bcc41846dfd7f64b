"""Nobody joins a company without being asked: an invitation opens nothing, tells nothing, and ends."""

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
LINK_EXPIRED_MESSAGE = "This invitation no longer works"


@pytest.fixture
def owner(browser_of, alice, acme):
    return browser_of(alice, acme)


@pytest.fixture
def clock(monkeypatch, now):
    """The time that every view reads; move it by its only entry."""
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
    """Has an account, and belongs nowhere."""
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


def test_nothing_is_shown_of_the_invited_whether_they_have_an_account(owner, invited, carla):
    for email in (carla.email, "nobody@globex.example"):
        body = invited(owner, email).answer.json()
        assert (body["status"], body["email"]) == ("invited", email.lower())
        assert (body["userId"], body["name"], body["joinedTime"]) == (None, None, None)
        assert body in owner.get("members").json()


def test_the_invited_have_no_access_whatever(owner, invited, browser_of, carla, acme):
    invited(owner, carla.email, role="owner")
    hers = browser_of(carla, acme)
    assert hers.get("/companies").json() == []
    assert hers.get("").status_code == hers.get("members").status_code == hers.delete("members/me").status_code == 404
    assert hers.get(f"/app/companies/{acme.id}").status_code == 404
    assert hers.get("/auth/oauth2/userinfo").status_code == 401
    assert not Membership.objects.filter(user=carla).exists()
    payload = {"type": "bank", "name": "Main"}
    account = owner.post("accounts", payload).json()["id"]
    row = {"accountId": account, "date": "2024-01-01", "amountValue": "1.00", "assignedUserId": str(carla.id)}
    assert owner.post("transactions", row).status_code == 400


def test_no_account_is_made_before_the_answer(owner, invited):
    invited(owner, "dora@acme.example")
    assert User.objects.find_by_email("dora@acme.example") is None


def test_one_address_is_invited_once_in_whatever_spelling(owner, invited, alice):
    invited(owner, "dora@acme.example")
    again = owner.post("members", {"email": "DORA@acme.EXAMPLE", "role": "viewer"})
    assert (again.status_code, again.json()["code"]) == (409, "already_invited")
    joined = owner.post("members", {"email": alice.email.upper(), "role": "viewer"})
    assert (joined.status_code, joined.json()["code"]) == (409, "already_member")


def test_an_invited_owner_does_not_count_as_one(owner, invited, alice):
    for other in Membership.objects.filter(company=owner.company).exclude(user=alice):
        other.delete()
    invited(owner, "second@acme.example", role="owner")
    refused = owner.delete(f"members/{find_member(owner, alice.email)['id']}")
    assert (refused.status_code, refused.json()["code"]) == (409, "last_owner")


def test_invited_role_can_be_changed(owner, invited):
    dora = invited(owner, "dora@acme.example", role="owner")
    assert owner.put(f"members/{dora.id}", {"role": "editor"}).json()["status"] == "invited"
    dora.accept()
    assert find_member(owner, "dora@acme.example")["role"] == "editor"


def test_who_may_not_make_owners_sends_no_owners_invitation_again(owner, invited, browser_of, acme):
    dora = invited(owner, "dora@acme.example", role="owner")
    admin = browser_of(factories.make_member(acme, "admin@acme.example", role=Role.ADMIN), acme)
    for answer in (admin.post(f"members/{dora.id}/resend"), admin.delete(f"members/{dora.id}")):
        assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")


def test_the_token_is_kept_as_a_digest_alone(owner, invited):
    link = invited(owner, "dora@acme.example").link
    token = link.rpartition("/")[2]
    row = Membership.objects.get(invited_email="dora@acme.example")
    assert len(token) >= 43
    assert token not in str(vars(row))
    assert token not in str([vars(entry) for entry in AuditEntry.objects.all()])
    assert row.token_digest not in get_text(owner.get("members")) + get_text(owner.get("audit_log"))


# ---------------------------------------------------------------------------------------------- the answer


def test_the_page_names_company_and_inviter_and_looking_changes_nothing(owner, invited, alice):
    dora = invited(owner, "dora@acme.example")
    for _ in range(2):
        seen = Client().get(dora.link)
        assert seen.status_code == 200
        assert seen["Cache-Control"] == "no-store"
        assert "Join Acme" in get_text(seen)
        assert f"{alice.name} (alice@acme.example) invites dora@acme.example" in get_text(seen)
    assert find_member(owner, "dora@acme.example")["status"] == "invited"


def test_a_key_that_invites_is_called_one(api, invited):
    assert "API key of the company invites" in get_text(Client().get(invited(api, "dan@acme.example").link))


def test_somebody_new_sets_up_an_account_and_is_in(owner, invited, acme):
    dora, client = invited(owner, "dora@acme.example", role="editor"), Client()
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
    ("typed", "told"),
    [
        ({"new_password1": "short", "new_password2": "short"}, "at least 12 characters"),
        ({"new_password2": "another horse battery"}, "match"),
        ({"new_password1": "", "new_password2": ""}, "required"),
        ({"name": "Dora\u202eDee"}, "on one line"),
        ({"name": "x" * 201}, "at most 200 characters"),
    ],
)
def test_an_account_is_not_set_up_with_what_is_wrong(owner, invited, typed, told):
    answer = invited(owner, "dora@acme.example").accept(**typed)
    assert answer.status_code == 400
    assert told in get_text(answer)
    assert User.objects.find_by_email("dora@acme.example") is None
    assert find_member(owner, "dora@acme.example")["status"] == "invited"


def test_somebody_with_an_account_signs_in_and_accepts(owner, invited, carla, acme):
    hers, client = invited(owner, carla.email), Client()
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


def test_an_invitation_sets_no_password_of_an_account_that_has_one(owner, invited, carla):
    hers = invited(owner, carla.email)
    hers.accept(new_password1="another horse battery", new_password2="another horse battery")
    carla.refresh_from_db()
    assert carla.check_password(PASSWORD)
    assert find_member(owner, "carla@globex.example")["status"] == "invited"


def test_an_account_without_a_password_gets_its_first_one(owner, invited):
    old = User.objects.create_user("old@acme.example", name="Olga")
    invited(owner, "old@acme.example").accept()
    old.refresh_from_db()
    assert old.check_password(PASSWORD)
    assert find_member(owner, "old@acme.example")["name"] == "Olga"


def test_managers_are_told_of_who_joins_and_not_before(owner, invited, browser_of, acme):
    dora = invited(owner, "dora@acme.example")
    types = [each["type"] for each in owner.get("notifications").json()]
    assert "member.joined" not in types
    dora.accept()
    told = next(each for each in owner.get("notifications").json() if each["type"] == "member.joined")
    assert told["payload"]["email"] == "dora@acme.example"
    hers = browser_of(User.objects.find_by_email("dora@acme.example"), acme)
    assert hers.get("notifications").json() == []


def test_the_log_says_who_invited_and_who_accepted(owner, invited, alice):
    dora = invited(owner, "dora@acme.example")
    dora.accept()
    user = User.objects.find_by_email("dora@acme.example")
    entries = AuditEntry.objects.filter(entity_id=dora.id).order_by("number")
    assert [(each.action, each.actor) for each in entries] == [
        ("member.invited", str(alice.id)), ("member.joined", str(user.id)),
    ]  # fmt: skip


def test_declined_invitation_can_be_sent_again(owner, invited):
    dora = invited(owner, "dora@acme.example")
    answer = Client().post(dora.link, {"decision": "decline"})
    assert answer.status_code == 200
    assert "You do not join Acme" in get_text(answer)
    assert "dora@acme.example" not in get_text(owner.get("members"))
    entry = AuditEntry.objects.get(action="member.declined")
    assert (entry.actor, entry.before["email"]) == (None, "dora@acme.example")
    assert User.objects.find_by_email("dora@acme.example") is None
    invited(owner, "dora@acme.example").accept()
    assert find_member(owner, "dora@acme.example")["status"] == "active"


@pytest.mark.parametrize("form", [{}, {"decision": "maybe"}])
def test_a_form_that_says_neither_yes_nor_no_changes_nothing(owner, invited, form):
    dora = invited(owner, "dora@acme.example")
    assert Client().post(dora.link, form).status_code == 400
    assert find_member(owner, "dora@acme.example")["status"] == "invited"


def test_another_site_answers_for_nobody(owner, invited):
    dora, strict = invited(owner, "dora@acme.example"), Client(enforce_csrf_checks=True)
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


def test_a_link_works_once(owner, invited):
    dora, client = invited(owner, "dora@acme.example"), Client()
    dora.accept(client)
    is_unknown_link(dora.link)
    is_unknown_link(dora.link, client)
    assert Membership.objects.filter(company=owner.company, user__email="dora@acme.example").count() == 1


def test_a_link_holds_for_seven_days(owner, invited, clock):
    dora, dan = invited(owner, "dora@acme.example"), invited(owner, "dan@acme.example")
    clock[0] += timedelta(days=7, seconds=-1)
    assert dan.accept().status_code == 303
    clock[0] += timedelta(seconds=1)
    is_unknown_link(dora.link)
    assert find_member(owner, "dora@acme.example")["status"] == "invited"


def test_a_cancelled_invitation_is_dead(owner, invited):
    dora = invited(owner, "dora@acme.example")
    assert owner.delete(f"members/{dora.id}").json() == {"success": True}
    is_unknown_link(dora.link)
    assert "dora@acme.example" not in get_text(owner.get("members"))


def test_sent_again_the_newer_link_works_and_the_older_one_ended(
    owner, invited, mailoutbox, django_capture_on_commit_callbacks, clock
):
    dora = invited(owner, "dora@acme.example")
    clock[0] += timedelta(days=8)
    renew_authentication(owner, clock)
    with django_capture_on_commit_callbacks(execute=True):
        again = owner.post(f"members/{dora.id}/resend")
    assert (again.status_code, again.json()["status"], again.json()["id"]) == (200, "invited", dora.id)
    assert again.json()["expiresTime"] > dora.answer.json()["expiresTime"]
    is_unknown_link(dora.link)
    dora.link = find_mailed_link(mailoutbox[-1])
    assert dora.accept().status_code == 303
    refused = owner.post(f"members/{dora.id}/resend")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_invited")


def test_somebody_else_who_is_signed_in_is_refused_and_told_nothing(owner, invited, carol, carla):
    dora = invited(owner, "dora@acme.example")
    client = sign_in(carol)
    for answer in (client.get(dora.link), dora.accept(client), client.post(dora.link, {"decision": "decline"})):
        assert answer.status_code == 403
        assert "for another e-mail address" in get_text(answer)
        assert "Acme" not in get_text(answer)
        assert "dora" not in get_text(answer)
    assert find_member(owner, "dora@acme.example")["status"] == "invited"


def test_who_was_switched_off_does_not_join(owner, invited, carla):
    hers = invited(owner, carla.email)
    User.objects.filter(pk=carla.pk).update(is_active=False)
    is_unknown_link(hers.link)


def test_a_token_opens_no_other_invitation(owner, invited, browser_of, carol, globex):
    dora, dan = invited(owner, "dora@acme.example"), invited(owner, "dan@acme.example")
    theirs = invited(browser_of(carol, globex), "dora@acme.example")
    token = dora.link.rpartition("/")[2]
    for other in (dan, theirs):
        assert Client().get(f"{other.link.rpartition('/')[0]}/{token}").status_code == 410
    assert Client().get(dora.link.replace(str(owner.company.id), str(globex.id))).status_code == 410
    assert Client().get("/app/invitations/x/y/z").status_code == 410


def test_nobody_joins_a_company_that_is_read_only_but_may_decline(owner, invited, acme):
    dora = invited(owner, "dora@acme.example")
    acme.system_status = "expired"
    acme.save()
    refused = dora.accept()
    assert refused.status_code == 400
    assert "read-only" in get_text(refused)
    assert User.objects.find_by_email("dora@acme.example") is None
    assert Client().post(dora.link, {"decision": "decline"}).status_code == 200


# ---------------------------------------------------------------------------------------------- the mail, and how many

INJECTED_NAME = "Acme\r\nBcc: all@widgets.example\n\nGo to https://evil.example/now \u202e\u2028”"


def test_a_companys_name_neither_loses_nor_steers_a_mail(owner, invited, acme, mailoutbox):
    acme.name = INJECTED_NAME
    acme.save()
    invited(owner, "dora@acme.example")
    (mail,) = mailoutbox
    name = "“Acme Bcc: all widgets example Go to https evil example/now”"
    assert mail.subject == f"Invitation to {name}"
    assert mail.body.startswith(f"You are invited to work with {name} in Tidebook. Accept or decline here:\n\nhttp")
    assert mail.recipients() == ["dora@acme.example"]
    assert "Bcc" not in mail.message()
    assert len(mail.body.splitlines()) == 5


@pytest.mark.parametrize(
    ("name", "shown"),
    [("evil。example", "evil example"), ("evil．example/x", "evil example/x"), ("//evil", "evil"), ("1․2｡3", "1 2 3"),
     ("evil﹒example", "evil example"), ("a﹫b", "a b"), ("https﹕//x", "https x"),
     ("mailto:a＠b", "mailto a b"), ("Re: Acme & Co., Köln", "Re: Acme & Co., Köln")],
)  # fmt: skip
def test_no_dot_of_another_script_makes_an_address_of_a_name(name, shown):
    assert mailer.format_quoted_name(name) == f"“{shown}”"


def test_everybody_is_mailed_the_same(owner, invited, carla, mailoutbox):
    for email in (carla.email, "nobody@acme.example"):
        invited(owner, email)
    first, second = ((each.subject, each.body.replace(find_mailed_link(each), "")) for each in mailoutbox)
    assert first == second


def test_twenty_mails_a_day_are_sent_for_a_company(owner, browser_of, carol, globex, acme, clock):
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
    assert "20 invitations were mailed" in get_text(page)
    assert browser_of(carol, globex).post("members", more).status_code == 201
    clock[0] += timedelta(seconds=int(refused["Retry-After"]))
    renew_authentication(owner, clock)
    made = owner.post("members", more)
    assert made.status_code == 201
    assert owner.post(f"members/{made.json()['id']}/resend").status_code == 200
    assert owner.post(f"members/{made.json()['id']}/resend").status_code == 429


def test_ten_mails_a_day_reach_one_address_whichever_companies_invite_it(
    owner, browser_of, carol, globex, mailoutbox, django_capture_on_commit_callbacks, clock, monkeypatch
):
    """Beyond that none is sent, and no company is told that others invite the same person."""
    monkeypatch.setattr(invitations, "MAX_EMAILS_PER_ADDRESS_PER_DAY", 10)
    throttling.forget_local_counts()

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
    assert mailed(browser_of(carol, globex), 8) == 2
    clock[0] += timedelta(days=1)
    for caller in (owner, browser_of(carol, globex)):
        renew_authentication(caller, clock)
    members = owner.get("members").json()
    invitation = next(each["id"] for each in members if each["email"] == "dora@dora.example")
    with django_capture_on_commit_callbacks(execute=True):
        assert owner.post(f"members/{invitation}/resend").status_code == 200
    assert len(mailoutbox) == 11


# ---------------------------------------------------------------------------------------------- the members page


def test_the_members_page_shows_the_invited_sends_again_and_cancels(
    owner, invited, carla, acme, mailoutbox, django_capture_on_commit_callbacks
):
    hers, page = invited(owner, carla.email), f"/app/companies/{acme.id}/settings/members"
    shown = get_text(owner.get(page))
    assert "carla@globex.example" in shown
    assert "Carla" not in shown
    assert str(carla.id) not in shown
    with django_capture_on_commit_callbacks(execute=True):
        sent = owner.client.post(f"{page}/{hers.id}/resend", follow=True)
    assert "sent to carla@globex.example again" in get_text(sent)
    assert find_mailed_link(mailoutbox[-1]) != hers.link
    gone = owner.client.post(f"{page}/{hers.id}/remove", follow=True)
    assert "The invitation of carla@globex.example was cancelled." in get_text(gone)
    assert not Membership.objects.filter(invited_email="carla@globex.example").exists()


# ---------------------------------------------------------------------------------------------- leaving


@pytest.mark.parametrize("door", ["api", "page"])
def test_a_member_leaves(door, owner, browser_of, bob, acme):
    hers = browser_of(bob, acme)
    if door == "api":
        assert hers.delete("members/me").json() == {"success": True}
    else:
        page = f"/app/companies/{acme.id}/settings/leave"
        assert "Leave Acme" in get_text(hers.get(page))
        assert hers.client.post(page)["Location"] == "/app/"
    assert hers.get("").status_code == 404
    entry = AuditEntry.objects.get(action="member.left")
    assert (entry.actor, entry.before["email"]) == (str(bob.id), "bob@acme.example")


def test_the_last_owner_does_not_leave(owner, alice, acme):
    for other in Membership.objects.filter(company=acme, role=Role.OWNER).exclude(user=alice):
        other.delete()
    refused = owner.delete("members/me")
    assert (refused.status_code, refused.json()["code"]) == (409, "last_owner")
    told = owner.client.post(f"/app/companies/{acme.id}/settings/leave", follow=True)
    assert "The last owner of a company can be neither removed nor demoted." in get_text(told)
    assert owner.get("").status_code == 200


def test_one_leaves_what_is_read_only_too(browser_of, bob, acme):
    acme.system_status = "expired"
    acme.save()
    assert browser_of(bob, acme).delete("members/me").status_code == 200


def test_a_key_is_nobody_who_could_leave(api):
    assert api.delete("members/me").status_code == 404
