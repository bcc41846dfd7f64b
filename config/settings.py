"""All settings, read from the environment; docs/operations.md describes each one."""

from pathlib import Path
from urllib.parse import urlsplit

from csp.constants import NONCE, NONE, SELF  # noqa: F401
from django.core.exceptions import ImproperlyConfigured

from config import environment, openapi_metadata
from config.databases.connection import build_database_settings

ROOT = Path(__file__).resolve().parent.parent
VERSION = "0.1.0"

DEBUG = environment.read_boolean("DEBUG")
DATA_DIR = environment.read_directory("DATA_DIR", ROOT / "var")
DATABASE_URL = environment.read_string("DATABASE_URL") or None
EMBEDDED = DATABASE_URL is None

PORT = environment.read_integer("PORT", default=8000, minimum=1, maximum=65535)
BASE_URL = environment.read_origin("BASE_URL", f"http://127.0.0.1:{PORT}")
APP_URL = environment.read_web_address("APP_URL", f"{BASE_URL}/app")
APP_URL += "" if urlsplit(APP_URL).path else "/app"
if urlsplit(APP_URL).path != "/app":
    raise ImproperlyConfigured("APP_URL must be an origin with the path /app, such as https://app.example.com/app")
ASSETS_URL = environment.read_web_address("ASSETS_URL", f"{BASE_URL}/assets")
AUTH_URL = f"{BASE_URL}/auth"
SECURE = BASE_URL.startswith("https://")

_deployed = not EMBEDDED and not DEBUG
SECRET_KEY = environment.read_or_create_secret("SECRET_KEY", DATA_DIR, required=_deployed)
API_KEY_PEPPER = environment.read_or_create_secret("API_KEY_PEPPER", DATA_DIR, required=False)
ALLOWED_HOSTS = environment.read_hosts(
    "ALLOWED_HOSTS",
    [*(urlsplit(url).hostname or "127.0.0.1" for url in (BASE_URL, APP_URL)), "127.0.0.1", "localhost", "[::1]"],
)

RATE_LIMIT = environment.read_integer("RATE_LIMIT", default=6000, minimum=1, maximum=10_000_000)  # requests a minute
# Requests of one credential in progress on a server; for a company it is half of the threads.
REQUESTS_PER_CREDENTIAL = environment.read_integer("REQUESTS_PER_CREDENTIAL", default=4, minimum=1, maximum=200)
QUERY_TIMEOUT_SECONDS = environment.read_integer("QUERY_TIMEOUT_SECONDS", default=20, minimum=1, maximum=3600)
SIGN_IN_LIMIT = environment.read_integer(
    "SIGN_IN_LIMIT", default=30, minimum=1, maximum=10_000_000
)  # tries in five minutes
# open: everybody; invite: invited people; closed: nobody new.
SIGN_UP = environment.read_choice("SIGN_UP", "invite", "open", "closed")
MAX_UPLOAD_MB = environment.read_integer("MAX_UPLOAD_MB", default=64, minimum=1, maximum=1024)
STORAGE_QUOTA_MB = environment.read_integer(
    "STORAGE_QUOTA_MB", default=2048, minimum=1, maximum=100_000_000
)  # of a company
MAX_BODY_BYTES = 1024 * 1024  # JSON, but for imports
MAX_FORM_BYTES = 64 * 1024  # forms, but for uploads
TRUSTED_PROXIES = environment.read_integer("TRUSTED_PROXIES", default=0, minimum=0, maximum=9)
LOGOS_FROM_DOMAINS = environment.read_boolean("LOGOS_FROM_DOMAINS")  # refresh_metrics fetches logos of company websites
STAFF_MFA = environment.read_boolean("STAFF_MFA", default=not DEBUG)
TRIAL_ENDS_AS = environment.read_choice("TRIAL_ENDS_AS", "free", "expired")  # set by refresh_metrics after a trial

WORKERS = environment.read_integer("WORKERS", default=3, minimum=1, maximum=256)  # processes
THREADS = environment.read_integer(
    "THREADS", default=4, minimum=1, maximum=64
)  # per process; each has its own connection
MAX_REQUESTS = environment.read_integer(
    "MAX_REQUESTS", default=100_000, minimum=0, maximum=100_000_000
)  # per worker; 0: none
LOG_FORMAT = environment.read_choice("LOG_FORMAT", "text", "json")
METRICS_TOKEN = environment.read_secret("METRICS_TOKEN")  # gives access to /metrics; unset: no metrics

# ---------------------------------------------------------------------------------------------- Django

