"""Many at the same moment: exactly one wins, T7 and T17 of the checklist. And what ends while access is being given."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Thread

import pytest
from django.db import connection, transaction

from companies import hooks
from companies.models import Membership, User
from oauth import consents
from oauth.models import AccessToken, ConsentGrant, RefreshToken

pytestmark = pytest.mark.django_db(transaction=True)
THREAD_COUNT = 12


def run_concurrently(act):
    """What each of twelve threads got that started together."""
    barrier = Barrier(THREAD_COUNT)

    def run(_):
        try:
            barrier.wait()
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(THREAD_COUNT) as pool:
        return list(pool.map(run, range(THREAD_COUNT)))


def check_one_winner(answers, *, repeated=0):
    """The tokens of the only request that won; ``repeated`` others were answered with the same refresh token."""
    assert sorted(a.status_code for a in answers) == [200] * (1 + repeated) + [400] * (THREAD_COUNT - 1 - repeated)
    assert {a.json()["error"] for a in answers if a.status_code == 400} == {"invalid_grant"}
    winner, *others = [a.json() for a in answers if a.status_code == 200]
    assert all(each["refresh_token"] == winner["refresh_token"] for each in others)
    assert winner["access_token"].count(".") == 2
    assert winner["refresh_token"].startswith("svcrt_")
    assert not ConsentGrant.objects.exclude(revoked_time=None).exists()
    return winner


@pytest.mark.parametrize("_round", range(3))
def test_t7_twelve_redemptions_of_one_code_have_one_winner(_round, alice_flow, acme):
    code = alice_flow.code(acme)
    winner = check_one_winner(run_concurrently(lambda: alice_flow.redeem(code)))
    assert (AccessToken.objects.count(), RefreshToken.objects.count()) == (1, 1)
    assert alice_flow.call(winner["access_token"]).status_code == 200


@pytest.mark.parametrize("_round", range(3))
def test_t17_twelve_refreshes_of_one_token_get_one_successor_twice(_round, alice_flow, acme):
    token = alice_flow.tokens(acme)["refresh_token"]
    winner = check_one_winner(run_concurrently(lambda: alice_flow.refresh(token)), repeated=1)
    assert RefreshToken.objects.filter(revoked=None).count() == 1
    assert alice_flow.refresh(winner["refresh_token"]).status_code == 200


def test_revocation_wins_over_concurrent_refreshes(alice_flow, acme):
    tokens = alice_flow.tokens(acme)
    acts = iter([alice_flow.revoke] + [alice_flow.refresh] * (THREAD_COUNT - 1))
    answers = run_concurrently(lambda: next(acts)(tokens["refresh_token"]))
    assert all(a.status_code in (200, 400) for a in answers)
    for answer in answers:
        if "access_token" in answer.content.decode():
            assert alice_flow.call(answer.json()["access_token"]).status_code == 401


# ---------------------------------------------------------------------------------------------- giving access

WAITING_LOCKS_QUERY = "SELECT 1 FROM pg_locks WHERE NOT granted"


@pytest.fixture
def access_ends(bob, acme, sign_in_browser, alice, staff):
    """Functions that end Bob's membership or deactivate his account."""
    browser, member = sign_in_browser(alice, acme), Membership.objects.for_company(acme.id).get(user=bob)
    form = {"email": bob.email, "name": bob.name}  # and not that he is active
    return {
        "membership": lambda: browser.delete(f"members/{member.id}"),
        "account": lambda: staff.post(f"/admin/companies/user/{bob.pk}/change/", form),
    }


@pytest.mark.parametrize("what", ["membership", "account"])
def test_user_who_just_left_cannot_consent(what, access_ends, flow, bob, acme, monkeypatch):
    flow.sign_in(bob)
    give = consents.create_consent
    monkeypatch.setattr(
        consents, "create_consent", lambda **arguments: (run_in_other_thread(access_ends[what]), give(**arguments))[1]
    )
    answer = flow.decide(acme)
    assert (answer.status_code, ConsentGrant.objects.count()) == (400, 0)
    assert "You are no longer a member of this company." in answer.content.decode()


@pytest.mark.parametrize("what", ["membership", "account"])
def test_user_leaving_during_consent_leaves_no_connected_app(what, access_ends, flow, bob, acme, monkeypatch):
    flow.sign_in(bob)
    others = []

    def run_before_commit(*, consent, context):
        """The consent is stored, and not yet committed."""
        others.append(run_in_other_thread(access_ends[what], wait=False))

    monkeypatch.setattr(hooks.app_connected, "functions", [run_before_commit])
    answer = flow.decide(acme)
    monkeypatch.undo()
    others[0].join()
    assert answer.status_code == 303
    reason = {"membership": "membershipEnded", "account": "userDeactivated"}[what]
    assert ConsentGrant.objects.get().revoked_reason == reason
    assert not User.objects.filter(pk=bob.pk, is_active=True, memberships__company=acme).exists()


REFERENCES = [  # as rows that name them make them
    "SELECT 1 FROM companies_user WHERE id = %(user)s FOR KEY SHARE SKIP LOCKED",
    "SELECT 1 FROM companies_membership WHERE company_id = %(company)s AND user_id = %(user)s "
    "FOR KEY SHARE SKIP LOCKED",
]


def test_consent_does_not_block_references_to_user(flow, bob, acme, monkeypatch):
    flow.sign_in(bob)
    results = []

    def run_before_commit(*, consent, context):
        def refer():
            with transaction.atomic(), connection.cursor() as cursor:
                for statement in REFERENCES:
                    cursor.execute(statement, {"user": bob.pk, "company": acme.pk})
                    results.append(cursor.fetchone())

        run_in_other_thread(refer).join()

    monkeypatch.setattr(hooks.app_connected, "functions", [run_before_commit])
    assert flow.decide(acme).status_code == 303
    assert results == [(1,), (1,)]


def run_in_other_thread(act, *, wait=True):
    """Has it done in another thread, until it ended, or (without ``wait``) until the database has it wait too."""

    def run():
        try:
            act()
        finally:
            connection.close()

    thread = Thread(target=run)
    thread.start()
    while thread.is_alive() and (wait or not is_waiting_for_lock()):
        time.sleep(0.01)
    return thread


def is_waiting_for_lock():
    with connection.cursor() as cursor:
        cursor.execute(WAITING_LOCKS_QUERY)
        return cursor.fetchone() is not None
