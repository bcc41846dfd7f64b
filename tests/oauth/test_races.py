"""Many at the same moment: exactly one wins. T7 and T17 of the checklist."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from oauth.models import AccessToken, ConsentGrant, RefreshToken

pytestmark = pytest.mark.django_db(transaction=True)
TOGETHER = 12


def at_once(act):
    """What each of twelve threads got that started together."""
    barrier = Barrier(TOGETHER)

    def run(_):
        try:
            barrier.wait()
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(TOGETHER) as pool:
        return list(pool.map(run, range(TOGETHER)))


def one_winner(answers):
    assert sorted(a.status_code for a in answers) == [200] + [400] * (TOGETHER - 1)
    assert {a.json()["error"] for a in answers if a.status_code == 400} == {"invalid_grant"}
    (winner,) = [a.json() for a in answers if a.status_code == 200]
    assert winner["access_token"].count(".") == 2
    assert winner["refresh_token"].startswith("svcrt_")
    assert not ConsentGrant.objects.exclude(revoked_time=None).exists()
    return winner


@pytest.mark.parametrize("_round", range(3))
def test_t7_twelve_redemptions_of_one_code_have_one_winner(_round, signed_in, acme):
    code = signed_in.code(acme)
    winner = one_winner(at_once(lambda: signed_in.redeem(code)))
    assert (AccessToken.objects.count(), RefreshToken.objects.count()) == (1, 1)
    assert signed_in.call(winner["access_token"]).status_code == 200


@pytest.mark.parametrize("_round", range(3))
def test_t17_twelve_refreshes_with_one_token_have_one_winner(_round, signed_in, acme):
    token = signed_in.tokens(acme)["refresh_token"]
    winner = one_winner(at_once(lambda: signed_in.refresh(token)))
    assert RefreshToken.objects.filter(revoked=None).count() == 1
    assert signed_in.refresh(winner["refresh_token"]).status_code == 200


def test_a_revocation_beats_refreshes_that_come_with_it(signed_in, acme):
    tokens = signed_in.tokens(acme)
    acts = iter([signed_in.revoke] + [signed_in.refresh] * (TOGETHER - 1))
    answers = at_once(lambda: next(acts)(tokens["refresh_token"]))
    assert all(a.status_code in (200, 400) for a in answers)
    for answer in answers:
        if "access_token" in answer.content.decode():
            assert signed_in.call(answer.json()["access_token"]).status_code == 401
