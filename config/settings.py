"""Every setting, read from the environment; the table in docs/operations.md says what each one does."""

from pathlib import Path
from urllib.parse import urlsplit

from csp.constants import NONCE, NONE, SELF  # noqa: F401
from django.core.exceptions import ImproperlyConfigured

from config import document, environment
from config.databases.connecting import databases

ROOT = Path(__file__).resolve().parent.parent
VERSION = "0.1.0"

DEBUG = environment.boolean("DEBUG")
DATA_DIR = environment.directory("DATA_DIR", ROOT / "var")
DATABASE_URL = environment.text("DATABASE_URL") or None
DATABASE_REPLICA_URL = environment.text("DATABASE_REPLICA_URL")
EMBEDDED = DATABASE_URL is None

PORT = environment.integer("PORT", default=8000, least=1, most=65535)
BASE_URL = environment.origin("BASE_URL", f"http://127.0.0.1:{PORT}")
APP_URL = environment.web_address("APP_URL", f"{BASE_URL}/app")
APP_URL += "" if urlsplit(APP_URL).path else "/app"
if urlsplit(APP_URL).path != "/app":
    raise ImproperlyConfigured("APP_URL must have no other path than /app, as in https://app.example.com/app")
ASSETS_URL = environment.web_address("ASSETS_URL", f"{BASE_URL}/assets")
AUTH_URL = f"{BASE_URL}/auth"
SECURE = BASE_URL.startswith("https://")

_deployed = not EMBEDDED and not DEBUG
SECRET_KEY = environment.kept_secret("SECRET_KEY", DATA_DIR, required=_deployed)
API_KEY_PEPPER = environment.kept_secret("API_KEY_PEPPER", DATA_DIR, required=False)
ALLOWED_HOSTS = environment.hosts(
    "ALLOWED_HOSTS",
    [*(urlsplit(url).hostname or "127.0.0.1" for url in (BASE_URL, APP_URL)), "127.0.0.1", "localhost", "[::1]"],
)

RATE_LIMIT = environment.integer("RATE_LIMIT", default=6000, least=1, most=10_000_000)  # requests a minute
# Requests of one credential that a server answers at the same time; of a company it is half of the threads.
REQUESTS_PER_CREDENTIAL = environment.integer("REQUESTS_PER_CREDENTIAL", default=4, least=1, most=200)
QUERY_TIMEOUT_SECONDS = environment.integer("QUERY_TIMEOUT_SECONDS", default=20, least=1, most=3600)
SIGN_IN_LIMIT = environment.integer("SIGN_IN_LIMIT", default=30, least=1, most=10_000_000)  # tries in five minutes
MAX_UPLOAD_MB = environment.integer("MAX_UPLOAD_MB", default=64, least=1, most=1024)
STORAGE_QUOTA_MB = environment.integer("STORAGE_QUOTA_MB", default=2048, least=1, most=100_000_000)  # of a company
MAX_BODY_BYTES = 1024 * 1024  # JSON, but for imports
MAX_FORM_BYTES = 64 * 1024  # forms, but for uploads
TRUSTED_PROXIES = environment.integer("TRUSTED_PROXIES", default=0, least=0, most=9)
LOGOS_FROM_DOMAINS = environment.boolean("LOGOS_FROM_DOMAINS")  # refresh_metrics fetches what companies' sites show
STAFF_MFA = environment.boolean("STAFF_MFA", default=not DEBUG)
TRIAL_ENDS_AS = environment.one_of("TRIAL_ENDS_AS", "free", "expired")  # what refresh_metrics makes of ended trials

WORKERS = environment.integer("WORKERS", default=3, least=1, most=256)  # processes
THREADS = environment.integer("THREADS", default=4, least=1, most=64)  # of each; every one has a connection of its own
MAX_REQUESTS = environment.integer("MAX_REQUESTS", default=100_000, least=0, most=100_000_000)  # of a worker; 0: no end
LOG_FORMAT = environment.one_of("LOG_FORMAT", "text", "json")
METRICS_TOKEN = environment.secret("METRICS_TOKEN")  # who has it may read /metrics; unset: there is none

