"""Where signing keys come from."""

import stat

import pytest
from django.core.exceptions import ImproperlyConfigured
from joserfc.jwk import ECKey, RSAKey

from config import environment

NAME = "OAUTH_SIGNING_KEYS"


def test_signing_key_is_created_once_and_readable_only_by_owner(tmp_path, monkeypatch):
    monkeypatch.delenv(NAME, raising=False)
    (path,) = environment.read_signing_keys(NAME, tmp_path)
    made = (tmp_path / "oauth-signing-key.pem").read_bytes()
    assert stat.S_IMODE((tmp_path / "oauth-signing-key.pem").stat().st_mode) == 0o600
    assert environment.read_signing_keys(NAME, tmp_path) == [path]
    assert (tmp_path / "oauth-signing-key.pem").read_bytes() == made


def test_signing_key_files_are_used_in_given_order(tmp_path, monkeypatch):
    paths = [tmp_path / "new.pem", tmp_path / "old.pem"]
    for path in paths:
        path.write_bytes(RSAKey.generate_key(2048).as_pem(private=True))
    monkeypatch.setenv(NAME, ", ".join(map(str, paths)))
    assert environment.read_signing_keys(NAME, tmp_path) == [str(path) for path in paths]


@pytest.mark.parametrize("wrong", ["missing", "no key", "public half", "elliptic", "small"])
def test_invalid_signing_key_file_stops_startup_with_one_line_error(wrong, tmp_path, monkeypatch):
    path = tmp_path / "key.pem"
    content = {
        "no key": lambda: b"-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----\n",
        "public half": lambda: RSAKey.generate_key(2048).as_pem(private=False),
        "elliptic": lambda: ECKey.generate_key("P-256").as_pem(private=True),
        "small": lambda: RSAKey.generate_key(1024).as_pem(private=True),
    }
    if wrong != "missing":
        path.write_bytes(content[wrong]())
    monkeypatch.setenv(NAME, str(path))
    with pytest.raises(ImproperlyConfigured, match=NAME) as error:
        environment.read_signing_keys(NAME, tmp_path)
    assert "\n" not in str(error.value)
