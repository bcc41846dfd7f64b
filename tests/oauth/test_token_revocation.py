"""Revocation of tokens. Numbers such as T22 name the assertion of the checklist."""

import pytest

from tests.oauth.conftest import REVOKE, get_latest_consent
from tests.oauth.test_token_endpoint import check_error, register_other_app

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_t22_revoking_either_token_ends_the_consent(kind, alice_flow, alice_tokens):
    answer = alice_flow.revoke(alice_tokens[kind], token_type_hint="nonsense")
    assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store")
    assert alice_flow.call(alice_tokens["access_token"]).status_code == 401
    assert check_error(alice_flow.refresh(alice_tokens["refresh_token"]), "invalid_grant")
    assert get_latest_consent().revoked_reason == "client"


def test_t22_revoking_unknown_token_succeeds(alice_flow, alice_tokens):
    """RFC 7009, 2.2: "invalid tokens do not cause an error response"."""
    for token in ("nonsense", alice_tokens["id_token"]):
        assert alice_flow.revoke(token).status_code == 200
    assert alice_flow.call(alice_tokens["access_token"]).status_code == 200


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_t22_revoking_token_of_another_client_is_refused(kind, alice_flow, alice_tokens):
    """RFC 7009, 2.1: the server "verifies whether the token was issued to the client making the revocation request.
    If this validation fails, the request is refused".
    """
    answer = register_other_app().revoke(alice_tokens[kind])
    assert check_error(answer, "invalid_grant", description="The token was issued to another client.")
    assert alice_flow.call(alice_tokens["access_token"]).status_code == 200
    assert get_latest_consent().revoked_time is None
    assert alice_flow.refresh(alice_tokens["refresh_token"]).status_code == 200


def test_t22_revocation_requires_client_and_token(alice_flow, alice_tokens, confidential_flow):
    assert check_error(alice_flow.revoke(alice_tokens["access_token"], client_id=None), "invalid_client", 401)
    assert check_error(alice_flow.post(REVOKE, {"client_id": alice_flow.application.client_id}), "invalid_request")
    assert check_error(confidential_flow.revoke("x", client_secret="wrong"), "invalid_client", 401)
