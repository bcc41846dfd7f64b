"""Codes as people type and read them."""

import re
from base64 import b32encode
from urllib.parse import quote, urlencode

APP_CODE = re.compile(r"[0-9]{6}")
RECOVERY_CODE = re.compile(r"[a-z2-7]{24}")  # base32: 120 bits, so that a fast digest keeps it (NIST SP 800-63B, 5.1.2)


def plain(typed: str) -> str:
    """A code without what people put between its groups.

    >>> plain(" 123 456 "), plain("ABCD-efgh-2345")
    ('123456', 'abcdefgh2345')
    """
    return re.sub(r"[\s-]", "", typed).lower()


def grouped(text: str) -> str:
    """In groups of four, to be copied by hand.

    >>> grouped("abcdefghijkl"), grouped("abcde")
    ('abcd-efgh-ijkl', 'abcd-e')
    """
    return "-".join(text[start : start + 4] for start in range(0, len(text), 4))


def is_app_code(code: str) -> bool:
    """
    >>> is_app_code("123456"), is_app_code("12345"), is_app_code("１２３４５６"), is_app_code("+12345")
    (True, False, False, False)
    """
    return APP_CODE.fullmatch(code) is not None


def is_recovery_code(code: str) -> bool:
    """
    >>> is_recovery_code("abcdefgh234567abcdefgh23"), is_recovery_code("123456"), is_recovery_code("0" * 24)
    (True, False, False)
    """
    return RECOVERY_CODE.fullmatch(code) is not None


def base32(seed: str) -> str:
    """A seed as apps take it from a keyboard.

    >>> base32("00" * 5 + "ff" * 5)
    'aaaaaaaa77777777'
    """
    return b32encode(bytes.fromhex(seed)).decode().lower()


def app_address(seed: str, *, issuer: str, account: str) -> str:
    """What a QR code tells an authenticator app (the Key Uri Format that they share).

    >>> app_address("00" * 5, issuer="Tidebook", account="a@b.example")
    'otpauth://totp/Tidebook:a%40b.example?secret=AAAAAAAA&issuer=Tidebook'
    """
    query = urlencode({"secret": base32(seed).upper(), "issuer": issuer})
    return f"otpauth://totp/{quote(issuer)}:{quote(account)}?{query}"
