"""Settings from environment variables; an invalid value is reported in one line without secrets."""

import contextlib
import os
import re
import secrets
import tempfile
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from django.core.exceptions import ImproperlyConfigured

HOST_PATTERN = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\]")
TRUE_WORDS, FALSE_WORDS = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


def read_string(name: str, default: str = "") -> str:
    """Return the variable's value, or the default if it is unset or empty."""
    return os.environ.get(name, "").strip() or default


def read_boolean(name: str, *, default: bool = False) -> bool:
    """Return a boolean (1/true/yes/on or 0/false/no/off). Raises ImproperlyConfigured for anything else."""
    value = os.environ.get(name)
    if value is None:
        return default
    if value.strip().lower() in TRUE_WORDS:
        return True
    if value.strip().lower() in FALSE_WORDS:
        return False
    raise ImproperlyConfigured(f"{name} must be one of 1, true, yes, on, 0, false, no, off")


def read_integer(name: str, *, default: int, minimum: int, maximum: int) -> int:
    """Return a whole number within its bounds. Raises ImproperlyConfigured."""
    value = read_string(name, str(default))
    if not re.fullmatch(r"[0-9]{1,9}", value) or not minimum <= int(value) <= maximum:
        raise ImproperlyConfigured(f"{name} must be a whole number from {minimum} to {maximum}")
    return int(value)


def read_choice(name: str, *choices: str) -> str:
    """Return one of the choices; the first one by default. Raises ImproperlyConfigured."""
    value = read_string(name, choices[0])
    if value not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}")
    return value


def create_private_directory(path: Path) -> None:
    """Create a directory for its owner alone; missing parents can be entered by others."""
    for parent in reversed(path.parents):
        with contextlib.suppress(FileExistsError):
            parent.mkdir()
            parent.chmod(0o711)  # whatever the umask
    path.mkdir(mode=0o700, exist_ok=True)


def read_directory(name: str, default: Path) -> Path:
    """Return a writable directory, created if missing. Raises ImproperlyConfigured."""
    value = read_string(name, str(default))
    try:
        path = Path(value).expanduser().resolve()
        create_private_directory(path)
        with tempfile.TemporaryFile(dir=path):  # its mode is not enough: root, read-only disks
            return path
    except RuntimeError:  # a symlink loop, or an unknown home directory
        raise ImproperlyConfigured(f"{name}: {value} does not exist") from None
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name}: {value} cannot be written ({error.strerror}); use a directory you can write to"
        ) from None


def read_list(name: str) -> list[str]:
    """Return a comma-separated list; empty only if the variable is unset or empty."""
    value = read_string(name)
    items = [word.strip() for word in value.split(",") if word.strip()]
    if value and not items:
        raise ImproperlyConfigured(f"{name} must not contain empty items")
    return items


def read_hosts(name: str, default: list[str]) -> list[str]:
    """Return a comma-separated list of host names; a leading dot includes subdomains, * is any."""
    host_names = read_list(name)
    for host in host_names:
        if host != "*" and not HOST_PATTERN.fullmatch(host.removeprefix(".")):
            raise ImproperlyConfigured(f"{name} must be host names such as api.example.com, without scheme or port")
    return host_names or default


def read_domain(name: str) -> str | None:
    """Return the domain of cookies, or None."""
    value = read_string(name)
    if value and not HOST_PATTERN.fullmatch(value.removeprefix(".")):
        raise ImproperlyConfigured(f"{name} must be a domain such as example.com")
    return value or None


def read_origin(name: str, default: str) -> str:
    """Return an origin, scheme://host[:port], without path and trailing slash."""
    return _check_origin(name, read_string(name, default))


def read_origins(name: str) -> list[str]:
    """Return a comma-separated list of origins in lower case."""
    return [_check_origin(name, each.lower()) for each in read_list(name)]


