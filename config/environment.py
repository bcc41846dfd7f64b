"""Reading settings from environment variables, each wrong value named in one clear line that shows no secret."""

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

HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\]")
TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


def text(name: str, default: str = "") -> str:
    """The variable's value, or the default where it is unset or empty."""
    return os.environ.get(name, "").strip() or default


def boolean(name: str, *, default: bool = False) -> bool:
    """1/true/yes/on or 0/false/no/off; anything else stops the start."""
    value = os.environ.get(name)
    if value is None:
        return default
    if value.strip().lower() in TRUE:
        return True
    if value.strip().lower() in FALSE:
        return False
    raise ImproperlyConfigured(f"{name} must be one of 1, true, yes, on, 0, false, no, off")


def integer(name: str, *, default: int, least: int, most: int) -> int:
    """A whole number within its bounds."""
    value = text(name, str(default))
    if not re.fullmatch(r"[0-9]{1,9}", value) or not least <= int(value) <= most:
        raise ImproperlyConfigured(f"{name} must be a whole number from {least} to {most}")
    return int(value)


def one_of(name: str, *known: str) -> str:
    """One of the known words; the first where the variable is unset or empty."""
    value = text(name, known[0])
    if value not in known:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(known)}")
    return value


def make_private(path: Path) -> None:
    """Makes the directory for its owner alone; those on the way to it that were missing let others pass."""
    for each in reversed(path.parents):
        with contextlib.suppress(FileExistsError):
            each.mkdir()
            each.chmod(0o711)  # whatever the umask
    path.mkdir(mode=0o700, exist_ok=True)


def directory(name: str, default: Path) -> Path:
    """A directory to write in; made where there is none."""
    value = text(name, str(default))
    try:
        path = Path(value).expanduser().resolve()
        make_private(path)
        with tempfile.TemporaryFile(dir=path):  # what its mode says is not all: root, read-only disks
            return path
    except RuntimeError:  # links in a circle, or the home of nobody
        raise ImproperlyConfigured(f"{name}: {value} leads nowhere") from None
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name}: {value} cannot be written ({error.strerror}); a directory of your own is needed"
        ) from None


def words(name: str) -> list[str]:
    """A comma-separated list; empty where the variable is unset or empty, and never where it is set."""
    value = text(name)
    found = [word.strip() for word in value.split(",") if word.strip()]
    if value and not found:
        raise ImproperlyConfigured(f"{name} must name something between its commas")
    return found


def hosts(name: str, default: list[str]) -> list[str]:
    """A comma-separated list of host names; one that begins with a dot takes its subdomains in, * is any."""
    given = words(name)
    for host in given:
        if host != "*" and not HOST.fullmatch(host.removeprefix(".")):
            raise ImproperlyConfigured(f"{name} must be host names such as api.example.com, without scheme or port")
    return given or default


def domain(name: str) -> str | None:
    """A domain that cookies are given to, or None where unset."""
    value = text(name)
    if value and not HOST.fullmatch(value.removeprefix(".")):
        raise ImproperlyConfigured(f"{name} must be a domain such as example.com")
    return value or None


def origin(name: str, default: str) -> str:
    """scheme://host[:port], without path, query or trailing slash."""
    return _origin(name, text(name, default))


def origins(name: str) -> list[str]:
    """A comma-separated list of them, as browsers spell them; empty where unset."""
    return [_origin(name, each.lower()) for each in words(name)]