INSTALLED_APPS = [
    "companies",
    "notifications",
    "webhooks",
    "ledger",
    "planning",
    "analytics",
    "oauth",
    "demo",
    "config.admin.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "axes",
    "oauth2_provider",
    "django_otp",
    "django_otp.plugins.otp_totp",
]
MIDDLEWARE = [
    "companies.middleware.set_request_context",
    "companies.middleware.allow_cross_origin",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",  # before static files, which include pages
    "companies.middleware.compress_responses",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "companies.middleware.limit_bodies",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "companies.middleware.prepare_pages",
    "companies.middleware.check_session",
    "django.contrib.messages.middleware.MessageMiddleware",
    "axes.middleware.AxesMiddleware",
]
if METRICS_TOKEN:
    MIDDLEWARE.insert(0, "config.monitoring.metrics.count_requests")
if LOG_FORMAT == "json":
    MIDDLEWARE.insert(0, "config.monitoring.logging.log_requests")
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": ["companies.templatetags.dates", "django.templatetags.i18n"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "notifications.pages.add_unread_count",
                "ledger.inbox.pages.inbox.add_inbox_count",
                "ledger.rules.pages.context_processors.add_rule_offer",
                "ledger.rules.pages.context_processors.add_split_offer",
            ],
        },
    }
]

try:
    DATABASES = {"default": build_database_settings(url=DATABASE_URL, data_dir=DATA_DIR)}
except ValueError as error:
    raise ImproperlyConfigured(str(error)) from None
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHE_URL = environment.read_cache_url("CACHE_URL")  # Redis for rate limits shared by several machines
globals().update(environment.read_email_settings("EMAIL_URL"))
EMAIL_TIMEOUT = 20  # seconds; shorter than the graceful shutdown of a worker
DEFAULT_FROM_EMAIL = "Tidebook <no-reply@" + (urlsplit(BASE_URL).hostname or "localhost") + ">"

STORAGES = {
    "default": environment.read_storage_settings("STORAGE_URL", DATA_DIR / "files"),
    "assets": environment.build_private_storage(DATA_DIR / "assets", base_url=f"{ASSETS_URL}/"),
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
STATIC_URL = "/static/"
STATICFILES_DIRS = [ROOT / "static", ("screenshots", ROOT / "docs" / "screenshots")]
WHITENOISE_USE_FINDERS = True  # no collectstatic: static files are found and kept in memory at start

LANGUAGE_CODE = "en"  # of API, admin and shared texts; pages use the user's language
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [ROOT / "locale"]
FORMAT_MODULE_PATH = "config.formats"
USE_TZ = True
TIME_ZONE = "UTC"

# ---------------------------------------------------------------------------------------------- people

AUTH_USER_MODEL = "companies.User"
AUTHENTICATION_BACKENDS = [
    "companies.auth.passwords.SignInLimitBackend",
    "axes.backends.AxesStandaloneBackend",
    "companies.auth.mfa.backends.MfaCodeBackend",
    "companies.auth.mfa.backends.PasskeyBackend",
    "django.contrib.auth.backends.ModelBackend",
    "companies.auth.passwords.FailedSignInBackend",
]
PASSWORD_CHECKS = 2 if THREADS > 2 else 1  # at once per worker; with two threads one stays free for other requests
PASSWORD_HASHERS = [
    "companies.auth.passwords.LimitedArgon2Hasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "companies.auth.password_validators.MaximumLengthValidator"},
    {"NAME": "companies.auth.password_validators.RepeatedCharactersValidator"},
    {"NAME": "companies.auth.password_validators.GuessableWordsValidator"},
]
LOGIN_URL = "/app/sign-in"
LOGIN_REDIRECT_URL = "/app/"
LOGOUT_REDIRECT_URL = "/app/sign-in"

SESSION_COOKIE_DOMAIN = environment.read_domain("SESSION_COOKIE_DOMAIN")
# With the prefix browsers reject the cookie from any other host, or without TLS (RFC 6265bis, 4.1.3.2).
_HOST = "__Host-" if SECURE and not SESSION_COOKIE_DOMAIN else ""
SESSION_ENGINE = "companies.auth.session_store"
SESSION_COOKIE_NAME = f"{_HOST}svc-session"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"  # with Strict the consent page would look signed out after a cross-site step
SESSION_COOKIE_SECURE = SECURE
SESSION_COOKIE_AGE = 30 * 24 * 3600  # maximum age of a session in seconds
SESSION_IDLE = 14 * 24 * 3600  # maximum idle time in seconds
RECENT_SIGN_IN = 10 * 60  # seconds until step-up authentication is needed
CSRF_COOKIE_NAME = f"{_HOST}svc-csrf"
CSRF_COOKIE_DOMAIN = SESSION_COOKIE_DOMAIN  # must match the session's domain
CSRF_COOKIE_SECURE = SECURE
CSRF_COOKIE_SAMESITE = "Lax"
DEVICE_COOKIE_NAME = f"{_HOST}svc-device"  # recognizes a browser that signed in before
CORS_ORIGINS = environment.read_origins("CORS_ORIGINS")  # origins that may call the API, with bearer tokens only
CSRF_TRUSTED_ORIGINS = sorted({BASE_URL, "{0.scheme}://{0.netloc}".format(urlsplit(APP_URL))})

AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # a lockout ends 15 minutes after it began
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]  # never by name alone, which would lock out the owner
AXES_USERNAME_FORM_FIELD = "username"  # name of the form field, not of the model field
AXES_USERNAME_CALLABLE = "companies.auth.sessions.normalize_typed_email"
AXES_CLIENT_IP_CALLABLE = "companies.auth.client_network.get_client_network"
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
AXES_ENABLE_ACCESS_FAILURE_LOG = False
AXES_DISABLE_ACCESS_LOG = True
AXES_LOCKOUT_CALLABLE = "companies.pages.user.sign_in.render_lockout"
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "code", "answer"]  # a wrong code is close to a valid one
OTP_TOTP_SYNC = False  # one step of skew is accepted each time, without drift
CSRF_FAILURE_VIEW = "companies.error_pages.show_csrf_failure_page"
PASSWORD_RESET_TIMEOUT = 3 * 24 * 3600

