"""Passkeys by the book (Web Authentication, level 3): what the browser is asked, and whether its answer holds.

Every one is discoverable and verifies its user, so that it proves possession and person at once. Attestation is not
asked for: any device that a person trusts will do.
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

from companies.callers.addresses import origin_of
from companies.errors import Invalid
from companies.models import Passkey, User
from companies.models.factors import LONGEST_CREDENTIAL

PRODUCT = "Tidebook"
LONGEST = 16 * 1024  # characters of an answer; browsers send one to three thousand
PATIENCE = 5 * 60  # seconds that the browser waits for its user, and a challenge holds
# What the library raises where a browser would not have sent this: its own errors, and those of what it reads with.
UNREADABLE = (WebAuthnException, ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError)


class NotAccepted(Invalid):
    """The passkey was not accepted."""

    code = "passkey_not_accepted"

    def __init__(self, why: str):
        self.why = why  # for the log; the person is told no more than that
        super().__init__()


def relying_party() -> str:
    """The host on which people sign in: browsers let no page ask for the passkeys of another."""
    return urlsplit(settings.APP_URL).hostname or "localhost"


def possible() -> bool:
    """Browsers have no passkeys for hosts that are a bare address."""
    try:
        ip_address(relying_party())
    except ValueError:
        return True
    return False


def to_add(user: User, *, challenge: bytes, known: list[Passkey]) -> str:
    """What the browser is asked for a new one, as JSON. The handle that the device keeps is the user's id."""
    return options_to_json(
        generate_registration_options(
            rp_id=relying_party(),
            rp_name=PRODUCT,
            user_id=user.pk.bytes,
            user_name=user.email,
            user_display_name=user.display_name,
            challenge=challenge,
            timeout=PATIENCE * 1000,
            exclude_credentials=described(known),
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.REQUIRED
            ),
        )
    )


def to_prove(*, challenge: bytes, known: list[Passkey]) -> str:
    """What the browser is asked for a proof, as JSON; without ``known`` ones it lets its user choose."""
    return options_to_json(
        generate_authentication_options(
            rp_id=relying_party(),
            challenge=challenge,
            timeout=PATIENCE * 1000,
            allow_credentials=described(known),
            user_verification=UserVerificationRequirement.REQUIRED,
        )
    )


def described(known: list[Passkey]) -> list[PublicKeyCredentialDescriptor]:
    return [PublicKeyCredentialDescriptor(id=bytes(each.credential_id)) for each in known]


def read_new(answer: str, *, user: User, challenge: bytes, name: str, now: datetime) -> Passkey:
    """The new passkey of a browser's answer, not stored yet. Raises NotAccepted."""
    try:
        found = verify_registration_response(
            credential=loaded(answer),
            expected_challenge=challenge,
            expected_rp_id=relying_party(),
            expected_origin=origin_of(settings.APP_URL),
            require_user_verification=True,
        )
    except UNREADABLE as error:
        raise NotAccepted(str(error)) from None
    if len(found.credential_id) > LONGEST_CREDENTIAL:
        raise NotAccepted("its id is too long")
    return Passkey(
        user=user,
        name=name,
        credential_id=found.credential_id,
        public_key=found.credential_public_key,
        sign_count=found.sign_count,
        created_time=now,
    )


def named_in(answer: str) -> bytes:
    """The id of the passkey that a browser's answer names. Raises NotAccepted."""
    try:
        return base64url_to_bytes(loaded(answer)["rawId"])
    except UNREADABLE as error:
        raise NotAccepted(str(error)) from None


def prove(passkey: Passkey, answer: str, *, challenge: bytes, now: datetime) -> None:
    """Notes the use where the answer holds; the row must be locked. Raises NotAccepted, for a counter that did not move
    too: then there are two of the key."""
    try:
        body = loaded(answer)
        found = verify_authentication_response(
            credential=body,
            expected_challenge=challenge,
            expected_rp_id=relying_party(),
            expected_origin=origin_of(settings.APP_URL),
            credential_public_key=bytes(passkey.public_key),
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=True,
        )
        handle = body["response"].get("userHandle")
        if handle is not None and base64url_to_bytes(handle) != passkey.user_id.bytes:
            raise NotAccepted("it was made for somebody else")
    except UNREADABLE as error:
        raise NotAccepted(str(error)) from None
    passkey.sign_count, passkey.last_used_time = found.new_sign_count, now
    passkey.save(update_fields=["sign_count", "last_used_time"])


def loaded(answer: str) -> dict[str, Any]:
    """Raises ValueError."""
    if len(answer) > LONGEST:
        raise ValueError("the answer is too long")
    body = orjson.loads(answer)
    if not isinstance(body, dict):
        raise TypeError("the answer is no object")
    return body
