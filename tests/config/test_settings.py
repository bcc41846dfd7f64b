"""Settings from the environment: nonsense stops the start in one line that names the setting and shows no secret."""

import os
import runpy
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from tests.machine import ROOT, Machine

pytestmark = pytest.mark.filterwarnings("ignore:'config.settings' found in sys.modules")


def run_check(tmp_path, **variables):
    """What ``manage.py check`` says under the environment's variables."""
    return subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=ROOT, env=Machine(home=tmp_path).environment(**variables),
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Reads the settings anew under the given variables and nothing else."""

    def under(**variables):
        for name in os.environ:
            if name != "PATH":
                monkeypatch.delenv(name)
        for name, value in Machine(home=tmp_path).environment(**variables).items():
            monkeypatch.setenv(name, value)
        return runpy.run_module("config.settings")

    return under


INVALID_SETTINGS = [
    {"DATABASE_URL": "mysql://u:hunter2@h/b"},
    {"DATABASE_URL": "postgresql://u:hunter2@h:x/b"},
    {"DATABASE_URL": "postgresql://u:hunter2@h/b"},  # SECRET_KEY is missing
    {"SECRET_KEY": "hunter2"},
    {"API_KEY_PEPPER": "hunter2"},
    {"BASE_URL": "https://api.example.com/"},
    {"BASE_URL": "https://api.example.com/v1"},
    {"BASE_URL": "api.example.com"},
    {"BASE_URL": "ftp://api.example.com"},
    {"BASE_URL": "https://u:hunter2@api.example.com"},
    {"BASE_URL": "https://api.example.com?x"},
    {"BASE_URL": "https://api.example.com:port"},
    {"BASE_URL": "https://[::1"},
    {"BASE_URL": "https://api example.com"},
    {"APP_URL": "app"},
    {"APP_URL": "https://app.example.com/?x=1"},
    {"ASSETS_URL": "//cdn"},
    {"STORAGE_URL": "s3://key:hunter2@host"},
    {"STORAGE_URL": "file:///tmp"},
    {"CACHE_URL": "memcached://:hunter2@h"},
    {"EMAIL_URL": "smtp:/x"},
    {"EMAIL_URL": "imap://u:hunter2@h"},
    {"EMAIL_URL": "smtp://u:hunter2@h:port"},
    {"RATE_LIMIT": "0"},
    {"RATE_LIMIT": "many"},
    {"RATE_LIMIT": "-1"},
    {"SIGN_IN_LIMIT": "0"},
    {"SIGN_IN_LIMIT": "many"},
    {"MAX_UPLOAD_MB": "1.5"},
    {"MAX_UPLOAD_MB": "99999"},
    {"STORAGE_QUOTA_MB": "0"},
    {"STORAGE_QUOTA_MB": "2 GB"},
    {"TRUSTED_PROXIES": "-1"},
    {"TRUSTED_PROXIES": "10.0.0.1"},
    {"TRUSTED_PROXIES": "99"},
    {"PORT": "70000"},
    {"PORT": "http"},
    {"DEBUG": "maybe"},
    {"STAFF_MFA": "2"},
    {"LOG_FORMAT": "xml"},
    {"LOG_FORMAT": "JSON"},
    {"METRICS_TOKEN": "hunter2"},
    {"WORKERS": "0"},
    {"WORKERS": "auto"},
    {"THREADS": "65"},
    {"MAX_REQUESTS": "-1"},
    {"OAUTH_SIGNING_KEYS": "/nowhere/key.pem"},
    {"ALLOWED_HOSTS": "https://api.example.com"},
    {"SESSION_COOKIE_DOMAIN": "https://example.com/"},
    {"CORS_ORIGINS": "https://a.example/"},
    {"CORS_ORIGINS": "https://a.example, b.example"},
    {"CORS_ORIGINS": "*"},
    {"CORS_ORIGINS": ","},
    {"CORS_ORIGINS": "https://u:hunter2@a.example"},
    {"TRIAL_ENDS_AS": "paid"},
    {"SIGN_UP": "everybody"},
    {"DATA_DIR": "/proc/nope"},
    {"DATA_DIR": "/proc"},  # there, but nothing can be written
    {"DATA_DIR": __file__},
    {"DATA_DIR": f"{__file__}/below"},
    {"DATA_DIR": "~nobody-of-this-name/data"},
    {"BASE_URL": "https://@api.example.com"},
    {"BASE_URL": "https://api.example.com:0"},
    {"APP_URL": "https://u:hunter2@app.example.com/app"},
    {"APP_URL": "https://hunter2@app.example.com"},
    {"APP_URL": "https://:hunter2@app.example.com"},
    {"APP_URL": "https://app.example.com/?"},
    {"ASSETS_URL": "https://u:hunter2@cdn.example.com"},
    {"ALLOWED_HOSTS": ","},
    {"OAUTH_SIGNING_KEYS": ","},
    {"OAUTH_SIGNING_KEYS": " , "},
    {"STORAGE_URL": "s3://hunter2@host/bucket"},
    {"STORAGE_URL": "s3://key:@host/bucket"},
    {"STORAGE_URL": "s3://:hunter2@host/bucket"},
    {"STORAGE_URL": "s3://key:hunter2@host/bucket?foo=1"},
    {"STORAGE_URL": "s3://key:hunter2@host/bucket?region"},
    {"STORAGE_URL": "s3://key:hunter2@host/bucket?region=a&region=b"},
    {"STORAGE_URL": "s3://key:hunter2@host/bucket?region=a/b"},
    {"STORAGE_URL": "s3://key:hunter2@host/bucket#x"},
    {"STORAGE_URL": "s3://key:hunter2@host/bucket/folder"},
    {"EMAIL_URL": "smtp://u:hunter2@h?foo=1"},
    {"EMAIL_URL": "smtp://u:hunter2@h?tls=perhaps"},
    {"EMAIL_URL": "smtp://hunter2@h"},
    {"RATE_LIMIT": "٣"},
    {"PORT": "٨٠٠٠"},
    {"CACHE_URL": "redis://:hunter2@cache.example/notanumber"},
    {"CACHE_URL": "redis://:hunter2@cache.example/-1"},
    {"CACHE_URL": "redis://:hunter2@cache.example/٣"},
    {"CACHE_URL": "redis://:hunter2@cache.example/0/1"},
    {"CACHE_URL": "redis://:hunter2@cache.example:port/0"},
    {"CACHE_URL": "redis://:hunter2@cache.example/0?socket_timeout=60"},
    {"CACHE_URL": "redis://hunter2@cache.example/0"},  # a name without a password
    {"CACHE_URL": "redis:///0"},
]


@pytest.mark.parametrize("variables", INVALID_SETTINGS, ids=lambda v: "=".join(*v.items()))
def test_invalid_setting_is_named_without_secrets(read, variables):
    with pytest.raises(ImproperlyConfigured) as refused:
        read(**variables)
    (name, value), *_ = variables.items()
    assert (name if value != "postgresql://u:hunter2@h/b" else "SECRET_KEY") in str(refused.value)
    assert "hunter2" not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "variables",
    [INVALID_SETTINGS[0], INVALID_SETTINGS[2], INVALID_SETTINGS[5], INVALID_SETTINGS[21], {"DATA_DIR": "/proc/nope"}],
    ids=lambda v: "=".join(*v.items()),
)
def test_invalid_setting_stops_the_start_with_one_line(tmp_path, variables):
    check = run_check(tmp_path, **variables)
    assert check.returncode != 0
    assert check.stdout == ""
    (line,) = check.stderr.strip().splitlines()
    assert line.startswith("Error: ")
    assert "hunter2" not in line


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"DEBUG": "1"},
        {"BASE_URL": "https://api.example.com"},
        {"BASE_URL": "http://[::1]:9000"},
        {"APP_URL": "https://app.example.com/app"},
        {"APP_URL": "https://app.example.com/app/"},
        {"ALLOWED_HOSTS": "a.example, .b.example"},
        {"EMAIL_URL": "smtps://u%40x:p%2Fw@mail.example:465"},
        {"EMAIL_URL": "smtp://mail.example:25?tls=0"},
        {"CACHE_URL": "redis://:p@cache.example:6379/1"},
        {"CACHE_URL": "rediss://u:p@cache.example"},
        {"STORAGE_URL": "s3://k:s@store.example/bucket?region=eu-1"},
        {"STORAGE_URL": "s3:///bucket"},  # of a machine that has a role
        {"SESSION_COOKIE_DOMAIN": ".example.com"},
        {"TRUSTED_PROXIES": "2"},
        {"CORS_ORIGINS": "https://a.example, http://127.0.0.1:5173"},
        {"TRIAL_ENDS_AS": "expired"},
        {"SIGN_UP": "closed"},
        {"LOG_FORMAT": "json", "METRICS_TOKEN": "m" * 32, "WORKERS": "8", "THREADS": "4", "MAX_REQUESTS": "0"},
    ],
    ids=str,
)
def test_valid_settings_are_accepted(read, variables):
    assert read(**variables)["INSTALLED_APPS"]


@pytest.mark.parametrize(
    ("variables", "is_required"),
    [({}, True), ({"DEBUG": "1"}, False), ({"DEBUG": "1", "STAFF_MFA": "1"}, True), ({"STAFF_MFA": "0"}, False)],
)
def test_staff_mfa_is_required_outside_debug(read, variables, is_required):
    assert read(**variables)["STAFF_MFA"] is is_required


def test_csrf_cookie_domain_follows_session_cookie_domain(read):
    apart = read(SESSION_COOKIE_DOMAIN="example.com")
    assert apart["SESSION_COOKIE_DOMAIN"] == apart["CSRF_COOKIE_DOMAIN"] == "example.com"
    assert read()["CSRF_COOKIE_DOMAIN"] is None


@pytest.mark.parametrize(
    ("variables", "prefix"),
    [
        ({"BASE_URL": "https://api.example.com"}, "__Host-"),
        ({"BASE_URL": "https://api.example.com", "SESSION_COOKIE_DOMAIN": "example.com"}, ""),
        ({"BASE_URL": "http://127.0.0.1:9000"}, ""),
    ],
)
def test_cookies_have_host_prefix_over_https(read, variables, prefix):
    """Browsers refuse the prefix without Secure, with a domain, and with another path (RFC 6265bis, 4.1.3.2)."""
    read = read(**variables)
    names = [read[f"{cookie}_COOKIE_NAME"] for cookie in ("SESSION", "CSRF", "DEVICE")]
    assert names == [f"{prefix}svc-{name}" for name in ("session", "csrf", "device")]
    assert f"cookie `{prefix}svc-csrf`" in read["SPECTACULAR_SETTINGS"]["DESCRIPTION"]
    if prefix:
        assert read["SESSION_COOKIE_SECURE"]
        assert read["CSRF_COOKIE_SECURE"]
        assert (read["SESSION_COOKIE_DOMAIN"], read["CSRF_COOKIE_DOMAIN"]) == (None, None)
        assert "/" == read.get("SESSION_COOKIE_PATH", "/") == read.get("CSRF_COOKIE_PATH", "/")


def test_cors_origins_are_normalized(read):
    assert read()["CORS_ORIGINS"] == []
    assert read(CORS_ORIGINS="https://A.example, http://b.example:81")["CORS_ORIGINS"] == [
        "https://a.example",
        "http://b.example:81",
    ]


def test_secrets_are_generated_once_and_private(read, tmp_path):
    first = read()
    assert len({first["SECRET_KEY"], first["API_KEY_PEPPER"]}) == 2
    assert min(len(first[name]) for name in ("SECRET_KEY", "API_KEY_PEPPER")) >= 50
    remaining = [tmp_path / "var" / name for name in ("secret-key", "api-key-pepper")]
    assert [path.stat().st_mode & 0o777 for path in remaining] == [0o600, 0o600]
    again = read()
    assert [again[name] for name in ("SECRET_KEY", "API_KEY_PEPPER")] == [path.read_text() for path in remaining]
    assert again["SECRET_KEY"] == first["SECRET_KEY"]


def test_deployment_with_database_url_requires_secret_key(read):
    database = {"DATABASE_URL": "postgresql://u:hunter2@db.invalid/b"}
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY"):
        read(**database)
    assert read(**database, DEBUG="1")["SECRET_KEY"]
    assert read(**database, SECRET_KEY="s" * 40)["SECRET_KEY"] == "s" * 40


def test_urls_follow_base_url_and_https_secures_cookies(read):
    plain = read(BASE_URL="http://127.0.0.1:9000")
    assert plain["APP_URL"] == "http://127.0.0.1:9000/app"
    assert plain["ASSETS_URL"] == "http://127.0.0.1:9000/assets"
    assert not plain["SESSION_COOKIE_SECURE"]
    secure = read(BASE_URL="https://api.example.com")
    assert secure["SESSION_COOKIE_SECURE"]
    assert secure["CSRF_COOKIE_SECURE"]
    assert secure["SECURE_HSTS_SECONDS"]
    assert "api.example.com" in secure["ALLOWED_HOSTS"]
    assert not plain["DEBUG"]
    apart = read(BASE_URL="https://api.example.com", APP_URL="https://app.example.com/app")
    assert {"api.example.com", "app.example.com"} <= set(apart["ALLOWED_HOSTS"])


@pytest.mark.parametrize("path", ["", "/", "/app/"])
def test_app_url_without_path_gets_app_path(read, path):
    assert read(APP_URL=f"https://app.example.com{path}")["APP_URL"] == "https://app.example.com/app"


@pytest.mark.parametrize("path", ["/x", "/app/x", "/App", "/x/app"])
def test_app_url_with_other_path_is_rejected(read, path):
    with pytest.raises(ImproperlyConfigured, match=r"^APP_URL .*/app") as refused:
        read(APP_URL=f"https://app.example.com{path}")
    assert "\n" not in str(refused.value)