def _origin(name: str, value: str) -> str:
    parts = _split(name, value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or value != f"{parts.scheme}://{parts.netloc}":
        raise ImproperlyConfigured(f"{name} must be an origin such as https://api.example.com, without path or slash")
    _carries_no_user(name, parts)
    return value


def web_address(name: str, default: str) -> str:
    """An http(s) address that may have a path; no trailing slash."""
    value = text(name, default).rstrip("/")
    parts = _split(name, value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or "?" in value or "#" in value:
        raise ImproperlyConfigured(f"{name} must be an http or https address without query")
    _carries_no_user(name, parts)
    return value


def secret(name: str) -> str:
    """The variable's value, or nothing where unset; one that could be guessed stops the start."""
    value = text(name)
    if value and len(value) < 32:
        raise ImproperlyConfigured(f"{name} must have at least 32 characters")
    return value


def kept_secret(name: str, directory: Path, *, required: bool) -> str:
    """The variable's value; where unset, a random one that is made once and kept in the data directory.

    Raises ImproperlyConfigured where the deployment must bring its own.
    """
    if value := secret(name):
        return value
    if required:
        raise ImproperlyConfigured(f"{name} must be set when DATABASE_URL is set and DEBUG is off")
    path = directory / name.lower().replace("_", "-")
    if not path.exists():
        _keep(path, secrets.token_urlsafe(48))
    return path.read_text().strip()


def signing_keys(name: str, directory: Path) -> list[str]:
    """The paths of RSA private keys in PEM files; where unset, one key that is made once and kept in the directory."""
    paths = words(name)
    for path in paths:
        _check_signing_key(name, Path(path))
    return paths or [str(_kept_signing_key(directory / "oauth-signing-key.pem"))]


def _check_signing_key(name: str, path: Path) -> None:
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise ImproperlyConfigured(f"{name}: {path} cannot be read ({error.strerror})") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ImproperlyConfigured(f"{name}: {path} is no PEM file with an unencrypted private key") from None
    if not isinstance(key, RSAPrivateKey) or key.key_size < 2048:
        raise ImproperlyConfigured(f"{name}: {path} must be an RSA key of 2048 bits or more")


def _kept_signing_key(path: Path) -> Path:
    if not path.exists():
        key = generate_private_key(public_exponent=65537, key_size=2048)
        _keep(path, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode())
    return path


def _keep(path: Path, content: str) -> None:
    """Writes a secret file once: the first of several processes wins, the others read what it wrote.

    Raises ImproperlyConfigured where there is no room for it.
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


def email(name: str) -> dict[str, object]:
    """Django's EMAIL_* settings from smtp[s]://user:password@host:port, or the console where unset."""
    value = text(name, "console:")
    if value == "console:":
        return {"EMAIL_BACKEND": "config.console_mail.EmailBackend"}
    parts = _split(name, value)
    options = _options(name, parts, tls="[01]")
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


def cache(name: str) -> str:
    """redis[s]://user:password@host:port/database, or nothing where unset."""
    value = text(name)
    if not value:
        return ""
    parts = _split(name, value)
    _options(name, parts)
    whole = parts.hostname and re.fullmatch(r"/?|/[0-9]{1,5}", parts.path) and (parts.password or not parts.username)
    if parts.scheme not in {"redis", "rediss"} or not whole:
        raise ImproperlyConfigured(f"{name} must be redis[s]://user:password@host:port/database, the last a number")
    return value


def storage(name: str, directory: Path) -> dict[str, object]:
    """Django storage for private files: s3://key:secret@host/bucket?region=…, or a directory where unset."""
    value = text(name)
    if not value:
        return private_files(directory)
    parts = _split(name, value)
    region = _options(name, parts, region="[A-Za-z0-9-]+").get("region")
    bucket = parts.path.strip("/")
    whole = re.fullmatch(r"[A-Za-z0-9._-]+", bucket) and bool(parts.username) == bool(parts.password)
    if parts.scheme not in {"s3", "s3+http"} or not whole:
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
    return {"BACKEND": "companies.stores.bucket.Bucket", "OPTIONS": options}


def private_files(directory: Path, **options: str) -> dict[str, object]:
    """Django storage in a directory, readable by its owner alone. Its directories follow the umask: a mode for them
    would have Django change that of all threads at each upload."""
    return {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": str(directory), "file_permissions_mode": 0o600, **options},
    }


def _options(name: str, parts: SplitResult, **known: str) -> dict[str, str]:
    """What stands behind the address's question mark: the known options, each once, with a value of its pattern."""
    given = parse_qsl(parts.query, keep_blank_values=True)
    for option, value in given:
        if option not in known or not re.fullmatch(known[option], value):
            raise ImproperlyConfigured(f"{name} has an option, or a value of one, that does not exist")
    if len(dict(given)) != len(given) or parts.fragment:
        raise ImproperlyConfigured(f"{name} has an option twice, or a # that is not written as %23")
    return dict(given)


def _carries_no_user(name: str, parts: SplitResult) -> None:
    if "@" in parts.netloc:
        raise ImproperlyConfigured(f"{name} must not carry a user name or password")


def _split(name: str, value: str) -> SplitResult:
    try:
        parts = urlsplit(value)
        if parts.port == 0 or re.search(r"[\s\x00-\x1f]", value):
            raise ValueError
    except ValueError:
        raise ImproperlyConfigured(f"{name} is not a valid address") from None
    return parts