# ---------------------------------------------------------------------------------------------- Django

INSTALLED_APPS = [
    "companies",
    "notifications",
    "webhooks",
    "ledger",
    "planning",
    "analytics",
    "oauth",
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
    "csp.middleware.CSPMiddleware",  # before static files: some are pages
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
    MIDDLEWARE.insert(0, "config.watching.metrics.count_requests")
if LOG_FORMAT == "json":
    MIDDLEWARE.insert(0, "config.watching.logs.access_lines")
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
                "notifications.pages.bell",
                "ledger.rules.pages.inbox.inbox_count",
                "ledger.rules.pages.offering.rule_offer",
            ],
        },
    }
]

try:
    DATABASES = {"default": databases(url=DATABASE_URL, data_dir=DATA_DIR)}
    if DATABASE_REPLICA_URL:
        DATABASES["replica"] = databases(
            url=DATABASE_REPLICA_URL, data_dir=DATA_DIR, setting="DATABASE_REPLICA_URL"
        ) | {"TEST": {"MIRROR": "default"}}
except ValueError as error:
    raise ImproperlyConfigured(str(error)) from None
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHE_URL = environment.cache("CACHE_URL")  # a Redis in which machines count requests together
_IN_MEMORY = "django.core.cache.backends.locmem.LocMemCache"
CACHES = {
    "default": {"BACKEND": _IN_MEMORY},
    # Parts of pages (companies.pages.kept), about 100 KB each. What is changed with psql stays unseen for 300 seconds.
    "pages": {"BACKEND": _IN_MEMORY, "LOCATION": "pages", "TIMEOUT": 300, "OPTIONS": {"MAX_ENTRIES": 100}},
}
globals().update(environment.email("EMAIL_URL"))
EMAIL_TIMEOUT = 20  # seconds; shorter than a worker is waited for when it leaves
DEFAULT_FROM_EMAIL = "Tidebook <no-reply@" + (urlsplit(BASE_URL).hostname or "localhost") + ">"

STORAGES = {
    "default": environment.storage("STORAGE_URL", DATA_DIR / "files"),
    "assets": environment.private_files(DATA_DIR / "assets", base_url=f"{ASSETS_URL}/"),
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
STATIC_URL = "/static/"
STATICFILES_DIRS = [ROOT / "static"]
WHITENOISE_USE_FINDERS = True  # no collectstatic step: the files are found and kept in memory at start

LANGUAGE_CODE = "en"  # of the API, the admin and what is written for nobody in particular; pages ask their reader's
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [ROOT / "locale"]
FORMAT_MODULE_PATH = "config.formats"
USE_TZ = True
TIME_ZONE = "UTC"

# ---------------------------------------------------------------------------------------------- people

AUTH_USER_MODEL = "companies.User"
AUTHENTICATION_BACKENDS = [
    "companies.callers.passwords.Gate",
    "axes.backends.AxesStandaloneBackend",
    "companies.factors.proving.Codes",
    "companies.factors.proving.Passkeys",
    "django.contrib.auth.backends.ModelBackend",
    "companies.callers.passwords.Missed",
]
PASSWORD_CHECKS = 2 if THREADS > 2 else 1  # at once in a worker; with two threads one is left for other requests
PASSWORD_HASHERS = [
    "companies.callers.passwords.Argon2",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "companies.security.words.NotOurWords"},
]
LOGIN_URL = "/app/sign-in"
LOGIN_REDIRECT_URL = "/app/"
LOGOUT_REDIRECT_URL = "/app/sign-in"

