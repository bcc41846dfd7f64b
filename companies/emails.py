"""E-mail addresses: who shares one, and where a mail to it goes. Nothing else compares addresses."""

import idna
from django.core.exceptions import ValidationError

from companies.errors import Invalid

LONGEST, LONGEST_LOCAL = 254, 64  # RFC 5321


class InvalidEmail(Invalid):
    """The address has a local part that is not ASCII or too long, or a domain that no name server can spell."""

    code = "invalid_email"


def canonical(email: str) -> str:
    """The one spelling by which an address is looked up, kept unique, and counted: CFO@Bücher.example is
    cfo@xn--bcher-kva.example.

    Raises InvalidEmail. Letters that look or fold like others (ı, ſ, K) are none of ASCII's, so that in the local part
    they are refused; in the domain they stay another domain, or become the same, as for every mail server (UTS 46).
    """
    return deliverable(email).lower()


def deliverable(email: str) -> str:
    """The address as a mail server takes it: the local part as it was typed, the domain in ASCII. Raises InvalidEmail.

    The framework would spell domains by older rules, which send what is meant for straße.example to strasse.example.
    """
    local, at, domain = email.rpartition("@")
    try:
        spelled = domain.lower() if domain.isascii() else idna.encode(domain, uts46=True).decode()
    except idna.IDNAError:
        raise InvalidEmail from None
    found = f"{local}@{spelled}"
    if not at or not local.isascii() or len(local) > LONGEST_LOCAL or "[" in domain or len(found) > LONGEST:
        raise InvalidEmail
    return found


def is_valid(email: str) -> bool:
    try:
        canonical(email)
    except InvalidEmail:
        return False
    return True


def validate(email: str) -> None:
    """For forms of the framework. Raises its ValidationError."""
    if not is_valid(email):
        raise ValidationError(InvalidEmail().detail, code=InvalidEmail.code)
