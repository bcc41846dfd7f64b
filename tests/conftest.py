"""Fixtures for all tests: the database, the companies Acme and Globex, their people, and API and browser clients."""

import gc
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import caches
from django.db import connection
from django.test import Client, override_settings
from hypothesis import HealthCheck, Phase
from hypothesis import settings as examples
from pytest_django.live_server_helper import LiveServer

from companies import email_limits, mailer
from companies.actions import companies, invitations
from companies.api import request_slots
from companies.auth import api_keys, authentication, throttling
from companies.models import AuditContext, Company, User
from companies.permissions import ALL_PERMISSIONS, parse_permissions
from config.databases.connection import EmbeddedDatabase
from config.databases.distribution import distribute_tables
from config.environment import build_private_storage
from ledger.models import Category
from tests import (
    base_rows,
    cluster,
    cross_shard_statements,
    database_cleanup,
    error_validation,
    response_validation,
    run_date,
    static_file_cache,
    template_database,
)
from tests.npm import install_packages

CLIENTS = Path(__file__).parent / "clients"  # clients in JavaScript

# For `make mutants`: the same examples on every run, without deadlines and without shrinking failing examples.
examples.register_profile(
    "mutants",
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
# For all other runs: no deadline, because a busy machine generates examples slowly. Examples share the test's fixtures.
examples.register_profile(
    "unhurried",
    parent=examples(),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
examples.load_profile("unhurried")

static_file_cache.cache_static_files()

pytest_plugins = ["tests.run_count", "tests.data_stack"]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: Any
) -> Iterator[None]:
    """Run the embedded PostgreSQL server with a template database during the tests, unless DATABASE_URL is set."""
    if not settings.EMBEDDED:
        yield
        return
    embedded = EmbeddedDatabase(data_dir=settings.DATA_DIR)
    with embedded.run_while_used():
        with django_db_blocker.unblock():
            connection.settings_dict["TEST"]["TEMPLATE"] = template_database.prepare_test_template(embedded)
        yield


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Load the packaged exchange rates into the test database; on a cluster, distribute its tables."""
    with django_db_blocker.unblock():
        if cluster.TESTS_RUN_ON_CLUSTER:
            cluster.join_cluster(connection.settings_dict["NAME"])
            distribute_tables(shards=cluster.SHARDS, report_step=lambda step: None)
            connection.close()  # settings of a database apply to new sessions
        with connection.cursor() as cursor:  # after a committing test all tables are emptied, also append-only ones
            cursor.execute("SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE tgname ~ 'never_emptied$'")
            for table, trigger in cursor.fetchall():
                cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}")
            if cluster.TESTS_RUN_ON_CLUSTER:
                cluster.allow_audit_truncation(cursor)
        database_cleanup.install_cleanup()
        base_rows.prepare_sets()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run test files that start servers first, then the files with most tests, so that workers finish together."""
    test_counts = Counter(item.path for item in items)
    slow = {item.path for item in items if item.get_closest_marker("server") or item.get_closest_marker("browser")}
    items.sort(key=lambda item: (item.path not in slow, -test_counts[item.path], item.path))


def pytest_collection() -> None:
    """Look for no garbage while tests are collected: the million objects that this makes all stay."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Exclude the collected tests from garbage collection, which saves a seventh of the processor time.

    A request creates thousands of objects that are freed without it: it runs less often than Python does it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Keep the date of the run during a test and its fixtures, module fixtures too."""
    with run_date.keep_date(getattr(item, "module", None)):
        return (yield)


@pytest.fixture(scope="session")
def storage_folder(tmp_path_factory: Any) -> Path:
    """The folder in which this run stores files."""
    return tmp_path_factory.mktemp("stored")


@pytest.fixture(scope="session", autouse=True)
def speed_up_and_isolate(storage_folder: Path) -> Iterator[None]:
    """Hash passwords quickly, send mail at once, raise all limits, and store files in the folder of the run."""
    storages = {
        **settings.STORAGES,
        "default": build_private_storage(storage_folder / "files"),
        "assets": build_private_storage(storage_folder / "assets"),
    }
    test_settings = {
        "PASSWORD_HASHERS": ["django.contrib.auth.hashers.MD5PasswordHasher"],
        "RATE_LIMIT": 1_000_000,
        "SIGN_IN_LIMIT": 1_000_000,
        "REQUESTS_PER_CREDENTIAL": 100,
        "THREADS": 200,
        "STAFF_MFA": False,  # tests of staff pages sign in without MFA
        "STORAGES": storages,
    }
    with pytest.MonkeyPatch.context() as patch, override_settings(**test_settings):
        patch.setattr(mailer, "submit_email", mailer.send_email)
        for limit in ("MAX_EMAILS_PER_ADDRESS_PER_DAY", "MAX_INVITATIONS_PER_USER_PER_DAY"):
            patch.setattr(invitations, limit, 1_000_000)
        patch.setattr(companies, "MAX_COMPANIES_PER_DAY", 1_000_000)
        patch.setattr(email_limits, "MAX_EMAILS_PER_HOUR", 1_000_000)
        # A test that takes over a minute would run an additional statement, which changes its query counts.
        patch.setattr(authentication, "LAST_USED_INTERVAL", timedelta(days=1))
        yield


@pytest.fixture(autouse=True)
def isolate_test(storage_folder: Path) -> Iterator[None]:
    """Reset counters and caches before each test, and delete stored files after it."""
    throttling.reset_local_counts()
    request_slots.COMPANY_REQUESTS.clear()  # left by tests that did not read a streamed response to its end
    request_slots.CREDENTIAL_SLOTS.clear()
    authentication.get_key_company_id.cache_clear()
    for cache in caches.all(initialized_only=True):
        cache.clear()
    yield
    for folder in storage_folder.iterdir():
        shutil.rmtree(folder)


@pytest.fixture
def stored_files(storage_folder: Path) -> Path:
    """The folder of the files that users upload."""
    return storage_folder / "files"


@pytest.fixture(autouse=True)
def check_errors_are_documented(monkeypatch: Any) -> Iterator[None]:
    """Check that the OpenAPI document lists every error response that the API gives during the test."""
    undocumented_errors = error_validation.watch_errors(monkeypatch)
    yield
    assert undocumented_errors == []


@pytest.fixture(autouse=True)
def check_responses_match_document(monkeypatch: Any) -> Iterator[None]:
    """Check that every successful API response during the test matches its schema in the OpenAPI document."""
    mistaken_responses = response_validation.watch_responses(monkeypatch)
    yield
    assert mistaken_responses == []


@pytest.fixture
def statement_log(monkeypatch: Any) -> cross_shard_statements.StatementLog:
    """The SQL statements of all requests during the test."""
    return cross_shard_statements.watch_statements(monkeypatch)


@pytest.fixture(autouse=True)
def check_statements_stay_in_company(statement_log: cross_shard_statements.StatementLog) -> Iterator[None]:
    """Check that every statement names its company, so that a cluster sends it to one shard; staff pages may not."""
    yield
    assert statement_log.cross_shard == []


@pytest.fixture
def now() -> datetime:
    """The time at the start of the test."""
    return datetime.now(tz=UTC)


@pytest.fixture
def audit_context(now: datetime) -> AuditContext:
    """Audit context for writes by the system, at the start of the test."""
    return AuditContext(time=now)


@pytest.fixture
def acme(db: None) -> Company:
    """The company of most tests."""
    return base_rows.copy_set("acme")


@pytest.fixture
def globex(db: None) -> Company:
    """Another company, whose data Acme's users must not see."""
    return base_rows.copy_set("globex")


@pytest.fixture
def alice(acme: Company) -> User:
    """Alice, the owner of Acme."""
    return base_rows.copy_set("alice")


@pytest.fixture
def bob(acme: Company) -> User:
    """Bob, a viewer of Acme."""
    return base_rows.copy_set("bob")


@pytest.fixture
def carol(globex: Company) -> User:
    """Carol, the owner of Globex."""
    return base_rows.copy_set("carol")


class Api:
    """An API client with one credential and one company. A path without a leading slash is relative to the company."""

    def __init__(self, company: Company, *, key: str | None = None, session: Client | None = None):
        self.company, self.client = company, session or Client()
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.key = key

    def path(self, path: str) -> str:
        """Return the path of a request; also accepts an absolute URL from a Link header."""
        path = path.removeprefix(settings.BASE_URL)
        return path if path.startswith("/") else f"/companies/{self.company.id}/{path}".rstrip("/")

    def get(self, path: str = "", params: Any = None, **headers: str) -> Any:
        return self.client.get(self.path(path), params, headers=self.headers | to_header_names(headers))

    def post(self, path: str = "", body: Any = None, **headers: str) -> Any:
        return self.client.post(
            self.path(path), body, content_type="application/json", headers=self.headers | to_header_names(headers)
        )

    def put(self, path: str = "", body: Any = None, **headers: str) -> Any:
        body = "" if body is None else body  # the test client would send "None"
        return self.client.put(
            self.path(path), body, content_type="application/json", headers=self.headers | to_header_names(headers)
        )

    def delete(self, path: str = "", **headers: str) -> Any:
        return self.client.delete(self.path(path), headers=self.headers | to_header_names(headers))

    def get_category_id(self, system_key: str) -> str:
        """Return the id of a system category."""
        return str(Category.objects.for_company(self.company.id).for_system_key(system_key).get().id)


def to_header_names(headers: dict[str, str]) -> dict[str, str]:
    """Return HTTP header names for keyword names: if_match → If-Match."""
    return {name.replace("_", "-"): value for name, value in headers.items()}


@pytest.fixture
def make_api() -> Any:
    """Make an API client whose key has the given permissions, or all of them."""

    def make(company: Company, *permissions: str) -> Api:
        api_key = api_keys.create_api_key(
            company=company,
            context=AuditContext(time=datetime.now(tz=UTC)),
            name="test",
            permissions=parse_permissions(permissions) if permissions else ALL_PERMISSIONS,
            creator=None,
        )
        return Api(company, key=api_key.text)

    return make


@pytest.fixture
def api(acme: Company) -> Api:
    """An API client of Acme with every permission."""
    return Api(acme, key=base_rows.copy_set("acme_key"))


@pytest.fixture
def bank(api: Api) -> str:
    """The id of Acme's bank account."""
    return str(base_rows.copy_set("bank"))


@pytest.fixture
def globex_api(globex: Company) -> Api:
    """An API client of Globex with every permission."""
    return Api(globex, key=base_rows.copy_set("globex_key"))


@pytest.fixture
def sign_in_browser() -> Any:
    """Sign a user in with a new browser; return an API client with this session. Its `client` is the browser."""

    def sign_in(user: User, company: Company) -> Api:
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return Api(company, session=client)

    return sign_in


@pytest.fixture
def age_session() -> Any:
    """Make a browser's sign-in eleven minutes old, too old for step-up authentication."""

    def age(client: Client) -> None:
        session = client.session
        session["auth_time"] = session["seen_time"] = datetime.now(tz=UTC).timestamp() - 11 * 60
        session.save()

    return age


@pytest.fixture
def owner(sign_in_browser: Any, alice: User, acme: Company) -> Client:
    """Alice's browser; she owns Acme."""
    return sign_in_browser(alice, acme).client


@pytest.fixture
def viewer(sign_in_browser: Any, bob: User, acme: Company) -> Client:
    """Bob's browser; he is a viewer of Acme."""
    return sign_in_browser(bob, acme).client


@dataclass
class Invitation:
    """The API's response to an invitation, and the path of the mailed link."""

    response: Any
    link: str

    @property
    def id(self) -> str:
        return str(self.response.json()["id"])

    def accept(self, client: Client | None = None, **values: str) -> Any:
        """Accept the invitation, with a new password for people without an account."""
        form = {"decision": "accept", "new_password1": PASSWORD, "new_password2": PASSWORD, **values}
        return (client or Client()).post(self.link, form)


PASSWORD = "correct horse battery"


@pytest.fixture
def invite_member(mailoutbox: Any, django_capture_on_commit_callbacks: Any) -> Any:
    """Invite a person to the company of an API client; return the Invitation."""

    def invite(caller: Api, email: str, **values: Any) -> Invitation:
        with django_capture_on_commit_callbacks(execute=True):
            response = caller.post("members", {"email": email, "role": "viewer", **values})
        assert response.status_code == 201, response.content
        return Invitation(response, find_mailed_link(mailoutbox[-1]))

    return invite


def find_mailed_link(mail: Any) -> str:
    """Return the path of the only link in a mail."""
    return re.search(r"https?://[^/\s]+(/\S+)", mail.body)[1]  # type: ignore[index]


def build_oauth_settings(base: str) -> dict[str, Any]:
    """Return the settings of django-oauth-toolkit for a server at this address."""
    return {
        "OIDC_ISS_ENDPOINT": f"{base}/auth",
        "OAUTH2_PROTECTED_RESOURCE_IDENTIFIER": base,
        "OAUTH2_PROTECTED_RESOURCE_AUTHORIZATION_SERVERS": [f"{base}/auth"],
    }


@pytest.fixture(scope="session")
def site_server() -> Iterator[LiveServer]:
    """One live server for all tests, so that browsers keep static files in their cache."""
    server = LiveServer("127.0.0.1")
    yield server
    server.stop()


@pytest.fixture
def site(transactional_db: None, site_server: LiveServer, settings: Any) -> str:
    """The address of a live server on 127.0.0.1, which sees the rows that the test creates."""
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    settings.BASE_URL = site_server.url
    settings.AUTH_URL = f"{site_server.url}/auth"
    settings.OAUTH2_PROVIDER = settings.OAUTH2_PROVIDER | build_oauth_settings(site_server.url)
    settings.APP_URL = f"{site_server.url}/app"
    settings.ASSETS_URL = f"{site_server.url}/assets"
    settings.CSRF_TRUSTED_ORIGINS = [site_server.url]
    return str(site_server.url)


@pytest.fixture(scope="session")
def node_modules() -> None:
    """Install the npm packages of the JavaScript clients."""
    install_packages("clients", package="openid-client")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the counts that tests recorded with `record_property`."""
    passed = terminalreporter.stats.get("passed", [])
    properties = [item for report in passed for item in report.user_properties]
    if lines := [value for name, value in properties if name == "report"]:
        terminalreporter.section("reported by the tests")
        for line in lines:
            terminalreporter.write_line(line)
    if kills := sum(value for name, value in properties if name == "kills survived"):
        terminalreporter.write_line(f"{kills} kills survived")