SESSION_COOKIE_DOMAIN = environment.domain("SESSION_COOKIE_DOMAIN")
# The prefix has browsers refuse such a cookie from any other host, or without TLS (RFC 6265bis, 4.1.3.2).
_HOST = "__Host-" if SECURE and not SESSION_COOKIE_DOMAIN else ""
SESSION_ENGINE = "companies.security.store"
SESSION_COOKIE_NAME = f"{_HOST}svc-session"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"  # Strict would make a cross-site step to the consent page look signed out
SESSION_COOKIE_SECURE = SECURE
SESSION_COOKIE_AGE = 30 * 24 * 3600  # seconds a session may live, whatever happens
SESSION_IDLE = 14 * 24 * 3600  # seconds it may lie unused
RECENT_SIGN_IN = 10 * 60  # seconds for which no proof is asked again before a sensitive act
CSRF_COOKIE_NAME = f"{_HOST}svc-csrf"
CSRF_COOKIE_DOMAIN = SESSION_COOKIE_DOMAIN  # whoever may send the session must be able to read the token
CSRF_COOKIE_SECURE = SECURE
CSRF_COOKIE_SAMESITE = "Lax"
DEVICE_COOKIE_NAME = f"{_HOST}svc-device"  # by which a browser that signed in before is known again
CORS_ORIGINS = environment.origins("CORS_ORIGINS")  # whose pages may call the API, with bearer tokens alone
CSRF_TRUSTED_ORIGINS = sorted({BASE_URL, "{0.scheme}://{0.netloc}".format(urlsplit(APP_URL))})

AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # a lock ends 15 minutes after it began, tried or not
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]  # never the name alone: that would lock out its owner
AXES_USERNAME_FORM_FIELD = "username"  # what the forms call it; the user model's own name for it is never sent
AXES_USERNAME_CALLABLE = "companies.callers.sessions.typed_address"
AXES_CLIENT_IP_CALLABLE = "companies.callers.client_network.get_client_network"
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
AXES_ENABLE_ACCESS_FAILURE_LOG = False
AXES_DISABLE_ACCESS_LOG = True
AXES_LOCKOUT_CALLABLE = "companies.pages.people.signing_in.locked_out"
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "code", "answer"]  # a wrong code is nearly a right one
OTP_TOTP_SYNC = False  # one step of skew is taken each time, and never added up
CSRF_FAILURE_VIEW = "companies.pages.failures.form_refused"
PASSWORD_RESET_TIMEOUT = 3 * 24 * 3600

# ---------------------------------------------------------------------------------------------- apps

OAUTH_SIGNING_KEYS = environment.signing_keys("OAUTH_SIGNING_KEYS", DATA_DIR)  # PEM files; the first signs
OAUTH2_PROVIDER_APPLICATION_MODEL = "oauth.Application"
OAUTH2_PROVIDER_GRANT_MODEL = "oauth.AuthorizationCode"
OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL = "oauth.AccessToken"  # noqa: S105 - the name of a model
OAUTH2_PROVIDER_REFRESH_TOKEN_MODEL = "oauth.RefreshToken"  # noqa: S105
OAUTH2_PROVIDER_ID_TOKEN_MODEL = "oauth.IDToken"  # noqa: S105
OAUTH2_PROVIDER = {
    "OAUTH2_VALIDATOR_CLASS": "oauth.validator.Validator",
    "OAUTH2_SERVER_CLASS": "oauth.validator.Server",
    "ACCESS_TOKEN_GENERATOR": "oauth.wire.tokens.access_token",
    "REFRESH_TOKEN_GENERATOR": "oauth.wire.tokens.refresh_token",
    "SCOPES_BACKEND_CLASS": "oauth.wire.scopes.Scopes",
    "APPLICATION_ADMIN_CLASS": "oauth.admin.ApplicationAdmin",
    "AUTHORIZATION_CODE_EXPIRE_SECONDS": 60,
    "ACCESS_TOKEN_EXPIRE_SECONDS": 3600,  # service.md, part 5.3
    "ID_TOKEN_EXPIRE_SECONDS": 3600,
    "REFRESH_TOKEN_EXPIRE_SECONDS": 60 * 24 * 3600 - 3600,  # counted from the end of the access token beside it
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https"],  # what an app may have besides says its own model
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
    # Documents by which apps describe themselves: read from hosts that staff allow, and from no other.
    "CIMD_ENABLED": True,
    "CIMD_METADATA_FETCHER": "oauth.documents.Fetcher",
    "CIMD_REGISTRATION_PERMISSION_CLASSES": ["oauth.documents.AllowedHosts"],
    "CIMD_ALLOWED_HOSTS": environment.words("CIMD_ALLOWED_HOSTS"),
    **{
        f"COMPLIANT_BCP_RFC9700_{practice}": True
        for practice in (
            "IMPLICIT_GRANT", "PASSWORD_GRANT", "PKCE_METHOD", "ACCESS_TOKEN_TRANSPORT", "AUTHZ_RESPONSE_ISS",
            "TOKEN_STORAGE", "REFRESH_TOKEN", "REDIRECT_URI_SCHEME", "REDIRECT_URI_MATCHING", "PKCE_REQUIRED",
        )
    },
}  # fmt: skip
# Whether what callers name (an app's document, a webhook) may lie on private addresses, without TLS: for tests alone.
OUTBOUND_ALLOW_PRIVATE = environment.boolean("OUTBOUND_ALLOW_PRIVATE")

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
        "font-src": [SELF, "data:"],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_FORM_BYTES  # beside files; companies.api.bodies bounds the whole
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000  # of which each takes a hundred times its shortest form
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