def _check_origin(name: str, value: str) -> str:
    parts = _split_url(name, value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or value != f"{parts.scheme}://{parts.netloc}":
        raise ImproperlyConfigured(f"{name} must be an origin such as https://api.example.com, without path or slash")
    _check_no_user(name, parts)
    return value


def read_web_address(name: str, default: str) -> str:
    """Return an http(s) URL, possibly with a path, without trailing slash."""
    value = read_string(name, default).rstrip("/")
    parts = _split_url(name, value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or "?" in value or "#" in value:
        raise ImproperlyConfigured(f"{name} must be an http or https address without query")
    _check_no_user(name, parts)
    return value


def read_secret(name: str) -> str:
    """Return a secret of at least 32 characters, or "" if unset. Raises ImproperlyConfigured."""
    value = read_string(name)
    if value and len(value) < 32:
        raise ImproperlyConfigured(f"{name} must have at least 32 characters")
    return value


def read_or_create_secret(name: str, directory: Path, *, required: bool) -> str:
    """Return a secret; if unset, a random one that is stored in the data directory.

    Raises ImproperlyConfigured if the deployment must set it.
    """
    if value := read_secret(name):
        return value
    if required:
        raise ImproperlyConfigured(f"{name} must be set when DATABASE_URL is set and DEBUG is off")
    path = directory / name.lower().replace("_", "-")
    if not path.exists():
        _write_secret_once(path, secrets.token_urlsafe(48))
    return path.read_text().strip()


def read_signing_keys(name: str, directory: Path) -> list[str]:
    """Return the paths of RSA private keys (PEM); if unset, one key is created and stored in the directory."""
    paths = read_list(name)
    for path in paths:
        _check_signing_key(name, Path(path))
    return paths or [str(_read_or_create_signing_key(directory / "oauth-signing-key.pem"))]


def _check_signing_key(name: str, path: Path) -> None:
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise ImproperlyConfigured(f"{name}: {path} cannot be read ({error.strerror})") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ImproperlyConfigured(f"{name}: {path} must be a PEM file with an unencrypted private key") from None
    if not isinstance(key, RSAPrivateKey) or key.key_size < 2048:
        raise ImproperlyConfigured(f"{name}: {path} must be an RSA key of 2048 bits or more")


def _read_or_create_signing_key(path: Path) -> Path:
    if not path.exists():
        key = generate_private_key(public_exponent=65537, key_size=2048)
        _write_secret_once(path, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode())
    return path


def _write_secret_once(path: Path, content: str) -> None:
    """Write a secret file once: the first of several processes wins. Raises ImproperlyConfigured if it cannot
    be written.
    """
    draft = path.with_suffix(f".{secrets.token_hex(4)}")
    try:
        draft.touch(mode=0o600)
        draft.write_text(content)
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(draft)
    except OSError as error:
        raise ImproperlyConfigured(f"DATA_DIR: {path} cannot be written ({error.strerror})") from None
    finally:
        draft.unlink(missing_ok=True)


def read_email_settings(name: str) -> dict[str, object]:
    """Return Django's EMAIL_* settings from smtp[s]://user:password@host:port; the console if unset."""
    value = read_string(name, "console:")
    if value == "console:":
        return {"EMAIL_BACKEND": "config.console_email.EmailBackend"}
    parts = _split_url(name, value)
    options = _parse_options(name, parts, tls="[01]")
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname or bool(parts.username) != bool(parts.password):
        raise ImproperlyConfigured(f"{name} must be console: or smtp[s]://user:password@host:port")
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or (465 if parts.scheme == "smtps" else 587),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_USE_TLS": parts.scheme == "smtp" and options.get("tls") != "0",
    }


def read_cache_url(name: str) -> str:
    """Return a Redis URL, redis[s]://user:password@host:port/database, or "" if unset."""
    value = read_string(name)
    if not value:
        return ""
    parts = _split_url(name, value)
    _parse_options(name, parts)
    is_complete = (
        parts.hostname and re.fullmatch(r"/?|/[0-9]{1,5}", parts.path) and (parts.password or not parts.username)
    )
    if parts.scheme not in {"redis", "rediss"} or not is_complete:
        raise ImproperlyConfigured(f"{name} must be redis[s]://user:password@host:port/database, the last a number")
    return value


def read_storage_settings(name: str, directory: Path) -> dict[str, object]:
    """Return the storage of private files: s3://key:secret@host/bucket?region=…, or a directory if unset."""
    value = read_string(name)
    if not value:
        return build_private_storage(directory)
    parts = _split_url(name, value)
    region = _parse_options(name, parts, region="[A-Za-z0-9-]+").get("region")
    bucket = parts.path.strip("/")
    is_complete = re.fullmatch(r"[A-Za-z0-9._-]+", bucket) and bool(parts.username) == bool(parts.password)
    if parts.scheme not in {"s3", "s3+http"} or not is_complete:
        raise ImproperlyConfigured(f"{name} must be s3://key:secret@host/bucket (s3+http for a store without TLS)")
    port = f":{parts.port}" if parts.port else ""
    scheme = "http" if parts.scheme == "s3+http" else "https"
    options: dict[str, object] = {"bucket_name": bucket, "file_overwrite": False, "querystring_auth": True}
    if parts.hostname:
        options["endpoint_url"] = f"{scheme}://{parts.hostname}{port}"
    if parts.username:
        options |= {"access_key": unquote(parts.username), "secret_key": unquote(parts.password or "")}
    if region:
        options["region_name"] = region
    return {"BACKEND": "companies.storage.s3.BucketStorage", "OPTIONS": options}


def build_private_storage(directory: Path, **options: str) -> dict[str, object]:
    """Return a storage in a directory, readable by its owner alone.

    Directories follow the umask: with a mode for them Django would change the umask of all threads at each
    upload.
    """
    return {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": str(directory), "file_permissions_mode": 0o600, **options},
    }


def _parse_options(name: str, parts: SplitResult, **known_options: str) -> dict[str, str]:
    """Parse the query of a URL: known options, each once, with a valid value."""
    given_options = parse_qsl(parts.query, keep_blank_values=True)
    for option, value in given_options:
        if option not in known_options or not re.fullmatch(known_options[option], value):
            raise ImproperlyConfigured(f"{name} has an unknown option or option value")
    if len(dict(given_options)) != len(given_options) or parts.fragment:
        raise ImproperlyConfigured(f"{name} has a repeated option or an unescaped # (write it as %23)")
    return dict(given_options)


def _check_no_user(name: str, parts: SplitResult) -> None:
    if "@" in parts.netloc:
        raise ImproperlyConfigured(f"{name} must not contain a user name or password")


def _split_url(name: str, value: str) -> SplitResult:
    try:
        parts = urlsplit(value)
        if parts.port == 0 or re.search(r"[\s\x00-\x1f]", value):
            raise ValueError
    except ValueError:
        raise ImproperlyConfigured(f"{name} is not a valid address") from None
    return parts
