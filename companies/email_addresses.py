"""E-mail addresses: canonical form for comparing, deliverable form for sending. Addresses are compared only
here.
"""

import idna
from django.core.exceptions import ValidationError

from companies.errors import InvalidInputError

MAX_EMAIL_LENGTH, MAX_LOCAL_PART_LENGTH = 254, 64  # RFC 5321


class InvalidEmail(InvalidInputError):
    """This email address is not valid."""

    code = "invalid_email"


def to_canonical_email(email: str) -> str:
    """Return the form by which an address is looked up, kept unique and counted: CFO@Bücher.example becomes
    cfo@xn--bcher-kva.example.

    Raises InvalidEmail. Letters that look or fold like others (ı, ſ, K) are not ASCII and so rejected in the
    local part; in the domain UTS 46 decides, as for every mail server.
    """
    return to_deliverable_email(email).lower()


def to_deliverable_email(email: str) -> str:
    """Return the address as a mail server takes it: local part unchanged, domain in ASCII. Raises InvalidEmail.

    Django would use older IDNA rules, which send straße.example to strasse.example.
    """
    local, separator, domain = email.rpartition("@")
    try:
        ascii_domain = domain.lower() if domain.isascii() else idna.encode(domain, uts46=True).decode()
    except idna.IDNAError:
        raise InvalidEmail from None
    address = f"{local}@{ascii_domain}"
    if (
        not separator
        or not local.isascii()
        or len(local) > MAX_LOCAL_PART_LENGTH
        or "[" in domain
        or len(address) > MAX_EMAIL_LENGTH
    ):
        raise InvalidEmail
    return address


def is_valid_email(email: str) -> bool:
    """Return whether the address has a canonical form."""
    try:
        to_canonical_email(email)
    except InvalidEmail:
        return False
    return True


def validate_email_address(email: str) -> None:
    """Model and form validator. Raises Django's ValidationError."""
    if not is_valid_email(email):
        raise ValidationError(InvalidEmail().detail, code=InvalidEmail.code)