# ---------------------------------------------------------------------------------------------- apps

OAUTH_SIGNING_KEYS = environment.read_signing_keys("OAUTH_SIGNING_KEYS", DATA_DIR)  # PEM files; the first signs
OAUTH2_PROVIDER_APPLICATION_MODEL = "oauth.Application"
OAUTH2_PROVIDER_GRANT_MODEL = "oauth.AuthorizationCode"
OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL = "oauth.AccessToken"  # noqa: S105 - the name of a model
OAUTH2_PROVIDER_REFRESH_TOKEN_MODEL = "oauth.RefreshToken"  # noqa: S105
OAUTH2_PROVIDER_ID_TOKEN_MODEL = "oauth.IDToken"  # noqa: S105
OAUTH2_PROVIDER = {
    "OAUTH2_VALIDATOR_CLASS": "oauth.validator.Validator",
    "OAUTH2_SERVER_CLASS": "oauth.validator.OAuthServer",
    "ACCESS_TOKEN_GENERATOR": "oauth.protocol.tokens.generate_access_token",
    "REFRESH_TOKEN_GENERATOR": "oauth.protocol.tokens.generate_refresh_token",
    "SCOPES_BACKEND_CLASS": "oauth.protocol.scopes.ScopesBackend",
    "APPLICATION_ADMIN_CLASS": "oauth.admin.ApplicationAdmin",
    "AUTHORIZATION_CODE_EXPIRE_SECONDS": 60,
    "ACCESS_TOKEN_EXPIRE_SECONDS": 3600,  # service.md, part 5.3
    "ID_TOKEN_EXPIRE_SECONDS": 3600,
    "REFRESH_TOKEN_EXPIRE_SECONDS": 60 * 24 * 3600 - 3600,  # counted from the end of the access token beside it
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https"],  # other schemes are declared per app
    "OIDC_ENABLED": True,
    "OIDC_ISS_ENDPOINT": AUTH_URL,  # never from the Host header
    "OIDC_RSA_PRIVATE_KEY": Path(OAUTH_SIGNING_KEYS[0]).read_text(encoding="ascii"),
    "OIDC_RSA_PRIVATE_KEYS_INACTIVE": [Path(path).read_text(encoding="ascii") for path in OAUTH_SIGNING_KEYS[1:]],
    "OIDC_RESPONSE_TYPES_SUPPORTED": ["code"],
    "OIDC_TOKEN_ENDPOINT_AUTH_METHODS_SUPPORTED": ["none", "client_secret_basic", "client_secret_post"],
    "OAUTH2_RESPONSE_TYPES_SUPPORTED": ["code"],
    "OAUTH2_GRANT_TYPES_SUPPORTED": ["authorization_code", "refresh_token"],
    "OAUTH2_TOKEN_ENDPOINT_AUTH_METHODS_SUPPORTED": ["none", "client_secret_basic", "client_secret_post"],
    "OAUTH2_PROTECTED_RESOURCE_IDENTIFIER": BASE_URL,
    "OAUTH2_PROTECTED_RESOURCE_AUTHORIZATION_SERVERS": [AUTH_URL],
    "OAUTH2_PROTECTED_RESOURCE_DOCUMENTATION": f"{BASE_URL}/docs",
    # Client metadata documents: fetched only from allowed hosts.
    "CIMD_ENABLED": True,
    "CIMD_METADATA_FETCHER": "oauth.client_metadata.MetadataFetcher",
    "CIMD_REGISTRATION_PERMISSION_CLASSES": ["oauth.client_metadata.AllowedHostsPermission"],
    "CIMD_ALLOWED_HOSTS": environment.read_list("CIMD_ALLOWED_HOSTS"),
    **{
        f"COMPLIANT_BCP_RFC9700_{practice}": True
        for practice in (
            "IMPLICIT_GRANT", "PASSWORD_GRANT", "PKCE_METHOD", "ACCESS_TOKEN_TRANSPORT", "AUTHZ_RESPONSE_ISS",
            "TOKEN_STORAGE", "REFRESH_TOKEN", "REDIRECT_URI_SCHEME", "REDIRECT_URI_MATCHING", "PKCE_REQUIRED",
        )
    },
}  # fmt: skip
# Whether URLs given by users may be private or without TLS: for tests only.
OUTBOUND_ALLOW_PRIVATE = environment.read_boolean("OUTBOUND_ALLOW_PRIVATE")

