"""Passkeys (WebAuthn level 3): options sent to the browser and verification of its answers.

Every passkey is discoverable and verifies its user, so it proves possession and identity at once.
Attestation is not requested: any device is accepted.
"""

from datetime import datetime
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import base64url_to_bytes
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from companies.auth.login_redirects import get_origin
from companies.errors import InvalidInputError
from companies.models import Passkey, User
from companies.models.mfa import MAX_CREDENTIAL_ID_BYTES

PRODUCT_NAME = "Tidebook"
MAX_ANSWER_LENGTH = 16 * 1024  # browsers send one to three thousand characters
CHALLENGE_TTL_SECONDS = 5 * 60  # timeout of the browser and of a challenge
# Errors of the library and its parsers for data that no browser sends.
WEBAUTHN_ERRORS = (WebAuthnException, ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError)


class PasskeyNotAccepted(InvalidInputError):
    """Passkey not accepted."""

    code = "passkey_not_accepted"

    def __init__(self, reason: str):
        self.reason = reason  # for the log, not for the user
        super().__init__()


def get_relying_party_id() -> str:
    """Return the WebAuthn relying party id: the host name of the web application."""
    return urlsplit(settings.APP_URL).hostname or "localhost"


def can_use_passkeys() -> bool:
    """Return whether passkeys work here: browsers do not support them on hosts that are IP addresses."""
    try:
        ip_address(get_relying_party_id())
    except ValueError:
        return True
    return False


def build_registration_options(user: User, *, challenge: bytes, existing: list[Passkey]) -> str:
    """Return the registration options for a new passkey, as JSON. The user handle is the user's id."""
    return options_to_json(
        generate_registration_options(
            rp_id=get_relying_party_id(),
            rp_name=PRODUCT_NAME,
            user_id=user.pk.bytes,
            user_name=user.email,
            user_display_name=user.display_name,
            challenge=challenge,
            timeout=CHALLENGE_TTL_SECONDS * 1000,
            exclude_credentials=build_credential_descriptors(existing),
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.REQUIRED
            ),
        )
    )


def build_authentication_options(*, challenge: bytes, allowed: list[Passkey]) -> str:
    """Return the authentication options, as JSON. Without `allowed` passkeys the user chooses one."""
    return options_to_json(
        generate_authentication_options(
            rp_id=get_relying_party_id(),
            challenge=challenge,
            timeout=CHALLENGE_TTL_SECONDS * 1000,
            allow_credentials=build_credential_descriptors(allowed),
            user_verification=UserVerificationRequirement.REQUIRED,
        )
    )


def build_credential_descriptors(user_passkeys: list[Passkey]) -> list[PublicKeyCredentialDescriptor]:
    """Build the WebAuthn descriptors of passkeys."""
    return [PublicKeyCredentialDescriptor(id=bytes(each.credential_id)) for each in user_passkeys]


def parse_registration(answer: str, *, user: User, challenge: bytes, name: str, now: datetime) -> Passkey:
    """Verify the browser's registration answer and return the unsaved passkey. Raises PasskeyNotAccepted."""
    try:
        verification = verify_registration_response(
            credential=parse_answer(answer),
            expected_challenge=challenge,
            expected_rp_id=get_relying_party_id(),
            expected_origin=get_origin(settings.APP_URL),
            require_user_verification=True,
        )
    except WEBAUTHN_ERRORS as error:
        raise PasskeyNotAccepted(str(error)) from None
    if len(verification.credential_id) > MAX_CREDENTIAL_ID_BYTES:
        raise PasskeyNotAccepted("its id is too long")
    return Passkey(
        user=user,
        name=name,
        credential_id=verification.credential_id,
        public_key=verification.credential_public_key,
        sign_count=verification.sign_count,
        created_time=now,
    )


def parse_credential_id(answer: str) -> bytes:
    """Return the credential id in the browser's answer. Raises PasskeyNotAccepted."""
    try:
        return base64url_to_bytes(parse_answer(answer)["rawId"])
    except WEBAUTHN_ERRORS as error:
        raise PasskeyNotAccepted(str(error)) from None


def verify_passkey(passkey: Passkey, answer: str, *, challenge: bytes, now: datetime) -> None:
    """Verify the browser's answer and store the use; the passkey's row must be locked.

    Raises PasskeyNotAccepted, also if the signature counter did not advance: then the key was copied.
    """
    try:
        body = parse_answer(answer)
        verification = verify_authentication_response(
            credential=body,
            expected_challenge=challenge,
            expected_rp_id=get_relying_party_id(),
            expected_origin=get_origin(settings.APP_URL),
            credential_public_key=bytes(passkey.public_key),
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=True,
        )
        user_handle = body["response"].get("userHandle")
        if user_handle is not None and base64url_to_bytes(user_handle) != passkey.user_id.bytes:
            raise PasskeyNotAccepted("it was made for somebody else")
    except WEBAUTHN_ERRORS as error:
        raise PasskeyNotAccepted(str(error)) from None
    passkey.sign_count, passkey.last_used_time = verification.new_sign_count, now
    passkey.save(update_fields=["sign_count", "last_used_time"])


def parse_answer(answer: str) -> dict[str, Any]:
    """Parse the browser's answer as a JSON object. Raises ValueError, TypeError."""
    if len(answer) > MAX_ANSWER_LENGTH:
        raise ValueError("the answer is too long")
    body = orjson.loads(answer)
    if not isinstance(body, dict):
        raise TypeError("the answer is no object")
    return body
