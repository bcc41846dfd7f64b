"""Formats of MFA codes and secrets."""

import re
from base64 import b32encode
from urllib.parse import quote, urlencode

TOTP_CODE_PATTERN = re.compile(r"[0-9]{6}")
RECOVERY_CODE_PATTERN = re.compile(
    r"[a-z2-7]{24}"
)  # base32: 120 bits, so that a fast hash is safe (NIST SP 800-63B, 5.1.2)


def normalize_code(text: str) -> str:
    """Return a typed code without spaces and dashes, in lower case.

    >>> normalize_code(" 123 456 "), normalize_code("ABCD-efgh-2345")
    ('123456', 'abcdefgh2345')
    """
    return re.sub(r"[\s-]", "", text).lower()


def group_code(text: str) -> str:
    """Return a code in groups of four characters, for copying by hand.

    >>> group_code("abcdefghijkl"), group_code("abcde")
    ('abcd-efgh-ijkl', 'abcd-e')
    """
    return "-".join(text[start : start + 4] for start in range(0, len(text), 4))


def is_totp_code(code: str) -> bool:
    """Return whether the code has the format of an authenticator app's code.

    >>> is_totp_code("123456"), is_totp_code("12345"), is_totp_code("１２３４５６"), is_totp_code("+12345")
    (True, False, False, False)
    """
    return TOTP_CODE_PATTERN.fullmatch(code) is not None


def is_recovery_code(code: str) -> bool:
    """Return whether the code has the format of a recovery code.

    >>> is_recovery_code("abcdefgh234567abcdefgh23"), is_recovery_code("123456"), is_recovery_code("0" * 24)
    (True, False, False)
    """
    return RECOVERY_CODE_PATTERN.fullmatch(code) is not None


def encode_seed(seed: str) -> str:
    """Return a hexadecimal seed in base32, as authenticator apps accept it from a keyboard.

    >>> encode_seed("00" * 5 + "ff" * 5)
    'aaaaaaaa77777777'
    """
    return b32encode(bytes.fromhex(seed)).decode().lower()


def build_otpauth_uri(seed: str, *, issuer: str, account: str) -> str:
    """Build the otpauth:// URI of a QR code for authenticator apps (Key Uri Format).

    >>> build_otpauth_uri("00" * 5, issuer="Tidebook", account="a@b.example")
    'otpauth://totp/Tidebook:a%40b.example?secret=AAAAAAAA&issuer=Tidebook'
    """
    query = urlencode({"secret": encode_seed(seed).upper(), "issuer": issuer})
    return f"otpauth://totp/{quote(issuer)}:{quote(account)}?{query}"