# ---------------------------------------------------------------------------------------------- transport

SECURE_SSL_REDIRECT = False  # the proxy in front ends TLS and redirects
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SECURE else None
SECURE_HSTS_SECONDS = 31_536_000 if SECURE else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE
SECURE_HSTS_PRELOAD = SECURE
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:", ASSETS_URL + "/"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_FORM_BYTES  # without files; companies.body_limits limits the whole
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000  # each takes a hundred times its shortest form in memory
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

SILENCED_SYSTEM_CHECKS = [
    "security.W008",  # the proxy in front redirects to TLS
]
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "json": {"()": "config.monitoring.logging.JsonFormatter"},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "django": {"handlers": []},  # otherwise everything is logged twice with DEBUG
        # The request line contains the query string; our own handlers log errors with the request id.
        "django.request": {"level": "CRITICAL"},
        "django.security.csrf": {"level": "ERROR"},
        # Anybody can send these, as often as they like: they are answered 400 or 413, and need no traceback.
        **{
            f"django.security.{name}": {"level": "CRITICAL"}
            for name in ("DisallowedHost", "RequestDataTooBig", "TooManyFieldsSent", "TooManyFilesSent")
        },
        "oauthlib": {"level": "INFO"},  # below INFO it logs codes and tokens
        "oauth2_provider": {"level": "INFO"},
        "access": {"level": "INFO"},  # written with LOG_FORMAT=json alone
    },
}

# ---------------------------------------------------------------------------------------------- the API

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "companies.auth.authentication.ApiKeyAuthentication",
        "oauth.authentication.JwtAuthentication",
        "companies.auth.authentication.SessionAuthentication",
    ],
    "DEFAULT_RENDERER_CLASSES": ["companies.api.rendering.JsonRenderer"],
    "DEFAULT_PARSER_CLASSES": ["companies.api.rendering.JsonParser"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_SCHEMA_CLASS": "companies.api.openapi.schema.OperationSchema",
    "EXCEPTION_HANDLER": "companies.api.errors.handle_exception",
    "UNAUTHENTICATED_USER": None,
}
_about = (ROOT / "templates" / "openapi.md").read_text(encoding="utf-8")
SPECTACULAR_SETTINGS = {
    "TITLE": "Tidebook: financial planning and cash analytics API",
    "VERSION": VERSION,
    "OAS_VERSION": "3.1.0",
    "DESCRIPTION": _about.replace("svc-csrf", CSRF_COOKIE_NAME),
    "CONTACT": {"name": "Operator of this server", "url": BASE_URL},
    **openapi_metadata.DOCUMENT_METADATA,
    "SERVERS": [{"url": BASE_URL, **openapi_metadata.SERVER_METADATA}],
    "ENUM_NAME_OVERRIDES": openapi_metadata.ENUM_PATHS,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,  # their labels add nothing
    "SCHEMA_PATH_PREFIX": "/companies/[^/]+",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "SORT_OPERATIONS": False,
    "POSTPROCESSING_HOOKS": [
        "companies.api.openapi.schema.complete_document",
        "config.field_descriptions.describe_fields",
        "config.field_examples.add_field_examples",
    ],
}
