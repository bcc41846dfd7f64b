"""The keys that tokens are signed with: the first of the settings signs, all are published."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from joserfc.jwk import KeySet, RSAKey

ALGORITHM = "RS256"


@lru_cache(maxsize=4)
def _read(paths: tuple[str, ...]) -> KeySet:
    keys: list[Any] = []
    for path in paths:
        key = RSAKey.import_key(Path(path).read_bytes(), {"use": "sig", "alg": ALGORITHM})
        key.ensure_kid()  # its RFC 7638 thumbprint
        keys.append(key)
    return KeySet(keys)


def key_set() -> KeySet:
    """All keys, read once a process."""
    return _read(tuple(settings.OAUTH_SIGNING_KEYS))


def signing_key() -> Any:
    return key_set().keys[0]


def published() -> dict[str, Any]:
    """The public halves, as a JWK set."""
    return {"keys": [key.as_dict(private=False) for key in key_set().keys]}