SILENCED_SYSTEM_CHECKS = [
    "security.W008",  # the proxy in front redirects to TLS
]
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "json": {"()": "config.watching.logs.JsonLines"},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "django": {"handlers": []},  # its own ones would say everything twice where DEBUG is on
        # The request's line would carry query strings; errors are logged by our own handlers with their request id.
        "django.request": {"level": "CRITICAL"},
        "django.security.csrf": {"level": "ERROR"},
        # Anybody can send these, as often as they like: they are answered 400 or 413, and need no traceback.
        **{
            f"django.security.{name}": {"level": "CRITICAL"}
            for name in ("DisallowedHost", "TooManyFieldsSent", "TooManyFilesSent")
        },
        "oauthlib": {"level": "INFO"},  # below that it writes codes and tokens
        "oauth2_provider": {"level": "INFO"},
        "access": {"level": "INFO"},  # written with LOG_FORMAT=json alone
    },
}

# ---------------------------------------------------------------------------------------------- the API

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "companies.callers.authentication.ApiKeyAuthentication",
        "oauth.authentication.JwtAuthentication",
        "companies.callers.authentication.SessionAuthentication",
    ],
    "DEFAULT_RENDERER_CLASSES": ["companies.api.rendering.JsonRenderer"],
    "DEFAULT_PARSER_CLASSES": ["companies.api.rendering.JsonParser"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_SCHEMA_CLASS": "companies.api.document.schema.OperationSchema",
    "EXCEPTION_HANDLER": "companies.api.errors.answer",
    "UNAUTHENTICATED_USER": None,
}
_about = (ROOT / "templates" / "openapi.md").read_text(encoding="utf-8")
SPECTACULAR_SETTINGS = {
    "TITLE": "Tidebook: financial planning and cash analytics API",
    "VERSION": VERSION,
    "OAS_VERSION": "3.1.0",
    "DESCRIPTION": _about.replace("svc-csrf", CSRF_COOKIE_NAME),
    "CONTACT": {"name": "Whoever runs this server", "url": BASE_URL},
    **document.ABOUT,
    "SERVERS": [{"url": BASE_URL, **document.SERVER}],
    "ENUM_NAME_OVERRIDES": document.ENUMS,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,  # their labels say no more than they do
    "SCHEMA_PATH_PREFIX": "/companies/[^/]+",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "SORT_OPERATIONS": False,
    "POSTPROCESSING_HOOKS": ["companies.api.document.schema.finish", "config.field_descriptions.describe_fields"],
}
