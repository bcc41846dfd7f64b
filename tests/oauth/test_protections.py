"""Each protection, taken away, turns the test of it red: the tests do test it."""

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError
from django.db.models import QuerySet
from oauthlib.oauth2.rfc6749.grant_types import AuthorizationCodeGrant

from oauth import asking, validator
from tests.oauth import test_authorization, test_races, test_resource, test_token_endpoint

pytestmark = pytest.mark.django_db


def turns_red(test, *args):
    with pytest.raises((AssertionError, KeyError)):
        test(*args)


def test_replay_detection_of_codes_is_what_the_test_sees(signed_in, acme, monkeypatch):
    monkeypatch.setattr(validator, "is_replay", lambda used, *, now: False)
    turns_red(
        test_token_endpoint.test_t6_a_code_that_is_replayed_later_ends_everything_of_its_consent,
        signed_in,
        acme,
        monkeypatch,
    )


def test_replay_detection_of_refresh_tokens_is_what_the_test_sees(signed_in, granted, monkeypatch):
    monkeypatch.setattr(validator, "is_replay", lambda used, *, now: False)
    turns_red(
        test_token_endpoint.test_t16_a_refresh_token_is_used_once_and_its_replay_ends_the_consent,
        signed_in,
        granted,
        monkeypatch,
    )


def test_s256_is_what_the_test_sees(signed_in, acme, monkeypatch):
    monkeypatch.setattr(AuthorizationCodeGrant, "validate_code_challenge", lambda *_: True)
    turns_red(
        test_token_endpoint.test_t8_t9_t10_what_does_not_fit_the_request_is_refused_and_uses_nothing_up,
        "T8 wrong verifier",
        {"code_verifier": "x" * 43},
        "invalid_grant",
        signed_in,
        acme,
    )


def test_the_issuer_is_what_the_test_sees(signed_in, acme, client, monkeypatch):
    monkeypatch.setattr(asking, "issuer", dict)
    turns_red(
        test_authorization.test_a9_the_issuer_is_on_every_answer_and_is_the_one_of_the_metadata, signed_in, acme, client
    )


def test_the_query_for_the_consent_is_what_the_test_sees(signed_in, granted, acme, alice, monkeypatch):
    from oauth import authentication

    monkeypatch.setattr(authentication, "_LIVE", authentication._LIVE.replace("AND g.revoked_time IS NULL", ""))
    turns_red(
        test_resource.test_r7_r8_the_very_next_request_is_401,
        test_resource.revoke_in_settings,
        signed_in,
        granted,
        acme,
        alice,
    )


@pytest.mark.django_db(transaction=True)
def test_taking_a_token_once_is_what_the_test_sees(signed_in, acme, monkeypatch):
    monkeypatch.setattr(QuerySet, "select_for_update", lambda rows, **_: rows)
    red = 0
    for _ in range(5):
        try:
            test_races.test_t17_twelve_refreshes_with_one_token_have_one_winner(0, signed_in, acme)
        except (AssertionError, IntegrityError, ObjectDoesNotExist):  # the database refuses a second successor too
            red += 1
    assert red
